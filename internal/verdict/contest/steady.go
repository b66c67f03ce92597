package contest

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

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

// stray is how far a quantile does.
func (j Latency) stray(all []*journal.Trial, q float64) race.Stray {
	j.Quantile = q
	return race.StrayOf(j.plain(all), race.P99)
}

// plain are the trials with their settings by number alone: whatever their order, the
// same setting has the same.
func (j Latency) plain(all []*journal.Trial) []race.Trial {
	var settings []journal.SettingKey
	var nodes []string // of a run on several of a cluster
	var list []race.Trial
	for _, t := range all {
		n := slices.Index(settings, t.Setting.Key())
		if n < 0 {
			n = len(settings)
			settings = append(settings, t.Setting.Key())
		}
		x := j.figures(t)
		x.Value, x.Block = n+1, t.Block
		if len(t.Pods) > 0 {
			if x.Node = slices.Index(nodes, t.Pods[0].Node); x.Node < 0 {
				x.Node = len(nodes)
				nodes = append(nodes, t.Pods[0].Node)
			}
		}
		list = append(list, x)
	}
	return list
}

// figures are the numbers of a trial that are compared. A trial without a throughput
// that has a logarithm has failed.
func (j Latency) figures(t *journal.Trial) race.Trial {
	r := race.Trial{Saturated: t.Saturated, Failed: true}
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
