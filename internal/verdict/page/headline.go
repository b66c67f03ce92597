package page

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

func partsOf(r *verdict.Result) (list []part) {
	if r.Canary != nil || r.Live != nil {
		return []part{experimentOf(r)}
	}
	for i := range r.Groups {
		list = append(list, groupOf(r, &r.Groups[i], "g"+strconv.Itoa(i+1)))
	}
	if len(r.Best) > 0 {
		for i := range r.Compared {
			list = append(list, groupOf(r, &r.Compared[i], "v"+strconv.Itoa(i+1)))
		}
	}
	return list
}

// VerdictOf is what a Result came to, in words.
func VerdictOf(r *verdict.Result) Verdict { return pageHeadline(r, partsOf(r)) }

// ReasonsOf is why a Result came to its verdict. A verdict of several settings has no reasons of its
// own: then they are those of the first group.
func ReasonsOf(r *verdict.Result) []string {
	parts := partsOf(r)
	reasons := pageHeadline(r, parts).Reasons
	if len(reasons) == 0 && len(parts) > 0 {
		return parts[0].concluded().Reasons
	}
	return reasons
}

// pageHeadline is the verdict of all parts. What its time ended has a command that continues it.
func pageHeadline(r *verdict.Result, parts []part) Verdict {
	v := wholeVerdict(r, parts)
	commanded := slices.ContainsFunc(v.Next, func(i document.Item) bool { return i.Command != "" })
	if len(v.Next) > 0 && !commanded && swept(r) && stoppedBy(r, string(contest.StopTime)) {
		v.Next = append([]document.Item{{Text: "continue it", Command: continued(r)}}, v.Next...)
	}
	return v
}

func wholeVerdict(r *verdict.Result, parts []part) Verdict {
	switch c := r.Cheapest; {
	case gateLeads(r):
		return gateHeadline(r)
	case c != nil && len(c.Settings) > 0: // without a valid trial the groups say why
		return cheapestVerdict(r)
	case len(parts) == 0:
		return Verdict{State: document.Unknown, Label: "No result", Answer: Answer{Text: "Nothing measured yet", Plain: "No trial has run."}}
	case len(r.Best) > 0:
		return bestVerdict(r)
	case len(parts) == 1:
		return parts[0].concluded()
	}
	return acrossGroups(r, parts)
}

// acrossGroups is the verdict of a run with several groups, which are never
// compared with each other.
func acrossGroups(r *verdict.Result, parts []part) Verdict {
	all := make([]Verdict, len(parts))
	for i, p := range parts {
		all[i] = p.concluded()
	}
	v := Verdict{State: all[0].State, Label: all[0].Label}
	same := true
	for _, one := range all[1:] {
		same = same && one.Answer.Sentence() == all[0].Answer.Sentence()
		if one.Label != v.Label {
			v.State, v.Label = document.Attention, "It depends"
		}
	}
	if same {
		in := "In all " + phrase.Count(len(all), "group")
		if len(all) == 2 {
			in = "In both groups"
		}
		v.Answer = all[0].Answer
		v.Answer.Tiles, v.Answer.Plain = nil, in+": "+lowerFirst(v.Answer.Plain)
		return v
	}
	v.Answer = differingAnswer(r, all)
	if v.Answer.Plain == "" {
		v.Answer.Plain = phrase.Count(len(all), "group") + ", each with its own answer; numbers of different groups are not compared."
	}
	return v
}

// listRoom is how long the answers of all groups may be, in characters, to be the
// headline: two lines of it on a desktop.
const listRoom = 84

// differingAnswer is the answer of groups that have no common sentence: what they agree on, or
// each one's, by what distinguishes the groups.
func differingAnswer(r *verdict.Result, each []Verdict) Answer {
	var answers []string
	at := map[string][]string{} // the groups that have an answer
	for i := range each {
		text := each[i].Answer.Brief
		if _, ok := at[text]; !ok {
			answers = append(answers, text)
		}
		at[text] = append(at[text], groupKey(r, i))
	}
	if len(answers) == 1 {
		return Answer{Text: each[0].Answer.Text}
	}
	var list []string
	for _, text := range answers {
		list = append(list, phrase.And(at[text])+": "+text)
	}
	all := phrase.Capital(strings.Join(list, "; "))
	if utf8.RuneCountInString(all) <= listRoom {
		return Answer{Text: all}
	}
	for i := range list {
		list[i] = phrase.Capital(list[i]) + "."
	}
	return Answer{Text: "It depends on " + phrase.And(phrase.Each(apartBy(r), func(a groupAxis) string { return a.name })), Plain: strings.Join(list, " ")}
}
