package page

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
)

// wording is a remark in words: what it says, and what to do about it.
type wording struct{ text, fix string }

// row has the words of one kind of remark.
type row struct {
	of    reflect.Type
	words func(words, verdict.Remark) wording
}

// says is the row of a kind of remark.
func says[T verdict.Remark](of func(w words, x T) wording) row {
	return row{reflect.TypeFor[T](), func(w words, x verdict.Remark) wording { return of(w, x.(T)) }}
}

// say words a remark.
func (w words) say(x verdict.Remark) wording {
	if row, known := catalogue[reflect.TypeOf(x)]; known {
		return row.words(w, x)
	}
	return wording{text: string(x.Code())}
}

// catalogue has all words of remarks, by the kind of remark: codes are not unique, as a warning
// and the cause of a verdict may have one in common.
var catalogue = byKind(
	// What was measured, and how often.
	says(func(w words, x verdict.FewBlocks) wording {
		return wording{fmt.Sprintf("a setting needs %d valid trials for a proof, and one setting has only %d", verdict.FewestPairs, x.Valid), w.enough(x.Valid)}
	}),
	says(func(w words, x verdict.FewSettings) wording {
		return wording{phrase.Count(x.Settings, "setting") + " measured: the best value may be one that was not", w.ways(way{"use --procs auto", "procs", "auto"}, way{text: "measure at least five values"})}
	}),
	says(func(_ words, x verdict.InvalidTrials) wording {
		fix := readLogs
		switch {
		case x.Stolen:
			fix = unshared
		case x.CrashedFrom > 0:
			fix += fmt.Sprintf("; it failed only with GOMAXPROCS %d or more, as programs with a data race do: build it with -race, and run it once", x.CrashedFrom)
		}
		return wording{invalid(x.Invalid, "trial"), fix}
	}),
	says(func(w words, x verdict.InvalidPilots) wording {
		fix := w.ways(way{text: readLogs}, way{"set --rate: then procfit runs no pilot trials", "rate", ""})
		if x.Stolen {
			fix = unshared
		}
		return wording{invalid(x.Invalid, "pilot trial"), fix}
	}),
	says(func(w words, x verdict.Noisy) wording {
		return wording{strays(x.Spread, "throughput"), "use a quieter machine or a longer --duration, or allow " + more(w.plan())}
	}),
	says(func(w words, x verdict.NoisyP99) wording {
		return wording{strays(x.Spread, w.quantile()), "use a longer --duration, or allow " + more(w.plan())}
	}),
	says(func(w words, x verdict.FewCollections) wording {
		phase, depends := "the throughput phase of a trial with GOMAXPROCS "+x.Setting, "its throughput depends"
		if w.result.Target.Attached != nil {
			phase, depends = "a trial", "its numbers depend"
		}
		return wording{fmt.Sprintf("%s has about %s garbage collections, and each takes %s of its time: %s on how many it happens to have", phase, short(x.Collections, 2), number.Percent(x.Share), depends),
			fmt.Sprintf("use --duration %s, which has room for five", time.Duration(x.Seconds)*time.Second)}
	}),
	says(func(w words, _ verdict.FlatCurve) wording {
		fix := "profile the program first: GOMAXPROCS may not matter here"
		if w.allocates() != "" {
			fix = "GOMAXPROCS may not matter here: " + w.instead()
		}
		return wording{fmt.Sprintf("all values are within %s of the best", number.Percent(w.plan().Margin)), fix}
	}),
	says(func(w words, x verdict.FaultHeld) wording {
		return wording{fmt.Sprintf("page faults kept %s of %s waiting for the disk with GOMAXPROCS=%d, the highest value that was measured", number.Short(number.Significant(min(x.Held, float64(x.Procs)), 2)), phrase.Count(x.Procs, "P"), x.Procs),
			"higher values are worth a measurement: " + w.higher(x.Procs)}
	}),
	says(func(_ words, x verdict.SetLiveDiffers) wording {
		return wording{"the throughput differs when the value is set at the start instead of live: GOMAXPROCS " + each(x.Settings, func(times float64) string { return short(times, number.Digits) + "×" }) +
			". What the program sized at its start, such as a pool, keeps that size",
			"a manifest sets the value at the start: use the answer of that group. procfit check . names such sizes (PF029, PF030, PF037)"}
	}),
	says(func(_ words, x verdict.MetricsWorse) wording {
		return wording{"proven worse with GOMAXPROCS " + x.Setting + ": " + losses(x.Losses),
			"choose the metric that matters most with --metric, or measure the benchmarks one at a time"}
	}),

	// The load.
	says(func(w words, x verdict.Overloaded) wording {
		return wording{fmt.Sprintf("GOMAXPROCS %s could not keep up with %s: %s latency is mostly queueing", phrase.And(x.Settings), w.rate(), verb(len(x.Settings), "its", "their")), "use a lower --rate to compare their latency too"}
	}),
	says(func(_ words, x verdict.Dropped) wording {
		return wording{number.Count(float64(x.Requests)) + " requests were due but never sent", "use more --connections or a lower --rate"}
	}),
	says(func(_ words, x verdict.Unanswered) wording {
		return wording{fmt.Sprintf("%d of %s got no response, with GOMAXPROCS %s: their latency is the time that they waited until the end", x.Count, phrase.Count(x.Of, "request"), phrase.And(x.Settings)),
			"read the target's output in logs/: it hangs, or it has too few connections"}
	}),
	says(func(_ words, x verdict.Redirects) wording {
		which := fmt.Sprintf("%s of %s", number.Count(float64(x.Count)), phrase.Count(x.Of, "response"))
		if x.Count >= x.Of {
			which = "all responses"
		}
		return wording{which + " were redirects (3xx): is the URL right?", "use the URL that they redirect to"}
	}),
	says(func(w words, x verdict.SentLate) wording {
		var late []string
		for _, a := range x.Settings {
			late = append(late, fmt.Sprintf("%s (%d of %d trials)", a.Label, a.Late, a.Of))
		}
		return wording{"the load generator itself sent requests late, so the latency of some trials is not compared: " + phrase.And(late), w.inTime()}
	}),
	says(func(w words, x verdict.PrompterCarrier) wording {
		return wording{fmt.Sprintf("%s sustains the rate with a "+w.quantile()+" of %s, proven lower than the %s of %s", x.Better.Label, number.Seconds(x.Better.Value), number.Seconds(x.Named.Value), x.Named.Label),
			"choose it if p99 matters more than CPUs"}
	}),
	says(func(w words, x verdict.SharedMachine) wording {
		return wording{fmt.Sprintf("the load generator and the program together used nearly all %s of the machine, the load generator %s of them: the program alone would reach a higher throughput", number.CPUs(x.CPUs), cpusUsed(x.LoadCPUs)),
			w.ways(way{text: "run the load generator on another machine"}, w.ownCPUs("give each its own CPUs with --target-cpuset and --load-cpuset"))}
	}),
	says(func(w words, x verdict.LoadLimited) wording {
		return wording{fmt.Sprintf("the load generator was at its limit in %d of %s: the program may reach a higher throughput", x.Trials, phrase.Count(x.Of, "trial")), w.loadElsewhere()}
	}),

	// The value that the program used.
	says(words.unread),
	says(func(words, verdict.NoGo) wording {
		return wording{"the target is not a Go program: GOMAXPROCS has no effect on it", "measure the Go program itself; if a script starts it, the program ended too soon to be seen"}
	}),
	says(func(_ words, x verdict.DefaultVaries) wording {
		return wording{"the default was not the same value in every trial: " + phrase.And(x.Settings), "do not change CPU limits or the number of CPUs during a sweep"}
	}),
	says(func(_ words, x verdict.UnsetPerformsApart) wording {
		return wording{fmt.Sprintf("with GOMAXPROCS unset the runtime uses %d, but performs differently from an explicit GOMAXPROCS=%d", x.Procs, x.Procs), "look for worker pools sized from the variable, and for libraries that set GOMAXPROCS"}
	}),

	// CPUs: limits, other programs, the machine.
	says(func(w words, x verdict.ThrottledBeyond) wording {
		return wording{fmt.Sprintf("throttled with GOMAXPROCS above the CPU limit of %s: %s", number.CPUs(x.LimitCPUs), each(x.Settings, ofPeriods)), w.adviceOf(x.Throttled)}
	}),
	says(func(w words, x verdict.ThrottledWithin) wording {
		return wording{fmt.Sprintf("throttled by the CPU limit of %s although GOMAXPROCS is not above it: %s", number.CPUs(x.LimitCPUs), each(x.Settings, ofPeriods)), w.adviceOf(x.Throttled)}
	}),
	says(func(w words, x verdict.ThrottledAround) wording {
		return wording{fmt.Sprintf("throttled by the CPU limit of %s on a parent cgroup (%s), which other programs may share, with GOMAXPROCS %s", number.CPUs(x.LimitCPUs), x.Group, each(x.Settings, ofPeriods)), w.adviceOf(x.Throttled)}
	}),
	says(func(w words, x verdict.OthersBusy) wording {
		text := w.others()
		if len(x.Withheld) > 0 {
			text += ", so the settings that need these CPUs are not compared: " + phrase.And(x.Withheld)
		}
		return wording{text, "stop other programs on this machine, or measure on a quieter one"}
	}),
	says(func(_ words, x verdict.QuotaUnbound) wording {
		replicas := ""
		if x.Replicas > 1 {
			replicas = fmt.Sprintf(" %d replicas", x.Replicas)
		}
		return wording{fmt.Sprintf("runs used more CPU than the limit of %s allows%s, which is possible in very short runs (the period of the limit is 100 ms), with GOMAXPROCS %s", number.CPUs(x.QuotaCPUs), replicas, each(x.Settings, cpusUsed)),
			"make trials longer than a second: more work per run, or a longer --duration"}
	}),
	says(func(_ words, x verdict.Oversubscribed) wording {
		return wording{fmt.Sprintf("%s with a CPU limit of %s need %s, but the machine has %s", phrase.Count(x.Replicas, "replica"), number.CPUs(x.QuotaCPUs), number.CPUs(x.NeedCPUs), number.CPUs(x.MachineCPUs)),
			"use fewer replicas or a lower limit, unless nodes in production are as full"}
	}),
	says(func(_ words, x verdict.SpansNodes) wording {
		return wording{fmt.Sprintf("the target's CPUs are on %s (%s), and memory of another node takes longer to reach", phrase.Count(len(x.Nodes), "NUMA node"), nodes(x.Nodes)),
			fmt.Sprintf("compare with --target-cpuset node%d, and run each replica on one node", x.Nodes[0].ID)}
	}),
	says(func(_ words, x verdict.SpansKinds) wording {
		return wording{fmt.Sprintf("the target may run on performance cores (CPUs %s) and on efficiency cores (CPUs %s): its speed depends on which of them the kernel chooses", x.Performance, x.Efficiency),
			"compare with --target-cpuset performance"}
	}),
	says(func(_ words, x verdict.Heat) wording {
		return wording{fmt.Sprintf("the CPUs lowered their clock because they were too hot, in %d of %s", x.Trials, phrase.Count(x.Of, "trial")),
			"cool the machine better, or give the target fewer CPUs with a smaller --target-cpuset"}
	}),
	says(func(_ words, x verdict.Drift) wording {
		return wording{fmt.Sprintf("throughput drifted during the run: the end is %s than the start", slower(x.Change)), "use a quieter machine; the comparisons remain valid, because they are made within blocks"}
	}),
	says(func(_ words, x verdict.Steal) wording {
		text := fmt.Sprintf("the hypervisor took %s of the CPU time", number.Percent(x.Share))
		if bursts := fmt.Sprintf("20%% or more of it in %d of %s", x.Bursts, phrase.Count(x.Of, "trial")); x.Bursts > 0 && number.Percent(x.Share) == "0%" {
			text = "the hypervisor took CPU time: " + bursts
		} else if x.Bursts > 0 {
			text += ", and " + bursts
		}
		return wording{text, unshared}
	}),

	// The journal.
	says(func(w words, x verdict.Incomplete) wording {
		fix := "to continue, " + completed(w.result)
		if x.NoneValid {
			fix = "fix the cause, then start again with another --out"
		}
		if w.plan().Racing() {
			return wording{fmt.Sprintf("the sweep ended after %d of at most %s, %s", x.Ran, phrase.Count(x.Planned, "trial"), answered(w.result)), fix}
		}
		return wording{fmt.Sprintf("only %d of %d planned trials are in the journal", x.Ran, x.Planned), fix}
	}),
	says(func(_ words, x verdict.TrialWarnings) wording {
		return wording{text: fmt.Sprintf("%s in trials, the first: %s", phrase.Count(x.Count, "warning"), trialWarning(x.First))}
	}),
	says(func(_ words, x verdict.MixedUnits) wording {
		return wording{fmt.Sprintf("%s not used: their unit is %s, and that of the others %s", phrase.CountOf(x.Trials, "trial is", "trials are"), unitName(x.Other), unitName(x.Unit)),
			"read what the program printed in logs/: the value of --metric is missing there"}
	}),
	says(words.notProfiled),
	says(func(_ words, x verdict.Duplicates) wording {
		return wording{phrase.Count(x.Trials, "trial") + " in the journal twice: procfit uses the first of each setting and block", "keep one journal per run"}
	}),

	// A canary.
	says(func(_ words, x canary.FewSlices) wording {
		return wording{phrase.Count(x.Slices, "slice") + ": an interval of so few is of little use", "use a longer --duration"}
	}),
	says(func(words, canary.PerPod) wording {
		return wording{"CPU time is counted per pod, not per request, because nothing counted the requests: a pod that gets more requests uses more CPU time",
			"count the requests with --query requests='sum(increase(REQUESTS_TOTAL{pod=~\"$pods\"}[$slice]))', or with the Meter of maxprocs/live in the program"}
	}),
	says(func(_ words, x canary.Idle) wording {
		return wording{"in most slices no request reached GOMAXPROCS " + phrase.And(x.Settings) + ": clients that keep their connections open do not reach new pods", "let clients open new connections"}
	}),
	says(func(_ words, x canary.SameProcs) wording {
		return wording{text: "GOMAXPROCS " + phrase.And(x.Settings) + " is the default here: both pods run the same program, and any difference is chance"}
	}),
)

// Remarks are the kinds of remark that have words.
func Remarks() []reflect.Type { return slices.Collect(maps.Keys(catalogue)) }

func byKind(rows ...row) map[reflect.Type]row {
	all := map[reflect.Type]row{}
	for _, r := range rows {
		all[r.of] = r
	}
	return all
}
