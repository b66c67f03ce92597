package stat

import (
	"fmt"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/journal"
)

// notes gathers what weakens a result. A warning that every run would carry
// tells nobody anything: each has a threshold, and says what passed it.
type notes struct {
	h    journal.Header
	list []Warning
}

func (n *notes) add(group int, code, fix, format string, args ...any) {
	w := Warning{Code: code, Message: fmt.Sprintf(format, args...), Fix: fix}
	if group >= 0 && len(n.h.Plan.Arms) > 0 {
		w.Group = new(group)
	}
	n.list = append(n.list, w)
}

const (
	intervalBlocks  = 6    // for a median's 95 % interval
	fewestArms      = 5    // settings that a curve needs
	throttledMuch   = 0.1  // share of periods
	slowSend        = 0.25 // send lag as a share of p99
	crowded         = 0.9  // of the machine's CPUs, by target and load together
	loadLimitThread = 0.9  // CPU time ÷ wall time of the busiest engine thread
)

// group adds what concerns one group.
func (n *notes) group(i int, g *group, r *Group, w *walk) {
	if len(g.measured()) > 0 {
		n.samples(i, g)
	}
	n.invalid(i, g)
	n.noise(i, r, w)
	n.throttling(i, g, r)
	n.rate(i, r, w)
	n.procs(i, g, r, w)
	n.company(i, r)
	n.metrics(i, w)
	if r.Recommendation.Verdict != NotYourKnob && len(w.settings) >= 3 && w.best != nil &&
		r.Recommendation.Verdict != CarriesRate && len(r.Flatness.WithinMargin) == len(g.measured()) {
		n.add(i, "flat_curve", "profile first: GOMAXPROCS may not be your knob",
			"the medians of all arms are within %s of the best", percent(n.h.Plan.Margin))
	}
}

// measured is the current arms with a valid trial.
func (g *group) measured() []*arm {
	return slices.DeleteFunc(g.current(), func(a *arm) bool { return valid(a.measure) == 0 })
}

func (n *notes) samples(i int, g *group) {
	least := math.MaxInt
	for _, a := range g.arms {
		least = min(least, valid(a.measure))
	}
	if least < intervalBlocks {
		n.add(i, "few_blocks", "--repeats 6 or more", "need at least %d valid trials of an arm for a 95 %% interval of its median; one has %d", intervalBlocks, least)
	}
	if arms := len(g.current()); arms < fewestArms && !n.h.Plan.GateAgainst && !n.h.Plan.SmallestFor {
		n.add(i, "few_arms", "--procs auto, or at least five values", "%s measured; the best value may be another", plural(arms, "setting"))
	}
}

func (n *notes) invalid(i int, g *group) {
	invalid, run, why := 0, 0, map[string]int{}
	for _, a := range g.arms {
		for _, t := range slices.Concat(a.measure, a.aa) {
			run++
			if !t.Valid {
				invalid++
				why[t.InvalidReason]++
			}
		}
	}
	if invalid > 0 {
		n.add(i, "invalid_trials", "read their output under logs/", "%d of %s invalid, most often: %s", invalid, plural(run, "trial"), mostOften(why))
	}
}

// mostOften is the key of the highest count; of equals the first by name.
func mostOften(count map[string]int) string {
	best := ""
	for key, c := range count {
		if best == "" || c > count[best] || c == count[best] && key < best {
			best = key
		}
	}
	return best
}

func (n *notes) noise(i int, r *Group, w *walk) {
	f := r.NoiseFloor
	if f.Throughput != nil && *f.Throughput > n.h.Plan.Margin {
		n.add(i, "noisy", "a quieter machine, more --repeats or a longer --duration",
			"two copies of %s differ by up to %s in throughput, more than the margin of %s: %s", f.Arm, percent(*f.Throughput), percent(n.h.Plan.Margin), floorWords)
	}
	if f.P99 != nil && w.latency && *f.P99 > n.h.Plan.MarginP99 {
		n.add(i, "noisy_p99", "a longer --duration, or more --repeats",
			"two copies of %s differ by up to %s in p99, more than the margin of %s: %s", f.Arm, percent(*f.P99), percent(n.h.Plan.MarginP99), floorWords)
	}
}

// floorWords reconcile the floor with what is claimed beside it.
const floorWords = "no difference estimated at less is called worse; where something is as good within the margin, that rests on differences within blocks and on averaged copies, which stray less"

// throttling is a matter of GOMAXPROCS only where the Ps exceed the quota. Up to
// the quota rounded up is what the runtime chooses itself (Go 1.25).
func (n *notes) throttling(i int, g *group, r *Group) {
	if r.QuotaCPUs == nil {
		return
	}
	fit := int(math.Ceil(*r.QuotaCPUs))
	var beyond, within []string
	for k := range r.Arms {
		a := &r.Arms[k]
		ps := a.ResolvedProcs
		if ps == nil {
			ps = a.Procs
		}
		if ratio := a.Evidence.ThrottledPeriodsRatio; ratio == nil || *ratio < throttledMuch || ps == nil {
			continue
		} else if text := fmt.Sprintf("%s (%s of periods)", a.Label, percent(*ratio)); *ps > fit {
			beyond = append(beyond, text)
		} else {
			within = append(within, text)
		}
	}
	if len(beyond) > 0 {
		n.add(i, "throttled_beyond_quota", fmt.Sprintf("lower GOMAXPROCS to %d before raising the quota", fit),
			"throttled with more Ps than the quota of %s, at GOMAXPROCS %s", cpus(*r.QuotaCPUs), and(beyond))
	}
	if len(within) > 0 {
		n.add(i, "throttled_within_quota", "raise the quota if the work must go faster; GOMAXPROCS cannot help",
			"throttled by the quota of %s with no more Ps than that, rounded up, at GOMAXPROCS %s", cpus(*r.QuotaCPUs), and(within))
	}
}

func (n *notes) rate(i int, r *Group, w *walk) {
	var full, late []string
	dropped := int64(0)
	for k := range r.Arms {
		a := &r.Arms[k]
		if a.Saturated {
			full = append(full, a.Label)
		}
		dropped += a.Evidence.Dropped
		if lag := a.Evidence.SendLagP99; lag != nil && r.LatencyMode == string(journal.ModeOpen) && a.P99.Median != nil && *lag > slowSend**a.P99.Median {
			late = append(late, fmt.Sprintf("%s (%s of a p99 of %s)", a.Label, seconds(*lag), seconds(*a.P99.Median)))
		}
	}
	if len(full) > 0 && r.RatePerSecond != nil && !n.h.Plan.SmallestFor {
		n.add(i, "saturated", "a lower --rate, to compare their latency too", "could not carry %s, so their latency is a backlog's: %s", perSecond(*r.RatePerSecond, "requests"), and(full))
	}
	if dropped > 0 {
		n.add(i, "dropped", "more --connections, or a lower --rate", "%s intended sends were never made", count(float64(dropped)))
	}
	if len(late) > 0 {
		n.add(i, "send_lag", "drive the load from CPUs of its own: --load-cpuset", "the load engine itself sent late: %s", and(late))
	}
	if carriers, _ := w.carriers(); r.Recommendation.Verdict == CarriesRate {
		if better := w.betterCarrier(carriers[0], carriers); better != nil {
			n.add(i, "carrier_p99", "choose it where p99 matters more than CPUs",
				"%s carries the rate with a p99 of %s, proven lower than the %s of %s", better.label, seconds(better.tail), seconds(carriers[0].tail), carriers[0].label)
		}
	}
}

func (n *notes) procs(i int, g *group, r *Group, w *walk) {
	var unread, varied []string
	for k, a := range g.arms {
		if len(values(a.measure, throughputOf)) > 0 && r.Arms[k].ResolvedProcs == nil {
			unread = append(unread, a.Label)
		}
		for _, t := range a.measure {
			for _, p := range t.ObservedProcs {
				if t.Valid && a.Procs == nil && p != nil && *p != *r.Arms[k].ResolvedProcs && !slices.Contains(varied, a.Label) {
					varied = append(varied, a.Label)
				}
			}
		}
	}
	if len(unread) > 0 {
		n.add(i, "unproven_procs", "measure a Go binary whose process may be read (same user, or root)",
			"the GOMAXPROCS that the program really ran at could not be read: %s", and(unread))
	}
	if len(varied) > 0 {
		n.add(i, "default_varies", "keep the limits and CPUs of the machine fixed during a sweep", "the default did not choose the same value in every trial: %s", and(varied))
	}
	if w.loose != nil && w.loose.procs > 0 {
		n.add(i, "unset_differs", "look for pools sized from the variable and for libraries that set GOMAXPROCS",
			"unset chose %d but performs unlike GOMAXPROCS=%d", w.loose.procs, w.loose.procs)
	}
}
