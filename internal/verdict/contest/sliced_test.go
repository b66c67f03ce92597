package contest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// machine makes slices and trials of a program: throughput by GOMAXPROCS, in one start and in
// starts of their own.
type machine struct {
	h            journal.Header
	live, fresh  map[int]float64
	r            *rand.Rand
	sized        []string
	trials, each []journal.Trial // of each: slices
}

func newMachine(fresh map[int]float64) *machine {
	h := header(setting(0, 0))
	for n := 1; n <= 5; n++ {
		h.Plan.Settings = append(h.Plan.Settings, setting(n, 0))
	}
	h.Plan.Slices, h.Plan.Goal = true, journal.GoalProven
	h.Load.Arrangement, h.TargetHost.EffectiveCPUs = new(journal.ArrangementShared), 4 // so that 5 is not preferred by its p99
	m := &machine{h: h, live: fresh, fresh: fresh, r: rand.New(rand.NewPCG(1, 2))}
	pilot := trial(setting(0, 0), 0, fresh[4], 0)
	pilot.Role, pilot.LatencySeconds, pilot.HostUse, pilot.MeasuredSeconds = journal.RolePilot, nil, &journal.HostUse{TargetCPUs: 4, OtherCPUSeconds: new(0.0)}, 1
	m.trials = append(m.trials, pilot)
	return m
}

func (m *machine) contest() *Contest { return Count(m.h, m.trials, m.each...).Contests()[0] }

func (m *machine) one(a journal.Setting, role journal.Role, block int, of map[int]float64) journal.Trial {
	n := 4
	if a.Procs != nil {
		n = *a.Procs
	}
	t := trial(a, block, of[n]*math.Exp(0.003*m.r.NormFloat64()), 0)
	t.Role, t.LatencySeconds, t.ObservedProcs = role, nil, []*int{&n}
	return t
}

func (m *machine) next() []int { return m.contest().NextSlices() }

// slice takes all slices that the contest asks for.
func (m *machine) slice(start int) {
	for block := 0; block < 100; block++ {
		values := m.next()
		if values == nil {
			return
		}
		for _, n := range values {
			t := m.one(setting(n, 0), journal.RoleSlice, block, m.live)
			t.Start, t.SizedAtStart = &start, m.sized
			m.each = append(m.each, t)
		}
	}
}

// measure runs the contest to its end, and returns the values that had starts of their own.
func (m *machine) measure() (values []int) {
	for block := 0; block < 100; block++ {
		step := m.contest().Next()
		for _, a := range step.Settings {
			m.trials = append(m.trials, m.one(a, journal.RoleMeasure, block, m.fresh))
			n := 4
			if a.Procs != nil {
				n = *a.Procs
			}
			values = append(values, n)
		}
		if step.Stop != "" {
			break
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

var rising = map[int]float64{1: 30, 2: 60, 3: 99, 4: 100, 5: 100}

// Slices leave out what is clearly slower, and what a smaller value is as good as. Of the rest
// starts of their own prove the answer.
func TestSlicesChooseWhatIsMeasured(t *testing.T) {
	m := newMachine(rising)
	m.slice(0)
	s := m.contest().Sliced
	if !slices.Equal(s.Kept, []int{3, 4}) || s.Why != "" {
		t.Fatalf("kept %v (%s), want 3 and the default of 4", s.Kept, s.Why)
	}
	for _, v := range s.Values {
		if v.Slower != (v.Procs < 3) || v.Kept != (v.Procs == 3 || v.Procs == 4) {
			t.Errorf("%+v", v)
		}
	}
	if got := m.measure(); !slices.Equal(got, []int{3, 4}) {
		t.Errorf("measured %v", got)
	}
	c := m.contest()
	if lead := c.Lead(); lead.Pick != 3 || lead.Confidence != race.Proven || c.Answer() == nil || *c.Answer().Procs != 3 {
		t.Errorf("pick %d %s", lead.Pick, lead.Confidence)
	}
	if c.AllEqual() || !c.Worse(c.Of(3)) {
		t.Error("what only slices show to be slower does not count as such")
	}
}

// Where starts of their own are proven unlike the slices, all values get some.
func TestSlicesThatDifferChooseNothing(t *testing.T) {
	m := newMachine(map[int]float64{1: 30, 2: 100, 3: 80, 4: 100, 5: 100}) // at the start
	m.live, m.sized = rising, []string{"example.com/pool (its size)"}
	m.slice(0)
	if kept := m.contest().Sliced.Kept; !slices.Equal(kept, []int{3, 4}) {
		t.Fatalf("kept %v", kept)
	}
	if got := m.measure(); !slices.Contains(got, 2) {
		t.Errorf("measured %v, want 2 too", got)
	}
	c := m.contest()
	if s := c.Sliced; s.Why != SlicedDiffer || s.Kept != nil || s.Apart.Procs != 3 || s.Apart.Slices < 0.95 || s.Apart.Starts > 0.85 || len(s.SizedAtStart) != 1 {
		t.Errorf("%+v", s)
	}
	if lead := c.Lead(); lead.Pick != 2 {
		t.Errorf("pick %d, want 2", lead.Pick)
	}
}

// A slice that is invalid does not count. Three of them, a value that cannot be set, and other
// programs next to the pilots leave all values to starts of their own. A run that continues has
// slices of another start next to those it has.
func TestSlicesEnd(t *testing.T) {
	m := newMachine(rising)
	m.slice(0)
	all := len(m.each)
	spoil := func(n int, code journal.InvalidCode) {
		m.each[n].Valid, m.each[n].InvalidCode, m.each[n].InvalidReason = false, code, string(code)
	}
	m.each[0].ThroughputPerSecond = new(1e9)
	spoil(0, journal.InvalidStolen)
	if s := m.contest().Sliced; s.Why != "" || s.Invalid != 1 {
		t.Errorf("one invalid slice: %+v", s)
	}
	m.slice(1)
	if kept := m.contest().Sliced.Kept; !slices.Contains(kept, 3) || slices.Contains(kept, 2) {
		t.Errorf("one invalid slice: kept %v", kept)
	}
	m.each = m.each[:all]
	for code, why := range map[journal.InvalidCode]SlicedWhy{journal.InvalidNotSet: SlicedNotSet, journal.InvalidNoAnswer: SlicedSilent, journal.InvalidStolen: SlicedFailed} {
		spoil(1, journal.InvalidCrashed)
		spoil(2, code)
		if s := m.contest().Sliced; s.Why != why || s.Kept != nil || s.Detail != string(code) || m.next() != nil || len(m.contest().Rules().Values) != 5 {
			t.Errorf("%s: %+v, %v", code, s, m.contest().Rules().Values)
		}
	}

	m = newMachine(rising)
	m.slice(0)
	m.each = m.each[:len(m.each)/2]
	m.slice(1)
	if kept := m.contest().Sliced.Kept; !slices.Contains(kept, 3) || slices.Contains(kept, 2) {
		t.Errorf("continued: kept %v of %d slices", kept, len(m.each))
	}
	pilot := m.trials[0]
	pilot.Setting = setting(2, 0)
	m.trials = append(m.trials, pilot) // as no plan has one; a journal may be anyone's
	if s := m.contest().Sliced; s.Why != "" || !slices.Contains(s.Kept, 3) {
		t.Errorf("after a pilot of a number: %+v", s)
	}
	m.trials[0].HostUse.OtherCPUSeconds = new(2.0)
	if s := m.contest().Sliced; s.Why != SlicedBusy || s.Kept != nil || m.next() != nil {
		t.Errorf("busy: %+v", s)
	}
}
