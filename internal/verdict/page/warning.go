package page

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// advice is a warning in words, with what to do about it.
type advice struct{ message, fix string }

// warn words a warning of a Result.
func warn(r *verdict.Result, w *verdict.Warning) advice {
	var of words
	if w.Group != nil && *w.Group >= 0 && *w.Group < len(r.Groups) {
		of = words{&r.Groups[*w.Group], r}
	} else {
		of = words{&verdict.Group{}, r}
	}
	for _, words := range []func(*verdict.Warning) (advice, bool){of.warnOfPlan, of.warnOfLoad, of.warnOfProcs, of.warnOfCPUs, of.warnOfRun, of.warnOfCanary} {
		if a, ok := words(w); ok {
			return a
		}
	}
	return advice{message: string(w.Code)}
}

func (o words) warnOfPlan(w *verdict.Warning) (advice, bool) {
	switch w.Code {
	case verdict.WarnFewBlocks:
		return advice{fmt.Sprintf("a setting needs %d valid trials to prove anything, and one has %d", verdict.FewestPairs, w.Count), o.enough()}, true
	case verdict.WarnFewSettings:
		return advice{phrase.Count(w.Count, "setting") + " measured; the best value may be another", "--procs auto, or at least five values"}, true
	case verdict.WarnInvalid, verdict.WarnInvalidPilots:
		return invalidTrials(w), true
	case verdict.WarnNoisy:
		return advice{o.strays(w, "throughput"), "a quieter machine, a longer --duration, or " + more(o.plan())}, true
	case verdict.WarnNoisyP99:
		return advice{o.strays(w, o.quantile()), "a longer --duration, or " + more(o.plan())}, true
	case verdict.WarnFlat:
		fix := "profile first: GOMAXPROCS may not be your knob"
		if o.allocates() != "" {
			fix = "GOMAXPROCS may not be your knob: " + o.instead()
		}
		return advice{fmt.Sprintf("all values are within %s of the best", number.Percent(o.plan().Margin)), fix}, true
	case verdict.WarnMetricWorse:
		return advice{"proven worse at GOMAXPROCS " + w.Setting + ": " + losses(w.Losses),
			"judge by the one that matters most: name it with --metric, or sweep the benchmarks one at a time"}, true
	}
	return advice{}, false
}

// enough is how to have the trials that a proof takes.
func (o words) enough() string {
	if o.plan().Racing() {
		return more(o.plan())
	}
	return "--repeats 6 or more"
}

// unshared is what helps against a hypervisor that takes the CPUs.
const unshared = "use a machine that is not shared; in a cloud, one without CPU credits that can run out"

func invalidTrials(w *verdict.Warning) advice {
	noun, remedy := "trial", "read their output under logs/"
	if w.Code == verdict.WarnInvalidPilots {
		noun, remedy = "pilot trial", "read their output under logs/, or give a --rate: then no pilot is needed"
	}
	if w.Stolen {
		remedy = unshared
	}
	return advice{invalid(w, noun), remedy}
}

func invalid(w *verdict.Warning, noun string) string {
	why := w.Reason
	if why == "" {
		why = otherUnit
	}
	return fmt.Sprintf("%d of %s invalid, most often: %s", w.Count, phrase.Count(w.Of, noun), why)
}

func (o words) strays(w *verdict.Warning, metric string) string {
	return fmt.Sprintf("trials vary by %s in %s, too much to tell small differences", strayed(w.Value), metric)
}

func losses(list []verdict.Reason) string {
	var all []string
	for i := range list {
		r := &list[i]
		all = append(all, fmt.Sprintf("%s is %.2f× that of %s (n %d)", r.Metric, 1+r.Change, r.Than.Setting, r.N))
	}
	return phrase.And(all)
}

func (o words) warnOfLoad(w *verdict.Warning) (advice, bool) {
	switch w.Code {
	case verdict.WarnSaturated:
		return advice{fmt.Sprintf("GOMAXPROCS %s fell behind at %s: %s latency is queueing", labels(w.Settings), o.rate(), whose(len(w.Settings))), "a lower --rate, to compare their latency too"}, true
	case verdict.WarnDropped:
		return advice{number.Count(float64(w.Count)) + " requests that were due were never sent", "more --connections, or a lower --rate"}, true
	case verdict.WarnUnanswered:
		return advice{fmt.Sprintf("%d of %s were never answered, at GOMAXPROCS %s: each counts with the time that it had waited", w.Count, phrase.Count(w.Of, "request"), labels(w.Settings)),
			"read the target's output under logs/: it hangs, or is short of connections"}, true
	case verdict.WarnRedirects:
		if w.Count >= w.Of {
			return advice{"all answers were redirects (3xx): is the URL right?", "give the URL that they lead to"}, true
		}
		return advice{fmt.Sprintf("%s of %s were redirects (3xx): is the URL right?", number.Count(float64(w.Count)), phrase.Count(w.Of, "answer")), "give the URL that they lead to"}, true
	case verdict.WarnSendLag:
		return advice{"the load generator itself sent late, and these trials' latency is not compared: " + each(w.Settings, func(a verdict.SettingFigure) string {
			return fmt.Sprintf("%.0f of %.0f trials", a.Value, a.Limit)
		}), "drive the load from CPUs of its own: --load-cpuset"}, true
	case verdict.WarnCarrierP99:
		better, x := w.Settings[0], w.Settings[1]
		return advice{fmt.Sprintf("%s carries the rate with a "+o.quantile()+" of %s, proven lower than the %s of %s", better.Label, number.Seconds(better.Value), number.Seconds(x.Value), x.Label),
			"choose it where p99 matters more than CPUs"}, true
	case verdict.WarnShared:
		return advice{fmt.Sprintf("load generator and program together used all of the machine's %s, the generator %s: the program alone would reach more", number.CPUs(w.Limit), cpusUsed(w.Value)),
			"drive the load from another machine, or pin each to its own CPUs with --target-cpuset and --load-cpuset"}, true
	case verdict.WarnLoadLimited:
		return advice{fmt.Sprintf("the load generator was at its own limit in %d of %s: the program may be capable of more", w.Count, phrase.Count(w.Of, "trial")),
			"drive the load from another machine, or with --load-cpuset on CPUs of its own"}, true
	}
	return advice{}, false
}

func (o words) warnOfProcs(w *verdict.Warning) (advice, bool) {
	switch w.Code {
	case verdict.WarnUnproven:
		return advice{"the GOMAXPROCS that the program really ran at could not be read: " + labels(w.Settings), "measure a Go binary whose process may be read (same user, or root)"}, true
	case verdict.WarnNoGo:
		return advice{"the target is not a Go program: GOMAXPROCS means nothing to it", "sweep the Go program itself; where a script starts one, it ended too soon to be seen"}, true
	case verdict.WarnDefaultVaries:
		return advice{"the default did not choose the same value in every trial: " + labels(w.Settings), "keep the limits and CPUs of the machine fixed during a sweep"}, true
	case verdict.WarnUnsetDiffers:
		return advice{fmt.Sprintf("unset chose %d but performs unlike GOMAXPROCS=%d", w.Procs, w.Procs), "look for pools sized from the variable and for libraries that set GOMAXPROCS"}, true
	}
	return advice{}, false
}

func (o words) warnOfCPUs(w *verdict.Warning) (advice, bool) {
	periods := func(a verdict.SettingFigure) string { return number.Percent(a.Value) + " of periods" }
	switch w.Code {
	case verdict.WarnThrottledBeyond:
		return advice{fmt.Sprintf("throttled with more Ps than the quota of %s, at GOMAXPROCS %s", number.CPUs(w.Limit), each(w.Settings, periods)),
			o.adviceOf(w)}, true
	case verdict.WarnThrottledWithin:
		return advice{fmt.Sprintf("throttled by the quota of %s with no more Ps than that, rounded up, at GOMAXPROCS %s", number.CPUs(w.Limit), each(w.Settings, periods)),
			o.adviceOf(w)}, true
	case verdict.WarnThrottledAround:
		return advice{fmt.Sprintf("throttled by a limit of %s around the target (%s), which others may share, at GOMAXPROCS %s", number.CPUs(w.Limit), w.Reason, each(w.Settings, periods)),
			o.adviceOf(w)}, true
	case verdict.WarnOthers:
		text := o.others()
		if len(w.Settings) > 0 {
			text += ", so settings that need these CPUs are not compared: " + labels(w.Settings)
		}
		return advice{text, "quiet the machine, or measure on another"}, true
	case verdict.WarnUnbound:
		replicas := ""
		if w.Count > 1 {
			replicas = fmt.Sprintf(" %d replicas", w.Count)
		}
		return advice{fmt.Sprintf("runs used more CPU than the quota of %s allows%s, as very short runs can (its period is 100 ms), at GOMAXPROCS %s",
			number.CPUs(w.Limit), replicas, each(w.Settings, func(a verdict.SettingFigure) string { return cpusUsed(a.Value) })),
			"make trials longer than a second: more work in a run, or a longer --duration"}, true
	case verdict.WarnOversubscribed:
		return advice{fmt.Sprintf("%s with a quota of %s need %s, and the machine has %s", phrase.Count(w.Count, "replica"), number.CPUs(o.quota()), number.CPUs(w.Value), number.CPUs(w.Limit)),
			"fewer replicas or a smaller quota, unless nodes in production are as full"}, true
	}
	return advice{}, false
}

func (o words) warnOfRun(w *verdict.Warning) (advice, bool) {
	switch w.Code {
	case verdict.WarnIncomplete:
		fix := "to complete it, " + completed(o.result)
		if w.Mend {
			fix = "fix the cause, then start over with another --out"
		}
		if o.plan().Racing() {
			return advice{fmt.Sprintf("the sweep ended after %d of at most %s, before there was an answer", w.Count, phrase.Count(w.Of, "trial")), fix}, true
		}
		return advice{fmt.Sprintf("only %d of %d planned trials are in the journal", w.Count, w.Of), fix}, true
	case verdict.WarnSpansNodes:
		return advice{fmt.Sprintf("the target's CPUs are at %s of memory (%s), and what is at another node is farther away", phrase.Count(len(w.Nodes), "NUMA node"), nodes(w.Nodes)),
			fmt.Sprintf("compare with --target-cpuset node%d, and place replicas by node", w.Nodes[0].ID)}, true
	case verdict.WarnDrift:
		return advice{fmt.Sprintf("throughput drifted over the run: the end is %s than the start", slower(w.Value)), "use a quieter machine; comparisons stand, as they are made within blocks"}, true
	case verdict.WarnSteal:
		text := fmt.Sprintf("the hypervisor took %s of the CPU time", number.Percent(w.Value))
		if bursts := fmt.Sprintf("a fifth or more of it in %d of %s", w.Count, phrase.Count(w.Of, "trial")); w.Count > 0 && number.Percent(w.Value) == "0%" {
			text = "the hypervisor took CPU time: " + bursts
		} else if w.Count > 0 {
			text += ", and " + bursts
		}
		return advice{text, unshared}, true
	case verdict.WarnTrials:
		return advice{message: fmt.Sprintf("%s in trials, the first: %s", phrase.Count(w.Count, "warning"), trialWarning(w.Trial))}, true
	case verdict.WarnMixedUnits:
		return advice{fmt.Sprintf("%s left out: counted in %s, and the others in %s", phrase.CountOf(w.Count, "trial is", "trials are"), unitName(w.Reason), unitName(w.Unit)),
			"look at what the program printed, under logs/: the figure of --metric was missing there"}, true
	case verdict.WarnDuplicates:
		return advice{phrase.Count(w.Count, "trial") + " in the journal twice: of each setting and block the first counts", "keep one journal of each run"}, true
	}
	return advice{}, false
}

func (o words) warnOfCanary(w *verdict.Warning) (advice, bool) {
	switch w.Code {
	case verdict.WarnFewSlices:
		return advice{phrase.Count(w.Count, "slice") + ": an interval of so few says little", "a longer --duration has more of them"}, true
	case verdict.WarnPerPod:
		return advice{"CPU time is of a pod and not of a request, as no query told the requests: how the Service spread them is in it",
			"--query requests='sum(increase(REQUESTS_TOTAL{pod=~\"$pods\"}[$slice]))' tells them"}, true
	case verdict.WarnIdle:
		return advice{"no request came in most slices to GOMAXPROCS " + labels(w.Settings) + ": clients that keep their connections for long do not meet new pods", "let clients open new connections"}, true
	case verdict.WarnSame:
		return advice{message: "GOMAXPROCS " + labels(w.Settings) + " is what unset comes to here: both are the same program, and what they differ in is chance"}, true
	}
	return advice{}, false
}

// otherUnit is why stat leaves out a trial that the journal calls valid.
const otherUnit = "its throughput is in another unit than its group's"

// invalidReason is the journal's, or that of a trial that stat left out itself.
func invalidReason(reason string, code journal.InvalidCode) string {
	if reason == "" && code == journal.InvalidUnit {
		return otherUnit
	}
	return reason
}

func unitName(name string) string {
	if u := throughputUnit(name); u != "" {
		return u
	}
	return name
}

// adviceOf is the group's advice on throttling, which stands with one warning.
func (o words) adviceOf(w *verdict.Warning) string {
	if !w.Advised {
		return ""
	}
	return o.throttlingAdvice()
}

func (o words) quota() float64 {
	if o.group.QuotaCPUs == nil {
		return 0
	}
	return *o.group.QuotaCPUs
}

// cpusUsed are CPUs that were measured, to two decimals.
func cpusUsed(x float64) string { return number.CPUs(math.Round(100*x) / 100) }

func labels(settings []verdict.SettingFigure) string {
	var all []string
	for _, a := range settings {
		all = append(all, a.Label)
	}
	return phrase.And(all)
}

// each is the settings with their figures: "4 (63% of periods) and 8 (80% of periods)".
func each(settings []verdict.SettingFigure, figure func(verdict.SettingFigure) string) string {
	var all []string
	for _, a := range settings {
		all = append(all, a.Label+" ("+figure(a)+")")
	}
	return phrase.And(all)
}
