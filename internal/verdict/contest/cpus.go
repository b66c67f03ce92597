package contest

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// Crowded is the share of the machine's CPUs from which on the target and its load
// together leave hardly any to spare.
const Crowded = 0.9

// mostByLatency is the largest GOMAXPROCS of a group that may be preferred for its
// latency; 0: no bound. A load generator on the target's own CPUs takes the CPU of a
// thread that holds a P, and with spare Ps another thread continues: beyond the CPUs the
// latency is that of the arrangement and not of the program. Under a CPU limit that
// leaves enough CPUs to the load, it takes none of the target's.
func mostByLatency(h journal.Header, g journal.GroupKey, trials []*journal.Trial) int {
	if !h.Load.Shared() {
		return 0
	}
	effective := EffectiveCPUs(h, g, trials)
	if g.Limited && effective*float64(max(1, g.Replicas))+mostLoad(trials) <= Crowded*MachineCPUs(h, trials) {
		return 0
	}
	return max(1, int(math.Ceil(effective)))
}

// mostLoad is the CPUs that the load generator used, of the setting where their median is
// the greatest.
func mostLoad(trials []*journal.Trial) (most float64) {
	for _, of := range grouped(Where(trials, isMeasured), journal.Setting.Key) {
		most = max(most, stat.OrZero(Median(of, LoadCPUs)))
	}
	return most
}

// MachineCPUs is how many CPUs any program on the target's host may use: those of the
// host, or of the tightest limit around the target that the trials counted.
func MachineCPUs(h journal.Header, trials []*journal.Trial) float64 {
	n := h.TargetHost.EffectiveCPUs
	if n <= 0 {
		n = float64(max(1, h.TargetHost.CPUs))
	}
	for _, t := range trials {
		for _, l := range t.OuterLimits {
			if t.Role == journal.RoleMeasure && l.CPUs > 0 {
				n = math.Min(n, l.CPUs)
			}
		}
	}
	return n
}

// usableCPUs is how many of them the target may use without the group's CPU limit.
func usableCPUs(h journal.Header, trials []*journal.Trial) float64 {
	n := MachineCPUs(h, trials)
	if pinned := len(h.Target.Had()); pinned > 0 {
		n = math.Min(n, float64(pinned))
	}
	return n
}

// EffectiveCPUs is how many CPUs one replica of the group's target may use.
func EffectiveCPUs(h journal.Header, g journal.GroupKey, trials []*journal.Trial) float64 {
	n := usableCPUs(h, trials)
	if g.Limited {
		n = math.Min(n, g.QuotaCPUs)
	}
	return n
}

const (
	// CrowdedFrom is the share of the CPUs' time from which on a target that does not answer
	// may merely have had too few of them.
	CrowdedFrom = 0.2
	// burst is the share from which on other programs are more than noise, where most trials are quiet.
	burst = 0.25
)

// Others is the share of the CPU time that other programs took, of the CPUs that the
// target may use; nil: it was not counted. The kernel's ticks do not show it in a trial of
// less than half a second.
func Others(u *journal.Usage) *float64 {
	if !hasCPUs(u) || u.HostUse.OtherCPUSeconds == nil {
		return nil
	}
	return share(u, *u.HostUse.OtherCPUSeconds)
}

// OthersAtMost is the share that they may have taken: Others or, where that was not
// counted, the most that the other counters leave room for. Other programs have at most
// what the target did not use, and what was busy within the error of the kernel's ticks;
// and they took from it at most the time in which its threads waited for a CPU other than
// by its own limit: a limit around it may be used up by others. nil: nothing was counted.
func OthersAtMost(u *journal.Usage) *float64 {
	if counted := Others(u); counted != nil || !hasCPUs(u) {
		return counted
	}
	most := u.MeasuredSeconds * float64(u.HostUse.TargetCPUs)
	if u.CPUSeconds != nil {
		most -= u.CPUSeconds.Total()
	}
	if busy := u.HostUse.MostOtherCPUSeconds; busy != nil {
		most = min(most, *busy)
	}
	if u.RunQueueWaitSeconds != nil {
		waited := *u.RunQueueWaitSeconds
		if u.Cgroup != nil {
			waited -= u.Cgroup.ThrottledSeconds
		}
		most = min(most, waited)
	}
	return share(u, max(0, most))
}

func hasCPUs(u *journal.Usage) bool {
	return u != nil && u.HostUse != nil && u.HostUse.TargetCPUs >= 1 && u.MeasuredSeconds > 0
}

func share(u *journal.Usage, seconds float64) *float64 {
	return new(min(1, seconds/(u.MeasuredSeconds*float64(u.HostUse.TargetCPUs))))
}

// MostOthers is the greatest share that other programs may have taken of a trial or of one
// of its phases; nil: that is not known. Where the trial as a whole was not counted and its phases had
// few, the rest of it may have had many.
func MostOthers(t *journal.Trial) *float64 {
	most := greatest(t, OthersAtMost)
	if OthersAtMost(&t.Usage) == nil && !AtLeast(most, OthersMatter) {
		return nil
	}
	return most
}

// CountedOthers is the greatest share that they were seen to take; nil: that was not
// counted.
func CountedOthers(t *journal.Trial) *float64 { return greatest(t, Others) }

func greatest(t *journal.Trial, share func(*journal.Usage) *float64) (most *float64) {
	for _, u := range t.Usages() {
		if x := share(u); x != nil && (most == nil || *x > *most) {
			most = x
		}
	}
	return most
}

// AtLeast reports whether a share is known and that large.
func AtLeast(share *float64, least float64) bool { return share != nil && *share >= least }

// Burst is the share that other programs took of a trial, if it is known to be much of its
// CPU time; else nil.
func Burst(t *journal.Trial) *float64 {
	if counted := CountedOthers(t); AtLeast(counted, burst) {
		return counted
	}
	return nil
}

// quietTrial reports whether a trial is known to have had hardly any other program next
// to it.
func quietTrial(t *journal.Trial) bool {
	most := MostOthers(t)
	return most != nil && *most < OthersMatter
}

// QuietButFor reports whether most of a group's trials, pilots aside, had hardly any other
// program next to them, so that those in a burst are the exception. Where that is not
// known of a trial, it is no quiet one.
func QuietButFor(trials []*journal.Trial) bool {
	return 2*HowMany(trials, quietTrial) > len(trials)
}

// withoutBursts makes trials invalid, as [journal.InvalidCrowded], that other programs starved for
// a while: those in a burst, where most of the group's are quiet. What decides is what the others
// used, and not what the target did. Where one setting alone has bursts, and no quiet trial, it
// may cause them itself, and they count.
func withoutBursts(trials []*journal.Trial) {
	for _, of := range grouped(trials, journal.Setting.Group) {
		if !QuietButFor(of) {
			continue
		}
		bursts, quiet := map[journal.SettingKey]bool{}, map[journal.SettingKey]bool{}
		for _, t := range of {
			if k := t.Setting.Key(); Burst(t) != nil {
				bursts[k] = true
			} else {
				quiet[k] = quiet[k] || quietTrial(t)
			}
		}
		for _, t := range of {
			starved := t.Valid || t.InvalidCode == journal.InvalidNoAnswer || t.InvalidCode == journal.InvalidErrors
			if Burst(t) != nil && starved && (quiet[t.Setting.Key()] || len(bursts) > 1) {
				crowd(t)
			}
		}
	}
}

func crowd(t *journal.Trial) {
	t.Valid, t.InvalidCode, t.InvalidReason = false, journal.InvalidCrowded, "other programs used a large part of its CPU time"
}

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
		trials := Where(all, isMeasured)
		n := float64(TargetCPUs(trials))
		share := Median(trials, func(t *journal.Trial) *float64 { return OthersAtMost(&t.Usage) })
		if n <= 0 || !AtLeast(share, OthersMatter) {
			continue
		}
		if !Most(trials, func(t *journal.Trial) bool { return Others(&t.Usage) != nil }) {
			tooFewCPUs[key] = true
			continue
		}
		beside := *share*n + stat.OrZero(Median(trials, func(t *journal.Trial) *float64 { return PerSecond(&t.Usage, t.BesideCPUSeconds) }))
		if h.Load.Shared() {
			beside += stat.OrZero(Median(trials, LoadCPUs))
		}
		used := beside + stat.OrZero(Median(trials, func(t *journal.Trial) *float64 {
			if t.CPUSeconds == nil {
				return nil
			}
			return PerSecond(&t.Usage, new(t.CPUSeconds.Total()))
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
	trials = Where(trials, func(t *journal.Trial) bool { return !aside(t) })
	settings := grouped(trials, journal.Setting.Key)
	for g, own := range grouped(trials, journal.Setting.Group) {
		for key := range withTooFewCPUs(h, g, own) {
			quiet := func(t *journal.Trial) bool { return t.Valid && quietTrial(t) }
			if HowMany(settings[key], quiet) < fewestQuiet {
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

// LoadCPUs are those that the load generator used; nil: they were not counted.
func LoadCPUs(t *journal.Trial) *float64 {
	if t.Load == nil {
		return nil
	}
	return PerSecond(&t.Usage, &t.Load.CPUSeconds)
}

// PerSecond is a counter by the second that it spans; nil where it was not counted.
func PerSecond(u *journal.Usage, counter *float64) *float64 {
	if counter == nil || u.MeasuredSeconds <= 0 {
		return nil
	}
	return new(*counter / u.MeasuredSeconds)
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
