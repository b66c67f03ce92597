package plan

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
	"github.com/procfit/procfit/test/must"
)

// raceOf is the header of a race, over that many CPUs.
func raceOf(t *testing.T, change func(*Spec)) journal.Header {
	t.Helper()
	s := Default()
	s.Target.Command, s.Seed = []string{"program"}, ptr(uint64(7))
	s.Budget = &Budget{Goal: journal.GoalProven}
	if change != nil {
		change(&s)
	}
	must.OK(t, s.Validate())
	h := journal.Header{TargetHost: journal.Host{EffectiveCPUs: 8}, Plan: s.Plan(8, 0)}
	h.Target.Kind = s.Target.Kind()
	return h
}

// knee answers as a program of the CPUs does: throughput grows with GOMAXPROCS up to
// the knee, p99 not at all, and each trial strays by a few percent, as its place says.
type knee struct {
	at    int
	fake  fake
	takes time.Duration
}

func (k *knee) run(n int, t Task) (journal.Trial, error) {
	procs := 8 // unset
	if t.Setting.Procs != nil {
		procs = *t.Setting.Procs
	}
	h := fnv.New64a()
	fmt.Fprint(h, t.Block, t.Order, t.Setting.Label, t.Setting.QuotaCPUs != nil)
	stray := math.Sin(float64(h.Sum64()%1000)) * 0.03
	return journal.Trial{
		Valid: true, ObservedProcs: []*int{&procs}, DurationSeconds: k.takes.Seconds(),
		ThroughputPerSecond: ptr(100 * float64(min(k.at, procs)) * math.Exp(stray)), ThroughputUnit: "runs",
	}, nil
}

func (k *knee) execution(h journal.Header, have Record) *run {
	k.fake.answer = k.run
	x := newRun(h.Plan, &k.fake, have.Trials)
	x.Header, x.Have, x.blocks = h, have, have.Blocks
	return x
}

func ended(t *testing.T, h journal.Header, k *knee) *run {
	t.Helper()
	x := k.execution(h, Record{})
	must.OK(t, x.Run(t.Context()))
	return x
}

// A race that is stopped after any trial, and continues, runs what it would have run.
func TestRaceGoesOn(t *testing.T) {
	h := raceOf(t, func(s *Spec) { s.Quotas = []*float64{nil, ptr(3.0)} })
	t.Run("best", func(t *testing.T) { goesOn(t, h) })
	h.Plan.SLO, h.Load.RatePerSecond = &slo.Objective{Quantile: 0.99, Seconds: 0.05}, ptr(50.0)
	t.Run("cheapest", func(t *testing.T) { goesOn(t, h) })
}

func goesOn(t *testing.T, h journal.Header) {
	t.Helper()
	whole := ended(t, h, &knee{at: 5})
	if len(whole.kept) < 12 || len(whole.blocks) < 4 {
		t.Fatalf("%d trials in %d blocks are too few to be stopped in", len(whole.kept), len(whole.blocks))
	}
	for stop := 1; stop < len(whole.kept); stop += 3 { // in pilots, within blocks and between them
		k := &knee{at: 5}
		x := k.execution(h, Record{})
		k.fake.answer = func(n int, task Task) (journal.Trial, error) {
			if n > stop {
				return journal.Trial{}, context.Canceled
			}
			return k.run(n, task)
		}
		if err := x.Run(t.Context()); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d: %v", stop, err)
		}
		y := (&knee{at: 5}).execution(h, Record{Trials: x.kept, Blocks: x.blocks})
		must.OK(t, y.Run(t.Context()))
		if !reflect.DeepEqual(y.blocks, whole.blocks) || !reflect.DeepEqual(y.kept, whole.kept) {
			t.Fatalf("stopped after %d: %d trials in %d blocks, and %d in %d where it was not stopped", stop, len(y.kept), len(y.blocks), len(whole.kept), len(whole.blocks))
		}
	}
}

// The groups take turns, so that a drift of the machine falls on all of them, and
// each block is one group's.
func TestGroupsTakeTurns(t *testing.T) {
	h := raceOf(t, func(s *Spec) { s.Quotas = []*float64{nil, ptr(4.0), ptr(2.0)} })
	x := (&knee{at: 3}).execution(h, Record{})
	x.Report = func(p Progress) { // what is asked of the group at work comes first
		group := p.Task.Setting.Group()
		if slices.ContainsFunc(p.Open, func(q Question) bool { return q.Group == group }) && p.Open[0].Group != group {
			t.Errorf("while %v runs, %+v is said to be open first", group, p.Open[0])
		}
	}
	must.OK(t, x.Run(t.Context()))
	groups := h.Plan.Groups()
	for i, b := range x.blocks {
		for _, a := range b.Settings {
			if a.Group() != b.Settings[0].Group() {
				t.Errorf("block %d has settings of %v and of %v", i, b.Settings[0].Group(), a.Group())
			}
		}
		if i < 2*len(groups) && b.Settings[0].Group() != groups[i%len(groups)] {
			t.Errorf("block %d is of %v, want %v", i, b.Settings[0].Group(), groups[i%len(groups)])
		}
	}
}

// Where the cheapest limit that carries a rate is asked for, the first trials are of each limit.
func TestFirstTrialsOfEachLimit(t *testing.T) {
	h := raceOf(t, func(s *Spec) { s.Quotas = []*float64{nil, ptr(4.0), ptr(2.0)} })
	h.Plan.SLO, h.Load.RatePerSecond = &slo.Objective{Quantile: 0.99, Seconds: 0.05}, ptr(50.0)
	first := Next(h, Record{})
	if len(first.Tasks) < 6 || len(first.Begin) != 3 {
		t.Fatalf("%d trials in %d blocks", len(first.Tasks), len(first.Begin))
	}
	for i, task := range first.Tasks[:6] {
		if got, want := task.Setting.Group(), h.Plan.Groups()[i%3]; got != want || task.Block != i%3 {
			t.Errorf("trial %d is of %v in block %d, want %v", i, got, task.Block, want)
		}
	}
}

// A race reports what it takes at most and stays below it.
func TestRaceHasABudget(t *testing.T) {
	whole := ended(t, raceOf(t, nil), &knee{at: 6})
	h := raceOf(t, func(s *Spec) { s.Budget.MaxTrials = len(whole.kept) - 1 })
	k := &knee{at: 6}
	x := k.execution(h, Record{})
	x.Report = func(p Progress) {
		if !p.AtMost || p.Total != h.Plan.MaxTrials || p.Done > p.Total {
			t.Errorf("told %d of %d, at most %v; want at most %d", p.Done, p.Total, p.AtMost, h.Plan.MaxTrials)
		}
	}
	if err := x.Run(t.Context()); err != nil || len(x.kept) > h.Plan.MaxTrials {
		t.Errorf("%v with %d trials, want at most %d", err, len(x.kept), h.Plan.MaxTrials)
	}

	// A block that was begun is completed, though the budget has become smaller.
	stopped := len(whole.kept) - 1
	h.Plan.MaxTrials = stopped / 2
	y := (&knee{at: 6}).execution(h, Record{Trials: whole.kept[:stopped:stopped], Blocks: whole.blocks})
	told := 0
	y.Report = func(p Progress) {
		if told++; p.Done > p.Total || p.Total != stopped+1 {
			t.Errorf("told %d of %d, want %d in all", p.Done, p.Total, stopped+1)
		}
	}
	if err := y.Run(t.Context()); err != nil || told != 2 || len(y.kept) != stopped+1 {
		t.Errorf("%v with %d trials, told %d times, want %d and twice", err, len(y.kept), told, stopped+1)
	}

	// Of time: no block starts that would end after it.
	first := Fewest(h)
	for _, most := range []time.Duration{time.Duration(first) * time.Second, time.Duration(first+5) * time.Second} {
		h := raceOf(t, func(s *Spec) { s.Budget.MaxTime = most })
		x := ended(t, h, &knee{at: 6, takes: time.Second})
		if n := len(x.kept); n < first || n > max(first, int(most/time.Second)) {
			t.Errorf("%s at a second a trial: %d trials, of which the first block has %d", most, n, first)
		}
	}
	// That this time ends it is reported.
	timed := (&knee{at: 6, takes: time.Second}).execution(raceOf(t, func(s *Spec) { s.Budget.MaxTime = time.Duration(first+5) * time.Second }), Record{})
	timed.Report = func(p Progress) {
		if bound := time.Duration(first+5) * time.Second; p.Done > first && (p.Bound != bound || p.Remaining > bound) {
			t.Errorf("told a bound of %s, %s left, in the time of %s", p.Bound, p.Remaining, bound)
		}
	}
	if err := timed.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEveryValue(t *testing.T) {
	for effective, want := range map[float64]string{
		0.5: "unset 1 2 3 4 5", 2: "unset 1 2 3 4 5", 2.5: "unset 1 2 3 4 5 6", 4: "unset 1 2 3 4 5 6 7 8",
	} {
		if got := show(everyValue(effective)); got != want {
			t.Errorf("%g CPUs: %s, want %s", effective, got, want)
		}
	}
	if got := everyValue(1e9); len(got) != maxProcs+1 {
		t.Errorf("no bound: %d values", len(got))
	}
}

// A value at which the program fails ends nothing: it is out. That all fail that were
// fine before does.
func TestFailingValues(t *testing.T) {
	h := raceOf(t, nil)
	failing := func(when func(n int, procs int) bool) (*run, error) {
		k := &knee{at: 6}
		x := k.execution(h, Record{})
		k.fake.answer = func(n int, task Task) (journal.Trial, error) {
			if when(n, value(task.Setting.Procs)) {
				return journal.Trial{InvalidReason: "out of memory"}, nil
			}
			return k.run(n, task)
		}
		return x, x.Run(t.Context())
	}
	x, err := failing(func(_, procs int) bool { return procs > 2 || procs == 0 })
	tries := map[string]int{}
	for _, trial := range x.kept {
		if !trial.Valid {
			tries[trial.Setting.Label]++
		}
	}
	if err != nil || len(x.kept)-tries["default"] < 6 {
		t.Errorf("%v after %d trials, %v failed", err, len(x.kept), tries)
	}
	x, err = failing(func(n, _ int) bool { return n > 5 })
	if !errors.Is(err, ErrHopeless) || len(x.kept) > 8 {
		t.Errorf("%v after %d trials: want an end soon after all began to fail", err, len(x.kept))
	}
	x, err = failing(func(_, _ int) bool { return true })
	if !errors.Is(err, ErrHopeless) || len(x.kept) != Fewest(h) {
		t.Errorf("%v after %d trials, want an end after the first block", err, len(x.kept))
	}
}

// A machine that is busy for a while costs a race some trials, and not its answer.
func TestRaceThroughABurst(t *testing.T) {
	h := raceOf(t, nil)
	for from := range 12 {
		k := &knee{at: 6}
		x := k.execution(h, Record{})
		k.fake.answer = func(n int, task Task) (journal.Trial, error) {
			trial, err := k.run(n, task)
			others := 0.2 // seconds of eight CPUs in two
			if n > 3+from && n <= 9+from {
				others = 12
				*trial.ThroughputPerSecond /= 5
			}
			trial.Usage = journal.Usage{MeasuredSeconds: 2, HostUse: &journal.HostUse{OtherCPUSeconds: &others, TargetCPUs: 8}}
			return trial, err
		}
		must.OK(t, x.Run(t.Context()))
		c := contest.Count(h, x.kept).Contests()[0]
		if end, pick := c.Next(), c.Lead().Pick; end.Stop != race.StopGoal || pick != 6 {
			t.Errorf("busy from trial %d: %s after %d trials, %d; want 6, proven", 4+from, end.Stop, len(x.kept), pick)
		}
		for _, one := range x.kept {
			if n := value(one.Setting.Procs); one.Block == 0 && n > 0 && c.Level(n).Trials == 0 {
				t.Errorf("busy from trial %d: nothing is known of %d", 4+from, n)
			}
		}
	}
}

// What a race takes at least does not follow from what it may take.
func TestFewest(t *testing.T) {
	for _, most := range []int{1, 3, 1000} {
		h := raceOf(t, func(s *Spec) { s.Budget.MaxTrials = most })
		if got := Fewest(h); got != 5 { // 1, 2, 4, 8 and 16 of 8 CPUs, unset being 8
			t.Errorf("of at most %d: %d", most, got)
		}
	}
	listed := raceOf(t, func(s *Spec) { s.Procs = Procs{Values: []*int{ptr(1), ptr(2)}} })
	if got := Fewest(listed); got != 2 {
		t.Errorf("two values that are named: %d, want one trial of each", got)
	}
}

// Where nobody knew how long a trial takes, the first ones show that the time does not
// hold the first look: it ends there, and a longer one completes it. A block that started
// within the time is run to its end.
func TestTheFirstLookKeepsToTheTime(t *testing.T) {
	in := func(most time.Duration) journal.Header {
		return raceOf(t, func(s *Spec) { s.Budget.MaxTime = most })
	}
	for name, c := range map[string]struct {
		takes, most time.Duration
		trials      int    // that it ends after; 0: it is not over its budget
		says        string // how long the whole first look takes
	}{
		"a run longer than all of it":    {95 * time.Second, time.Minute, 1, "--for 1m does not hold the first blocks: 1 trial took 95.0 s, and it has "},
		"most of the time for the first": {50 * time.Second, time.Minute, 1, "1 trial took 50.0 s"},
		"all but the last":               {25 * time.Second, time.Minute, 2, "2 trials took 50.0 s"},
		"enough":                         {10 * time.Second, time.Minute, 0, ""},
	} {
		h := in(c.most)
		fewest := Fewest(h)
		k := &knee{at: 5, takes: c.takes}
		x := k.execution(h, Record{})
		err := x.Run(t.Context())
		var over *OverBudgetError
		if c.trials == 0 {
			if err != nil || len(x.kept) < fewest {
				t.Errorf("%s: %v with %d trials", name, err, len(x.kept))
			}
			continue
		}
		if !errors.As(err, &over) || len(x.kept) != c.trials || over.Needs != time.Duration(fewest)*c.takes || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v with %d trials, want %d of %d and %q", name, err, len(x.kept), c.trials, fewest, c.says)
			continue
		}
		more := (&knee{at: 5, takes: c.takes}).execution(in(over.Needs), Record{Trials: x.kept, Blocks: x.blocks})
		if err := more.Run(t.Context()); err != nil || len(more.kept) < fewest {
			t.Errorf("%s, with what it said that it takes: %v", name, err)
		}
	}
}
