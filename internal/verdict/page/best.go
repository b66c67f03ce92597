package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// bestVerdict has one setting for each CPU limit, number of replicas and version.
func bestVerdict(r *verdict.Result) Verdict {
	b := &r.Best[0]
	all := slices.Concat(r.Groups, r.Compared)[0]
	if all.Race != nil {
		all.Race = &verdict.Raced{Trials: r.TrialsRun}
	}
	v := Verdict{State: document.Act, Label: "Recommended", Answer: Answer{Text: bestText(r, b), Plain: bestSentence(r, b)}}
	sure := nothingProven
	switch {
	case b.Confidence == "" && !b.Complete:
		v.State, v.Label = document.Unknown, "Not finished"
	case b.Confidence == "":
		v.State, v.Label = document.Unknown, labelUndecided
	case b.Confidence == verdict.Likely:
		sure, v.State, v.Label = labelNotProven, document.Attention, labelNotProven
	default:
		sure = provenSure
		if v.Answer.Apply = applied(r, b); v.Answer.Apply == "" {
			v.State, v.Label = document.OK, "Keep the values"
		}
	}
	v.Context = words{&all, r}.context(sure)
	if list := tooLargeAll(r); list != nil {
		v.Answer.Plain = fmt.Sprintf("Every value of %s used more memory than %s allows, so there is nothing left to compare.", phrase.And(list), mostMemory(r))
		v.Next = []document.Item{{Text: "allow more memory with --max-memory, in a new results folder"}}
	} else if b.Complete && b.Confidence != verdict.Proven && swept(r) {
		more := resumeCommand(r, toProve, spec.Part("until", "trials", strconv.Itoa(2*max(1, r.Plan.MaxTrials))))
		if !r.Plan.Racing() {
			more = repeatCommand(r, 2*max(1, r.Plan.Blocks))
		}
		if v.Next = nextUnseen(r); !unweighed(r) {
			v.Next = append(v.Next, document.Item{Text: "measure more", Command: more})
		}
	}
	if len(r.Best) > 1 {
		all := phrase.Each(r.Best, func(b verdict.Best) string {
			of := words{&verdict.Group{Setting: journal.Setting{QuotaCPUs: b.QuotaCPUs, Replicas: b.Replicas, GoVersion: b.GoVersion}}, r}
			return of.title() + ": " + bestText(r, &b)
		})
		v.Answer = Answer{Text: "It depends on the group", Plain: strings.Join(all, ". ") + "."}
	}
	return v
}

// nextUnseen is what would prove what procfit could not read or count, or what the load generator hid.
func nextUnseen(r *verdict.Result) (list []document.Item) {
	for _, g := range slices.Concat(r.Groups, r.Compared) {
		for _, s := range g.Recommendation.Next {
			if item := (words{&g, r}).step(s); slices.Contains([]verdict.StepCode{verdict.StepSee, verdict.StepCount, verdict.StepOwnLoad, verdict.StepLoadElsewhere, verdict.StepWeigh}, s.Code) && !slices.Contains(list, item) {
				list = append(list, item)
			}
		}
	}
	return list
}

// unweighed reports whether the memory of some setting was never read: more trials would not be compared
// either.
func unweighed(r *verdict.Result) bool {
	return slices.ContainsFunc(slices.Concat(r.Groups, r.Compared), func(g verdict.Group) bool {
		return (words{&g, r}).leftOut(contest.ExcludedUnweighed)
	})
}

// tooLargeAll are the variables of which every value used too much memory.
func tooLargeAll(r *verdict.Result) (list []string) {
	for _, of := range slices.Concat(r.Groups, r.Compared) {
		g := groupOf(r, &of, "")
		if n := len(g.tooLarge()); n > 0 && n == len(g.rows) {
			list = append(list, cmp.Or(g.Compares, "GOMAXPROCS"))
		}
	}
	return list
}

// bestParts are what differs from the start. One value of GOMAXPROCS that was named is no change.
func bestParts(r *verdict.Result, b *verdict.Best) (set, keep []string) {
	switch {
	case len(r.Groups) == 0:
	case b.Procs != nil:
		set = append(set, "GOMAXPROCS="+strconv.Itoa(*b.Procs))
	default:
		keep = append(keep, "the default GOMAXPROCS")
	}
	for _, one := range b.Variables {
		if slices.Contains(b.Start, one) {
			keep = append(keep, one.String())
		} else {
			set = append(set, one.String())
		}
	}
	return set, keep
}

func bestText(r *verdict.Result, b *verdict.Best) string {
	set, keep := bestParts(r, b)
	text := "Set " + phrase.And(set)
	switch {
	case b.Confidence == "":
		return labelUndecided
	case set == nil:
		text = "Keep " + phrase.And(keep)
	case keep != nil:
		text += ", keep " + phrase.And(keep)
	}
	return phrase.If(b.Confidence == verdict.Likely, "Likely: "+lowerFirst(text), text)
}

func bestSentence(r *verdict.Result, b *verdict.Best) string {
	pair := bestPair(r, b)
	switch {
	case b.Confidence == "" && !slices.ContainsFunc(slices.Concat(r.Groups, r.Compared), func(g verdict.Group) bool { return g.Recommendation.Confidence != "" }):
		return phrase.If(b.Complete, "No comparison has an answer.", "Not all comparisons have ended.")
	case b.Confidence == "" && !b.Complete:
		return "The best so far is " + pair + ". Not all comparisons have ended."
	case b.Confidence == "":
		return "The best so far is " + pair + ". Not every comparison has an answer."
	}
	text := "Of the values that were compared one after the other, " + pair + " is as good as any"
	if !slices.ContainsFunc(r.Plan.Vary, func(a journal.Axis) bool { return a.Name != "GOGC" && a.Name != "GOMEMLIMIT" }) {
		text += ", and no value that allows less memory is proven as good"
	}
	text += "."
	for i := range r.Compared { // the last of each variable
		g := groupOf(r, &r.Compared[i], "")
		again := slices.ContainsFunc(r.Compared[i+1:], func(other verdict.Group) bool { return other.Compares == g.Compares })
		if !again && g.Recommendation.Verdict == verdict.Recommended {
			text += " " + g.comparedChange()
		}
	}
	if b.Confidence == verdict.Likely {
		text += " This is likely, but not proven."
	}
	for _, of := range slices.Concat(r.Groups, r.Compared) {
		if over := groupOf(r, &of, "").overMemory(); !strings.Contains(text, over) {
			text += over
		}
	}
	return text
}

// bestPair is a setting with its variables: "GOMAXPROCS=2 with GOGC=200".
func bestPair(r *verdict.Result, b *verdict.Best) string {
	all := phrase.And(phrase.Each(b.Variables, journal.Variable.String))
	switch {
	case b.Procs != nil:
		return "GOMAXPROCS=" + strconv.Itoa(*b.Procs) + " with " + all
	case len(r.Groups) > 0:
		return "the default GOMAXPROCS with " + all
	}
	return all
}

func applied(r *verdict.Result, b *verdict.Best) string {
	set, _ := bestParts(r, b)
	var unset []string
	for _, one := range b.Variables {
		if i := slices.Index(set, one.String()); i >= 0 && one.Value == journal.Unset {
			set, unset = slices.Delete(set, i, i+1), append(unset, one.Name)
		}
	}
	var lines []string
	if len(set) > 0 {
		lines = append(lines, "export "+phrase.Shell(set))
	}
	if unset != nil {
		lines = append(lines, "unset "+phrase.Shell(unset))
	}
	return phrase.Clean(strings.Join(lines, "; "))
}

func (w words) changes(against string, v *verdict.Versus) string {
	text := fmt.Sprintf("Compared with %s: %s", against, changedFrom("throughput", v.Throughput, w.r.Plan.Margin))
	if v.Latency.Median != nil {
		text += "; " + changedFrom(w.quantile(), v.Latency, w.r.Plan.MarginP99)
	}
	return text
}

func (g *group) comparedChange() string {
	rec := &g.Recommendation
	v := rec.Versus
	if v == nil || v.Throughput.Median == nil {
		return rec.Setting + " is as good as any."
	}
	text := g.changes(g.start(), v)
	if now, then := g.setting(rec.Setting), g.setting(g.start()); now != nil && then != nil && now.Evidence.PeakRSSBytes != nil && then.Evidence.PeakRSSBytes != nil {
		text += fmt.Sprintf("; peak memory is %s instead of %s", memorySize(now.Evidence.PeakRSSBytes), memorySize(then.Evidence.PeakRSSBytes))
	}
	return text + "."
}
