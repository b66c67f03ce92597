package live

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	blocks "github.com/procfit/procfit/internal/verdict/paired"
	maxlive "github.com/procfit/procfit/maxprocs/live"
)

// fake is a program with a queue: what each value carries, and what a request costs.
type fake struct {
	mu       sync.Mutex
	rate     float64 // requests per second
	capacity map[int]float64
	cost     map[int]float64 // CPU seconds per request
	asked    func(ctx context.Context, query string) (*float64, error)
	noise    *rand.Rand
	fail     func(call string) error // nil: nothing fails
	fades    time.Duration           // what a larger value leaves behind costs half as much again, at first
	took     time.Duration           // a change to another value, as where it waits for a collection
	late     time.Duration           // that each request takes more, now

	procs, start   int
	at, expires    time.Time
	queue, ended   float64
	x              Reading
	sets           []set // in order
	released, gone bool
	apart          time.Duration // the longest between two calls, without which a lease ends
}

type set struct {
	procs int
	at    time.Time
}

func newFake() *fake {
	return &fake{rate: 300, procs: 2, start: 2, noise: rand.New(rand.NewPCG(1, 1)), capacity: map[int]float64{}, cost: map[int]float64{}}
}

const unit = time.Millisecond // of the fake's buckets

func bucketEnd(i int) time.Duration { return time.Duration(i+1) * unit }

func quantileOf(h maxlive.Histogram, q float64) time.Duration {
	want, seen := q*float64(h.Count()), 0.0
	for i, n := range h.Counts {
		if seen += float64(n); seen >= want {
			return bucketEnd(i)
		}
	}
	return 0
}

// run lets the program run until now.
func (f *fake) run() {
	now := time.Now()
	if f.at.IsZero() {
		f.at = now
	}
	if now.After(f.expires) {
		f.procs = f.start
	}
	f.apart = max(f.apart, now.Sub(f.at))
	dt := now.Sub(f.at).Seconds()
	f.at = now
	capacity := f.capacity[f.procs]
	if capacity == 0 {
		capacity = 10 * f.rate
	}
	f.queue += f.rate * dt * (1 + 0.02*f.noise.NormFloat64())
	before := uint64(f.ended)
	f.ended += min(f.queue, capacity*dt)
	f.queue -= min(f.queue, capacity*dt)
	n := uint64(f.ended) - before
	took := 0.005 + f.late.Seconds() + f.queue/capacity
	cost := f.cost[f.procs]
	if cost == 0 {
		cost = 0.001
	}
	f.x.Requests += n
	if left := f.left(); f.fades > 0 && left >= 0 {
		cost *= 1 + 0.5*math.Exp(-left.Seconds()/f.fades.Seconds())
	}
	f.x.CPU += float64(n) * cost * (1 + 0.02*f.noise.NormFloat64())
	f.x.Arrival.Sum += float64(n) * took
	counts := slices.Clone(f.x.Arrival.Counts)
	if counts == nil {
		counts = make([]uint64, 2000)
	}
	counts[min(int(took/unit.Seconds()), len(counts)-1)] += n
	f.x.Arrival.Counts, f.x.At = counts, now
}

// left is how long ago the program had a larger value than now; below 0: never.
func (f *fake) left() time.Duration {
	for i := len(f.sets) - 1; i > 0; i-- {
		if f.sets[i-1].procs > f.procs {
			return time.Since(f.sets[i].at)
		}
	}
	return -1
}

func (f *fake) failing(call string) error {
	if f.gone {
		return errors.New("no answer")
	}
	if f.fail == nil {
		return nil
	}
	return f.fail(call)
}

func (f *fake) Set(_ context.Context, procs int) (time.Duration, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.failing("set"); err != nil {
		return 0, err
	}
	f.run()
	f.expires = time.Now().Add(keptFor)
	took := time.Millisecond
	if procs != f.procs { // else it returns at once
		took = max(took, f.took)
	}
	f.procs, f.sets = procs, append(f.sets, set{procs, time.Now()})
	return took, nil
}

func (f *fake) Read(context.Context) (Reading, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.failing("read"); err != nil {
		return Reading{}, err
	}
	f.run()
	f.expires = time.Now().Add(keptFor)
	return f.x, nil
}

func (f *fake) Release(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone || ctx.Err() != nil {
		return errors.New("no answer")
	}
	f.run()
	f.procs, f.released = f.start, true
	return nil
}

// header is of an experiment of ten minutes with slices of 5 s.
func header(values ...int) judge.Header {
	h := judge.Header{Header: journal.Header{Live: &journal.Live{Unit: "request", Start: 2, SliceSeconds: 5, BurnInSeconds: 2, BaselineSeconds: 30, Budget: 1000}}}
	h.Load.DurationSeconds = 600
	h.Plan = journal.Plan{Seed: 7, Settings: judge.Settings(2, values, false)}
	return h
}

// measured runs an experiment on a fake, in the bubble of a test.
func measured(ctx context.Context, f *fake, h judge.Header, carried func()) (*journal.End, *journal.Contents) {
	c := &journal.Contents{}
	e := &Experiment{
		Header: h, Program: f, BucketEnd: bucketEnd, Quantile: quantileOf,
		Ask: func(ctx context.Context, name string, slice time.Duration, _ []string, _ time.Time) (*float64, error) {
			i := slices.IndexFunc(h.Live.Queries, func(q journal.Query) bool { return q.Name == name })
			return f.asked(ctx, h.Live.Queries[i].Over(slice))
		},
		Begun: func(blocks.Forecast) {}, Over: func(error) {},
		Block: func(_ blocks.Look, _ float64, burn time.Duration) {
			if burn > 0 && carried != nil {
				carried()
			}
		},
	}
	r := e.Run(func(paired.Event) {})
	r.Append = func(t journal.Trial) error {
		c.Header, c.Trials = h.Header, append(c.Trials, t)
		return nil
	}
	c.End, _ = r.Run(ctx, h.Plan.Seed)
	return c.End, c
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.cost[1] = 0.0008
		end, c := measured(t.Context(), f, header(1, 4), nil)
		r := judge.Analyze(c)
		if end.Code != journal.EndDecided && end.Code != journal.EndComplete || !f.released || f.procs != 2 {
			t.Errorf("%+v; released: %v, at %d", end, f.released, f.procs)
		}
		if x := r.Live.Settings[1]; x.Came != string(blocks.Better) || r.Recommendation.Verdict != verdict.Recommended || *r.Recommendation.Procs != 1 {
			t.Errorf("%+v\n%+v", x, r.Recommendation)
		}
		if x := r.Live.Settings[2]; x.Came != string(blocks.Same) && x.Came != string(blocks.Undecided) {
			t.Errorf("%+v", x)
		}
		if r.Live.LatencyBy != judge.ByArrival || r.Live.Least < 250 || r.Live.Most > 350 || r.PilotsRun != 6 || r.TrialsInvalid != 0 {
			t.Errorf("%+v, %d pilots", r.Live, r.PilotsRun)
		}
		// Each block has its values once, and the same seed has the same order.
		seen := map[[2]int]int{}
		for _, x := range c.Trials {
			if x.Role != journal.RolePilot {
				seen[[2]int{x.Block, *x.Setting.Procs}]++
			}
		}
		for at, n := range seen {
			if n != 1 {
				t.Errorf("block %d has %d %d times", at[0], at[1], n)
			}
		}
		_, again := measured(t.Context(), newFake(), header(1, 4), nil)
		for i := range min(len(c.Trials), len(again.Trials)) {
			if a, b := c.Trials[i], again.Trials[i]; a.Setting.Key() != b.Setting.Key() {
				t.Fatalf("trial %d: %s and %s with one seed", i, a.Setting.Label, b.Setting.Label)
			}
		}
	})
}

// TestCarried: what a value leaves behind makes the burn-in longer, and the slices before that
// are not used, also by who reads the journal. What does not end ends the experiment.
func TestCarried(t *testing.T) {
	for _, tc := range []struct {
		fades     time.Duration
		doublings int
		want      journal.EndCode
	}{{3 * time.Second, 1, journal.EndComplete}, {time.Minute, 2, journal.EndCarryOver}} {
		synctest.Test(t, func(t *testing.T) {
			f, doublings := newFake(), 0
			f.fades = tc.fades
			h := header(1, 4)
			h.Load.DurationSeconds = 3600
			end, c := measured(t.Context(), f, h, func() { doublings++ })
			r := judge.Analyze(c)
			if doublings < tc.doublings || tc.want == journal.EndCarryOver && end.Code != tc.want {
				t.Errorf("%v: %d doublings, %+v", tc.fades, doublings, end)
			}
			if doublings > 0 && (!r.Live.Carried || r.Live.Settings[1].Slices >= len(c.Trials)/3) {
				t.Errorf("%v: %+v of %d trials", tc.fades, r.Live.Settings[1], len(c.Trials))
			}
		})
	}
}

// TestSmallBudget: what would not cover a single visit is refused before anything is changed.
func TestSmallBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := newFake(), header(1, 4)
		h.Live.Budget = 100
		end, c := measured(t.Context(), f, h, nil)
		if end.Code != journal.EndFailed || !strings.Contains(end.Reason, "more than the budget of 100: use --budget 1") || !f.released || c.Header.Live != nil {
			t.Errorf("%+v", end)
		}
		for _, s := range f.sets {
			if s.procs != 2 {
				t.Errorf("it was set to %d", s.procs)
			}
		}
	})
}

// TestLeave: a value that carries a tenth is left within a second, twice, and then is out.
func TestLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.capacity[1] = 30
		_, c := measured(t.Context(), f, header(1, 4), nil)
		var longest time.Duration
		visits := 0
		for i, s := range f.sets {
			if s.procs == 1 {
				visits++
				longest = max(longest, f.sets[i+1].at.Sub(s.at))
			}
		}
		if visits != 2 || longest > time.Second {
			t.Errorf("%d visits, the longest for %v; expected 2 of at most 1 s", visits, longest)
		}
		r := judge.Analyze(c)
		if x := r.Live.Settings[1]; x.Came != string(blocks.Left) || x.Left != 2 || x.LeftAfter > 1 || !(x.InSystem > r.Live.InSystemMax) {
			t.Errorf("%+v, %v in the baseline", x, r.Live.InSystemMax)
		}
	})
}

// TestBurst: a slice with a burst of slow requests, too few at a time for the wire, is void with the
// start value as it is with another one.
func TestBurst(t *testing.T) {
	for procs, want := range map[int]journal.InvalidCode{1: journal.InvalidLeft, 2: journal.InvalidLoaded} {
		synctest.Test(t, func(t *testing.T) {
			f, in := newFake(), 0 // the change that begins the visit with the burst
			f.fail = func(string) error {
				n := len(f.sets)
				if f.late = 0; n > 6 && f.sets[n-1].procs == procs && (in == 0 || in == n) { // after the baseline
					if in = n; time.Since(f.sets[n-1].at) > 3*time.Second {
						f.late = 20 * time.Millisecond
					}
				}
				return nil
			}
			_, c := measured(t.Context(), f, header(1, 4), nil)
			void := slices.DeleteFunc(slices.Clone(c.Trials), func(t journal.Trial) bool { return t.Valid || t.Role == journal.RolePilot })
			if len(void) != 1 || void[0].InvalidCode != want || *void[0].Setting.Procs != procs || !(void[0].Live.InSystemMax < leastLimit) {
				t.Errorf("at %d: %+v", procs, void)
			}
		})
	}
}

// TestEnds: whatever ends an experiment is in its journal, and the start value is back.
func TestEnds(t *testing.T) {
	other := func(code journal.EndCode, harm journal.HarmCode) error {
		e := &paired.EndError{End: journal.End{Code: code, Reason: "because"}}
		if harm != "" {
			e.Harm = &journal.Harm{Code: harm}
		}
		return e
	}
	for name, tc := range map[string]struct {
		call   string // that fails after 100 s
		err    error
		change func(*fake)
		want   journal.EndCode
		within time.Duration // from then on
		held   bool          // what something else has set is kept, or nobody can set it
	}{
		"set by something else": {"set", other(journal.EndTaken, ""), nil, journal.EndTaken, 10 * time.Second, false},
		"restarted":             {"read", other(journal.EndHarm, journal.HarmEnded), nil, journal.EndHarm, time.Second, false},
		"it does not answer":    {"", nil, func(f *fake) { f.gone = true }, journal.EndFailed, 2*patience + time.Second, true},
		"an answer is lost":     {"read", errors.New("for a moment"), nil, journal.EndComplete, time.Hour, false},
		"no traffic":            {"", nil, func(f *fake) {}, journal.EndUnreached, time.Hour, false},
		"it panics":             {"", nil, func(f *fake) { f.x.Panics++ }, journal.EndHarm, 30 * time.Second, false},
		"changes take long":     {"", nil, func(f *fake) { f.took = 2 * time.Second }, journal.EndFailed, time.Minute, false},
		"more than it may cost": {"", nil, func(f *fake) { f.capacity[1], f.capacity[4] = 30, 30 }, journal.EndDecided, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, began := newFake(), time.Now()
				if name == "no traffic" {
					f.rate = 1e-9
				}
				const after = 100 * time.Second
				f.fail = func(call string) error {
					since := time.Since(began)
					if call == tc.call && since > after && (tc.want != journal.EndComplete || since < after+time.Second) {
						return tc.err
					}
					return nil
				}
				if tc.change != nil {
					time.AfterFunc(after, func() { f.mu.Lock(); defer f.mu.Unlock(); tc.change(f) })
				}
				end, c := measured(t.Context(), f, header(1, 4), nil)
				if end.Code != tc.want && !(tc.want == journal.EndComplete && end.Code == journal.EndDecided) {
					t.Errorf("%+v, expected %s", end, tc.want)
				}
				if took := time.Since(began) - after; took > tc.within {
					t.Errorf("ended %v later, expected at most %v", took, tc.within)
				}
				if f.released == tc.held {
					t.Errorf("released: %v", f.released)
				}
				f.mu.Lock()
				defer f.mu.Unlock()
				if time.Sleep(keptFor); tc.held {
					f.run() // by itself
				}
				if f.procs != f.start {
					t.Errorf("at %d after the experiment", f.procs)
				}
				if end.Harm != nil && end.Harm.Setting == "" {
					t.Errorf("harm of nobody: %+v", end.Harm)
				}
				if c.Header.Live != nil { // else it ended in the baseline, and there is no journal
					judge.Analyze(c)
				}
			})
		})
	}
}

// TestEndedBefore: a program that ends before another value was tried does not end of one.
func TestEndedBefore(t *testing.T) {
	for _, call := range []string{"set", "read"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.fail = func(c string) error {
				if c != call {
					return nil
				}
				return &paired.EndError{End: journal.End{Code: journal.EndHarm, Reason: "it crashed", Harm: &journal.Harm{Code: journal.HarmEnded}}}
			}
			end, _ := measured(t.Context(), f, header(1, 4), nil)
			if end.Code != journal.EndFailed || end.Harm != nil || end.Reason != "it crashed, before the first change; no other value was tried" {
				t.Errorf("%s: %+v", call, end)
			}
		})
	}
}

// TestEndedBetween: a program that has ended when the next value is to be set ended with the one
// before.
func TestEndedBetween(t *testing.T) {
	for _, last := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.fail = func(call string) error {
				if n := len(f.sets); call != "set" || n == 0 || f.sets[n-1].procs != last {
					return nil
				}
				return &paired.EndError{End: journal.End{Code: journal.EndHarm, Reason: "it crashed", Harm: &journal.Harm{Code: journal.HarmEnded}}}
			}
			h := header(1, 4)
			end, _ := measured(t.Context(), f, h, nil)
			i := slices.IndexFunc(h.Plan.Settings, func(s journal.Setting) bool { return *s.Procs == last })
			if end.Harm == nil || end.Harm.Setting != h.Plan.Settings[i].Label {
				t.Errorf("after %d: %+v", last, end)
			}
		})
	}
}

// TestLostAnswers: a change whose answer is lost is asked for again, and so is one for which no
// thread stands at a safe place for a while.
func TestLostAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, sets, began := newFake(), 0, time.Now()
		f.fail = func(call string) error {
			if call != "set" {
				return nil
			}
			if sets++; sets%10 == 0 {
				return errors.New("for a moment")
			}
			if since := time.Since(began); since > 100*time.Second && since < 140*time.Second {
				return refused(&steer.Refusal{PID: 1, Why: steer.NoPlace})
			}
			return nil
		}
		end, _ := measured(t.Context(), f, header(1, 4), nil)
		if end.Code != journal.EndComplete && end.Code != journal.EndDecided || sets < 20 {
			t.Errorf("%+v after %d changes", end, sets)
		}
	})
}

// TestInterrupt: Ctrl-C at any time restores the value, also while a call is being answered.
func TestInterrupt(t *testing.T) {
	for _, after := range []time.Duration{0, time.Second, 31 * time.Second, 33*time.Second + 7, 100 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			end, _ := measured(ctx, f, header(1, 4), nil)
			if end.Code != journal.EndInterrupted || !f.released || f.procs != 2 {
				t.Errorf("after %v: %+v; released: %v, at %d", after, end, f.released, f.procs)
			}
		})
	}
}
