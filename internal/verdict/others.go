package verdict

import (
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// OtherPrograms is the CPU that neither the target nor its load used, on the CPUs
// that the target may use.
type OtherPrograms struct {
	CPUs *float64 `json:"cpus"` // the median over the trials; null where it was not counted
	Of   int      `json:"of,omitempty"`
	// MostCPUs is the median over the trials of MostSetting, which had the most of it,
	// where that is more than runs on every machine; null elsewhere.
	MostCPUs    *float64 `json:"most_cpus,omitempty"`
	MostSetting string   `json:"most_setting,omitempty"`
	// Matter is that they are more than runs on every machine.
	Matter bool `json:"matter"`
	// Withheld are the labels of the settings that had too few CPUs next to them.
	Withheld []string `json:"withheld,omitempty"`
	// Bursts is how many of all Trials had much of them, at most the share BurstMost of the
	// CPU time, where most have hardly any; LeftOut of these are not used.
	Bursts    int     `json:"bursts,omitempty"`
	BurstMost float64 `json:"burst_most,omitempty"`
	Trials    int     `json:"trials,omitempty"`
	LeftOut   int     `json:"left_out,omitempty"`
}

// burstsOf are the trials of a machine that was busy for a while.
func (o *OtherPrograms) burstsOf(all []*journal.Trial) {
	if !contest.QuietButFor(all) {
		return
	}
	for _, t := range all {
		if !contest.InBurst(t) {
			continue
		}
		o.Bursts, o.BurstMost, o.Trials = o.Bursts+1, max(o.BurstMost, contest.MostOthers(t)), len(all)
		if t.InvalidCode == journal.InvalidCrowded {
			o.LeftOut++
		}
	}
}

func otherSeconds(u *journal.Usage) *float64 {
	if u.HostUse == nil {
		return nil
	}
	return u.HostUse.OtherCPUSeconds
}

// others is what other programs took. Which settings they left too few CPUs is the
// contest's.
func (g *group) others(r *Group) {
	var all []*journal.Trial
	for _, a := range g.settings {
		all = append(append(all, a.measure...), a.aa...)
	}
	o := OtherPrograms{CPUs: medianRate(all, otherSeconds), Of: contest.TargetCPUs(all)}
	o.burstsOf(all)
	for i, a := range g.settings {
		e := &r.Settings[i].Evidence
		if n := float64(contest.TargetCPUs(a.measure)); e.OtherCPUs != nil && n > 0 && *e.OtherCPUs >= contest.OthersMatter*n {
			o.Matter = true
			if o.MostCPUs == nil || *e.OtherCPUs > *o.MostCPUs {
				o.MostCPUs, o.MostSetting = e.OtherCPUs, a.Label
			}
		}
		if g.contest.Withheld[a.key] {
			r.Settings[i].Withheld, a.withheld = true, true
			o.Withheld = append(o.Withheld, a.Label)
		}
	}
	o.Matter = o.Matter || o.CPUs != nil && *o.CPUs >= contest.OthersMatter*float64(max(1, o.Of))
	r.Others = o
}
