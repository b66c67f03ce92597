package contest

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// What other programs starved for a while does not count. What may be the making of one
// setting does, and so does all where they never rest.
func TestWithoutBursts(t *testing.T) {
	a, b, limited := setting(1, 0), setting(2, 0), setting(1, 2)
	type one struct {
		setting journal.Setting
		others  float64 // share of the CPU time
		left    bool
	}
	for name, list := range map[string][]one{
		"quiet":             {{a, 0.02, false}, {b, 0.05, false}, {a, 0.24, false}},
		"for a while":       {{a, 0.02, false}, {b, 0.05, false}, {a, 0.01, false}, {b, 0.3, true}, {b, 0.02, false}},
		"two settings":      {{a, 0.02, false}, {a, 0.05, false}, {a, 0.01, false}, {b, 0.3, true}, {a, 0.7, true}},
		"one setting's own": {{a, 0.02, false}, {a, 0.05, false}, {a, 0.01, false}, {b, 0.3, false}, {b, 0.7, false}},
		"always":            {{a, 0.5, false}, {b, 0.6, false}, {a, 0.02, false}},
		"another group's":   {{a, 0.02, false}, {b, 0.05, false}, {a, 0.3, true}, {limited, 0.3, false}},
	} {
		var trials []journal.Trial
		for i, x := range list {
			tr := trial(x.setting, i, 100, 0.1)
			tr.Usage, tr.Phases = *used(2, 0), []journal.Phase{{Usage: used(2, x.others)}}
			trials = append(trials, tr)
		}
		got := after(trials, withoutBursts)
		for i, x := range list {
			if left := got[i].InvalidCode == journal.InvalidCrowded; left != x.left || got[i].Valid == left {
				t.Errorf("%s: trial %d: left out %v, valid %v; want left out %v", name, i, left, got[i].Valid, x.left)
			}
		}
		if again := after(got, withoutBursts); !reflect.DeepEqual(again, got) {
			t.Errorf("%s: a second time leaves out others", name)
		}
		gate := header(a, b, limited)
		gate.Plan.GateAgainst = true
		if got := Count(gate, trials).Trials; !reflect.DeepEqual(got, trials) {
			t.Errorf("%s: a gate, which compares in pairs, leaves out some", name)
		}
	}
}

// A trial that went wrong without CPUs is no failure of its setting; one that crashed is.
func TestWithoutBurstsOfFailures(t *testing.T) {
	a := setting(1, 0)
	for code, want := range map[journal.InvalidCode]journal.InvalidCode{
		journal.InvalidNoAnswer: journal.InvalidCrowded,
		journal.InvalidErrors:   journal.InvalidCrowded,
		journal.InvalidCrashed:  journal.InvalidCrashed,
		journal.InvalidStolen:   journal.InvalidStolen,
	} {
		trials := []journal.Trial{trial(a, 0, 1, 1), trial(a, 1, 1, 1), trial(a, 2, 1, 1)}
		trials[0].Usage, trials[1].Usage, trials[2].Usage = *used(1, 0), *used(1, 0), *used(1, 0.8)
		trials[2].Valid, trials[2].InvalidCode = false, code
		if got := after(trials, withoutBursts)[2].InvalidCode; got != want {
			t.Errorf("%s becomes %s, want %s", code, got, want)
		}
	}
}

// A setting that other programs starved is tried again once they have stopped, and then
// its quiet trials stand for it.
func TestQuietAfterABusyMinute(t *testing.T) {
	one, eight := setting(1, 0), setting(8, 0)
	h := header(one, eight)
	measured := func(s journal.Setting, block int, used, others float64) journal.Trial {
		tr := trial(s, block, 100*used, 0.1)
		tr.ObservedProcs = []*int{s.Procs}
		tr.Usage = journal.Usage{MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: used},
			HostUse: &journal.HostUse{TargetCPUs: 8, OtherCPUSeconds: &others}}
		return tr
	}
	var trials []journal.Trial
	for block := range mostTooFewCPUs {
		trials = append(trials, measured(eight, block, 6, 1.2), measured(one, block, 1, 1.2))
	}
	g := eight.Group()
	if c := Count(h, trials).Contest(g); !c.HadTooFewCPUs(eight) || slices.Contains(c.rules.Values, 8) {
		t.Fatalf("on a busy machine: too few CPUs %v, values %v", c.TooFewCPUs, c.rules.Values)
	}
	trials = append(trials, measured(one, mostTooFewCPUs, 1, 0.1))
	if c := Count(h, trials).Contest(g); !slices.Contains(c.rules.Values, 8) {
		t.Errorf("on a quiet machine 8 is not tried again: %v", c.rules.Values)
	}
	for quiet := 1; quiet <= fewestQuiet; quiet++ {
		trials = append(trials, measured(eight, mostTooFewCPUs+quiet, 8, 0.1))
		c := Count(h, trials).Contest(g)
		if tooFewCPUs := quiet < fewestQuiet; c.HadTooFewCPUs(eight) != tooFewCPUs {
			t.Errorf("with %d quiet trials: too few CPUs %v", quiet, c.TooFewCPUs)
		}
	}
	if n := Count(h, trials).Contest(g).Level(8).Trials; n != fewestQuiet {
		t.Errorf("%d trials of 8 count, want the %d quiet ones", n, fewestQuiet)
	}
	busy := func(list []*journal.Trial) { withoutBusy(h, list) }
	got := after(trials, busy)
	if again := after(got, busy); reflect.DeepEqual(got, trials) || !reflect.DeepEqual(again, got) {
		t.Error("the caller's trials are changed, or a second time leaves out others")
	}
	h.Plan.GateAgainst = true
	if got := Count(h, trials).Trials; !reflect.DeepEqual(got, trials) {
		t.Error("a gate, which compares in pairs, leaves out some")
	}
}

// What was not counted guards as the most that the other counters leave room for: what the
// target did not use, and the time in which it waited other than by its own limits.
func TestOthersThatWereNotCounted(t *testing.T) {
	for name, c := range map[string]struct {
		cpu, wait, throttled, busy *float64
		want                       float64
	}{
		"nothing else is known":     {nil, nil, nil, nil, 1},
		"it used half of the CPUs":  {new(0.4), nil, nil, nil, 0.5},
		"it used all":               {new(0.8), new(0.6), nil, nil, 0},
		"it never waited":           {new(0.1), new(0.0), nil, nil, 0},
		"it waited nearly all time": {new(0.04), new(0.36), nil, nil, 0.45},
		"for its own limit":         {new(0.1), new(0.3), new(0.28), nil, 0.025},
		"it waited for the load":    {new(0.4), new(0.3), nil, new(0.04), 0.05},
	} {
		u := used(0.4, 0)
		u.HostUse.OtherCPUSeconds, u.HostUse.MostOtherCPUSeconds, u.RunQueueWaitSeconds = nil, c.busy, c.wait
		if c.cpu != nil {
			u.CPUSeconds = &journal.CPUSeconds{User: *c.cpu}
		}
		if c.throttled != nil {
			u.Cgroup = &journal.Cgroup{ThrottledSeconds: *c.throttled}
		}
		if got := OthersAtMost(u); got == nil || math.Abs(*got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %g", name, got, c.want)
		}
		if Others(u) != nil {
			t.Errorf("%s: others are counted", name)
		}
	}
	if got := OthersAtMost(&journal.Usage{MeasuredSeconds: 1}); got != nil {
		t.Errorf("of a system that counts nothing: %g", *got)
	}
	if got := Others(used(0.4, 0.8)); got == nil || math.Abs(*got-0.8) > 1e-9 {
		t.Errorf("what was counted over a short time: %v", got)
	}
}

// Short trials on a busy machine are not compared, and those of them that waited are not
// the exception next to quiet ones: others were counted in none.
func TestShortTrialsOnABusyMachine(t *testing.T) {
	a, b := setting(1, 0), setting(2, 0)
	for name, c := range map[string]struct {
		wait       float64
		tooFewCPUs bool
	}{"busy": {0.09, true}, "quiet": {0.001, false}} {
		var trials []journal.Trial
		for block := range 6 {
			for _, s := range []journal.Setting{a, b} {
				tr := trial(s, block, 100, 0.1)
				tr.ObservedProcs = []*int{s.Procs}
				tr.Usage = journal.Usage{MeasuredSeconds: 0.1, CPUSeconds: &journal.CPUSeconds{User: 0.01}, RunQueueWaitSeconds: new(c.wait), HostUse: &journal.HostUse{TargetCPUs: 2}}
				if block == 5 { // long enough to be counted, in a burst
					tr.Usage = *used(0.6, 0.9)
				}
				trials = append(trials, tr)
			}
		}
		h := header(a, b)
		of := Count(h, trials).Contest(a.Group())
		if of.HadTooFewCPUs(a) != c.tooFewCPUs || of.HadTooFewCPUs(b) != c.tooFewCPUs {
			t.Errorf("%s: too few CPUs %v", name, of.TooFewCPUs)
		}
		counted := Count(h, trials).Trials
		if left := counted[10].InvalidCode == journal.InvalidCrowded; left == c.tooFewCPUs {
			t.Errorf("%s: the trials in a burst are left out: %v", name, left)
		}
	}
}

// A trial is skipped for other programs only if they were counted, and only if enough trials
// are known to have been quiet: one of which nothing is known is neither.
func TestUncountedTrialsStay(t *testing.T) {
	a := setting(2, 0)
	waited := &journal.Usage{MeasuredSeconds: 0.1, CPUSeconds: &journal.CPUSeconds{User: 0.01}, RunQueueWaitSeconds: new(0.09), HostUse: &journal.HostUse{TargetCPUs: 2}}
	nothing := &journal.Usage{MeasuredSeconds: 1, HostUse: &journal.HostUse{}}
	busy := used(1, 0.9)
	busy.CPUSeconds = &journal.CPUSeconds{User: 0.2}
	for name, c := range map[string]struct {
		crowded, others *journal.Usage
		left            bool
	}{
		"counted next to quiet ones":        {busy, used(1, 0), true},
		"not counted next to quiet ones":    {waited, used(1, 0), false},
		"counted next to ones of no figure": {busy, nothing, false},
	} {
		var trials []journal.Trial
		for block := range 7 {
			tr := trial(a, block, 100, 0.1)
			tr.ObservedProcs, tr.Usage = []*int{a.Procs}, *c.crowded
			if block >= 4 {
				tr.Usage = *c.others
			}
			trials = append(trials, tr)
		}
		for i, got := range after(trials, func(list []*journal.Trial) { withoutBusy(header(a), list) }) {
			if left := !got.Valid; left != (c.left && i < 4) {
				t.Errorf("%s: trial %d is skipped: %v", name, i, left)
			}
		}
		if tooFewCPUs := Count(header(a), trials).Contest(a.Group()).HadTooFewCPUs(a); tooFewCPUs == c.left {
			t.Errorf("%s: the setting had too few CPUs: %v", name, tooFewCPUs)
		}
	}
}

// after are trials of which some were made invalid.
func after(trials []journal.Trial, without func([]*journal.Trial)) []journal.Trial {
	list := slices.Clone(trials)
	without(Measured(list))
	return list
}

// used is what N seconds of two CPUs saw, of which others took a share.
func used(seconds, others float64) *journal.Usage {
	return &journal.Usage{MeasuredSeconds: seconds, HostUse: &journal.HostUse{TargetCPUs: 2, OtherCPUSeconds: new(2 * seconds * others)}}
}
