package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// machine answers as its speed and its other programs are said to be.
type machine struct {
	speed  func() float64
	others func() float64 // of two CPUs
}

func (m machine) Speed(context.Context) float64 {
	if m.speed == nil {
		return 0
	}
	return m.speed()
}

func (m machine) Others(ctx context.Context) Others {
	time.Sleep(300 * time.Millisecond)
	return Others{CPUs: m.others(), OfCPUs: 2, Busiest: []observe.Used{{PID: 42, Name: "busy\n", CPUs: 1.2}}}
}

// slowly is a race whose trials take 4 s each, on a machine that is at a speed when a
// number of them have run.
func slowly(t *testing.T, h journal.Header, speed func(ran int) float64) (x *run, told []Activity) {
	t.Helper()
	k := &knee{at: 5, takes: 4 * time.Second}
	x = k.execution(h, Record{})
	now := time.Unix(0, 0)
	measured := 0
	k.fake.answer = func(n int, task Task) (journal.Trial, error) {
		now = now.Add(4 * time.Second)
		trial, err := k.run(n, task)
		*trial.ThroughputPerSecond *= speed(n)
		return trial, err
	}
	x.Now = func() time.Time { return now }
	x.Machine = machine{speed: func() float64 { measured++; return 1000 * speed(len(k.fake.ran)) }}
	x.Observe = func(a Activity) { told = append(told, a) }
	must.OK(t, x.Run(t.Context()))
	if least := len(x.blocks); measured < least {
		t.Errorf("the speed was measured %d times in %d blocks", measured, least)
	}
	return x, told
}

// A block in which the machine is slow for a while is reported, counts for nothing, and the
// race measures another in its place.
func TestSlowBlockOfARace(t *testing.T) {
	h := raceOf(t, nil)
	for name, tc := range map[string]struct {
		speed func(ran int) float64
		told  int
	}{
		"steady": {func(int) float64 { return 1 }, 0},
		"slow": {func(ran int) float64 {
			if ran >= 8 && ran < 11 {
				return 0.5
			}
			return 1
		}, 1},
		"half from the middle on": {func(ran int) float64 {
			if ran >= 9 {
				return 0.5
			}
			return 1
		}, 1},
	} {
		x, told := slowly(t, h, tc.speed)
		if n := len(told); n < tc.told || tc.told == 0 && n > 0 {
			t.Errorf("%s: %d blocks are reported, want at least %d", name, n, tc.told)
		}
		dropped, slow := 0, 0
		for i, share := range contest.Slowed(x.kept) {
			if share > contest.SlowFrom && x.kept[i].Role != journal.RolePilot {
				slow++
			}
		}
		for _, a := range told {
			dropped += len(a.Trials)
			for _, number := range a.Trials {
				if name == "slow" && contest.Slowed(x.kept)[number-1] <= contest.SlowFrom {
					t.Errorf("%s: trial %d is reported, which was not slow", name, number)
				}
			}
			if a.Step != StepSlow || a.Share < 0.4 || a.Share > 0.6 {
				t.Errorf("%s: %+v is reported", name, a)
			}
		}
		if name == "slow" && dropped != slow {
			t.Errorf("%s: %d trials are reported as not used, and %d are not", name, dropped, slow)
		}
		if lead := contest.Count(h, x.kept).Contests()[0].Lead(); lead.Pick != 5 {
			t.Errorf("%s: %d is picked of %d trials, want 5", name, lead.Pick, len(x.kept))
		}
	}
}

// A grid has a block more for each during which the machine was slow.
func TestSlowBlockOfAGrid(t *testing.T) {
	for name, tc := range map[string]struct {
		slow func(ran int) bool
		is   float64 // throughput of the blocks before and after it, of that of the others
		want int     // blocks
	}{
		"steady":                       {func(int) bool { return false }, 1, 4},
		"once":                         {func(ran int) bool { return ran == 6 }, 0.7, 6}, // the blocks before and after it
		"once, and the program is not": {func(ran int) bool { return ran == 6 }, 1, 4},
		"always another":               {func(ran int) bool { return ran/3%2 == 1 }, 0.7, 8},
	} {
		p := plan(t, settings{Procs: Procs{Values: []*int{ptr(1), ptr(2)}}, CPUs: 2, Blocks: 4, Seed: 3})
		k := &fake{}
		f := &fake{}
		f.answer = func(n int, task Task) (journal.Trial, error) {
			trial, err := k.Run(t.Context(), task, nil)
			if n > 3 && n <= 9 {
				*trial.ThroughputPerSecond *= tc.is
			}
			return trial, err
		}
		x := newRun(p, f, nil)
		now := time.Unix(0, 0)
		x.Now = func() time.Time { now = now.Add(speedEvery); return now }
		x.Machine = machine{speed: func() float64 {
			if tc.slow(len(f.ran)) {
				return 70
			}
			return 100
		}}
		must.OK(t, x.Run(t.Context()))
		if got := len(x.kept) / 3; got != tc.want {
			t.Errorf("%s: %d blocks of three, want %d", name, got, tc.want)
		}
	}
}

// A speed that is low for a moment is measured again, and one that was measured just now is not.
func TestSpeedOfAMoment(t *testing.T) {
	now := time.Unix(0, 0)
	answers := []float64{100, 100, 60, 99, 50, 51, 52, 100}
	asked := 0
	r := &Execution{Now: func() time.Time { return now }, Machine: machine{speed: func() float64 { asked++; return answers[asked-1] }}}
	for i, want := range []float64{100, 100, 99, 52} {
		now = now.Add(speedEvery)
		if got := r.speed(t.Context()); got == nil || *got != want {
			t.Errorf("measurement %d is %v, want %g", i, got, want)
		}
		if now = now.Add(speedEvery / 2); r.speed(t.Context()) != nil {
			t.Error("the speed is measured again after half the time")
		}
	}
}

// crowdedRace runs a race of 2 s trials next to programs that use a share of two CPUs,
// while it lasts.
func crowdedRace(t *testing.T, busyFor, patience time.Duration, change func(*Execution)) (x *run, waited time.Duration, told []Activity, err error) {
	t.Helper()
	k := &knee{at: 2}
	h := raceOf(t, nil)
	h.TargetHost.EffectiveCPUs = 2
	x = k.execution(h, Record{})
	began := time.Now()
	others := func() float64 {
		if time.Since(began) < busyFor {
			return 1.5
		}
		return 0
	}
	k.fake.answer = func(n int, task Task) (journal.Trial, error) {
		time.Sleep(2 * time.Second)
		waited -= 2 * time.Second
		trial, err := k.run(n, task)
		trial.DurationSeconds = 2
		trial.MeasuredSeconds, trial.CPUSeconds = 2, &journal.CPUSeconds{User: 2 * (2 - others())}
		if procs := task.Setting.Procs; procs != nil && *procs == 1 { // it has enough, and nothing to be compared with
			trial.CPUSeconds.User = 0.2
		}
		trial.HostUse = &journal.HostUse{TargetCPUs: 2, OtherCPUSeconds: ptr(2 * others())}
		return trial, err
	}
	x.Machine, x.Spec.Patience = machine{others: others}, patience
	x.Observe = func(a Activity) { told = append(told, a) }
	if change != nil {
		change(&x.Execution)
	}
	err = x.Run(t.Context())
	return x, waited + time.Since(began), told, err
}

// Once a block has no setting that can be compared, the sweep waits for a quiet machine and
// then has its answer, or ends at once with what it has.
func TestWaitsForAQuietMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, waited, told, err := crowdedRace(t, time.Minute, 2*time.Minute, nil)
		if err != nil || len(told) != 2 || told[0].Step != StepBusy || told[0].Others.String() != "1.5 of 2 CPUs [busy (PID 42): 1.2 CPUs]" || told[0].Waited != 0 || told[0].Left != 2*time.Minute || told[1].Waited < tellAgain {
			t.Errorf("%v, told %+v", err, told)
		}
		if waited < 30*time.Second || waited > time.Minute {
			t.Errorf("waited for %s of a minute", waited)
		}
		if lead := contest.Count(x.Header, x.kept).Contests()[0].Lead(); lead.Pick != 2 {
			t.Errorf("picked %d after the wait", lead.Pick)
		}
	})
	for _, patience := range []time.Duration{time.Second, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			x, waited, told, err := crowdedRace(t, time.Hour, patience, nil)
			var busy *BusyError
			if !errors.As(err, &busy) || busy.CPUs != 1.5 || busy.Trials != len(x.kept) || len(x.blocks) != 1 || len(told) > 1 {
				t.Errorf("patience %s: %v after %d trials in %d blocks, told %+v", patience, err, len(x.kept), len(x.blocks), told)
			}
			if waited < patience || waited > patience+2*time.Second {
				t.Errorf("waited for %s, want %s", waited, patience)
			}
		})
	}
}

// Where the answer is proven, nothing is waited for.
func TestDoesNotWaitForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, told, err := crowdedRace(t, time.Hour, time.Minute, func(e *Execution) { e.Settled = func(Record) bool { return true } })
		var busy *BusyError
		if !errors.As(err, &busy) || !busy.Settled || busy.Waited > 0 || len(told) > 0 {
			t.Errorf("%v, told %+v", err, told)
		}
	})
}

// Nothing is waited for where nothing is compared, or where that all fails is the answer.
func TestDoesNotWait(t *testing.T) {
	for name, change := range map[string]func(*Execution){
		"tolerant": func(e *Execution) { e.Spec.Tolerant = true },
		"attached": func(e *Execution) { e.Header.Target.Attached = &journal.Process{PID: 1} },
		"a gate": func(e *Execution) {
			e.Header = raceOf(t, func(s *Spec) { s.Target.Against = []string{"old"} })
		},
		"unknown":  func(e *Execution) { e.Machine = nil },
		"quiet=0s": func(e *Execution) { e.Spec.Patience = 0 },
	} {
		synctest.Test(t, func(t *testing.T) {
			if _, waited, told, err := crowdedRace(t, time.Hour, time.Minute, change); err != nil || waited > 0 || len(told) > 0 {
				t.Errorf("%s: %v, waited for %s, told %+v", name, err, waited, told)
			}
		})
	}
}

// A trial is reported with what other programs took of it, if that is known and matters.
func TestReportsOthers(t *testing.T) {
	p := plan(t, settings{Procs: Procs{Values: []*int{nil, ptr(1)}}, CPUs: 2, Blocks: 1, Seed: 1})
	taken := []*float64{nil, ptr(0.05), ptr(0.5)}
	x := newRun(p, &fake{answer: func(n int, task Task) (journal.Trial, error) {
		return journal.Trial{Valid: true, Usage: journal.Usage{MeasuredSeconds: 1, HostUse: &journal.HostUse{TargetCPUs: 2, OtherCPUSeconds: taken[n-1]}}}, nil
	}}, nil)
	var got []string
	x.Report = func(p Progress) {
		if p.Trial != nil && p.Others == nil {
			got = append(got, "-")
		} else if p.Trial != nil {
			got = append(got, fmt.Sprint(*p.Others))
		}
	}
	must.OK(t, x.Run(t.Context()))
	if strings.Join(got, " ") != "- - 0.25" {
		t.Errorf("other programs took %q", got)
	}
}
