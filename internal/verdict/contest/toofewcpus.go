package contest

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

const (
	// OthersMatter is the share of the target's CPUs from which other programs are
	// more than the few per cent that run on every machine.
	OthersMatter = 0.1
	// crowdedBy is by how much what a setting could use, its load and other programs
	// together exceed the CPUs before they are called too few.
	crowdedBy = 1.1
	// InUse is the share of the CPUs that is used where they are too few: with CPUs
	// idle nobody starved. Ticks and short trials lose some.
	InUse = 0.85
)

// withTooFewCPUs are the settings of a group that other programs left too few CPUs: where these
// matter, where the Ps within the CPU limit, the load and they want more than the CPUs by
// a tenth, and where these CPUs were in fact in use. Then what the setting did was what
// the others left. The load by itself starves nothing, however much it takes.
//
// Where other programs were not counted, all that they may have taken guards in their
// place: a setting whose threads may have waited for them is not compared.
func withTooFewCPUs(h journal.Header, g journal.GroupKey, own []*journal.Trial) map[journal.SettingKey]bool {
	tooFewCPUs := map[journal.SettingKey]bool{}
	for key, all := range grouped(own, journal.Setting.Key) {
		trials := slices.DeleteFunc(slices.Clone(all), func(t *journal.Trial) bool { return t.Role != journal.RoleMeasure })
		n := float64(TargetCPUs(trials))
		share := Median(trials, func(t *journal.Trial) *float64 { return OthersAtMost(&t.Usage) })
		if n <= 0 || !AtLeast(share, OthersMatter) {
			continue
		}
		if !Most(trials, func(t *journal.Trial) bool { return Others(&t.Usage) != nil }) {
			tooFewCPUs[key] = true
			continue
		}
		beside := *share*n + stat.OrZero(Median(trials, func(t *journal.Trial) *float64 { return perSecond(t, t.BesideCPUSeconds) }))
		if Shared(h) {
			beside += stat.OrZero(Median(trials, LoadCPUs))
		}
		used := beside + stat.OrZero(Median(trials, func(t *journal.Trial) *float64 {
			if t.CPUSeconds == nil {
				return nil
			}
			return perSecond(t, new(t.CPUSeconds.Total()))
		}))
		if math.Min(n, wanted(g, all))+beside > crowdedBy*n && used >= InUse*n {
			tooFewCPUs[key] = true
		}
	}
	return tooFewCPUs
}

// fewestQuiet is how many quiet trials of a setting stand for it in place of those that
// other programs starved.
const fewestQuiet = 3

// withoutBusy makes trials invalid, as [journal.InvalidCrowded], of settings that other
// programs left too few CPUs most of the time, but not always: where enough trials of such
// a setting are known to have been quiet, these are what it does. A trial in which nobody
// counted the other programs stays: what it may have lacked excludes its setting, and
// is no reason to skip it.
func withoutBusy(h journal.Header, trials []*journal.Trial) {
	trials = slices.DeleteFunc(slices.Clone(trials), aside)
	settings := grouped(trials, journal.Setting.Key)
	for g, own := range grouped(trials, journal.Setting.Group) {
		for key := range withTooFewCPUs(h, g, own) {
			isBusy := func(t *journal.Trial) bool { return !t.Valid || MostOthers(t) == nil || crowded(t) }
			if len(slices.DeleteFunc(slices.Clone(settings[key]), isBusy)) < fewestQuiet {
				continue
			}
			for _, t := range settings[key] {
				if t.Valid && AtLeast(CountedOthers(t), OthersMatter) {
					crowd(t)
				}
			}
		}
	}
}

func grouped[K comparable](trials []*journal.Trial, key func(journal.Setting) K) map[K][]*journal.Trial {
	by := map[K][]*journal.Trial{}
	for _, t := range trials {
		by[key(t.Setting)] = append(by[key(t.Setting)], t)
	}
	return by
}

// TargetCPUs is how many CPUs the target may use, as the trials counted them.
func TargetCPUs(trials []*journal.Trial) (n int) {
	for _, t := range trials {
		if t.Valid && t.HostUse != nil {
			n = max(n, t.HostUse.TargetCPUs)
		}
	}
	return n
}

// LoadCPUs are those that the load generator used; nil: they were not counted.
func LoadCPUs(t *journal.Trial) *float64 {
	if t.Load == nil {
		return nil
	}
	return perSecond(t, &t.Load.CPUSeconds)
}

// perSecond is a counter by the second that it spans; nil where it was not counted.
func perSecond(t *journal.Trial, counter *float64) *float64 {
	if counter == nil || t.MeasuredSeconds <= 0 {
		return nil
	}
	return new(*counter / t.MeasuredSeconds)
}

// Figures are one number of each valid trial that has it.
func Figures(trials []*journal.Trial, figure func(*journal.Trial) *float64) (list []float64) {
	for _, t := range trials {
		if x := figure(t); t.Valid && x != nil && !math.IsNaN(*x) && !math.IsInf(*x, 0) {
			list = append(list, *x)
		}
	}
	return list
}

// Median is that of the figures; nil: there is none.
func Median(trials []*journal.Trial, figure func(*journal.Trial) *float64) *float64 {
	list := Figures(trials, figure)
	if len(list) == 0 {
		return nil
	}
	return new(stat.Middle(list))
}

// Most reports whether something is true of most of the valid trials.
func Most(trials []*journal.Trial, is func(*journal.Trial) bool) bool {
	n := 0
	for _, t := range trials {
		if t.Valid && is(t) {
			n++
		}
	}
	return 2*n > Valid(trials)
}

// wanted is the CPUs that a setting could use: its Ps within the limit, of all replicas.
func wanted(g journal.GroupKey, trials []*journal.Trial) float64 {
	ps := math.Inf(1)
	if p := trials[0].Setting.Procs; p != nil {
		ps = float64(*p)
	}
	if p, _ := Resolved(trials); p > 0 {
		ps = float64(p)
	}
	if g.Limited {
		ps = math.Min(ps, g.QuotaCPUs)
	}
	return ps * float64(g.Replicas)
}

// RulesOf are the margins of a plan.
func RulesOf(p journal.Plan) race.Rules {
	return race.Rules{Margin: min(max(p.Margin, 0), 0.99), MarginP99: max(p.MarginP99, 0)} // a journal may be anyone's
}

func (c *Contest) rulesOf() race.Rules {
	p := c.h.Plan
	r := RulesOf(p)
	r.Listed, r.Goal = p.Listed, race.Goal(p.Goal)
	// Each group has a seed of its own: with one, all would run in the same order.
	r.Seed = p.Seed + uint64(max(0, slices.Index(p.Groups(), c.Group))) + orderOf(c.Group)
	r.Latency, r.MaxByLatency, r.Default = c.Latency.Quantile > 0, mostByLatency(c.h, c.Group, c.own), c.Default
	if p.SLO == nil { // under an objective each trial looked for a rate of its own
		for _, t := range c.own {
			r.Rate = max(r.Rate, offered(t))
		}
	}
	if c.Group.Compares != "" { // the preferred value has the smallest rank, so that of equals the one of the least memory is named
		axis := c.h.Plan.Axis(c.Group.Compares)
		for i := range axis.Values {
			r.Values = append(r.Values, i+1)
		}
		r.Listed, r.MaxByLatency, r.Default = true, 0, axis.Rank(axis.Start)
		return r
	}
	for _, a := range c.settings {
		if a.Procs != nil && *a.Procs > 0 { // a plan is checked, a journal may be anyone's
			r.Values = append(r.Values, *a.Procs)
		}
	}
	if c.Default > 0 {
		r.Values = append(r.Values, c.Default)
	}
	slices.Sort(r.Values)
	r.Values = slices.Compact(r.Values)
	return r
}

// mostTooFewCPUs is how often a value is tried that other programs leave too few CPUs, while
// others can be compared and the machine is still busy: they may stop. Where none can be
// compared, all are tried until the budget ends.
const mostTooFewCPUs = 5

// HadTooFewCPUs reports whether other programs left a setting too few CPUs to be compared.
func (c *Contest) HadTooFewCPUs(a journal.Setting) bool { return c.tooFewCPUs[a.Key()] }

// withhold finds the settings that other programs left too few CPUs, and the values that
// they are of, which take no part. One of a few trials may be tried again, and so may any
// once the machine is quiet.
func (c *Contest) withhold() map[int]bool {
	c.tooFewCPUs = withTooFewCPUs(c.h, c.Group, c.own)
	out, tried := map[int]bool{}, map[int]int{}
	for _, t := range c.own {
		v := c.valueOf(t.Setting)
		tried[v]++
		out[v] = out[v] || c.HadTooFewCPUs(t.Setting)
	}
	busy := slices.ContainsFunc(c.own, func(t *journal.Trial) bool { return t.Block == c.own[len(c.own)-1].Block && crowded(t) })
	if busy && slices.ContainsFunc(c.own, func(t *journal.Trial) bool { v := c.valueOf(t.Setting); return t.Valid && v > 0 && !out[v] }) {
		c.rules.Values = slices.DeleteFunc(c.rules.Values, func(v int) bool { return out[v] && tried[v] >= mostTooFewCPUs })
	}
	return out
}

// crowded reports whether other programs may have used CPUs during a trial, by the measure
// of starved.
func crowded(t *journal.Trial) bool { return AtLeast(MostOthers(t), OthersMatter) }
