package plan

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// several is a plan over that many nodes.
func several(t *testing.T, nodes int, m settings) journal.Plan {
	t.Helper()
	p := plan(t, m)
	for i := range nodes {
		p.Nodes = append(p.Nodes, fmt.Sprintf("node%d", i+1))
	}
	return p
}

// A block is of one node; over the blocks that run side by side every setting runs once
// on every node, and no two nodes run the same setting at a time.
func TestLanes(t *testing.T) {
	m := settings{Procs: Procs{Values: []*int{nil, ptr(1), ptr(2), ptr(4)}}, CPUs: 4, Blocks: 6, Pilots: 2, Seed: 11}
	for _, nodes := range []int{2, 3} {
		p := several(t, nodes, m)
		tasks := grid{p}.Next(Record{}).Tasks
		if len(tasks) != 2+6*5 {
			t.Fatalf("%d tasks", len(tasks))
		}
		lane := map[int]int{}      // by block
		ran := map[string]int{}    // setting and node
		orders := map[string]int{} // of settings
		waves := map[int][]Task{}  // by the turn
		turn, left := 0, len(tasks)
		for at := 0; at < len(tasks); turn++ {
			n := wave(tasks[at:])
			waves[turn] = tasks[at : at+n]
			at, left = at+n, left-n
		}
		for _, w := range waves {
			var settings []journal.SettingKey
			for _, task := range w {
				if task.Role == journal.RolePilot && slices.ContainsFunc(w, func(x Task) bool { return x.Role != journal.RolePilot }) {
					t.Errorf("%d nodes: a pilot runs beside what waits for it: %+v", nodes, w)
				}
				if task.Role == journal.RoleMeasure {
					settings = append(settings, task.Setting.Key())
				}
			}
			slices.SortFunc(settings, func(a, b journal.SettingKey) int { return a.Procs - b.Procs })
			if len(slices.Compact(slices.Clone(settings))) != len(settings) {
				t.Errorf("%d nodes: a setting runs on two at a time: %+v", nodes, w)
			}
		}
		for _, task := range tasks {
			if task.Role == journal.RolePilot {
				continue
			}
			if before, seen := lane[task.Block]; seen && before != task.Lane {
				t.Errorf("%d nodes: block %d runs on %d and on %d", nodes, task.Block, before, task.Lane)
			}
			lane[task.Block] = task.Lane
			if task.Role == journal.RoleMeasure {
				ran[fmt.Sprint(task.Setting.Label, " ", task.Block/nodes, " ", task.Lane)]++
				orders[fmt.Sprint(task.Order, " ", task.Setting.Label)]++
			}
		}
		for key, n := range ran {
			if n != 1 {
				t.Errorf("%d nodes: %s ran %d times", nodes, key, n)
			}
		}
		if len(ran) != 4*6 || len(orders) < 10 {
			t.Errorf("%d nodes: %d settings on nodes, and %d orders", nodes, len(ran), len(orders))
		}
	}
	one, sequence := plan(t, m), schedule(plan(t, m))
	if got := (grid{one}).Next(Record{}).Tasks; !reflect.DeepEqual(got, sequence) {
		t.Error("on one node the order is another than it was")
	}
}

// beside runs a task only when another is there.
type beside struct {
	mu     sync.Mutex
	here   int
	both   chan struct{}
	lanes  []int
	answer func(Task) (journal.Trial, error)
}

func (b *beside) Prepare(context.Context, journal.Plan, Observer) error { return nil }
func (b *beside) Close() error                                          { return nil }

func (b *beside) Run(ctx context.Context, task Task, observe Observer) (journal.Trial, error) {
	b.mu.Lock()
	b.lanes = append(b.lanes, task.Lane)
	if b.here == 0 {
		b.both = make(chan struct{})
	}
	b.here++
	both := b.both
	if b.here == 2 {
		b.here = 0
		close(both)
	}
	b.mu.Unlock()
	observe.Tell(Activity{Step: StepStart})
	select {
	case <-both:
	case <-time.After(30 * time.Second):
		return journal.Trial{}, errors.New("it runs alone")
	}
	return b.answer(task)
}

// Trials run side by side and come into the journal in the order of the plan; what one
// node's trial comes to is kept when another's ends the run.
func TestSideBySide(t *testing.T) {
	p := several(t, 2, settings{Procs: Procs{Values: []*int{nil, ptr(1)}}, CPUs: 2, Blocks: 2})
	told := 0 // not guarded: whoever tells has to take turns
	b := &beside{answer: func(Task) (journal.Trial, error) {
		return journal.Trial{Valid: true, ThroughputPerSecond: ptr(1.0)}, nil
	}}
	x := newRun(p, b, nil)
	x.Observe = func(Activity) { told++ }
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var blocks []int
	for _, k := range x.kept {
		blocks = append(blocks, k.Block)
	}
	if !slices.Equal(blocks, []int{0, 1, 0, 1, 0, 1}) || told != 6 {
		t.Errorf("blocks %v, told %d times", blocks, told)
	}
	lost := errors.New("node2 is not ready")
	b.answer = func(task Task) (journal.Trial, error) {
		if task.Lane == 1 && task.Order == 1 {
			return journal.Trial{}, lost
		}
		return journal.Trial{Valid: true, ThroughputPerSecond: ptr(1.0)}, nil
	}
	x = newRun(p, b, nil)
	if err := x.Run(t.Context()); !errors.Is(err, lost) || len(x.kept) != 3 {
		t.Fatalf("%v with %d trials, want 3", err, len(x.kept))
	}
	again := &lockedFake{}
	y := newRun(p, again, x.kept)
	if err := y.Run(t.Context()); err != nil || len(again.ran) != 3 || len(y.kept) != 6 {
		t.Errorf("gone on with: %v, %d ran, %d kept", err, len(again.ran), len(y.kept))
	}
}

// A node that fails all of its block ends the run no sooner than the block is over.
func TestHopelessSideBySide(t *testing.T) {
	p := several(t, 2, settings{Procs: Procs{Values: []*int{nil, ptr(1)}}, CPUs: 2, Blocks: 2})
	f := &lockedFake{fake: fake{answer: func(_ int, task Task) (journal.Trial, error) {
		return journal.Trial{Valid: task.Lane == 0, ThroughputPerSecond: ptr(1.0), InvalidReason: "its disk is full"}, nil
	}}}
	x := newRun(p, f, nil)
	if err := x.Run(t.Context()); !errors.Is(err, ErrHopeless) || len(x.kept) != 6 {
		t.Errorf("%v after %d trials, want the end after 6", err, len(x.kept))
	}
}

// lockedFake is for several at once.
type lockedFake struct {
	fake
	mu sync.Mutex
}

func (f *lockedFake) Run(ctx context.Context, t Task, o Observer) (journal.Trial, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fake.Run(ctx, t, o)
}

// A race over two nodes has each block on both, keeps its budget, and continues where it
// was stopped.
func TestRaceSideBySide(t *testing.T) {
	h := raceOf(t, nil)
	h.Plan.Nodes = []string{"a", "b"}
	k := &knee{at: 5}
	x := k.execution(h, Record{})
	x.Runner = &lockedFake{fake: fake{answer: k.run}}
	if err := x.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(x.blocks); i += 2 {
		a, b := x.blocks[i], x.blocks[i+1]
		if a.Why != b.Why || len(a.Settings) != len(b.Settings) || !slices.EqualFunc(rotated(a.Settings, 1), b.Settings, func(p, q journal.Setting) bool { return p.Key() == q.Key() }) {
			t.Errorf("beside %+v ran %+v", a, b)
		}
	}
	if len(x.kept) > h.Plan.MaxTrials || len(x.blocks) < 2 {
		t.Errorf("%d trials of %d in %d blocks", len(x.kept), h.Plan.MaxTrials, len(x.blocks))
	}
	stop := len(x.kept) / 2
	half := (&knee{at: 5}).execution(h, Record{})
	half.Runner = &lockedFake{fake: fake{answer: func(n int, task Task) (journal.Trial, error) {
		if n > stop {
			return journal.Trial{}, context.Canceled
		}
		return k.run(n, task)
	}}}
	if err := half.Run(t.Context()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	rest := (&knee{at: 5}).execution(h, Record{Trials: half.kept, Blocks: half.blocks})
	rest.Runner = &lockedFake{fake: fake{answer: k.run}}
	if err := rest.Run(t.Context()); err != nil || !reflect.DeepEqual(rest.blocks, x.blocks) {
		t.Errorf("%v: %d blocks where it was stopped, %d where it was not", err, len(rest.blocks), len(x.blocks))
	}
}
