package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// environmentEntry is an environment entry that a shell can export.
var environmentEntry = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*=`)

// reproduce is a script that measures again: same arguments, same seed,
// same directory and runtime variables, into a results directory of its own.
func reproduce(r *verdict.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measures %s again, as on %s, into a new results directory.\n", phrase.Clean(r.Name), r.Started.UTC().Format("2006-01-02 15:04 UTC"))
	fmt.Fprintf(&b, "# It was measured by procfit %s. Set PROCFIT to use another binary.\n", phrase.Clean(r.Tool.Version))
	b.WriteString("set -eu\n")
	if r.Settings != nil {
		b.WriteString("here=$(CDPATH= cd -- \"$(dirname -- \"$0\")\" && pwd)\n")
	}
	if r.Target.Directory != "" {
		fmt.Fprintf(&b, "cd -- %s\n", phrase.ShellWord(r.Target.Directory))
	}
	unset := []string{"GOGC", "GOMEMLIMIT", "GODEBUG"}
	for _, e := range r.Target.Environment {
		if environmentEntry().MatchString(e) {
			name, value, _ := strings.Cut(e, "=")
			unset = slices.DeleteFunc(unset, func(other string) bool { return other == name })
			fmt.Fprintf(&b, "export %s=%s\n", name, phrase.ShellWord(value))
		}
	}
	if t := r.Target; t.Directory != "" && t.Attached == nil && t.Object == "" && len(unset) > 0 { // else it had another environment
		b.WriteString("unset " + strings.Join(unset, " ") + "\n")
	}
	b.WriteString(askForInput(r.Spec) + askForVariables(r.Spec.Variables()))
	words := phrase.Shell(Again(r).Args())
	if s := r.Settings; s != nil {
		words = phrase.Shell(s.Rest.Args()) + " --file \"$here/" + s.Name + "\""
	}
	fmt.Fprintf(&b, "exec \"${PROCFIT:-procfit}\" %s\n", words)
	shell := "#!/bin/sh\n"
	if strings.Contains(b.String(), "$'") { // which is not in every sh
		shell = "#!/usr/bin/env bash\n"
	}
	return shell + b.String()
}

func askForVariables(variables []string) string {
	var b strings.Builder
	for _, name := range variables {
		text := "credentials are not recorded: export " + name + ", which this run needs, then run this again"
		fmt.Fprintf(&b, "[ -n \"${%s+x}\" ] || { echo %s >&2; exit 2; }\n", name, phrase.ShellWord(text))
	}
	return b.String()
}

// askForInput asks for what the run read from standard input, in shell, if it read anything.
func askForInput(s spec.Spec) string {
	for _, f := range [][2]string{{"body", "@-"}, {"requests", "-"}} {
		if s.Text(f[0]) == f[1] {
			text := "the journal does not contain what --" + f[0] + " " + f[1] + " read: give it to this script on standard input, as in: sh reproduce.sh <FILE"
			return "[ ! -t 0 ] || { echo " + phrase.ShellWord(text) + " >&2; exit 2; }\n"
		}
	}
	return ""
}

// newFolder leaves the folder out, which would resume the finished run.
var newFolder = spec.Unset("out")

// Again measures the same again, at the same seed, into a folder of its own. A canary draws
// nothing at random.
func Again(r *verdict.Result) spec.Spec {
	s := r.Spec.With(newFolder)
	if r.Canary == nil && !s.Has("seed") {
		s = s.With(spec.Set("seed", strconv.FormatUint(r.Plan.Seed, 10)))
	}
	return s
}

// toProve takes the goal out of a race, which is to prove its answer then: one that was to end once
// the answer is likely would end at once.
var toProve = spec.Part("until", "", "")

// goOn is the command that measures what a verdict lacks, and how long it takes. A race
// is resumed; a grid of more blocks is another plan, with a folder of its own.
func (w words) goOn(s verdict.Step) document.Item {
	text := "about " + phrase.Count(s.More, "more trial")
	ends := " should decide"
	if len(s.List) > 1 {
		ends = fmt.Sprintf(" should separate %s from %s by %s", valueName(s.List[0]), valueName(s.List[1]), w.metric(s.Metric))
	}
	r := w.r
	if !swept(r) {
		return document.Item{Text: text + ends}
	}
	trials, command := s.More, ""
	most := r.TrialsRun + r.PilotsRun + s.More
	if r.Complete && most <= r.Plan.MaxTrials && !stoppedBy(r, string(contest.StopTime)) { // it ended before, and again with the same bound
		most = r.Plan.MaxTrials + s.More
	}
	switch {
	case r.Plan.Racing() && most <= r.Plan.MaxTrials:
		command = resumeCommand(r, toProve, spec.Unset("for")) // the trials that it may have are enough
	case r.Plan.Racing():
		command = resumeCommand(r, toProve, spec.Part("until", "trials", strconv.Itoa(most)), spec.Unset("for"))
	default:
		perBlock := max(1, s.Have/max(1, r.Plan.Blocks))
		blocks := int(math.Ceil(float64(s.Have+s.More) / float64(perBlock)))
		command = repeatCommand(r, blocks)
		trials = blocks * (len(r.Plan.Settings) + len(r.Plan.AA))
	}
	if takes := takesAbout(trials, s.TrialSeconds); takes != "" {
		text += ", " + takes + ","
	}
	return document.Item{Text: text + ends, Command: command}
}

// takesAbout is how long that many trials take, rounded: nobody believes a forecast to the second. Empty:
// that is not known.
func takesAbout(trials int, each float64) string {
	seconds := float64(trials) * each
	switch d := time.Duration(seconds * float64(time.Second)); {
	case !(seconds > 0 && seconds < 1e6):
		return ""
	case d < 90*time.Second:
		return "about " + phrase.Count(max(1, int(math.Ceil(d.Seconds()/10)))*10, "second")
	default:
		return "about " + phrase.Count(int(math.Round(d.Minutes())), "minute")
	}
}

// measuring are the commands whose run may be repeated.
var measuring = []string{"sweep", "compare", "kube sweep", "kube canary", "live"}

// swept reports whether the trials are those of one of these commands.
func swept(r *verdict.Result) bool { return slices.Contains(measuring, r.Spec.Command) }

// bySweep leaves out a sweep with an objective, which has neither --vary nor --profile.
func (w words) bySweep() bool {
	return w.r.Spec.Command == "sweep" && w.r.Plan.SLO == nil
}

func resumeCommand(r *verdict.Result, changes ...spec.Change) string {
	folder := cmp.Or(r.Folder, r.Spec.Text("out"), "DIR") // as it was read, or as the command named it
	return r.Spec.With(append(changes, spec.Set("out", folder))...).Shell()
}

func stoppedBy(r *verdict.Result, stop string) bool {
	return slices.ContainsFunc(r.Groups, func(g verdict.Group) bool { return g.Race != nil && g.Race.Stop == stop })
}

// outOfTime reports whether the time of a race has no room for another trial.
func outOfTime(r *verdict.Result) bool {
	return r.Plan.Racing() && r.Plan.MaxSeconds > 0 && secondsUsed(r)+r.TrialSeconds/2 > r.Plan.MaxSeconds || stoppedBy(r, string(contest.StopTime))
}

func secondsUsed(r *verdict.Result) float64 {
	sum := r.TrialSeconds * float64(r.TrialsRun+r.PilotsRun)
	for i := range r.Groups {
		if s := r.Groups[i].Sliced; s != nil {
			sum += s.Took
		}
	}
	return sum
}

// furthered is the command that continues a race for about N trials more, with the bound that
// it needs for them: of one that ended before its bounds the same as before.
func furthered(r *verdict.Result, more int) string {
	var changes []spec.Change
	if outOfTime(r) {
		minutes := math.Floor((max(secondsUsed(r), r.Plan.MaxSeconds)+r.TrialSeconds*float64(more))/60) + 1
		changes = append(changes, spec.Set("for", fmt.Sprintf("%.0fm", minutes)))
	}
	if most := r.TrialsRun + r.PilotsRun + more; most > r.Plan.MaxTrials {
		changes = append(changes, spec.Part("until", "trials", strconv.Itoa(most)))
	}
	return resumeCommand(r, changes...)
}

func continued(r *verdict.Result) string {
	if outOfTime(r) {
		return furthered(r, len(r.Plan.Settings))
	}
	return resumeCommand(r)
}

// repeatCommand is the command of a grid of N blocks, in a new folder.
func repeatCommand(r *verdict.Result, blocks int) string {
	return r.Spec.With(spec.Set("repeats", strconv.Itoa(blocks)), spec.Unset("for"), spec.Unset("until"), newFolder).Shell()
}

// higher is how values above n are measured, in a new folder.
func (w words) higher(n int) string {
	procs := strings.Join(append([]string{journal.Default, strconv.Itoa(n)}, phrase.Above(n)...), ",")
	if !swept(w.r) {
		return "--procs " + procs
	}
	return w.r.Spec.With(spec.Set("procs", procs), newFolder).Shell()
}

func (w words) measureHigher(n int) document.Item {
	text := "measure higher values of GOMAXPROCS too"
	if !swept(w.r) {
		return document.Item{Text: text + ": " + w.higher(n)}
	}
	return document.Item{Text: text, Command: w.higher(n)}
}

func howToComplete(r *verdict.Result) string {
	if !swept(r) {
		return "run the same command with this directory as --out"
	}
	return "run " + continued(r)
}

// otherWay is one thing to do. It is no advice to a run that had its flag already: with this value, or
// without one with any.
type otherWay struct{ text, flag, value string }

func (w words) ways(list ...otherWay) string {
	var left []string
	for _, one := range list {
		if one.text != "" && (one.flag == "" || !w.had(one.flag, one.value)) {
			left = append(left, one.text)
		}
	}
	return phrase.Or(left)
}

// had reports whether the run was asked for a flag: with this value, or without one with any.
func (w words) had(flag, value string) bool {
	return w.r.Spec.Has(flag) && (value == "" || slices.Contains(w.r.Spec.Get(flag), value))
}

// onlyRate reports whether --rate is the rate of the open loop and no more: a sweep that had none would be
// asked another question, which value sustains it.
func (w words) onlyRate() bool {
	return w.had("rate", "") || w.r.Plan.GateAgainst || len(w.r.Plan.Vary) > 0 || w.r.Target.Attached != nil
}

func (w words) lowerRate() otherWay {
	return otherWay{text: phrase.If(w.onlyRate(), "use a lower --rate", "")}
}

// afterEarlier reports whether the run is compared with an earlier one, whose CPUs it must have.
func (w words) afterEarlier() bool {
	return w.r.Spec.Command == "compare" && len(w.r.Target.Against) == 0
}

// choosesCPUs reports whether --cpus can name the CPUs of the target: those of a pod, and of a program
// that runs already, are not procfit's to choose.
func (w words) choosesCPUs() bool {
	return w.r.Target.Object == "" && w.r.Target.Attached == nil && !w.afterEarlier()
}

// ownCPUs is how the load generator gets CPUs of its own by a flag, if the command has one for that and it
// may have some; whom it is given to in the sentence.
func (w words) ownCPUs(whom string) otherWay {
	pinned := !slices.Contains([]string{"", "shared"}, w.r.Spec.TextOf("cpus", "load"))
	switch a := w.r.Load.Arranged(); {
	case a == journal.ArrangementApart || a == journal.ArrangementElsewhere || a == journal.ArrangementTunnel || pinned || w.r.Host.AffinityCPUs == 1:
	case w.choosesCPUs():
		return otherWay{text: "give " + whom + " its own CPUs with --cpus target=LIST,load=LIST"}
	case w.r.Target.Attached != nil:
		return otherWay{text: "give the load generator its own CPUs with --cpus load=LIST"}
	}
	return otherWay{}
}

// anotherMachine is where the load generator does not use the target's CPUs.
func (w words) anotherMachine() otherWay {
	switch {
	case w.r.Target.Object != "" && w.r.Load.Arranged() == journal.ArrangementElsewhere:
		return otherWay{}
	case w.r.Target.Object != "":
		return otherWay{text: "use a cluster with a second node, from which the load then comes"}
	case w.afterEarlier():
		return otherWay{text: "measure both runs with the load generator on another machine"}
	}
	return otherWay{text: "run the load generator on another machine"}
}

// apart is the command that keeps the load off the target's CPUs.
func (w words) apart() string {
	r := w.r
	if !swept(r) || !w.choosesCPUs() {
		return ""
	}
	const fewestApart = 4 // CPUs, for the load to have its own without being asked
	n := r.Host.AffinityCPUs
	s := r.Spec.With(newFolder, spec.Part("cpus", "load", ""))
	switch {
	case n >= fewestApart && r.Spec.TextOf("cpus", "load") == "shared":
		return s.Shell() // it is done by itself
	case n >= 2:
		return s.With(spec.Set("cpus", "target="+listed(r.Host, 0, n/2)+",load="+listed(r.Host, n/2, n))).Shell()
	}
	return ""
}

// listed are some of the CPUs that procfit could use. Where the nodes of memory don't tell
// which these are, they are taken for the first ones.
func listed(h journal.Host, from, to int) string {
	var cpus cpuset.Set
	if h.Topology != nil {
		for _, n := range h.Topology.Nodes {
			cpus = append(cpus, n.CPUs...)
		}
	}
	if len(cpus) == h.AffinityCPUs {
		slices.Sort(cpus)
		return cpus[from:to].String()
	}
	if to-from == 1 {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d-%d", from, to-1)
}

func (w words) loadElsewhere() string {
	var another otherWay
	if w.r.Load.Tunnelled() {
		return "send the load from a pod, with --image IMAGE instead of --load-from local: the API server was measured too"
	}
	if w.r.Load.Arranged() != journal.ArrangementElsewhere {
		another = w.anotherMachine()
	}
	return cmp.Or(w.ways(another, w.ownCPUs("it")), "give the load generator a faster machine")
}

// moreFlag is the flag that measures more: a sweep that ends by itself takes no --repeats.
func moreFlag(p journal.Plan) string {
	switch {
	case !p.Racing():
		return "more --repeats"
	case p.MaxSeconds > 0:
		return "a longer --for or a higher --until trials=N"
	}
	return "a higher --until trials=N"
}

func programWords(r *verdict.Result) string {
	t := r.Target
	switch {
	case t.BuiltIn != "":
		return "the built-in practice program " + t.BuiltIn
	case r.Live != nil:
		return "process " + strconv.Itoa(r.Live.PID) + ", which set the values itself"
	}
	if kind := kindWords[t.Kind]; kind != "" {
		return r.Name + ", " + kind
	}
	return r.Name
}

var kindWords = map[string]string{journal.KindServer: "a server", journal.KindBatch: "a batch program", journal.KindGoBench: "Go benchmarks"}

// endsByItself reports whether the target is a program that runs to its end, under no load.
func endsByItself(t journal.Target) bool {
	return t.Kind == journal.KindBatch || t.Kind == journal.KindGoBench
}

// varied compares values of GOGC, in a new folder; empty: this command compares no variables.
func (w words) varied() string {
	if !w.bySweep() {
		return ""
	}
	return w.r.Spec.With(spec.Set("vary", "GOGC=50,100,200,400"), spec.Set("procs", cmp.Or(w.Recommendation.Setting, journal.Default)), spec.Unset("repeats"), newFolder).Shell()
}
