package verdict

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// gateError is how often a gate may call worse what is worse by no more than the
// margin, over all its checks; one that is asked after each pair, over those of a setting.
const gateError = 0.05

// gating gathers the checks of a gate. Spoiled says where the new program's trials
// are invalid and the old one's are not: that passes no gate.
type gating struct {
	Gate
	margin, marginP99 float64   // as distances of logarithms
	measured          []located // by check
	spoiled           []Unjudged
}

// located is the difference of two programs at any level: a logarithm of new ÷ old.
type located func(alpha float64) (n int, mid, lower, upper float64)

func newGating(kind string, p journal.Plan) *gating {
	rules := contest.RulesOf(p)
	return &gating{Gate: Gate{Kind: kind, Checks: []GateCheck{}}, margin: contest.Loss(rules.Margin), marginP99: contest.Growth(rules.MarginP99)}
}

// gateAgainst compares each setting with the old command's setting of the same setting,
// block by block. The gate fails where the new one is proven worse by more than
// the margin, each check having its share of the gate's error. It passes when every
// check is proven to be within its margin; what is neither has no answer, and so the gate
// has none. Other programs withhold no check: what they take, they take from both, which
// ran side by side, and what they blur stays open.
func gateAgainst(counted *contest.Counted, groups []*group) *Gate {
	h := counted.Header
	gate := newGating(GateKindAgainst, h.Plan)
	duels := map[journal.SettingKey]contest.Duel{}
	for _, d := range counted.Duels() {
		duels[d.New.Key()] = d
	}
	for _, g := range groups {
		first := len(gate.Checks)
		for _, a := range g.Current() {
			i := slices.IndexFunc(g.Settings, func(o journal.Setting) bool {
				return o.Variant == journal.VariantAgainst && o.Key().Procs == a.Key().Procs
			})
			if i < 0 {
				continue
			}
			now, then := g.Measured(a), g.Measured(g.Settings[i])
			setting := gateSetting(a, len(groups))
			d := duels[a.Key()]
			bounds := gatePairs // of a grid, which is asked once
			if h.Plan.Racing() {
				bounds = sequential
			}
			gate.add(setting, MetricThroughput, bounds(d, race.Throughput)).atLeast(contest.Most(now, limitedByLoad), contest.Most(then, limitedByLoad))
			if d.Rules.Latency || g.latencyMode == journal.ModeOpen { // an open loop whose latency nobody could judge is no pass
				c := gate.add(setting, MetricP99, bounds(d, race.P99))
				c.RatePerSecond, c.Behind, c.Quantile = g.rate, behind(mostlySaturated(now), mostlySaturated(then)), d.Latency.Quantile
				c.failed = contest.Valid(now) == 0 || contest.Valid(then) == 0
				c.unknownLag(contest.Most(slices.Concat(now, then), contest.LagUnknown))
				c.late = slices.ContainsFunc(slices.Concat(now, then), func(t *journal.Trial) bool { return t.Valid && contest.Late(t) })
			}
			gate.benchmarks(g, a, setting, then, len(duels))
			gate.validity(setting, tallyOf(now), tallyOf(then))
			gate.sameWork(setting, mostlyRedirected(now), mostlyRedirected(then))
		}
		for _, a := range g.Current() { // one of them has copies
			gate.itself(gate.Checks[first:], duels[a.Key()].Copies)
		}
	}
	return gate.conclude()
}

// atLeast is for throughputs that are those of the load generator, which was at its limit: what a program
// carries is this at least. now tells of what the ratio grows with, then of what it falls with.
func (c *GateCheck) atLeast(now, then bool) {
	c.least, c.most, c.limited = c.least || now, c.most || then, now || then
}

// unknownLag is for a latency that may be the load generator's own, or hide what that sent late: it may
// only prove a loss.
func (c *GateCheck) unknownLag(unknown bool) { c.lag, c.most = unknown, c.most || unknown }

func (a *Row) limited() bool { return a.most(limitedByLoad) }

func (a *Row) most(is func(*journal.Trial) bool) bool {
	those := trialsOf(a, func(p Point) bool { return is(p.Trial) })
	return 2*those.Late > those.Of
}

// benchmarks adds a check of each Go benchmark that is proven slower by more than the margin: the
// throughput is their mean, in which others may make up for it. The error is shared among all benchmarks at
// all settings.
func (gate *gating) benchmarks(g *group, a, setting journal.Setting, then []*journal.Trial, settings int) {
	now := g.Measured(a)
	all := g.timed(now)
	if len(all) < 2 {
		return
	}
	alpha := gateError / float64(len(all)*max(1, settings))
	for _, name := range all {
		d := differences(metricOf(name), then, now) // of the speeds, new ÷ old
		low, high := stat.Student(d, alpha, differences(metricOf(name), now, g.Copies(a))...)
		if high < -gate.margin {
			gate.add(setting, strings.TrimSuffix(name, timed), func(float64) (int, float64, float64, float64) { return len(d), stat.Mean(d), low, high })
		}
	}
}

// itself looks for a new program that is proven to differ from its own copy in each block by more
// than the margin, as one does that is fast every second time: its pairs prove nothing about the
// old one.
func (gate *gating) itself(checks []GateCheck, copies []race.GatePair) {
	for i := range checks {
		c := &checks[i]
		figure, margin := race.Throughput, gate.margin
		if c.Metric == MetricP99 {
			figure, margin = race.P99, gate.marginP99
		}
		d := race.Differences(copies, figure)
		if mid, lower, upper := stat.SignedRanks(d, (1-contest.Singly)/2); len(d) >= stat.FewestPairs && (upper < -margin || lower > margin) {
			c.Itself = new(math.Exp(mid))
		}
	}
}

// behind is which of two programs did not carry the rate, in most of its trials, that the other carried.
func behind(now, then bool) string {
	switch {
	case now == then:
		return ""
	case now:
		return BehindNew
	}
	return BehindOld
}

// sequential locates new against old of a gate that was asked after each pair, and ended
// when it knew: with bounds that hold at all times together, whatever the error asked.
func sequential(d contest.Duel, figure race.Figure) located {
	for _, c := range d.Gate().Checks {
		if c.By == figure && c.Pairs > 0 {
			lower, upper := math.Log(c.Low), math.Log(c.High) // infinite where so few prove nothing
			return func(float64) (int, float64, float64, float64) { return c.Pairs, math.Log(c.Ratio), lower, upper }
		}
	}
	return func(float64) (int, float64, float64, float64) { return 0, math.NaN(), math.Inf(-1), math.Inf(1) }
}

// gateSetting is a setting by its value, with what distinguishes its group where a run has
// several.
func gateSetting(a journal.Setting, groups int) journal.Setting {
	if groups > 1 {
		return a
	}
	return journal.Setting{Label: a.Label, Procs: a.Procs, Compares: a.Compares}
}

// gatePairs locates new against old of a gate whose number of pairs was planned.
func gatePairs(duel contest.Duel, figure race.Figure) located {
	d, copies := race.Differences(duel.Pairs, figure), race.Differences(duel.Copies, figure)
	return func(alpha float64) (int, float64, float64, float64) {
		mid, lower, upper := stat.SignedRanks(d, alpha, copies...)
		return len(d), mid, lower, upper
	}
}

func (gate *gating) add(setting journal.Setting, metric string, of located) *GateCheck {
	gate.Checks = append(gate.Checks, GateCheck{Setting: setting, Metric: metric})
	gate.measured = append(gate.measured, of)
	return &gate.Checks[len(gate.Checks)-1]
}

// judgeChecks decides each check. That something is within its margin must hold of
// all, so that each has the whole error; that something is worse may be picked out of
// all, so that each has its share.
func (gate *gating) judgeChecks() {
	const each = 1 - contest.Singly
	judged := 0
	for _, of := range gate.measured {
		if n, _, _, _ := of(each); n >= stat.FewestPairs {
			judged++
		}
	}
	for i, of := range gate.measured {
		c := &gate.Checks[i]
		n, mid, lower, upper := of(each)
		_, _, least, most := of(gateError / float64(max(1, judged)))
		_, _, low, high := of(each / 2)
		c.Judged = n >= stat.FewestPairs
		c.Ratio = stat.OfLogs(mid, low, high, n)
		c.Margin = -math.Expm1(-gate.margin)
		low, high = lower, most
		c.Worse, c.Proven = most < -gate.margin, lower > -gate.margin
		better := least > gate.margin
		if c.Metric == MetricP99 {
			c.Margin = math.Expm1(gate.marginP99)
			low, high = least, upper
			c.Worse, c.Proven = least > gate.marginP99, upper < gate.marginP99
			better = most < -gate.marginP99
		}
		if better {
			low, high = least, most
		}
		c.Worse, c.Proven = c.Worse && c.Judged, c.Proven && c.Judged
		if c.most && !c.Worse || c.least && c.Worse || c.Itself != nil {
			c.Judged, c.Worse, c.Proven = false, false, false
		}
		if c.Judged && !math.IsInf(low, 0) && !math.IsInf(high, 0) {
			c.Bounds = stat.OfLogs(mid, low, high, n)
		}
		switch {
		case !c.Judged:
			c.Outcome = OutcomeNotJudged
		case c.Worse:
			c.Outcome = OutcomeWorse
		case better && gate.Kind == GateKindAgainst:
			c.Outcome = OutcomeBetter
		case c.Proven:
			c.Outcome = OutcomeWithin
		default:
			c.Outcome = OutcomeUndecided
		}
	}
}

// validity looks for a new program that fails where the old one does not, or
// clearly more often: comparing the trials in which it did not would be comparing
// its good days. A few that did not answer while other programs had the CPUs show nothing.
func (gate *gating) validity(setting journal.Setting, now, then tally) {
	if now.bad == 0 || (then.bad > 0 || now.excused) && moreOften(now, then) > 0.05 || then.of() == 0 {
		return
	}
	gate.spoiled = append(gate.spoiled, Unjudged{
		Code: UnjudgedSpoiled, Setting: setting, Bad: now.bad, Of: now.of(), OldBad: then.bad, OldOf: then.of(), Reason: now.why[0].Reason,
	})
}

// sameWork looks for one program that answers with redirects where the other one does not: that is another
// and smaller work, which proves nothing of the first.
func (gate *gating) sameWork(setting journal.Setting, now, then bool) {
	if who := behind(now, then); who != "" {
		gate.spoiled = append(gate.spoiled, Unjudged{Code: UnjudgedRedirects, Setting: setting, Reason: who})
	}
}

func mostlyRedirected(trials []*journal.Trial) bool {
	var redirects, answers int64
	for _, t := range trials {
		for i := range t.Phases {
			if p := &t.Phases[i]; t.Valid {
				redirects, answers = redirects+p.Redirects, answers+p.Requests
			}
		}
	}
	return redirected(redirects, answers)
}

// tally is how many trials of a setting are invalid, and why.
type tally struct {
	bad, good int
	why       []ReasonCount
	excused   bool // the bad ones lacked CPUs, which other programs had, or what else is no fault of the program
}

func (t tally) of() int { return t.bad + t.good }

func tallyOf(trials []*journal.Trial) tally {
	lacked := func(t *journal.Trial) bool {
		return t.Valid || t.InvalidCode.Passing() || t.InvalidCode == journal.InvalidNoAnswer && contest.AtLeast(contest.CountedOthers(t), contest.CrowdedFrom)
	}
	return tally{len(trials) - contest.Valid(trials), contest.Valid(trials), invalidReasons(trials), !slices.ContainsFunc(trials, func(t *journal.Trial) bool { return !lacked(t) })}
}

// tallyOfRow leaves out trials that are no fault of the program: of a sweep they are set aside.
func tallyOfRow(a *Row) tally {
	t := tally{bad: a.Invalid, good: a.Trials}
	for _, r := range a.InvalidReasons {
		if r.Code.Passing() || r.Code == journal.InvalidSlow || r.Code == journal.InvalidCrowded {
			t.bad -= r.Count
		} else {
			t.why = append(t.why, r)
		}
	}
	return t
}

// moreOften is the probability that this many of the bad ones are among the new, if they were
// no likelier there (Fisher's exact test, one-sided).
func moreOften(now, then tally) float64 {
	all, n, k := now.of()+then.of(), now.of(), now.bad+then.bad
	p := 0.0
	for x := now.bad; x <= min(n, k); x++ {
		if k-x <= then.of() {
			p += math.Exp(logChoose(n, x) + logChoose(all-n, k-x) - logChoose(all, k))
		}
	}
	return p
}

func logChoose(n, k int) float64 {
	l := func(x int) float64 { y, _ := math.Lgamma(float64(x) + 1); return y }
	return l(n) - l(k) - l(n-k)
}

// conclude makes one answer of the checks: a proven loss fails whatever else is
// open. Two runs of different days, with the earlier one as the baseline, vary by so much
// that most checks stay open: these pass, and their report has the intervals.
func (gate *gating) conclude() *Gate {
	gate.judgeChecks()
	worse := false
	why := gate.spoiled
	for _, c := range gate.Checks {
		worse = worse || c.Worse
		open := c.Outcome == OutcomeUndecided && gate.Kind == GateKindAgainst
		if c.Judged && !open {
			continue
		}
		at, code := len(why), UnjudgedTooFew
		switch {
		case open:
			code = UnjudgedUndecided
		case c.Itself != nil:
			code = UnjudgedItself
		case c.late:
			code = UnjudgedLate
		case c.lag && c.Ratio.N >= stat.FewestPairs && c.Quantile > 0:
			code = UnjudgedLag
		case c.limited && c.Ratio.N >= stat.FewestPairs:
			code = UnjudgedLimited
		case c.missed:
			code = UnjudgedMissed
		case c.NoQuantile():
			code = UnjudgedNoQuantile
		}
		for i := range why {
			if why[i].Code == code && why[i].Pairs == c.Ratio.N {
				at = i
			}
		}
		if at == len(why) {
			why = append(why, Unjudged{Code: code, Pairs: c.Ratio.N})
		}
		why[at].Checks = append(why[at].Checks, c)
	}
	if len(gate.Checks) == 0 && len(why) == 0 {
		why = append(why, Unjudged{Code: UnjudgedNoSetting})
	}
	gate.Pass = !worse && len(why) == 0
	if !worse {
		gate.Unjudged = why
	}
	return &gate.Gate
}

// RefusedError says why two runs cannot be compared.
type RefusedError struct {
	Reason string
}

func (e *RefusedError) Error() string {
	return "this run cannot be compared with the baseline: " + e.Reason
}

func refuse(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// GateBaseline compares two runs of different days by what does not depend on
// the day: each setting's ratio to the start of its own run, block by block. The start is
// GOMAXPROCS unset, and of a variable of --vary the value that it started with.
// Absolute metrics of another day prove nothing, and neither does another host, another kind
// of target or another latency objective: the error is then a *RefusedError.
//
// A check is of the current ratio to the baseline's, by Welch's t on the
// logarithms. A setting that falls behind its run's start fails, whichever of
// the two has changed; a loss that all settings share is not seen at all.
func GateBaseline(baseline, current *Result) (*Gate, error) {
	if baseline.Live != nil || current.Live != nil {
		return nil, refuse("one of the two runs is a live experiment, which is compared only with its own value at start")
	}
	if baseline.Canary != nil || current.Canary != nil {
		return nil, refuse("one of the two runs is a canary, which is compared only with its own control")
	}
	if err := cmp.Or(ComparableHosts(baseline.Host, current.Host), SameKind(baseline.Target, current.Target), SameObjective(baseline.Plan, current.Plan)); err != nil {
		return nil, err
	}
	gate := newGating(GateKindBaseline, current.Plan)
	met := false
	for _, now := range current.compared() {
		then := baseline.group(now)
		if then == nil {
			continue
		}
		met = true
		if err := gate.compare(then, now, baseline, current); err != nil {
			return nil, err
		}
	}
	if !met {
		same := "CPU limit, replicas and Go version"
		if len(baseline.Plan.Vary) > 0 || len(current.Plan.Vary) > 0 {
			same = "CPU limit, replicas, Go version and variables"
		}
		return nil, refuse("no group of settings has the same %s in both runs", same)
	}
	if len(gate.Checks) == 0 && len(gate.spoiled) == 0 {
		if baseline.Plan.Racing() {
			return nil, refuse("the baseline measured none of these values in three blocks: measure it again with --repeats 6")
		}
		return nil, refuse("no value was measured in both runs, apart from the one that all are compared with")
	}
	return gate.conclude(), nil
}

// ComparableHosts says why runs on two hosts cannot be compared, as a
// *RefusedError; nil when they can.
func ComparableHosts(then, now journal.Host) error {
	var differ []string
	for _, f := range []struct{ name, then, now string }{
		{"CPU model", then.CPUModel, now.CPUModel},
		{"CPUs", fmt.Sprint(then.CPUs), fmt.Sprint(now.CPUs)},
		{"CPUs that procfit may run on", fmt.Sprint(then.AffinityCPUs), fmt.Sprint(now.AffinityCPUs)},
		{"CPUs that procfit may use", fmt.Sprint(then.EffectiveCPUs), fmt.Sprint(now.EffectiveCPUs)},
		{"architecture", then.Arch, now.Arch},
		{"kernel", then.Kernel, now.Kernel},
		{"cgroup mode", then.CgroupMode, now.CgroupMode},
	} {
		if f.then != f.now {
			differ = append(differ, fmt.Sprintf("%s %q, now %q", f.name, f.then, f.now))
		}
	}
	if len(differ) > 0 {
		return refuse("it comes from another host: %s; its numbers cannot be compared with those of this host", strings.Join(differ, "; "))
	}
	return nil
}

// SameKind says that two runs measured targets of different kinds, as a *RefusedError; nil when
// they did not.
func SameKind(then, now journal.Target) error {
	if then.Kind != now.Kind {
		return refuse("it measured a %s target, but this is a %s target", then.Kind, now.Kind)
	}
	return nil
}

// SameObjective says that two runs were for different latency objectives, whose capacities
// cannot be compared, as a *RefusedError; nil when they were not.
func SameObjective(then, now journal.Plan) error {
	if !reflect.DeepEqual(then.SLO, now.SLO) {
		return refuse("it was measured for another latency objective")
	}
	return nil
}

// SameLoad reports whether the clients of two runs sent the same. For how long, and from where,
// may differ.
func SameLoad(a, b *Result) bool {
	sent := func(l journal.Load) journal.Load {
		return journal.Load{
			Connections: l.Connections, RatePerSecond: l.RatePerSecond, RateShare: l.RateShare, Method: l.Method, BodySHA256: l.BodySHA256,
			RequestsSHA256: l.RequestsSHA256, Pace: l.Pace, GRPC: l.GRPC, Streams: l.Streams, Command: l.Command, Metrics: l.Metrics,
		}
	}
	return a.Target.URL == b.Target.URL && slices.Equal(a.Spec.Get("header"), b.Spec.Get("header")) && reflect.DeepEqual(sent(a.Load), sent(b.Load))
}

// ShareGroup reports whether two runs have groups of the same CPU limit, replicas and Go
// version.
func ShareGroup(a, b *Result) bool {
	return slices.ContainsFunc(b.compared(), func(g *Group) bool { return a.group(g) != nil })
}

// compared are all groups that compare something: GOMAXPROCS, or a variable.
func (r *Result) compared() (list []*Group) {
	for _, groups := range [][]Group{r.Groups, r.Compared} {
		for i := range groups {
			list = append(list, &groups[i])
		}
	}
	return list
}

func (r *Result) group(like *Group) *Group {
	for _, g := range r.compared() {
		if g.key() == like.key() {
			return g
		}
	}
	return nil
}

// gated are the settings of a group that are compared with those of another run: of a race, which
// runs the default as unset and by its number in turns, the values.
func (r *Result) gated(g *Group) []Row {
	if r.Plan.Racing() {
		return g.Rows
	}
	return g.Settings
}

func (gate *gating) compare(then, now *Group, baseline, current *Result) error {
	axis := current.Plan.Axis(now.Compares) // without a start where GOMAXPROCS is compared
	before, rows, spoiled := baseline.gated(then), current.gated(now), len(gate.spoiled)
	thenStart, nowStart := find(before, now.Procs, axis.Start), find(rows, now.Procs, axis.Start)
	if thenStart == nil {
		return noStart("the baseline", axis, before, "measure it again with --procs default,…")
	}
	same := then.Latency.Quantile > 0 && then.Latency.Quantile == now.Latency.Quantile
	for i := range rows {
		a := &rows[i]
		old := find(before, a.Procs, a.Variable)
		if a.Variant != "" || a.Sliced != nil || old == nil {
			continue
		}
		setting := now.Setting
		setting.Label, setting.Procs = a.Label, cmp.Or(a.Procs, setting.Procs)
		setting = gateSetting(setting, len(current.compared()))
		gate.validity(setting, tallyOfRow(a), tallyOfRow(old))
		gate.sameWork(setting, redirected(a.Redirects, a.Requests), redirected(old.Redirects, old.Requests))
		most := func(p Point) *float64 { return p.ThroughputPerSecond }
		rare := baseline.Plan.Racing() && len(old.against(thenStart, most, most)) < stat.FewestPairs
		if nowStart == nil || a == nowStart || old == thenStart || rare { // a race measures what cannot be the answer once or twice
			continue
		}
		if a.TooFewCPUs || old.TooFewCPUs || nowStart.TooFewCPUs || thenStart.TooFewCPUs {
			gate.spoiled = append(gate.spoiled, Unjudged{Code: UnjudgedTooFewCPUs, Setting: setting})
			continue
		}
		// A rate that missed the objective is at least the capacity: of a and thenStart it may still
		// prove a loss. Of the other two it is left out, and their good days alone prove none.
		speed := func(p Point) *float64 {
			if p.Missed() {
				return nil
			}
			return p.ThroughputPerSecond
		}
		tail := func(p Point) *float64 { return p.Judged }
		c := gate.add(setting, MetricThroughput, days(a.against(nowStart, most, speed), old.against(thenStart, speed, most)))
		c.most, c.least = a.Missed+thenStart.Missed > 0, old.Missed+nowStart.Missed > 0
		c.missed = c.most || c.least
		reached := current.Plan.SLO == nil // by the load generator
		c.atLeast(reached && (a.limited() || thenStart.limited()), reached && (old.limited() || nowStart.limited()))
		switch {
		// The latency of what carries the rate in neither run is as long as its trials.
		case a.Saturated && old.Saturated, nowStart.Saturated && thenStart.Saturated:
		case same && nowStart.Saturated != thenStart.Saturated: // nothing to compare with in one of the two
			gate.add(setting, MetricP99, days(nil, nil)).Quantile = now.Latency.Quantile
		case same:
			c := gate.add(setting, MetricP99, days(a.against(nowStart, tail, tail), old.against(thenStart, tail, tail)))
			c.Quantile, c.Behind = now.Latency.Quantile, behind(a.Saturated, old.Saturated)
			c.unknownLag(slices.ContainsFunc([]*Row{a, old, nowStart, thenStart}, func(a *Row) bool { return a.most(contest.LagUnknown) }))
		case slices.Contains([]string{then.LatencyMode, now.LatencyMode}, string(journal.ModeOpen)): // a latency that nobody could judge, or compare, is no pass
			gate.add(setting, MetricP99, days(nil, nil)).failed = a.Trials == 0
		}
	}
	if nowStart != nil || len(gate.spoiled) > spoiled { // that it fails now is what there is to report
		return nil
	}
	return noStart("this run", axis, rows, "add --procs default,…")
}

// noStart is that a run has no valid trial of its start: why all are invalid, if it has any, or how to
// measure it.
func noStart(run string, axis journal.Axis, rows []Row, measure string) error {
	if axis.Name != "" {
		return refuse("%s has no valid trial with %s=%s, to which values are compared", run, axis.Name, axis.Start)
	}
	for _, a := range rows {
		if a.Procs == nil && a.Variant == "" && a.Invalid > 0 {
			measure = fmt.Sprintf("its trials were invalid (%s)", a.InvalidReasons[0].Reason)
		}
	}
	return refuse("%s has no valid trial of the default, to which values are compared: %s", run, measure)
}

// find is the setting of that GOMAXPROCS, nil being unset, and of that value of the variable
// that the group compares, if it has a valid trial. A number may have the trials of unset too.
func find(rows []Row, procs *int, variable string) *Row {
	for i := range rows {
		a := &rows[i]
		same := procs == nil && (a.Procs == nil || slices.Contains(a.PooledWith, journal.Default)) || a.Procs != nil && procs != nil && *a.Procs == *procs
		if same && a.Variable == variable && a.Variant == "" && a.Trials > 0 {
			return a
		}
	}
	return nil
}

// against is ln(a ÷ base) in each block that has both.
func (a *Row) against(base *Row, of, ofBase func(Point) *float64) (d []float64) {
	usable := func(p Point, x *float64) bool {
		return p.Valid && p.Role == journal.RoleMeasure && x != nil && *x > 0
	}
	bases := map[int]float64{}
	for _, p := range base.Points {
		if x := ofBase(p); usable(p, x) {
			bases[p.Block] = math.Log(*x)
		}
	}
	for _, p := range a.Points {
		x := of(p)
		if y, both := bases[p.Block]; both && usable(p, x) {
			d = append(d, math.Log(*x)-y)
		}
	}
	return d
}

// days locates the difference of two means with Welch's bounds.
func days(now, then []float64) located {
	return func(alpha float64) (n int, mid, lower, upper float64) {
		n, lower, upper = min(len(now), len(then)), math.Inf(-1), math.Inf(1)
		if n == 0 {
			return n, math.NaN(), lower, upper
		}
		mid = stat.Mean(now) - stat.Mean(then)
		if n < stat.FewestPairs {
			return n, mid, lower, upper
		}
		a, b := float64(len(now)), float64(len(then))
		va, vb := stat.Variance(now)/a, stat.Variance(then)/b
		se := math.Sqrt(va + vb)
		if se == 0 {
			return n, mid, mid, mid
		}
		by := stat.TQuantile(1-alpha, (va+vb)*(va+vb)/(va*va/(a-1)+vb*vb/(b-1))) * se
		return n, mid, mid - by, mid + by
	}
}
