package verdict

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// gateError is how often a gate may call worse what is worse by no more than the
// margin, over all its checks.
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
			gate.add(setting, MetricThroughput, bounds(d, race.Throughput))
			if d.Rules.Latency || g.latencyMode == journal.ModeOpen { // an open loop whose latency nobody could judge is no pass
				c := gate.add(setting, MetricP99, bounds(d, race.P99))
				c.RatePerSecond, c.Behind, c.Quantile = g.rate, behind(now, then), d.Latency.Quantile
				c.late = slices.ContainsFunc(slices.Concat(now, then), func(t *journal.Trial) bool { return t.Valid && contest.Late(t) })
			}
			gate.validity(setting, tallyOf(now), tallyOf(then))
		}
	}
	return gate.conclude()
}

// behind is which of two programs did not carry the rate that the other carried.
func behind(now, then []*journal.Trial) string {
	switch full := mostlySaturated(now); {
	case full == mostlySaturated(then):
		return ""
	case full:
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
	d := race.Differences(duel.Pairs, figure)
	return func(alpha float64) (int, float64, float64, float64) {
		mid, lower, upper := stat.SignedRanks(d, alpha)
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
		if c.most && !c.Worse {
			c.Judged, c.Proven = false, false
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
		case c.late:
			code = UnjudgedLate
		case c.missed:
			code = UnjudgedMissed
		case c.Metric == MetricP99 && c.Quantile == 0:
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
