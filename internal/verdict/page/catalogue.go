package page

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// wording is a remark in words. Remarks that follow one another under the same lead share a line.
type wording struct{ lead, text, fix string }

type wordingRow struct {
	of  reflect.Type
	say func(words, verdict.Remark) wording
}

// warns is the row of a warning: what weakens the result, and what to do about it.
func warns[T verdict.Remark](say func(w words, x T) (text, fix string)) wordingRow {
	return wordingRow{reflect.TypeFor[T](), func(w words, x verdict.Remark) wording {
		text, fix := say(w, x.(T))
		return wording{text: text, fix: fix}
	}}
}

func states[T verdict.Remark](say func(w words, x T) string) wordingRow {
	return underLead("", say)
}

func fixedText[T verdict.Remark](text string) wordingRow {
	return states(func(words, T) string { return text })
}

// underLead is the row of a reason that shares its line: {p99} is the judged quantile, {within} and
// {p99 within} are the margins, {rate} is that of the requests, and {again} is what becomes of a value.
func underLead[T verdict.Remark](lead string, say func(w words, x T) string) wordingRow {
	return wordingRow{reflect.TypeFor[T](), func(w words, x verdict.Remark) wording {
		filled := strings.NewReplacer("{p99}", w.quantile(), "{within}", number.Percent(w.r.Plan.Margin), "{p99 within}", number.Percent(w.r.Plan.MarginP99), "{rate}", w.rate(), "{again}", phrase.If(w.r.Plan.Racing(), ", so not measured again", "")).Replace(lead)
		return wording{lead: filled, text: say(w, x.(T))}
	}}
}

func (w words) say(x verdict.Remark) wording {
	if x == nil {
		return wording{text: "nothing was analyzed."}
	}
	if row, known := catalogue[reflect.TypeOf(x)]; known {
		return row.say(w, x)
	}
	return wording{text: string(x.Code())}
}

// catalogue has all words of remarks, by the kind of remark: codes are not unique, as a warning
// and the cause of a verdict may have one in common.
var catalogue = byKind(
	// What was measured, and how often.
	warns(func(w words, x verdict.FewBlocks) (string, string) {
		fix := "allow " + moreFlag(w.r.Plan)
		if !w.r.Plan.Racing() { // as many blocks were invalid as there are valid trials too few
			fix = fmt.Sprintf("use --repeats %d or more", max(6, w.r.Plan.Blocks+x.Lacks))
		}
		return fmt.Sprintf("a setting needs %d valid trials for a proof, and one setting has only %d", stat.FewestPairs, x.Valid), fix
	}),
	warns(func(w words, x verdict.FewSettings) (string, string) {
		return phrase.Count(x.Settings, "setting") + " measured: the best value may be one that was not", w.ways(otherWay{"use --procs auto", "procs", "auto"}, otherWay{text: "measure at least five values"})
	}),
	warns(func(w words, x verdict.InvalidTrials) (string, string) {
		fix := readLogs
		switch {
		case x.Stolen:
			fix = unshared
		case x.CrashedFrom > 0:
			fix += fmt.Sprintf("; it failed only with GOMAXPROCS %d or more, as programs with a data race do: build it with -race, and run it once", x.CrashedFrom)
		case x.Why == journal.InvalidProcs:
			fix = "remove what sets GOMAXPROCS in the program: a call of runtime.GOMAXPROCS, or a library"
		case x.Why == journal.InvalidTimeout:
			fix = "give them longer with --timeout run=" + doubled(w.r.Load.TrialTimeoutSeconds)
		}
		return invalidText(x.Invalid, phrase.If(x.Only != "", ", all with "+w.settings([]string{x.Only}), "")), fix
	}),
	warns(func(w words, x verdict.InvalidPilots) (string, string) {
		fix := w.ways(otherWay{text: readLogs}, otherWay{"set --rate: then no trial is needed to find one", "rate", ""})
		if x.Stolen {
			fix = unshared
		}
		return invalidText(x.Invalid, "") + "; they were to find the request rate", fix
	}),
	warns(func(w words, x verdict.Noisy) (string, string) {
		return straysText(x.Spread, "throughput"), "use a quieter machine or a longer --trial-time, or allow " + moreFlag(w.r.Plan)
	}),
	warns(func(w words, x verdict.NoisyP99) (string, string) {
		return straysText(x.Spread, w.quantile()), "use a longer --trial-time, or allow " + moreFlag(w.r.Plan)
	}),
	warns(func(w words, x verdict.FewCollections) (string, string) {
		phase, depends := "the throughput phase of a trial with "+w.settings([]string{x.Setting}), "its throughput depends"
		if w.r.Target.Attached != nil {
			phase, depends = "a trial", "its numbers depend"
		}
		return fmt.Sprintf("%s has about %s garbage collections, and each takes %s of its time: %s on how many it happens to have", phase, shortNumber(x.Collections, 2), number.Percent(x.Share), depends),
			fmt.Sprintf("use --trial-time %s, which has room for five", number.Typed(time.Duration(x.Seconds)*time.Second))
	}),
	warns(func(w words, _ verdict.FlatCurve) (string, string) {
		fix := "profile the program first: GOMAXPROCS may not matter here"
		if w.allocates() != "" {
			fix = "GOMAXPROCS may not matter here: " + w.allocates() + ", so profile its allocations first, and try GOGC or GOMEMLIMIT"
		}
		return fmt.Sprintf("all values are within %s of the best", number.Percent(w.r.Plan.Margin)), fix
	}),
	warns(func(w words, x verdict.FaultHeld) (string, string) {
		return fmt.Sprintf("page faults kept %s of %s waiting for the disk with GOMAXPROCS=%d, the highest value that was measured", number.Short(number.Significant(min(x.Held, float64(x.Procs)), 2)), phrase.Count(x.Procs, "P"), x.Procs),
			"higher values are worth a measurement: " + w.higher(x.Procs)
	}),
	warns(func(_ words, x verdict.MetricsWorse) (string, string) {
		losses := phrase.Each(x.Losses, func(l verdict.ReasonMetricWorse) string {
			return fmt.Sprintf("%s is %.2f× that of %s (n %d)", l.Metric, 1+l.Change, l.Than.Setting, l.N)
		})
		return "proven worse with GOMAXPROCS " + x.Setting + ": " + phrase.And(losses),
			"choose the metric that matters most with --metric, or measure the benchmarks one at a time"
	}),

	// The load.
	warns(func(w words, x verdict.Overloaded) (string, string) {
		var settings, some []string
		for _, a := range x.Settings {
			if settings = append(settings, a.Label); a.Late < a.Of {
				some = append(some, fmt.Sprintf("%s in %d of %d trials", w.version(a.Label), a.Late, a.Of))
			}
		}
		text, whose := w.settings(settings)+" could not keep up with "+w.rate(), verb(len(x.Settings), "its", "their")
		if some != nil {
			text, whose = text+" ("+phrase.And(some)+")", "in these trials the"
		}
		fix := "use a lower --rate to compare " + verb(len(settings), "its", "their") + " latency too"
		if !w.onlyRate() {
			fix = "for a lower rate: --rate N names the smallest value that sustains N req/s"
		}
		return text + ": " + whose + " latency is mostly queueing", fix
	}),
	warns(func(w words, x verdict.Dropped) (string, string) {
		return number.Count(float64(x.Requests)) + " requests were due but never sent", w.ways(otherWay{text: "use more --connections"}, w.lowerRate())
	}),
	warns(func(w words, x verdict.Unanswered) (string, string) {
		return fmt.Sprintf("%d of %s got no response, with %s: their latency is the time that they waited until the end", x.Count, phrase.Count(x.Of, "request"), w.settings(x.Settings)),
			"read the target's output in logs/: it hangs, or it has too few connections"
	}),
	warns(func(w words, x verdict.Redirects) (string, string) {
		which := fmt.Sprintf("%s of %s", number.Count(float64(x.Count)), phrase.Count(x.Of, "response"))
		if x.Count >= x.Of {
			which = "all responses"
		}
		if x.Settings != nil {
			which += " with " + w.settings(x.Settings)
		}
		return which + " were redirects (3xx): is the URL correct?", "use the URL that they redirect to"
	}),
	warns(func(w words, x verdict.SentLate) (string, string) {
		late := phrase.Each(x.Settings, func(a verdict.LateTrials) string {
			return fmt.Sprintf("%s (%d of %d trials)", w.version(a.Label), a.Late, a.Of)
		})
		text := "the load generator itself sent requests late, so the latency of some trials is not compared: " + phrase.And(late)
		quiet := otherWay{}
		if o := w.Others; o.Matter && o.CPUs != nil {
			quiet.text = "stop other programs on this machine"
		}
		own := w.ownCPUs("the load generator")
		if own.text == "" {
			return text, w.ways(quiet, w.lowerRate(), w.anotherMachine())
		}
		return text, w.ways(quiet, own)
	}),
	warns(func(w words, x verdict.PrompterCarrier) (string, string) {
		return fmt.Sprintf("%s sustains the rate with a "+w.quantile()+" of %s, proven lower than the %s of %s", x.Of.Setting, number.Seconds(*x.Of.P99.Median), number.Seconds(*x.Than.P99.Median), x.Than.Setting),
			"choose it if " + w.quantile() + " matters more than CPUs"
	}),
	warns(func(w words, x verdict.SharedMachine) (string, string) {
		return fmt.Sprintf("the load generator and the program together used nearly all %s that they may use, the load generator %s of them: the program alone would reach a higher throughput", number.CPUs(x.CPUs), number.CPUsUsed(x.LoadCPUs)),
			w.ways(w.anotherMachine(), w.ownCPUs("each"))
	}),
	warns(func(w words, x verdict.LoadLimited) (string, string) {
		return fmt.Sprintf("the load generator was at its limit in %d of %s: the program may reach a higher throughput", x.Trials, phrase.Count(x.Of, "trial")), w.loadElsewhere()
	}),

	// The value that the program used.
	warns(words.unread),
	warns(func(words, verdict.NoGo) (string, string) {
		return "the target is not a Go program: GOMAXPROCS has no effect on it", "measure the Go program itself; if a script starts it, the program ended too soon to be seen"
	}),
	warns(func(_ words, x verdict.DefaultVaries) (string, string) {
		return "the default was not the same value in every trial: " + phrase.And(x.Settings), "do not change CPU limits or the number of CPUs during a sweep"
	}),
	warns(func(_ words, x verdict.UnsetPerformsApart) (string, string) {
		return fmt.Sprintf("the default is %d, but performs differently from GOMAXPROCS=%[1]d", x.Procs), "look for worker pools sized from the variable, and for libraries that set GOMAXPROCS"
	}),

	// CPUs: limits, other programs, the machine.
	warns(func(w words, x verdict.ThrottledBeyond) (string, string) {
		return fmt.Sprintf("throttled with GOMAXPROCS above the CPU limit of %s: %s", number.CPUs(x.LimitCPUs), eachSetting(x.Settings, ofPeriods)), w.adviceOf(x.Throttled)
	}),
	warns(func(w words, x verdict.ThrottledWithin) (string, string) {
		above := phrase.If(x.LimitCPUs < math.Ceil(x.LimitCPUs), "it, rounded up", "it")
		return fmt.Sprintf("throttled by the CPU limit of %s although GOMAXPROCS is not above %s: %s", number.CPUs(x.LimitCPUs), above, eachSetting(x.Settings, ofPeriods)), w.adviceOf(x.Throttled)
	}),
	warns(func(w words, x verdict.ThrottledAround) (string, string) {
		return fmt.Sprintf("throttled by the CPU limit of %s on a parent cgroup (%s), which other programs may share, with GOMAXPROCS %s", number.CPUs(x.LimitCPUs), x.Group, eachSetting(x.Settings, ofPeriods)), w.adviceOf(x.Throttled)
	}),
	warns(func(w words, x verdict.OthersBusy) (string, string) {
		text := w.others()
		if len(x.TooFewCPUs) > 0 {
			text += ", so the settings that need these CPUs are not compared: " + phrase.And(x.TooFewCPUs)
		}
		return text, "stop other programs on this machine, or measure on a quieter one"
	}),
	warns(func(_ words, x verdict.QuotaUnbound) (string, string) {
		replicas := ""
		if x.Replicas > 1 {
			replicas = fmt.Sprintf(" %d replicas", x.Replicas)
		}
		return fmt.Sprintf("runs used more CPU than the limit of %s allows%s, which is possible in very short runs (the period of the limit is 100 ms), with GOMAXPROCS %s", number.CPUs(x.QuotaCPUs), replicas, eachSetting(x.Settings, number.CPUsUsed)),
			"make trials longer than a second: more work per run, or a longer --trial-time"
	}),
	warns(func(_ words, x verdict.Oversubscribed) (string, string) {
		return fmt.Sprintf("%s with a CPU limit of %s need %s, but the machine has %s", phrase.Count(x.Replicas, "replica"), number.CPUs(x.QuotaCPUs), number.CPUs(x.NeedCPUs), number.CPUs(x.MachineCPUs)),
			"use fewer replicas or a lower limit, unless nodes in production are as full"
	}),
	warns(func(_ words, x verdict.SpansNodes) (string, string) {
		return fmt.Sprintf("the target's CPUs are on %s (%s), and memory of another node takes longer to reach", phrase.Count(len(x.Nodes), "NUMA node"), nodeWords(x.Nodes)),
			fmt.Sprintf("compare with --cpus target=node%d, and run each replica on one node", x.Nodes[0].ID)
	}),
	warns(func(_ words, x verdict.SpansKinds) (string, string) {
		return fmt.Sprintf("the target may run on performance cores (CPUs %s) and on efficiency cores (CPUs %s): its speed depends on which of them the kernel chooses", x.Performance, x.Efficiency),
			"compare with --cpus target=performance"
	}),
	warns(func(w words, x verdict.Heat) (string, string) {
		return fmt.Sprintf("the CPUs lowered their clock because they were too hot, in %d of %s", x.Trials, phrase.Count(x.Of, "trial")),
			"cool the machine better" + phrase.If(w.choosesCPUs(), ", or give the target fewer CPUs with a smaller --cpus target=LIST", "")
	}),
	warns(func(_ words, x verdict.Drift) (string, string) {
		return fmt.Sprintf("throughput drifted during the run: the end is %s than the start", slower(x.Change)), "use a quieter machine; the comparisons remain valid: trials run in random order"
	}),
	warns(func(_ words, x verdict.Steal) (string, string) {
		text := fmt.Sprintf("the hypervisor took %s of the CPU time", number.Percent(x.Share))
		if bursts := fmt.Sprintf("20%% or more of it in %d of %s", x.Bursts, phrase.Count(x.Of, "trial")); x.Bursts > 0 && number.Percent(x.Share) == "0%" {
			text = "the hypervisor took CPU time: " + bursts
		} else if x.Bursts > 0 {
			text += ", and " + bursts
		}
		return text, unshared
	}),

	// The journal.
	warns(func(w words, x verdict.Incomplete) (string, string) {
		fix := phrase.If(x.NoneValid, "fix the cause, then start again with another --out", "to continue, "+howToComplete(w.r))
		if w.r.Plan.Racing() {
			return endedEarly(w.r), fix
		}
		return fmt.Sprintf("only %d of %d planned trials are in the journal", x.Ran, x.Planned), fix
	}),
	warns(func(_ words, x verdict.TrialWarnings) (string, string) {
		return fmt.Sprintf("%s in trials, the first: %s", phrase.Count(x.Count, "warning"), trialWarning(x.First)), ""
	}),
	warns(words.notProfiled),

	// A canary.
	warns(func(_ words, x canary.FewSlices) (string, string) {
		return phrase.Count(x.Slices, "slice") + ": an interval of so few is of little use", "use a longer --for"
	}),
	warns(func(words, canary.PerPod) (string, string) {
		return "CPU time is counted per pod, not per request, because nothing counted the requests: a pod that gets more requests uses more CPU time",
			"count the requests with --query requests='sum(increase(REQUESTS_TOTAL{pod=~\"$pods\"}[$slice]))', or with the Meter of maxprocs/live in the program"
	}),
	warns(func(_ words, x canary.Idle) (string, string) {
		if x.Few {
			return "in most slices fewer than 1 req/s per pod reached GOMAXPROCS " + phrase.And(x.Settings) + ": procfit cannot distinguish them from probes", "run the canary when its Service gets more requests"
		}
		return "in most slices no request reached GOMAXPROCS " + phrase.And(x.Settings) + ": clients that keep their connections open do not reach new pods", "let clients open new connections"
	}),
	warns(func(_ words, x canary.SameProcs) (string, string) {
		return "GOMAXPROCS " + phrase.And(x.Settings) + " is the default here: both pods run the same program, and any difference is chance", ""
	}),
	warns(func(_ words, x canary.OtherProcs) (string, string) {
		return "GOMAXPROCS changed in the pods, or is not the requested value: " + phrase.And(x.Settings),
			"remove what changes GOMAXPROCS in the running program, such as a call of runtime.GOMAXPROCS"
	}),

	// Reasons: what the comparisons show.
	states(func(w words, x verdict.ReasonFastest) string {
		among := w.among(func(a *verdict.Row) bool { return a.Throughput.Above(x.Of.Throughput) })
		return w.leads(x.Of, x.Lucky, "throughput"+among, "highest", "higher")
	}),
	states(func(w words, x verdict.ReasonLowestP99) string {
		return w.leads(x.Of, x.Lucky, w.quantile()+w.amongLate(x.Of), "lowest", "lower")
	}),
	underLead("proven worse in throughput: ", func(_ words, x verdict.ReasonSlower) string { return provenWorse(x.Bounded, slower) }),
	underLead("too slow to be the best{again}: ", func(_ words, x verdict.ReasonSetAside) string { return lookedOnly(x.Difference, slower) }),
	underLead("proven equally good, within {within}: ", func(_ words, x verdict.ReasonAsFast) string { return provenAsGood(x.Bounded, slower) }),
	underLead("undecided in throughput: ", func(_ words, x verdict.ReasonSpeedOpen) string { return lookedOnly(x.Difference, slower) }),
	underLead("proven worse in {p99}: ", func(_ words, x verdict.ReasonSaturated) string {
		return valueName(x.Of) + " could not keep up with the request rate"
	}),
	underLead("no rate that was tried met --slo, in half of the trials or more: ", func(w words, x verdict.ReasonUnmet) string {
		return valueName(x.Of) + " (below " + w.figures(x.Of) + ")"
	}),
	underLead("proven worse in {p99}: ", func(_ words, x verdict.ReasonLater) string { return provenWorse(x.Bounded, higher) }),
	underLead("proven equally good in {p99}, within {p99 within}: ", func(_ words, x verdict.ReasonAsPrompt) string { return provenAsGood(x.Bounded, higher) }),
	underLead("undecided in {p99}: ", func(_ words, x verdict.ReasonP99Open) string { return lookedOnly(x.Difference, higher) }),
	underLead("but not for every metric: ", func(_ words, x verdict.ReasonMetricWorse) string {
		return fmt.Sprintf("%s is %s at %s than at %s, at least %s (n %d)", x.Metric, higher(x.Change), valueName(x.Of), valueName(x.Than), amount(x.Bound), x.N)
	}),
	underLead("proven to use more CPU time per request at {rate}: ", func(_ words, x verdict.ReasonCostlier) string {
		return fmt.Sprintf("%s uses %s than %s, at least %s (n %d)", valueName(x.Of), differs(x.Change, "more", "less"), valueName(x.Than), amount(x.Bound), x.N)
	}),
	states(func(w words, x verdict.ReasonCarried) string {
		c := &x.Carried
		text := valueName(x.Of) + " sustained " + percentDown(c.Share) + " of the rate"
		switch {
		case c.Share < journal.CarriedRatio:
			text = valueName(x.Of) + " sustained " + percentDown(c.Share) + ", below " + percentDown(journal.CarriedRatio) + " of the rate"
		case c.ShareLow != nil && *c.ShareLow < journal.CarriedRatio && !c.Carries:
			text += ", but " + percentDown(journal.CarriedRatio) + " is not proven"
		case c.Closed != nil && *c.Closed < 1 && !c.Carries:
			which := phrase.If(c.Low, "lower bound", "median")
			text += fmt.Sprintf(", but its throughput phase reached only %s of it (%s)", percentDown(*c.Closed), which)
		}
		text += fmt.Sprintf(" (median, n %d)", c.Trials) + w.latencyClause(x.Of)
		if c.Blocks < stat.FewestPairs {
			text += fmt.Sprintf("; %d trials are needed to prove it", stat.FewestPairs)
		}
		return text
	}),
	states(func(w words, x verdict.ReasonCarrierP99) string {
		return fmt.Sprintf("its %s is %s than that of %s, at least %s (n %d)", w.quantile(), higher(x.Change), valueName(x.Than), amount(x.Bound), x.N)
	}),
	states(func(w words, _ verdict.ReasonP99NotJudged) string {
		if o := w.r.Plan.SLO; o != nil {
			return "throughput is the highest rate with " + objectiveBound(*o) + ", which is how latency is judged here"
		}
		return "p99 is not judged: in the throughput phase, latency only mirrors throughput"
	}),
	fixedText[verdict.ReasonUnsetUnread]("the default is not compared: the value that it uses could not be read"),
	states(func(_ words, x verdict.ReasonUnsetDiffers) string {
		return fmt.Sprintf("the default is not compared: it is %d, but %s than GOMAXPROCS=%d (n %d)", x.Of.Procs, slower(x.Change), x.Of.Procs, x.N)
	}),
	states(func(w words, _ verdict.ReasonSpread) string {
		return "noise: trials vary by " + inBoth(w.Spread.Throughput, w.Spread.P99, w.quantile())
	}),
	states(func(w words, _ verdict.ReasonUnjudged) string {
		l := w.Latency
		var why []string
		switch {
		case l.Reason == journal.UnjudgedFewPeriods:
			why = append(why, fmt.Sprintf("the shortest latency phase spans %s of the CPU limit, and p99 needs %d", phrase.Count(l.Periods, "period"), journal.LeastPeriods))
		case l.Reason != "":
			why = append(why, fmt.Sprintf("the smallest latency phase has %s of the %s requests that p99 needs", number.Count(float64(l.Requests)), number.Count(journal.LeastRequests)))
		}
		if l.Passed > 0 {
			why = append(why, fmt.Sprintf("%s varies by %s from trial to trial, too much to separate any two values", contest.QuantileName(l.Passed), strayed(l.Strays)))
		}
		if l.Quantile == 0 {
			why = append(why, "no other percentile can be judged either")
		} else {
			why = append(why, l.Name()+" is judged instead")
		}
		return "p99 is shown but not judged: " + strings.Join(why, "; ")
	}),
	states(func(_ words, x verdict.ReasonLateLoad) string {
		return fmt.Sprintf("the load generator sent requests late in %s, whose latency is not compared", phrase.Count(x.Trials, "trial"))
	}),
	states(func(w words, _ verdict.ReasonShared) string {
		n := max(1, int(math.Ceil(w.EffectiveCPUs)))
		text := fmt.Sprintf("the load generator ran on the target's CPUs, which by itself makes latency worst when GOMAXPROCS equals the number of CPUs: so latency is not used to choose a value above %d or to reject the default", n)
		if command := w.apart(); command != "" {
			return text + ". To separate them, run: " + command
		}
		return text + "; to separate them, " + w.anotherMachine().text
	}),
	states(func(w words, _ verdict.ReasonBursts) string {
		o := w.Others
		text := fmt.Sprintf("other programs took up to %s of the CPU time in %d of %s, and hardly any in the others", number.Percent(o.BurstMost), o.Bursts, phrase.Count(o.Trials, "trial"))
		switch {
		case o.LeftOut == o.Bursts:
			text += ": those trials are not used"
		case o.LeftOut > 0:
			text += fmt.Sprintf(": %d of those trials are not used", o.LeftOut)
		}
		if w.Recommendation.Verdict == verdict.Undecided {
			text += "; start again with another --out when no other programs run"
		}
		return text
	}),
	states(func(w words, x verdict.ReasonSlow) string {
		return fmt.Sprintf("the machine itself was slower, or changed its speed, during %d of %s (procfit times a fixed piece of work between trials): those trials are not used", x.Trials, phrase.Count(w.Others.Trials, "trial"))
	}),
	states(func(w words, x verdict.ReasonTooFewCPUs) string {
		text := valueNames(x.List) + " " + verb(len(x.List), "is", "are") + " not compared: " + w.others()
		if w.Others.CPUs != nil {
			text += ", which left too few CPUs"
		}
		return text
	}),
	states(func(_ words, x verdict.ReasonSliced) string { return sliced(x) }),
	states(func(_ words, x verdict.ReasonAllStarts) string {
		return "every value was measured in starts of its own, since " + x.Because()
	}),
	states(func(_ words, x verdict.ReasonStartsDiffer) string {
		text := fmt.Sprintf("every value was measured in starts of its own, since GOMAXPROCS=%d differs when it is set in the running program (%s compared with the default) and when it is set at the start (%s): what the program sizes at its start keeps that size", x.Procs, change(x.Slices), change(x.Starts))
		if len(x.Sized) > 0 {
			text += ", such as " + phrase.And(x.Sized)
		}
		return text
	}),
	states(func(w words, _ verdict.ReasonHolds) string {
		text := "holds for what it was measured on (" + strings.Join(w.on(), ", ") + ")"
		if r := w.Race; r != nil && len(r.Measured) < r.Candidates {
			text += fmt.Sprintf(", and only for the values measured (%s, of %d)", cpuset.Format(r.Measured), r.Candidates)
		}
		return text + "; on another machine, measure again"
	}),

	// Claims: what a verdict rests on.
	states(func(w words, x verdict.ClaimKeep) string { return w.nothingBeats(x.Of) }),
	states(func(w words, x verdict.ClaimAsGood) string { return w.nothingBeats(x.Of) }),
	states(func(w words, x verdict.ClaimSet) string { return w.smallest(x.Of) }),
	states(func(w words, _ verdict.ClaimAlike) string {
		text, first := "All values perform the same, within ", "Profile the program first."
		if w.hasSliced() {
			text = "All values with trials perform the same, within "
		}
		if why := w.allocates(); why != "" {
			first = phrase.Capital(why) + ". Profile its allocations first, and try GOGC or GOMEMLIMIT."
		}
		return text + w.margins() + ". " + first
	}),
	states(func(w words, x verdict.ClaimTrade) string {
		return fmt.Sprintf("%s is best for throughput, %s for %s: %[2]s is %[4]s, but its %[3]s is %[5]s.", valueName(x.Of), valueName(x.Than), w.quantile(), slower(x.Change), higher(x.P99Change))
	}),
	states(func(w words, x verdict.ClaimAsItRuns) string {
		if x.Of == nil || x.Of.P99.Median == nil {
			return "procfit measured the server as it runs and compared it with nothing."
		}
		return fmt.Sprintf("At %s its %s is %s. Nothing was compared.", w.rate(), w.quantile(), number.Seconds(*x.Of.P99.Median))
	}),
	states(func(w words, x verdict.ClaimCarries) string {
		return fmt.Sprintf("%s is the smallest measured value that sustains %s%s %s.", valueName(x.Of), w.rate(), w.latencyClause(x.Of), w.where())
	}),

	// Causes: why there is no verdict.
	fixedText[verdict.CauseOnlyUnset]("only the default was measured, and the value that it uses could not be read."),
	fixedText[verdict.CausePilotsInvalid]("nothing has been measured yet, because the trials that find the request rate were invalid."),
	fixedText[verdict.CauseNotMeasured]("nothing has been measured yet."),
	fixedText[verdict.CauseNoneValid]("no trial was valid."),
	fixedText[verdict.CauseNoThroughput]("no valid trial has a throughput above zero."),
	states(func(w words, _ verdict.CauseUnweighed) string {
		return "the memory that the program used could not be read with at least one value of GOMAXPROCS, so it is unknown whether " + mostMemory(w.r) + " allows it."
	}),
	states(func(w words, x verdict.CauseMemory) string {
		but := ""
		if x.Of != nil && x.Of.Procs > 0 {
			but = fmt.Sprintf(" but %d", x.Of.Procs)
		}
		return "every value of GOMAXPROCS" + but + " used more memory than " + mostMemory(w.r) + "."
	}),
	states(func(w words, _ verdict.CauseUnmet) string {
		met := "met --slo"
		if o := w.r.Plan.SLO; o != nil {
			met = "had " + objectiveBound(*o)
		}
		return "no rate that was tried " + met + ", in half or more of the trials of each value of GOMAXPROCS that could be compared."
	}),
	states(func(_ words, x verdict.CauseOneValue) string {
		return fmt.Sprintf("only one value of GOMAXPROCS %s, %d.", phrase.If(x.Failed, "has a valid trial", "was measured"), x.Of.Procs)
	}),
	states(func(_ words, x verdict.CauseUnsetDiffers) string {
		return fmt.Sprintf("the default is %d, yet it performs differently from GOMAXPROCS=%[1]d.", x.Of.Procs)
	}),
	fixedText[verdict.CauseLoadLimited]("the load generator was at its limit, so values with the same throughput may differ."),
	fixedText[verdict.CauseBenchmarksDiffer]("on average all values perform the same, but the benchmarks need different values."),
	states(func(w words, _ verdict.CauseOverridden) string {
		return fmt.Sprintf("the program used GOMAXPROCS=%d where %d was requested, so there is nothing to compare.", w.Override.Ran, w.Override.Asked)
	}),
	states(func(w words, x verdict.CauseTooFewCPUs) string {
		return w.others() + ", so " + valueNames(x.List) + " cannot be compared."
	}),
	states(func(_ words, x verdict.CauseUnseen) string {
		return fmt.Sprintf("procfit could not read which GOMAXPROCS the program used with %s, so the trials do not show what that value does.", valueNames(x.List))
	}),
	fixedText[verdict.CauseTunnel]("the load came through the API server, which was measured too, so a difference, or that there is none, may be due to it."),
	fixedText[verdict.CauseLagUnknown]("the load generator does not report how late it sent, so a difference in latency, or that there is none, may be its own."),
	states(func(_ words, x verdict.CauseUncounted) string {
		return fmt.Sprintf("nothing shows what other programs used during the trials of %s, so a difference, or that there is none, may be theirs.", valueNames(x.List))
	}),
	fixedText[verdict.CauseNoDefault]("no trial of the default was valid, so no value can be compared with it."),
	states(func(w words, _ verdict.CauseSlow) string {
		return fmt.Sprintf("the machine itself was slower, or changed its speed, during %d of %s, which therefore cannot be compared.", w.Others.Slow, phrase.Count(w.Others.Trials, "trial"))
	}),
	fixedText[verdict.CauseMixedOrigins]("the trials come from different sources (measured here, or in a cluster), which cannot be compared."),
	states(func(w words, _ verdict.CauseRateNotOffered) string {
		return "in no valid trial did the load generator send " + w.rate() + "."
	}),
	states(func(w words, _ verdict.CauseRateFewBlocks) string {
		return fmt.Sprintf("no value of GOMAXPROCS sustained %s in the %d trials that a proof needs.", w.rate(), stat.FewestPairs)
	}),
	states(func(w words, x verdict.CauseRateNotCarried) string {
		if x.Proven {
			return fmt.Sprintf("no measured value of GOMAXPROCS sustains %s %s.", w.rate(), w.where())
		}
		return fmt.Sprintf("no value of GOMAXPROCS is proven to sustain %s %s.", w.rate(), w.where())
	}),
	states(func(w words, _ verdict.CauseRateContradicts) string {
		return fmt.Sprintf("no value of GOMAXPROCS is proven to sustain %s %s, yet one is under a smaller CPU limit: something else slowed these trials down.", w.rate(), w.where())
	}),
	states(func(_ words, x verdict.CauseSaturated) string {
		return valueName(x.Of) + " has the highest throughput, but could not keep up with the request rate at which latency is judged."
	}),
	states(func(w words, x verdict.CauseP99Open) string { return undecidedOf(x.Rivals, "lowest "+w.quantile()) }),
	states(func(_ words, x verdict.CauseThroughputOpen) string {
		return undecidedOf(x.Rivals, "highest throughput")
	}),
	states(words.defaultOpen),
	states(func(w words, _ verdict.CauseNoise) string {
		if w.Spread.Throughput == nil {
			return "trials vary too much to decide."
		}
		return "trials vary too much to decide: by " + inBoth(w.Spread.Throughput, w.Spread.P99, w.quantile()) + "."
	}),
	fixedText[verdict.CauseNothingProven]("for no two values could a difference be proven or ruled out."),
)

// Remarks are the kinds of remark that have words.
func Remarks() []reflect.Type { return slices.Collect(maps.Keys(catalogue)) }

func byKind(rows ...wordingRow) map[reflect.Type]wordingRow {
	all := map[reflect.Type]wordingRow{}
	for _, r := range rows {
		all[r.of] = r
	}
	return all
}
