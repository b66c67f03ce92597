package contest

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// mostCarry is the share of a group's trials that must carry a quantile for it to
// be the one that is judged; the others are then out of comparisons of latency.
const mostCarry = 0.8

// A trial's generator was late when the p99 of its delay in sending exceeds lateFrom
// and this share of the trial's own p99: then the latency is partly the generator's.
const (
	lateFrom  = 0.001 // seconds
	lateShare = 0.2
)

// quantiles are those that every journal has, highest first.
var quantiles = []float64{0.99, 0.9, 0.5}

// Latency is which quantile of the open loop's latency the group's comparisons
// are of, and why it is not p99 where it is not.
type Latency struct {
	Quantile float64 // 0: none
	Reason   journal.UnjudgedCode
	// Requests and Periods are the fewest of a trial that has too few.
	Requests int64
	Periods  int64
	// Passed is the highest quantile that was passed over because it strays, by Strays (a
	// coefficient of variation) from trial to trial of one value; 0: none was.
	Passed float64
	Strays float64
	// Short are trials that carry less than the quantile, Late those whose generator
	// was late: neither is compared in latency.
	Short int
	Late  int

	group journal.GroupKey
}

// Name is the quantile as it is called: p99, p90, p50.
func (j Latency) Name() string {
	if j.Quantile == 0 {
		return "p99"
	}
	return QuantileName(j.Quantile)
}

// highest finds the highest quantile that most of a group's trials carry: of the valid
// ones, the A/A copies too. Trials that did not carry the rate are not asked: their
// latency is a backlog's.
func highest(group journal.GroupKey, all []*journal.Trial) Latency {
	j := Latency{group: group}
	trials, asked := withLatency(all)
	for _, q := range candidates(asked) {
		if j.mostCarry(asked, q) {
			j.judge(asked, q)
			break
		}
	}
	for _, t := range asked {
		if !j.carries(t, 0.99) {
			j.why(t)
		}
	}
	j.Late = HowMany(trials, Late)
	return j
}

// withLatency are the valid trials that have one, and those of them that carried the
// rate; where none did, all.
func withLatency(all []*journal.Trial) (trials, asked []*journal.Trial) {
	trials = Where(all, func(t *journal.Trial) bool { return t.Valid && t.LatencySeconds != nil })
	asked = Where(trials, func(t *journal.Trial) bool { return !t.Saturated })
	if len(asked) == 0 {
		asked = trials
	}
	return trials, asked
}

func (j Latency) carry(trials []*journal.Trial, q float64) int {
	return HowMany(trials, func(t *journal.Trial) bool { return j.carries(t, q) })
}

func (j Latency) mostCarry(asked []*journal.Trial, q float64) bool {
	return len(asked) > 0 && float64(j.carry(asked, q)) >= mostCarry*float64(len(asked))
}

func (j *Latency) judge(asked []*journal.Trial, q float64) {
	j.Quantile, j.Short = q, len(asked)-j.carry(asked, q)
}

// candidates adds a quantile that the trials have next to the common ones.
func candidates(trials []*journal.Trial) []float64 {
	list := slices.Clone(quantiles)
	for _, t := range trials {
		if p := t.Phase(journal.ModeOpen); p != nil && p.QuantileSeconds != nil && p.Quantile > 0 && p.Quantile < 1 && !slices.Contains(list, p.Quantile) {
			list = append(list, p.Quantile)
		}
	}
	sorting.Stable(list, func(a, b float64) int { return cmp.Compare(b, a) })
	return list
}

// why keeps the reason of the trial that has the fewest.
func (j *Latency) why(t *journal.Trial) {
	p := t.Phase(journal.ModeOpen)
	if p == nil {
		return
	}
	periods := j.periods(p)
	switch {
	case p.UnjudgedReason == journal.UnjudgedFewPeriods || periods != nil && *periods < journal.LeastPeriods:
		j.Reason = journal.UnjudgedFewPeriods
		if n := stat.OrZero(periods); j.Periods == 0 || n < j.Periods {
			j.Periods = n
		}
	case j.Reason == "":
		j.Reason = journal.UnjudgedFewRequests
	}
	if j.Requests == 0 || p.Requests < j.Requests {
		j.Requests = p.Requests
	}
}

// carries follows what the trial says of itself; of one that says nothing, its
// counts.
func (j Latency) carries(t *journal.Trial, q float64) bool {
	if t.LatencySeconds == nil || quantileOf(t, q) == nil {
		return false
	}
	p := t.Phase(journal.ModeOpen)
	switch {
	case p == nil:
		return true // a load command's own figure, which counts what it counts
	case t.Saturated:
		return true // too few, since it could not answer more; a contest leaves it out
	case p.Judged != nil && *p.Judged:
		return true
	case p.Judged != nil && p.Quantile > 0:
		return q <= p.Quantile
	case p.Judged != nil && q == 0.99:
		return false
	}
	return journal.Carry(q, p.Requests, j.periods(p))
}

// periods are those of the setting's quota that a phase spans, of one replica; nil: there is none.
func (j Latency) periods(p *journal.Phase) *int64 {
	if !j.group.Limited {
		return nil
	}
	n := int64(math.Round(p.DurationSeconds / journal.QuotaPeriod.Seconds()))
	if p.Usage != nil && p.Usage.Cgroup != nil && p.Usage.Cgroup.Periods > 0 {
		n = max(n, p.Usage.Cgroup.Periods/int64(max(1, j.group.Replicas)))
	}
	return &n
}

// quantileOf is a trial's latency at one of the known quantiles; nil where it has none.
func quantileOf(t *journal.Trial, q float64) *float64 {
	l := t.LatencySeconds
	if l == nil {
		return nil
	}
	if p := t.Phase(journal.ModeOpen); p != nil && p.Quantile == q && p.QuantileSeconds != nil {
		return p.QuantileSeconds
	}
	switch q {
	case 0.99:
		return l.P99
	case 0.9:
		return l.P90
	case 0.5:
		return l.P50
	}
	return nil
}

// Late reports whether the trial's generator sent late.
func Late(t *journal.Trial) bool {
	if t.Load == nil || t.Load.SendLagP99Seconds == nil || t.LatencySeconds == nil || t.LatencySeconds.P99 == nil {
		return false
	}
	lag := *t.Load.SendLagP99Seconds
	return lag > lateFrom && lag > lateShare**t.LatencySeconds.P99
}

// LagUnknown reports whether nothing tells how late the generator of an open loop sent, which its latency
// may hold, or hide: it counts that from where it sends.
func LagUnknown(t *journal.Trial) bool {
	return t.Phase(journal.ModeOpen) != nil && (t.Load == nil || t.Load.SendLagP99Seconds == nil)
}

// Of is the latency of a trial that comparisons take, in seconds; nil where the trial is
// out of them.
func (j Latency) Of(t *journal.Trial) *float64 {
	if j.Quantile == 0 || Late(t) || !j.carries(t, j.Quantile) {
		return nil
	}
	return quantileOf(t, j.Quantile)
}

// QuantileName is a quantile as it is called: p99, p99.9, p50.
func QuantileName(q float64) string {
	return "p" + strconv.FormatFloat(math.Round(q*1e5)/1e3, 'f', -1, 64)
}

// fewestStray is how many degrees of freedom tell that a quantile strays.
const fewestStray = 4

// steady is the quantile that settings are compared by: the highest that the
// trials carry, unless it strays so far from trial to trial that nothing could be likely
// by it, and tells no two settings apart. Then a lower one that does not stray so is
// judged in its place; where all do, the highest stays.
func steady(group journal.GroupKey, all []*journal.Trial) Latency {
	j := highest(group, all)
	first := j.stray(all, j.Quantile)
	if j.Quantile == 0 || first.DF < fewestStray || first.CV <= race.WildLatency || first.Apart {
		return j
	}
	_, asked := withLatency(all)
	for _, q := range candidates(asked) {
		if q >= j.Quantile || !j.mostCarry(asked, q) || j.stray(all, q).CV > race.WildLatency {
			continue
		}
		j.Passed, j.Strays = j.Quantile, first.CV
		j.judge(asked, q)
		break
	}
	return j
}

// stray is how far a quantile does. Settings are numbered as they come.
func (j Latency) stray(all []*journal.Trial, q float64) race.Stray {
	j.Quantile = q
	var settings []journal.SettingKey
	var list []race.Trial
	for _, t := range all {
		n := slices.Index(settings, t.Setting.Key())
		if n < 0 {
			n = len(settings)
			settings = append(settings, t.Setting.Key())
		}
		x := j.figures(t)
		x.Value, x.Block = n+1, t.Block
		list = append(list, x)
	}
	return race.StrayOf(list, race.P99)
}

// figures are the numbers of a trial that are compared. A trial without a throughput
// that has a logarithm has failed.
func (j Latency) figures(t *journal.Trial) race.Trial {
	r := race.Trial{Saturated: t.Saturated, Unmet: t.Missed(), Failed: true}
	if t.Valid {
		r.Throughput, r.P99 = positive(t.ThroughputPerSecond), positive(j.Of(t))
		r.Failed = r.Throughput == 0
	}
	return r
}

// positive is a figure that has a logarithm, else 0: a journal may be anyone's.
func positive(x *float64) float64 {
	if x == nil || !(*x > 0) || math.IsInf(*x, 1) {
		return 0
	}
	return *x
}

// offered is the rate of the trial's open loop, where its throughput is counted as that
// is; 0: there is none.
func offered(t *journal.Trial) (rate float64) {
	for i := range t.Phases {
		if p := &t.Phases[i]; p.Mode == journal.ModeOpen && p.RatePerSecond != nil && t.Valid && t.ThroughputUnit == "requests" {
			rate = *p.RatePerSecond
		}
	}
	return rate
}
