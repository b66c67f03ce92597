package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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

func (w words) warnOfPlan(x *verdict.Warning) (advice, bool) {
	switch x.Code {
	case verdict.WarnFewBlocks:
		return advice{fmt.Sprintf("a setting needs %d valid trials for a proof, and one setting has only %d", verdict.FewestPairs, x.Count), w.enough(int(x.Count))}, true
	case verdict.WarnFewSettings:
		return advice{phrase.Count(x.Count, "setting") + " measured: the best value may be one that was not", w.ways(way{"use --procs auto", "procs", "auto"}, way{text: "measure at least five values"})}, true
	case verdict.WarnInvalid, verdict.WarnInvalidPilots:
		return w.invalidTrials(x), true
	case verdict.WarnNoisy:
		return advice{w.strays(x, "throughput"), "use a quieter machine or a longer --duration, or allow " + more(w.plan())}, true
	case verdict.WarnNoisyP99:
		return advice{w.strays(x, w.quantile()), "use a longer --duration, or allow " + more(w.plan())}, true
	case verdict.WarnFewCollections:
		phase, depends := "the throughput phase of a trial with GOMAXPROCS "+x.Setting, "its throughput depends"
		if w.result.Target.Attached != nil {
			phase, depends = "a trial", "its numbers depend"
		}
		return advice{fmt.Sprintf("%s has about %s garbage collections, and each takes %s of its time: %s on how many it happens to have", phase, short(x.Value, 2), number.Percent(x.Limit), depends),
			fmt.Sprintf("use --duration %s, which has room for five", time.Duration(x.Count)*time.Second)}, true
	case verdict.WarnFlat:
		fix := "profile the program first: GOMAXPROCS may not matter here"
		if w.allocates() != "" {
			fix = "GOMAXPROCS may not matter here: " + w.instead()
		}
		return advice{fmt.Sprintf("all values are within %s of the best", number.Percent(w.plan().Margin)), fix}, true
	case verdict.WarnHeld:
		return advice{fmt.Sprintf("page faults kept %s of %s waiting for the disk with GOMAXPROCS=%d, the highest value that was measured", number.Short(number.Significant(min(x.Value, float64(x.Procs)), 2)), phrase.Count(x.Procs, "P"), x.Procs),
			"higher values are worth a measurement: " + w.higher(x.Procs)}, true
	case verdict.WarnSetLive:
		return advice{"the throughput differs when the value is set at the start instead of live: GOMAXPROCS " + each(x.Settings, func(a verdict.SettingFigure) string {
			return short(a.Value, number.Digits) + "×"
		}) + ". What the program sized at its start, such as a pool, keeps that size",
			"a manifest sets the value at the start: use the answer of that group. procfit check . names such sizes (PF029, PF030, PF037)"}, true
	case verdict.WarnMetricWorse:
		return advice{"proven worse with GOMAXPROCS " + x.Setting + ": " + losses(x.Losses),
			"choose the metric that matters most with --metric, or measure the benchmarks one at a time"}, true
	}
	return advice{}, false
}

// enough is how to have the trials that a proof takes.
func (w words) enough(valid int) string {
	if w.plan().Racing() {
		return "allow " + more(w.plan())
	}
	// As many blocks were invalid as there are valid trials too few.
	return fmt.Sprintf("use --repeats %d or more", max(6, w.plan().Blocks+max(1, verdict.FewestPairs-valid)))
}

// unshared is what helps against a hypervisor that takes the CPUs.
const unshared = "use a machine that is not shared; in a cloud, one without CPU credits that can run out"

func (w words) invalidTrials(x *verdict.Warning) advice {
	noun, remedy := "trial", "read their output in logs/"
	if x.Code == verdict.WarnInvalidPilots {
		noun, remedy = "pilot trial", w.ways(way{text: remedy}, way{"set --rate: then procfit runs no pilot trials", "rate", ""})
	}
	switch {
	case x.Stolen:
		remedy = unshared
	case x.Procs > 0:
		remedy += fmt.Sprintf("; it failed only with GOMAXPROCS %d or more, as programs with a data race do: build it with -race, and run it once", x.Procs)
	}
	return advice{invalid(x, noun), remedy}
}

func invalid(w *verdict.Warning, noun string) string {
	why := w.Reason
	if why == "" {
		why = otherUnit
	}
	return fmt.Sprintf("%d of %s invalid; most common reason: %s", w.Count, phrase.Count(w.Of, noun), why)
}

func (w words) strays(x *verdict.Warning, metric string) string {
	return fmt.Sprintf("trials vary by %s in %s, too much to prove small differences", strayed(x.Value), metric)
}

func losses(list []verdict.Reason) string {
	var all []string
	for i := range list {
		r := &list[i]
		all = append(all, fmt.Sprintf("%s is %.2f× that of %s (n %d)", r.Metric, 1+r.Change, r.Than.Setting, r.N))
	}
	return phrase.And(all)
}

func (w words) warnOfLoad(x *verdict.Warning) (advice, bool) {
	switch x.Code {
	case verdict.WarnSaturated:
		return advice{fmt.Sprintf("GOMAXPROCS %s could not keep up with %s: %s latency is mostly queueing", labels(x.Settings), w.rate(), verb(len(x.Settings), "its", "their")), "use a lower --rate to compare their latency too"}, true
	case verdict.WarnDropped:
		return advice{number.Count(float64(x.Count)) + " requests were due but never sent", "use more --connections or a lower --rate"}, true
	case verdict.WarnUnanswered:
		return advice{fmt.Sprintf("%d of %s got no response, with GOMAXPROCS %s: their latency is the time that they waited until the end", x.Count, phrase.Count(x.Of, "request"), labels(x.Settings)),
			"read the target's output in logs/: it hangs, or it has too few connections"}, true
	case verdict.WarnRedirects:
		if x.Count >= x.Of {
			return advice{"all responses were redirects (3xx): is the URL right?", "use the URL that they redirect to"}, true
		}
		return advice{fmt.Sprintf("%s of %s were redirects (3xx): is the URL right?", number.Count(float64(x.Count)), phrase.Count(x.Of, "response")), "use the URL that they redirect to"}, true
	case verdict.WarnSendLag:
		return advice{"the load generator itself sent requests late, so the latency of some trials is not compared: " + each(x.Settings, func(a verdict.SettingFigure) string {
			return fmt.Sprintf("%.0f of %.0f trials", a.Value, a.Limit)
		}), w.inTime(x)}, true
	case verdict.WarnCarrierP99:
		better, worse := x.Settings[0], x.Settings[1]
		return advice{fmt.Sprintf("%s sustains the rate with a "+w.quantile()+" of %s, proven lower than the %s of %s", better.Label, number.Seconds(better.Value), number.Seconds(worse.Value), worse.Label),
			"choose it if p99 matters more than CPUs"}, true
	case verdict.WarnShared:
		return advice{fmt.Sprintf("the load generator and the program together used nearly all %s of the machine, the load generator %s of them: the program alone would reach a higher throughput", number.CPUs(x.Limit), cpusUsed(x.Value)),
			w.ways(way{text: "run the load generator on another machine"}, w.ownCPUs("give each its own CPUs with --target-cpuset and --load-cpuset"))}, true
	case verdict.WarnLoadLimited:
		return advice{fmt.Sprintf("the load generator was at its limit in %d of %s: the program may reach a higher throughput", x.Count, phrase.Count(x.Of, "trial")),
			w.loadElsewhere()}, true
	}
	return advice{}, false
}

// inTime is how requests are sent in time: without the other programs that use the CPUs, if there
// are any, else with more CPU time for the load generator.
func (w words) inTime(x *verdict.Warning) string {
	others := way{}
	if slices.ContainsFunc(w.result.Warnings, func(o verdict.Warning) bool {
		return o.Code == verdict.WarnOthers && (o.Group == nil || x.Group == nil || *o.Group == *x.Group)
	}) {
		others.text = "stop other programs on this machine"
	}
	own := w.ownCPUs("give the load generator its own CPUs with --load-cpuset")
	if own.text == "" {
		return w.ways(others, way{text: "use a lower --rate"}, way{text: "run the load generator on another machine"})
	}
	return w.ways(others, own)
}

// unproven is why the live values were not read; more permissions help only if they were missing.
func (w words) unproven(x *verdict.Warning) advice {
	a := advice{"the GOMAXPROCS value that the program really used could not be read: " + labels(x.Settings), "measure the Go binary itself, and for long enough to be read"}
	if x.Reason != "" {
		a.message += "; " + phrase.Clean(x.Reason)
	}
	if strings.Contains(x.Reason, "permission denied") {
		a.fix = "measure as the same user, with the permission that the reason names"
	}
	return a
}

func (w words) warnOfProcs(x *verdict.Warning) (advice, bool) {
	switch x.Code {
	case verdict.WarnUnproven:
		return w.unproven(x), true
	case verdict.WarnNoGo:
		return advice{"the target is not a Go program: GOMAXPROCS has no effect on it", "measure the Go program itself; if a script starts it, the program ended too soon to be seen"}, true
	case verdict.WarnDefaultVaries:
		return advice{"the default was not the same value in every trial: " + labels(x.Settings), "do not change CPU limits or the number of CPUs during a sweep"}, true
	case verdict.WarnUnsetDiffers:
		return advice{fmt.Sprintf("with GOMAXPROCS unset the runtime uses %d, but performs differently from an explicit GOMAXPROCS=%d", x.Procs, x.Procs), "look for worker pools sized from the variable, and for libraries that set GOMAXPROCS"}, true
	}
	return advice{}, false
}

func (w words) warnOfCPUs(x *verdict.Warning) (advice, bool) {
	periods := func(a verdict.SettingFigure) string { return number.Percent(a.Value) + " of periods" }
	switch x.Code {
	case verdict.WarnThrottledBeyond:
		return advice{fmt.Sprintf("throttled with GOMAXPROCS above the CPU limit of %s: %s", number.CPUs(x.Limit), each(x.Settings, periods)),
			w.adviceOf(x)}, true
	case verdict.WarnThrottledWithin:
		return advice{fmt.Sprintf("throttled by the CPU limit of %s although GOMAXPROCS is not above it: %s", number.CPUs(x.Limit), each(x.Settings, periods)),
			w.adviceOf(x)}, true
	case verdict.WarnThrottledAround:
		return advice{fmt.Sprintf("throttled by the CPU limit of %s on a parent cgroup (%s), which other programs may share, with GOMAXPROCS %s", number.CPUs(x.Limit), x.Reason, each(x.Settings, periods)),
			w.adviceOf(x)}, true
	case verdict.WarnOthers:
		text := w.others()
		if len(x.Settings) > 0 {
			text += ", so the settings that need these CPUs are not compared: " + labels(x.Settings)
		}
		return advice{text, "stop other programs on this machine, or measure on a quieter one"}, true
	case verdict.WarnUnbound:
		replicas := ""
		if x.Count > 1 {
			replicas = fmt.Sprintf(" %d replicas", x.Count)
		}
		return advice{fmt.Sprintf("runs used more CPU than the limit of %s allows%s, which is possible in very short runs (the period of the limit is 100 ms), with GOMAXPROCS %s",
			number.CPUs(x.Limit), replicas, each(x.Settings, func(a verdict.SettingFigure) string { return cpusUsed(a.Value) })),
			"make trials longer than a second: more work per run, or a longer --duration"}, true
	case verdict.WarnOversubscribed:
		return advice{fmt.Sprintf("%s with a CPU limit of %s need %s, but the machine has %s", phrase.Count(x.Count, "replica"), number.CPUs(w.quota()), number.CPUs(x.Value), number.CPUs(x.Limit)),
			"use fewer replicas or a lower limit, unless nodes in production are as full"}, true
	}
	return advice{}, false
}

func (w words) warnOfRun(x *verdict.Warning) (advice, bool) {
	switch x.Code {
	case verdict.WarnIncomplete:
		fix := "to continue, " + completed(w.result)
		if x.NoneValid {
			fix = "fix the cause, then start again with another --out"
		}
		if w.plan().Racing() {
			return advice{fmt.Sprintf("the sweep ended after %d of at most %s, %s", x.Count, phrase.Count(x.Of, "trial"), answered(w.result)), fix}, true
		}
		return advice{fmt.Sprintf("only %d of %d planned trials are in the journal", x.Count, x.Of), fix}, true
	case verdict.WarnSpansNodes:
		return advice{fmt.Sprintf("the target's CPUs are on %s (%s), and memory of another node takes longer to reach", phrase.Count(len(x.Nodes), "NUMA node"), nodes(x.Nodes)),
			fmt.Sprintf("compare with --target-cpuset node%d, and run each replica on one node", x.Nodes[0].ID)}, true
	case verdict.WarnSpansKinds:
		return advice{fmt.Sprintf("the target may run on performance cores (CPUs %s) and on efficiency cores (CPUs %s): its speed depends on which of them the kernel chooses", x.Nodes[0].CPUs, x.Nodes[1].CPUs),
			"compare with --target-cpuset performance"}, true
	case verdict.WarnHeat:
		return advice{fmt.Sprintf("the CPUs lowered their clock because they were too hot, in %d of %s", x.Count, phrase.Count(x.Of, "trial")),
			"cool the machine better, or give the target fewer CPUs with a smaller --target-cpuset"}, true
	case verdict.WarnDrift:
		return advice{fmt.Sprintf("throughput drifted during the run: the end is %s than the start", slower(x.Value)), "use a quieter machine; the comparisons remain valid, because they are made within blocks"}, true
	case verdict.WarnSteal:
		text := fmt.Sprintf("the hypervisor took %s of the CPU time", number.Percent(x.Value))
		if bursts := fmt.Sprintf("20%% or more of it in %d of %s", x.Count, phrase.Count(x.Of, "trial")); x.Count > 0 && number.Percent(x.Value) == "0%" {
			text = "the hypervisor took CPU time: " + bursts
		} else if x.Count > 0 {
			text += ", and " + bursts
		}
		return advice{text, unshared}, true
	case verdict.WarnTrials:
		return advice{message: fmt.Sprintf("%s in trials, the first: %s", phrase.Count(x.Count, "warning"), trialWarning(x.Trial))}, true
	case verdict.WarnMixedUnits:
		return advice{fmt.Sprintf("%s not used: their unit is %s, and that of the others %s", phrase.CountOf(x.Count, "trial is", "trials are"), unitName(x.Reason), unitName(x.Unit)),
			"read what the program printed in logs/: the value of --metric is missing there"}, true
	case verdict.WarnNoProfile:
		fix := "read what the program printed in logs/, and run the same command again: only the profile is missing"
		if x.Advised {
			fix = "serve them: import _ \"net/http/pprof\", and go http.ListenAndServe(\"127.0.0.1:6060\", nil) in main; then measure with --profile=http://127.0.0.1:6060/debug/pprof/"
			if w.had("profile", "http://127.0.0.1:6060/debug/pprof/") {
				fix = "serve them at that address: import _ \"net/http/pprof\", and go http.ListenAndServe(\"127.0.0.1:6060\", nil) in main"
			}
		}
		return advice{fmt.Sprintf("GOMAXPROCS %s was not profiled, or not completely: %s", x.Setting, x.Reason), fix}, true
	case verdict.WarnDuplicates:
		return advice{phrase.Count(x.Count, "trial") + " in the journal twice: procfit uses the first of each setting and block", "keep one journal per run"}, true
	}
	return advice{}, false
}

func (w words) warnOfCanary(x *verdict.Warning) (advice, bool) {
	switch x.Code {
	case verdict.WarnFewSlices:
		return advice{phrase.Count(x.Count, "slice") + ": an interval of so few is of little use", "use a longer --duration"}, true
	case verdict.WarnPerPod:
		return advice{"CPU time is counted per pod, not per request, because nothing counted the requests: a pod that gets more requests uses more CPU time",
			"count the requests with --query requests='sum(increase(REQUESTS_TOTAL{pod=~\"$pods\"}[$slice]))', or with the Meter of maxprocs/live in the program"}, true
	case verdict.WarnIdle:
		return advice{"in most slices no request reached GOMAXPROCS " + labels(x.Settings) + ": clients that keep their connections open do not reach new pods", "let clients open new connections"}, true
	case verdict.WarnSame:
		return advice{message: "GOMAXPROCS " + labels(x.Settings) + " is the default here: both pods run the same program, and any difference is chance"}, true
	}
	return advice{}, false
}

// otherUnit is why the verdict does not use a trial that the journal calls valid.
const otherUnit = "its throughput has another unit than that of its group"

// invalidReason is the journal's, or that of a trial that the verdict skipped itself.
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

// adviceOf is the group's advice on throttling, which is with one warning.
func (w words) adviceOf(x *verdict.Warning) string {
	if !x.Advised {
		return ""
	}
	return w.throttlingAdvice()
}

func (w words) quota() float64 {
	if w.group.QuotaCPUs == nil {
		return 0
	}
	return *w.group.QuotaCPUs
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

// each is the settings with their metrics: "4 (63% of periods) and 8 (80% of periods)".
func each(settings []verdict.SettingFigure, figure func(verdict.SettingFigure) string) string {
	var all []string
	for _, a := range settings {
		all = append(all, a.Label+" ("+figure(a)+")")
	}
	return phrase.And(all)
}
