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
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/stat"
)

type question struct {
	text   string
	answer func(*group) (state document.Tone, answer, detail string)
}

// firstQuestions are the first points of the checklist, which take a clear answer before anything is changed.
var firstQuestions = []question{
	{"Was it measured?", (*group).measured}, {"What is the current value?", (*group).current}, {"What is NumCPU()?", (*group).numCPU},
	{"Are they equal, and if not, why?", (*group).equal},
}

// checklist is the eight points to go through before touching GOMAXPROCS.
func (g *group) checklist() document.Checks {
	return g.answers(append(firstQuestions[:len(firstQuestions):len(firstQuestions)], []question{
		{"Throughput or latency?", (*group).tunedFor},
		{"At least five settings, with enough trials each?", (*group).enough}, {"Before and after, with a load like that in production?", (*group).beforeAfter},
		{"Was the target throttled by a CPU limit?", (*group).throttling},
	}...))
}

// unclear is the first of those points that has no clear answer; nil: all have one. A canary and
// a live experiment start from what runs.
func (g *group) unclear() *document.Check {
	if g.r.Canary != nil || g.r.Live != nil || !g.Unclear() {
		return nil
	}
	for _, c := range g.answers(firstQuestions) {
		if c.State == document.Unknown {
			return &c
		}
	}
	return nil
}

func (g *group) answers(list []question) (checks document.Checks) {
	for i, q := range list {
		state, answer, detail := q.answer(g)
		checks = append(checks, document.Check{Number: i + 1, Question: q.text, State: state, Answer: answer, Detail: detail})
	}
	return checks
}

func (g *group) measured() (state document.Tone, answer, detail string) {
	valid, invalid := 0, 0
	for _, a := range g.Settings {
		valid += a.Trials
		invalid += a.Invalid
	}
	if valid == 0 {
		return document.Attention, "no", "no valid trial: measure first"
	}
	which := phrase.If(g.r.Plan.Racing(), "undecided", "all")
	detail = fmt.Sprintf("%s of %s, in random order, %s settings in turn", phrase.Count(valid, "valid trial"), phrase.Count(len(g.Settings), "setting"), which)
	if invalid > 0 {
		detail += fmt.Sprintf("; %s not used", phrase.CountOf(invalid, "invalid one is", "invalid ones are"))
	}
	if !g.r.Complete && !g.r.Settled() {
		return document.Attention, "in part", detail + "; some planned trials are missing"
	}
	return document.OK, "yes", detail
}

func (g *group) current() (state document.Tone, answer, detail string) {
	switch a := g.unset(); {
	case a == nil && g.Default.Predicted:
		detail = "computed, not measured: without GOMAXPROCS the runtime uses all CPUs that the target may run on"
		if state = document.OK; g.Unclear() {
			state = document.Unknown
		}
		return state, strconv.Itoa(*g.Default.Procs), detail
	case a == nil:
		detail = "the default was not measured, and depends on the go line of the program; procfit explain prints it, and --procs default measures it"
	case a.Trials == 0:
		detail = "the default has no valid trial"
	case a.ResolvedProcs == nil:
		detail = "the default value could not be read from the target's memory"
	default:
		detail = "without GOMAXPROCS in the environment, read from the target's memory"
		if s := a.ResolvedSource; s != "" {
			detail += " (" + s + ")"
		}
		return document.OK, strconv.Itoa(*a.ResolvedProcs), detail
	}
	return document.Unknown, "unknown", detail
}

func (g *group) numCPU() (state document.Tone, answer, detail string) {
	n := g.Default.NumCPU
	if n <= 0 {
		return document.Unknown, "unknown", "the journal does not name the CPUs that the target may run on"
	}
	return document.OK, strconv.Itoa(n), "the CPUs that the target may run on; no Go version includes the CPU limit in NumCPU"
}

func (g *group) equal() (state document.Tone, answer, detail string) {
	d := g.Default
	p, n := stat.OrZero(d.Procs), d.NumCPU
	under := phrase.If(d.LimitCPUs < float64(n), "a limit of "+number.CPUs(d.LimitCPUs), "no CPU limit")
	switch d.Standing {
	case verdict.DefaultAll:
		return document.OK, "yes", fmt.Sprintf("%d and %d, under %s", p, n, under)
	case verdict.DefaultFloor:
		return document.OK, "yes", fmt.Sprintf("%d and %d, under %s: the runtime's default is never below 2", p, n, under)
	case verdict.DefaultUnseenLimit:
		return document.Attention, "yes", fmt.Sprintf("%d and %d, although under %s: the default of this program ignores it (Go before 1.25, go 1.24 or lower in go.mod, or a limit on a parent cgroup)", p, n, under)
	case verdict.DefaultLimit:
		return document.OK, "no", fmt.Sprintf("%d against %d: since Go 1.25 the default is the limit (%s) rounded up, at least 2", p, n, number.CPUs(d.LimitCPUs))
	case verdict.DefaultUnexplained:
		return document.Attention, "no", fmt.Sprintf("%d against %d under %s, which the rule of the runtime does not explain; procfit explain reports what set it", p, n, under)
	}
	return document.Unknown, "unknown", "one of the two is unknown"
}

func (g *group) tunedFor() (state document.Tone, answer, detail string) {
	state, answer, detail = document.OK, "throughput", "throughput: "+g.throughputNote()
	switch {
	case g.LatencyMode == "open" && g.Latency.Quantile > 0:
		answer, detail = "both", detail+"; "+g.quantile()+": "+g.latencyNote()
	case g.LatencyMode == "closed" && g.r.Plan.SLO != nil:
		answer, detail = "both", detail+"; latency is judged by that limit"
	case g.LatencyMode == "open":
		state, detail = document.Attention, detail+"; latency is shown but not judged"
	case g.LatencyMode == "closed":
		state, detail = document.Attention, detail+"; latency is shown but not judged, because in the throughput phase it mirrors throughput"
	default:
		detail += "; no latency was measured"
	}
	if rec := g.Recommendation; rec.Verdict == verdict.TradeOff {
		state = document.Attention
		detail += fmt.Sprintf(". Here they need different values: throughput %s, %s %s", rec.BestThroughput, g.quantile(), rec.BestP99)
	}
	return state, answer, detail
}

// enough counts a setting that was too slow to be the best with those that were measured
// often: a sweep that decides as it goes measures it no further, and no more trials of it
// could change the verdict.
func (g *group) enough() (state document.Tone, answer, detail string) {
	settings, repeated, slow, least := 0, 0, 0, math.MaxInt
	for _, a := range currentRows(g.withTrials().rows) {
		settings++
		least = min(least, a.Trials)
		switch {
		case a.Trials >= stat.FewestPairs:
			repeated++
		case a.Trials > 0 && a.Excluded != nil && (*a.Excluded == contest.ExcludedSlower || *a.Excluded == contest.ExcludedSaturated):
			slow++
		}
	}
	detail = phrase.Count(settings, "setting")
	often := fmt.Sprintf(", %d of them with at least %s", repeated, phrase.Count(stat.FewestPairs, "valid trial"))
	switch {
	case settings == 0 || least == 0:
		detail += ", not all with a valid trial"
	case slow > 0:
		detail += often + fmt.Sprintf(", %d too slow to be the best after fewer", slow)
	case repeated < settings && repeated < verdict.FewestSettings:
		detail += often
	default:
		detail += ", at least " + phrase.Count(least, "valid trial") + " each"
	}
	if repeated+slow < verdict.FewestSettings {
		return document.Attention, "no", detail
	}
	return document.OK, "yes", detail
}

func (g *group) beforeAfter() (state document.Tone, answer, detail string) {
	before, after := g.unset(), g.chosen()
	var parts []string
	if before != nil {
		before = cmp.Or(g.row(before.Label), before) // with its copies, as the table has it
		parts = append(parts, "before ("+settingName(before)+"): "+g.figures(before))
	}
	if after != nil && after != before {
		parts = append(parts, "after ("+settingName(after)+"): "+g.figures(after))
	}
	if before == nil {
		parts = append(parts, "the default was not measured, so there is nothing to compare with")
	}
	load := cmp.Or(generatorWords(g.r), "the program's own run")
	parts = append(parts, "the load: "+load+"; only you know whether the load in production is similar")
	return document.Unknown, "for you to judge", strings.Join(parts, "; ")
}

func (g *group) figures(a *verdict.Row) string {
	level := g.asShown(a.Throughput).Median
	if level == nil {
		return "nothing measured"
	}
	s := below(a, document.Cell{Value: g.unit().Value(*level)}).Value
	if g.runs() {
		s += " per run"
	}
	if a.P99.Median != nil {
		s += ", p99 " + number.Time().Value(*a.P99.Median)
	}
	return s
}

func (g *group) throttling() (state document.Tone, answer, detail string) {
	t := &g.Throttling
	var seen []string
	for i := range t.Settings {
		if a := &t.Settings[i]; a.Judged {
			text := fmt.Sprintf("%s: %s of periods", g.settingText(a.Label), number.Ratio().Number(a.Share))
			if !a.Own {
				text += fmt.Sprintf(" of the limit of %s on the parent cgroup %s", number.CPUs(a.LimitCPUs), groupName(a.Group))
			}
			seen = append(seen, text)
		}
	}
	detail = strings.Join(seen, ", ")
	state, answer = document.Unknown, "unknown"
	switch t.State {
	case verdict.ThrottledNo:
		state, answer = document.OK, "no"
	case verdict.ThrottledHardly:
		state, answer = document.OK, "hardly"
	case verdict.ThrottledYes:
		state, answer = document.Attention, "yes"
	}
	switch {
	case len(seen) == 0 && t.State == verdict.ThrottledNo:
		detail = "procfit set no CPU limit, and no parent cgroup has one"
	case len(seen) == 0 && g.QuotaCPUs != nil:
		detail = "the throttling counters of the cgroup could not be read"
	case !t.OuterKnown:
		detail = phrase.Join("; ", detail, "it is unknown whether a limit on a parent cgroup throttled it")
	}
	if t.State == verdict.ThrottledYes || t.Advice == verdict.AdviceAvoid {
		detail = phrase.Join("; ", detail, g.words.throttlingAdvice())
	}
	return state, answer, detail
}

// mistakes are the ten that are made most, each looked for in the data.
func (g *group) mistakes() document.Checks {
	return g.answers([]question{
		{"A magic number", (*group).magicNumber}, {"GOMAXPROCS above the number of CPUs, for I/O", (*group).moreForIO}, {"Tuned here, deployed elsewhere", (*group).otherMachine},
		{"Load generator on the same machine", (*group).sameMachine}, {"A single run", (*group).singleRun}, {"Ignoring p99", (*group).p99Ignored},
		{"Tuning before profiling", (*group).profileFirst}, {"A forgotten runtime.GOMAXPROCS call", (*group).leftInCode}, {"Mixing the variable and the call", (*group).envAndCall},
		{"Not logging the value at startup", (*group).notLogged},
	})
}

func (g *group) magicNumber() (state document.Tone, answer, detail string) {
	if v := g.Recommendation; v.Verdict == verdict.Undecided || v.Verdict == "" || v.Confidence == verdict.Likely {
		return document.Attention, "careful", "nothing was proven: a value chosen from these curves would be a magic number"
	}
	return document.OK, "avoided", "every value recommended here was measured with this program"
}

func (g *group) moreForIO() (state document.Tone, answer, detail string) {
	b, cpus := g.Beyond, number.CPUs(g.EffectiveCPUs)
	if b == nil {
		return document.Unknown, "unknown", "settings above and below " + cpus + " were not both compared"
	}
	return document.OK, "measured", fmt.Sprintf("the best above %s: %s, %s compared with the best up to that", cpus, g.settingText(b.Setting), change(b.Ratio))
}

func (g *group) otherMachine() (state document.Tone, answer, detail string) {
	return document.Unknown, "for you to judge", "the result holds for " + number.CPUs(g.EffectiveCPUs) + " of this machine; on another machine, measure again"
}

func (g *group) sameMachine() (state document.Tone, answer, detail string) {
	switch {
	case g.LatencyMode == "" && g.r.Target.Kind != "server":
		return document.OK, "avoided", "no load generator: the program runs its own work"
	case g.r.Load.Tunnelled():
		return document.Unknown, "unknown", "the load came through the API server, from a machine that procfit did not compare with the nodes"
	case !g.r.Load.OnTargetHost():
		return document.OK, "avoided", "the load generator ran on another machine"
	case !g.r.Load.Shared():
		return document.OK, "avoided", "on the same machine, each on its own CPUs"
	}
	detail = "both shared the CPUs"
	if a := g.row(g.Peak); a != nil && a.Evidence.LoadCPUs != nil && a.Evidence.CPUs != nil {
		detail += fmt.Sprintf("; at %s the load generator used %s, the target %s", settingName(a), number.CPUsUsed(*a.Evidence.LoadCPUs), number.CPUsUsed(*a.Evidence.CPUs))
	}
	return document.Attention, "made", detail
}

func (g *group) singleRun() (state document.Tone, answer, detail string) {
	if state, _, detail = g.enough(); state != document.OK {
		return document.Attention, "careful", detail
	}
	return document.OK, "avoided", detail
}

func (g *group) p99Ignored() (state document.Tone, answer, detail string) {
	if endsByItself(g.r.Target) {
		return document.OK, "avoided", "the program answers no requests, so it has no p99"
	}
	if g.LatencyMode != "open" || g.Latency.Quantile == 0 {
		return document.Attention, "careful", "no latency was judged"
	}
	if g.Recommendation.Verdict == verdict.Undecided && g.r.Gate == nil {
		return document.Attention, "careful", g.Latency.Name() + " was measured, but procfit could not reach a verdict"
	}
	return document.OK, "avoided", g.Latency.Name() + " is judged, in the latency phase, " + g.counted()
}

func (g *group) profileFirst() (state document.Tone, answer, detail string) {
	u := g.Workload.CPUUtilisation
	if len(profileOf(g.r)) > 0 {
		return document.OK, "profiled", "see Profiles"
	}
	switch {
	case g.Recommendation.Verdict == verdict.NoDifference:
		return document.Attention, "profile first", "all settings perform the same: GOMAXPROCS does not limit this program"
	case g.Workload.TooFewCPUs:
		detail = "the kind of work is unknown: " + g.words.others()
	case u == nil:
		detail = "CPU use could not be read"
	default:
		detail = fmt.Sprintf("%s: %s of its CPUs used at %s", g.Workload.Kind, number.Ratio().Number(*u), g.settingText(g.Workload.Setting))
		if g.Workload.Kind == "io-bound" {
			detail += "; it is more likely limited by what it waits for than by GOMAXPROCS"
		}
	}
	return document.Unknown, "for you to judge", detail
}

// leftInCode and envAndCall rest on the same evidence: a call of
// runtime.GOMAXPROCS in the program would have overridden what the settings set.
func (g *group) leftInCode() (state document.Tone, answer, detail string) {
	switch o := g.Override; {
	case o.Ran > 0:
		return document.Attention, "made", fmt.Sprintf("requested %d, ran with %d: the program overrides GOMAXPROCS", o.Asked, o.Ran)
	case o.Changed:
		return document.Attention, "made", "the value changed during a trial: the program overrides GOMAXPROCS"
	case !o.Known:
		return document.Unknown, "unknown", "the value in use could not be read with every setting"
	}
	return document.OK, "avoided", "every setting ran with the requested value"
}

func (g *group) envAndCall() (state document.Tone, answer, detail string) {
	if state, answer, detail = g.leftInCode(); state == document.OK {
		detail = "no call overrode the variable"
	}
	return state, answer, detail
}

func (g *group) notLogged() (state document.Tone, answer, detail string) {
	const fix = ": log runtime.GOMAXPROCS(0) at startup, and alert if it differs"
	switch {
	case g.ProcsLogged == nil:
		return document.Unknown, "unknown", "procfit did not read its output" + fix
	case *g.ProcsLogged:
		return document.OK, "avoided", "its output in logs/ names GOMAXPROCS"
	}
	return document.Attention, "made", "the beginning of its output in logs/ does not name GOMAXPROCS" + fix
}
