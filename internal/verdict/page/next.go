package page

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func (w words) next() []document.Item {
	var list []document.Item
	for _, s := range w.Recommendation.Next {
		if s.Code == verdict.StepProfile && w.profiled() == "" {
			continue // it is not one of procfit sweep
		}
		list = append(list, w.step(s))
	}
	return list
}

func (w words) step(s verdict.Step) document.Item {
	margin := phrase.If(s.Metric == verdict.MetricP99, number.Percent(w.r.Plan.MarginP99), number.Percent(w.r.Plan.Margin))
	switch s.Code {
	case verdict.StepQuieter:
		return document.Item{Text: fmt.Sprintf("use a quieter machine or a longer --trial-time: trials vary by %s in %s, too much for a margin of %s", strayed(s.Spread), w.metric(s.Metric), margin)}
	case verdict.StepGoOn:
		return w.goOn(s)
	case verdict.StepMoreValues:
		return document.Item{Text: w.ways(otherWay{text: "measure at least five values"}, otherWay{"use --procs auto", "procs", "auto"})}
	case verdict.StepHigherValues:
		return w.measureHigher(s.Have)
	case verdict.StepResume:
		if swept(w.r) {
			return document.Item{Text: "continue it", Command: continued(w.r)}
		}
		return document.Item{Text: howToComplete(w.r)}
	case verdict.StepMoreMemory:
		return document.Item{Text: w.ways(otherWay{text: "allow more memory with a higher --max-memory"}, otherWay{"look for a GOGC that takes less: --vary GOGC=25,50,100", "vary", "GOGC=25,50,100"})}
	case verdict.StepLoadElsewhere:
		return document.Item{Text: w.loadElsewhere()}
	case verdict.StepRepeat:
		if swept(w.r) {
			return document.Item{Text: "measure more trials", Command: repeatCommand(w.r, s.Blocks)}
		}
		return document.Item{Text: fmt.Sprintf("measure more trials: --repeats %d or more", s.Blocks)}
	case verdict.StepQuietMachine:
		text := "stop other programs on this machine, " + phrase.If(w.timedOut(), "then continue", "or measure on a quieter one")
		return document.Item{Text: text, Command: w.again()}
	case verdict.StepLonger:
		longer, command := doubled(w.r.Load.DurationSeconds), ""
		if w.again() != "" {
			command = w.r.Spec.With(spec.Part("trial-time", "", longer), newFolder).Shell()
		}
		return document.Item{Text: fmt.Sprintf("measure longer trials, in which procfit can count what other programs use: --trial-time %s or longer", longer), Command: command}
	case verdict.StepSee:
		return document.Item{Text: "measure the Go binary itself, as the same user, and for long enough to be read" +
			w.ways(otherWay{"; if its GOMAXPROCS can never be read, --any-program gives an answer that is likely at most", "any-program", ""})}
	case verdict.StepSteady: // who measures can seldom change that, but it may end
		text := "measure again at another time, or on another machine"
		if !w.r.Complete || w.timedOut() { // on this machine only
			text = "continue at another time"
		}
		return document.Item{Text: text + ": its clock was lower, or other virtual machines took the CPU or its caches", Command: w.again()}
	case verdict.StepWeigh:
		return document.Item{Text: "measure " + w.onLinux("on Linux, and ", "") + "longer runs, in which procfit can read the memory"}
	case verdict.StepCount:
		return document.Item{Text: "measure " + w.onLinux("on Linux, where procfit counts", "where procfit can read /proc/stat, and so count") + " what other programs use"}
	case verdict.StepVary:
		return document.Item{Text: "compare values of GOGC, since the garbage collector takes much of the CPU time", Command: w.varied()}
	case verdict.StepProfile:
		text := "profile it, to see which functions take the CPU time"
		if w.r.Target.Kind == journal.KindServer {
			text += " (the server must serve net/http/pprof)"
		}
		return document.Item{Text: text, Command: w.profiled()}
	}
	return document.Item{Text: cmp.Or(fixedSteps[s.Code], string(s.Code))}
}

// onLinux is advice to leave another system, or what helps on Linux.
func (w words) onLinux(elsewhere, here string) string {
	return phrase.If(w.r.Host.OS == "linux", here, elsewhere)
}

// fixedSteps are those without a number or a command.
var fixedSteps = map[verdict.StepCode]string{
	verdict.StepFix:             "fix the cause, then start again with another --out",
	verdict.StepReadOutput:      "read what the target and the load generator printed, in logs/",
	verdict.StepFindDerived:     "find what else depends on the variable: a pool sized from it, or a library that sets GOMAXPROCS at startup",
	verdict.StepOfferRate:       "use a --load command that takes {rate}, or the load generator of procfit",
	verdict.StepLessRate:        "use a lower --rate, more CPUs, or a higher --limit",
	verdict.StepObjective:       "use a longer --slo, more CPUs, or a higher --limit",
	verdict.StepOwnLoad:         "measure with the load generator of procfit, which reports how late it sent",
	verdict.StepStartAgain:      "start again with another --out, so that all trials are measured in the same way",
	verdict.StepBenchmarksApart: "measure the benchmarks one at a time, with -bench",
}

// again is the command that measures the same in a new folder, or, of a race that its time
// ended, longer in its own; empty: it is not complete, and continues, or it is no sweep.
func (w words) again() string {
	switch {
	case !w.r.Complete || !swept(w.r):
		return ""
	case w.timedOut():
		return continued(w.r)
	}
	return w.r.Spec.With(newFolder).Shell()
}

// timedOut reports whether a race lacks nothing but time.
func (w words) timedOut() bool { return w.r.Complete && outOfTime(w.r) }

// incompleteText has nothing on an experiment: what ended that is its verdict.
func incompleteText(r *verdict.Result) string {
	if r.Complete || r.Settled() || r.Canary != nil || r.Live != nil {
		return ""
	}
	ran := fmt.Sprintf("Incomplete: %d of %s ran", r.TrialsRun, phrase.Count(r.TrialsPlanned, "planned trial"))
	if r.Plan.Racing() {
		ran = "Incomplete: " + endedEarly(r)
	}
	const fix = " Fix the cause, then start again with another --out."
	switch {
	case r.TrialsRun == 0 && r.PilotsInvalid > 0:
		return ran + ": the trials that find the request rate were invalid." + fix
	case r.TrialsRun > 0 && r.TrialsInvalid == r.TrialsRun:
		return ran + ", and none was valid." + fix
	}
	if outOfTime(r) {
		ran += ": --for was too short"
	}
	if swept(r) {
		return ran + ". To continue, run: " + continued(r)
	}
	return ran + ". To continue, " + howToComplete(r) + "."
}

func (g *group) snippets(n int) []document.Code {
	line := "GOMAXPROCS=" + strconv.Itoa(n)
	run := "export " + line
	if c := phrase.Shell(g.r.Target.Command); c != "" && !strings.Contains(c, "{") {
		run = line + " " + c
	}
	out := []document.Code{
		{Title: "Shell", Text: run},
		{Title: "Kubernetes container", Note: "keep the quotes: without them the API server rejects the value",
			Text: fmt.Sprintf("env:\n  - name: GOMAXPROCS\n    value: \"%d\"", n)},
	}
	// resourceFieldRef rounds a limit up to whole CPUs. An absent divisor is stored
	// as "0", an endless difference in GitOps tools, so "1" is written out.
	if q := g.QuotaCPUs; q != nil && int(math.Ceil(*q)) == n {
		out = append(out, document.Code{Title: "Kubernetes container, following the limit",
			Note: fmt.Sprintf("with limits.cpu of %s this is %d; it follows an edited manifest, not an in-place resize", milli(*q), n),
			Text: "env:\n  - name: GOMAXPROCS\n    valueFrom:\n      resourceFieldRef:\n        resource: limits.cpu\n        divisor: \"1\""})
	}
	return append(out,
		document.Code{Title: "Dockerfile", Text: "ENV " + line},
		document.Code{Title: "systemd unit", Text: "[Service]\nEnvironment=" + line},
	)
}

// milli is a quota as Kubernetes writes it: "2", "500m".
func milli(q float64) string {
	if q == float64(int(q)) {
		return strconv.Itoa(int(q))
	}
	return strconv.Itoa(int(q*1000+0.5)) + "m"
}
