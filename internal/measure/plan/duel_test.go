package plan

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
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
	whole, err := gated(t, h, 0.9, 0, Record{})
	if err != nil {
		t.Fatal(err)
	}
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
