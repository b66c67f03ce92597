package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// priceSettings has each setting that was tried, with those that have no valid trial; null where
// no rate or no objective was asked for. A setting that used
// more memory than the plan allows, or whose memory is not known then, is not among them.
func (r *Result) priceSettings(h journal.Header, trials []journal.Trial) *Cheapest {
	if h.Plan.SLO == nil || h.Load.RatePerSecond == nil || !(*h.Load.RatePerSecond > 0) {
		return nil
	}
	c := &Cheapest{Objective: *h.Plan.SLO, RatePerSecond: *h.Load.RatePerSecond, Settings: []Priced{}}
	today := slices.IndexFunc(h.Plan.Settings, func(a journal.Setting) bool { return a.Group() == h.Plan.Settings[0].Group() && a.Procs == nil })
	at, measured := map[journal.SettingKey]int{}, map[journal.SettingKey][]*journal.Trial{}
	for i := range trials {
		t := &trials[i]
		key := t.Setting.Key()
		if t.Role == journal.RolePilot || slices.Contains([]contest.Excluded{contest.ExcludedMemory, contest.ExcludedUnweighed}, r.excluded(key)) {
			continue
		}
		if _, known := at[key]; !known {
			at[key] = len(c.Settings)
			c.Settings = append(c.Settings, r.priced(t.Setting))
		}
		s := &c.Settings[at[key]]
		if !t.Valid || t.Attained == nil || t.ThroughputPerSecond == nil || !(*t.ThroughputPerSecond > 0) {
			s.Invalid++
			continue
		}
		s.Trials++
		if t.Attained.Met {
			s.Met++
		}
		measured[key] = append(measured[key], t)
	}
	if len(measured) == 0 {
		c.Settings = []Priced{} // of no setting anything is known
		return c
	}
	for key, i := range at {
		s := &c.Settings[i]
		s.judge(measured[key], math.Log(c.RatePerSecond), len(measured))
		s.see(measured[key], h.Target.AnyProgram)
		switch {
		case s.Carries == CarriesIt && h.Load.Tunnelled():
			s.Carries = CarriesLikely // the API server was measured too
		case s.Carries == CarriesNot && (r.excluded(key) == contest.ExcludedTooFewCPUs || h.Load.Tunnelled() || contest.Most(measured[key], limitedByLoad)):
			s.Carries = CarriesMaybe // other programs had its CPUs, or it did not get the load
		}
		if today >= 0 && key == h.Plan.Settings[today].Key() {
			c.Today = new(*s)
		}
	}
	c.answer()
	return c
}

// excluded is why a setting has no part in the comparisons of its group; empty: it has.
func (r *Result) excluded(key journal.SettingKey) contest.Excluded {
	for _, g := range r.Groups {
		own := g.key() == key.Group
		for _, a := range g.Settings {
			if own && a.Excluded != nil && a.Variant == key.Variant && stat.OrZero(a.Procs) == key.Procs {
				return *a.Excluded
			}
		}
	}
	return ""
}

func (r *Result) priced(a journal.Setting) Priced {
	p := Priced{Setting: a}
	p.Replicas = max(1, a.Replicas)
	for _, g := range r.Groups {
		if g.QuotaCPUs == nil && a.QuotaCPUs == nil && g.Replicas == a.Replicas && g.GoVersion == a.GoVersion {
			p.CPUs = g.EffectiveCPUs
		}
	}
	if a.QuotaCPUs != nil {
		p.CPUs = *a.QuotaCPUs
	}
	if p.TotalCPUs = p.CPUs; a.QuotaCPUs != nil || r.Origin != journal.OriginLocal { // without a limit, replicas of one machine share its CPUs
		p.TotalCPUs *= float64(p.Replicas)
	}
	return p
}

// judge bounds the capacity by Student's t on its logarithm, each of N settings
// at its share of 5% on either side.
func (p *Priced) judge(trials []*journal.Trial, rate float64, settings int) {
	p.Carries = CarriesMaybe
	var logs []float64
	for _, t := range trials {
		logs = append(logs, math.Log(*t.ThroughputPerSecond))
	}
	low, high := stat.Student(logs, 0.05/float64(settings))
	p.Capacity = stat.OfLogs(stat.Mean(logs), low, high, len(logs))
	switch {
	case p.Met == len(logs) && low >= rate:
		p.Carries = CarriesIt
	case high < rate:
		p.Carries = CarriesNot
	}
}

// Lacks is about how many valid trials more would show whether an open setting carries the
// rate: what bounds need, and then twice as many.
func (p *Priced) Lacks() int {
	if p.Carries != CarriesMaybe || p.Unseen {
		return 0
	}
	return max(stat.FewestPairs-p.Trials, p.Trials)
}

// Promises reports whether an open setting met the rate in each of its trials.
func (p *Priced) Promises(rate float64) bool {
	return p.Carries == CarriesMaybe && !p.Unseen && p.Trials > 0 && p.Met == p.Trials && p.Capacity.Median != nil && *p.Capacity.Median >= rate
}

// see refuses a setting that no valid trial was seen to run at, as guard does with a value:
// if the user said that it cannot be seen, the setting is likely to carry the rate.
func (p *Priced) see(trials []*journal.Trial, anyProgram bool) {
	if procs, _ := contest.Resolved(trials); procs > 0 || p.Carries != CarriesIt {
		return
	}
	if p.Unseen, p.Carries = true, CarriesMaybe; anyProgram {
		p.Carries = CarriesLikely
	}
}

// answer chooses. At the same CPUs the default is preferred, as there is nothing to set,
// then the fewest Ps.
func (c *Cheapest) answer() {
	sorting.Stable(c.Settings, func(a, b Priced) int {
		return cmp.Or(cmp.Compare(a.TotalCPUs, b.TotalCPUs), cmp.Compare(stat.OrZero(a.Procs), stat.OrZero(b.Procs)), cmp.Compare(a.Replicas, b.Replicas))
	})
	for i, s := range c.Settings {
		if s.Carries == CarriesIt || s.Carries == CarriesLikely {
			c.Answer = &c.Settings[i]
			break
		}
	}
	for _, s := range c.Settings {
		if s.Carries == CarriesMaybe && (c.Answer == nil || s.TotalCPUs < c.Answer.TotalCPUs) {
			c.Open++
		}
	}
}
