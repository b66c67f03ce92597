package plan

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

func gateOf(t *testing.T, change func(*Spec)) journal.Header {
	t.Helper()
	return raceOf(t, func(s *Spec) {
		s.Target.Against = []string{"old"}
		if change != nil {
			change(s)
		}
	})
}

// gated runs a gate whose new program has that share of the old one's throughput.
func gated(t *testing.T, h journal.Header, share float64, stop int, have Record) (*run, error) {
	t.Helper()
	k := &knee{at: 3}
	x := k.execution(h, have)
	k.fake.answer = func(n int, task Task) (journal.Trial, error) {
		if stop > 0 && n > stop {
			return journal.Trial{}, context.Canceled
		}
		trial, err := k.run(n, task)
		if task.Setting.Variant == "" {
			*trial.ThroughputPerSecond *= share
			trial.Valid = share > 0
		}
		return trial, err
	}
	return x, x.Run(t.Context())
}

// A gate ends when old and new are distinguished, or proven equal, and both go
// first by turns.
func TestGateEndsWhenDecided(t *testing.T) {
	for _, share := range []float64{0.6, 1, 1.5} {
		h := gateOf(t, nil)
		x, err := gated(t, h, share, 0, Record{})
		if n := len(x.kept); err != nil || n < 2*fewestPairs || n >= h.Plan.MaxTrials || h.Plan.MaxTrials != 2*duelPairs {
			t.Errorf("at %g: %v after %d of at most %d trials", share, err, n, h.Plan.MaxTrials)
		}
		first := map[string]int{}
		for _, b := range x.blocks {
			if len(b.Settings) != 2 || b.Settings[0].Variant == b.Settings[1].Variant {
				t.Errorf("block %d runs %+v", b.Block, b.Settings)
			}
			first[b.Settings[0].Variant]++
		}
		if len(first) != 2 && len(x.blocks) > 6 {
			t.Errorf("%v went first", first)
		}
	}
	// A loss of just the margin is neither: the budget ends it.
	h := gateOf(t, func(s *Spec) { s.Budget.MaxTrials = 31 })
	if x, err := gated(t, h, 0.95, 0, Record{}); err != nil || len(x.kept) != 30 {
		t.Errorf("%v after %d trials, want 30 of at most 31", err, len(x.kept))
	}
}

// Settings are decided each for itself, those with the fewest pairs first.
func TestGateOfSettings(t *testing.T) {
	h := gateOf(t, func(s *Spec) { s.Procs = Procs{Values: []*int{ptr(1), ptr(2)}} })
	x, err := gated(t, h, 0.7, 0, Record{})
	if err != nil || len(x.blocks) < 2*fewestPairs {
		t.Fatalf("%v after %d blocks", err, len(x.blocks))
	}
	for i, b := range x.blocks[:2*fewestPairs] {
		if want := 1 + i%2; *b.Settings[0].Procs != want || *b.Settings[1].Procs != want {
			t.Errorf("block %d is of %d and %d, want %d", i, *b.Settings[0].Procs, *b.Settings[1].Procs, want)
		}
	}
}

// A new program that always fails is given up, and not measured to the end.
func TestGateOfAFailingProgram(t *testing.T) {
	const pairs = 3
	x, err := gated(t, gateOf(t, nil), 0, 0, Record{})
	if err != nil || len(x.kept) != 2*pairs {
		t.Errorf("%v after %d trials, want %d", err, len(x.kept), 2*pairs)
	}
}

func TestGateGoesOn(t *testing.T) {
	h := gateOf(t, nil)
	whole := must.Get(gated(t, h, 0.9, 0, Record{}))(t)
	for stop := 1; stop < len(whole.kept); stop += 3 {
		x, err := gated(t, h, 0.9, stop, Record{})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		y, err := gated(t, h, 0.9, 0, Record{Trials: x.kept, Blocks: x.blocks})
		if err != nil || !reflect.DeepEqual(y.kept, whole.kept) || !reflect.DeepEqual(y.blocks, whole.blocks) {
			t.Fatalf("stopped after %d: %v, %d trials, and %d where it was not stopped", stop, err, len(y.kept), len(whole.kept))
		}
	}
}

// The rate at which both are timed is one that both carry: half of what the slower one does.
// Either may be the slower one, at any of the values.
func TestGateRateIsCarriedByBoth(t *testing.T) {
	for name, c := range map[string]struct {
		capacity map[string]float64 // by label
		procs    []int
		want     float64
	}{
		"old is slower": {map[string]float64{"default": 24000, "old default": 7300}, nil, 3650},
		"new is slower": {map[string]float64{"default": 7300, "old default": 24000}, nil, 3650},
		"one value is":  {map[string]float64{"1": 6000, "2": 12000, "old 1": 5000, "old 2": 11000}, []int{1, 2}, 2500},
	} {
		s := settings{Against: true, CPUs: 2, Blocks: 3, Pilots: gatePilots, Procs: Procs{Values: []*int{nil}}}
		if c.procs != nil {
			s.Procs.Values = []*int{&c.procs[0], &c.procs[1]}
		}
		p := plan(t, s)
		f := &fake{answer: func(_ int, task Task) (journal.Trial, error) {
			return journal.Trial{Valid: true, ThroughputPerSecond: new(c.capacity[task.Setting.Label])}, nil
		}}
		if err := newRun(p, f, nil).Run(t.Context()); err != nil || Pilots(p) != len(c.capacity) {
			t.Fatalf("%s: %v with %d trials for the rate", name, err, Pilots(p))
		}
		for _, task := range f.ran[Pilots(p):] {
			if task.RatePerSecond == nil || *task.RatePerSecond != c.want {
				t.Errorf("%s: %s is timed at %v req/s, want %g", name, task.Setting.Label, task.RatePerSecond, c.want)
			}
		}
	}
}

// Without the capacity of both there is no rate that both carry: a broken old version ends
// the gate, and one that had no CPUs is asked once more.
func TestGateNeedsTheCapacityOfBoth(t *testing.T) {
	p := plan(t, settings{Against: true, CPUs: 2, Blocks: 3, Pilots: gatePilots, Procs: Procs{Values: []*int{nil}}})
	for code, want := range map[journal.InvalidCode]string{journal.InvalidCrashed: "the trial of the old version that finds the request rate was invalid: why", journal.InvalidStolen: ""} {
		f := &fake{answer: func(n int, task Task) (journal.Trial, error) {
			if n == 2 {
				return journal.Trial{InvalidCode: code, InvalidReason: "why"}, nil
			}
			return journal.Trial{Valid: true, ThroughputPerSecond: new(80.0)}, nil
		}}
		err := newRun(p, f, nil).Run(t.Context())
		if want != "" && (!errors.Is(err, ErrHopeless) || !strings.Contains(err.Error(), want)) || want == "" && (err != nil || f.ran[2].Setting.Variant != journal.VariantAgainst || !f.ran[2].Pilot()) {
			t.Errorf("%s: %v, want %q; ran %+v", code, err, want, f.ran)
		}
	}
}
