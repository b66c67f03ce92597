package maxprocs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/must"
	"github.com/procfit/procfit/maxprocs/internal/watch"
)

// tree is a directory with one v2 group below another, to be changed.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T) tree {
	tr := tree{t, t.TempDir()}
	tr.write("proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n")
	tr.write("proc/self/cgroup", "0::/pod/app\n")
	tr.write("cg/pod/app/cgroup.procs", "")
	return tr
}

func (tr tree) write(name, text string) { must.Write(tr.t, tr.root, map[string]string{name: text}) }

// watched is a watcher of the tree on a machine of 8 CPUs.
func (tr tree) watched(m *machine, hasDefault bool, setDefault func(), opts ...Option) *watcher {
	w := &watcher{config: configure(opts), now: time.Now}
	w.sys = m.system(tr.root, "unset", 8, hasDefault)
	w.sys.setDefault = setDefault
	return w
}

// TestWatchSteps feeds a changing tree to a watcher. Each step of the table is a
// look, ten seconds after the one before.
func TestWatchSteps(t *testing.T) {
	type look struct {
		leaf, parent string // cpu.max; "" leaves it
		want         int
		automatic    bool
	}
	const none = "max 100000\n"
	cpus := func(n string) string { return n + "00000 100000\n" }
	for name, tc := range map[string]struct {
		options    []Option
		hasDefault bool
		looks      []look
		touched    int // calls that set a number
	}{
		"while the runtime is right, nothing is touched": {nil, true, []look{
			{cpus("4"), none, 4, true}, {cpus("6"), "", 6, true}, {cpus("3"), "", 3, true}, {none, "", 8, true},
		}, 0},
		"an ancestor": {nil, true, []look{
			{cpus("6"), none, 6, true}, {"", cpus("1"), 6, true}, {"", "", 6, true}, {"", "", 6, true}, {"", "", 1, false},
			{"", cpus("3"), 3, false}, {"", none, 6, true},
		}, 2},
		"the first look lowers at once": {nil, true, []look{{cpus("6"), cpus("1"), 1, false}}, 1},
		"an older runtime": {nil, false, []look{
			{cpus("2"), none, 2, false}, {cpus("6"), "", 6, false}, {cpus("2"), "", 6, false}, {"", "", 6, false}, {"", "", 6, false}, {"", "", 2, false},
		}, 3},
		"up and down is not followed": {nil, false, []look{
			{cpus("6"), none, 6, false}, {cpus("2"), "", 6, false}, {cpus("6"), "", 6, false}, {cpus("2"), "", 6, false}, {cpus("6"), "", 6, false},
		}, 1},
		"released to the most that was needed": {nil, false, []look{
			{cpus("6"), none, 6, false}, {cpus("2"), "", 6, false}, {cpus("4"), "", 6, false}, {cpus("3"), "", 6, false}, {"", "", 4, false},
		}, 2},
		"without hold": {[]Option{Hold(0)}, false, []look{
			{cpus("6"), none, 6, false}, {cpus("2"), "", 2, false},
		}, 2},
		"back to the runtime at the same number": {[]Option{Hold(0)}, true, []look{
			{cpus("6"), none, 6, true}, {"", cpus("3"), 3, false}, {cpus("3"), none, 3, true}, {cpus("4"), "", 4, true},
		}, 1},
		"unknown is not raised": {nil, false, []look{
			{cpus("2"), none, 2, false}, {"what\n", "", 2, false}, {cpus("3"), "", 3, false},
		}, 2},
		"options of Set": {[]Option{Reserve(1), Max(4)}, false, []look{
			{cpus("3"), none, 2, false}, {none, "", 4, false},
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTree(t)
			rt := &machine{procs: 8, automatic: tc.hasDefault}
			follow := func() { // what the runtime does by itself
				if rt.automatic {
					rt.procs = seenBy(tr.root, false).runtimeDefault(8)
				}
			}
			changes, now, late := 0, time.Unix(0, 0), false
			w := tr.watched(rt, tc.hasDefault, func() { rt.automatic = true; follow() }, append(tc.options, OnChange(func(r Result) {
				changes++
				automatic := r.Action == Automatic
				if r.Procs != rt.procs || r.Before == r.Procs && !automatic || automatic != rt.automatic || r.String() == "" {
					t.Errorf("told of %+v, at %d", r, rt.procs)
				}
			}))...)
			w.now = func() time.Time { return now }
			w.sys.env = func() (string, bool) { return "1", late }
			for i, l := range tc.looks {
				for file, text := range map[string]string{"cg/pod/app/cpu.max": l.leaf, "cg/pod/cpu.max": l.parent} {
					if text != "" {
						tr.write(file, text)
					}
				}
				follow()
				before, sets := rt.procs, rt.sets
				done := w.step()
				late = true // code sets the variable for a child, say
				if done || rt.procs != l.want || rt.automatic != l.automatic {
					t.Errorf("look %d: %d Ps, automatic %v; want %d, %v", i, rt.procs, rt.automatic, l.want, l.automatic)
				}
				if (before != rt.procs || sets != rt.sets) && changes == 0 {
					t.Errorf("look %d: a change of which nobody was told", i)
				}
				now = now.Add(10 * time.Second)
			}
			if rt.sets != tc.touched {
				t.Errorf("set %d times, want %d", rt.sets, tc.touched)
			}
		})
	}
}

// A runtime whose default is not what its rule foretells, as it sees its cgroup in
// another way, is asked once, and again after a change; nobody is told of a
// change from 3 to 3.
func TestWatchAsksARefusingRuntimeOnce(t *testing.T) {
	tr := newTree(t)
	tr.write("cg/pod/cpu.max", "200000 100000\n")
	tr.write("cg/pod/app/cpu.max", "300000 100000\n")
	rt, asked := &machine{procs: 8}, 0
	var told []string
	w := tr.watched(rt, true, func() { asked++; rt.procs, rt.automatic = 8, true }, Hold(0), OnChange(func(r Result) {
		told = append(told, fmt.Sprint(r.Before, "→", r.Procs))
	}))
	for i := 0; i < 4; i++ {
		w.step()
		tr.write("cg/pod/cpu.max", "max 100000\n") // from the second look on the runtime's rule gives 3
	}
	if asked != 1 || rt.procs != 3 || rt.sets != 2 || fmt.Sprint(told) != "[8→2 2→3]" {
		t.Errorf("asked %d times, set %d times, at %d, told of %v; want once, twice, 3", asked, rt.sets, rt.procs, told)
	}
	tr.write("cg/pod/app/cpu.max", "400000 100000\n")
	for i := 0; i < 3; i++ {
		w.step()
	}
	if asked != 2 || rt.procs != 4 || rt.sets != 3 || len(told) != 3 {
		t.Errorf("after a change: asked %d times, set %d times, at %d, told of %v", asked, rt.sets, rt.procs, told)
	}
}

// What cannot be read is logged once, though nothing changes: Watch returns no error for it.
func TestWatchLogsWhatIsUnknown(t *testing.T) {
	tr := newTree(t)
	tr.write("cg/pod/app/cpu.max", "max 100000\n")
	var lines []string
	w := tr.watched(&machine{procs: 8}, false, nil, Logger(func(_ string, args ...any) { lines = append(lines, args[0].(Result).String()) }))
	for i, look := range []struct {
		parent string
		lines  int
	}{{"what\n", 1}, {"what\n", 1}, {"max 100000\n", 1}, {"what\n", 2}, {"that\n", 3}} {
		tr.write("cg/pod/cpu.max", look.parent)
		if w.step(); len(lines) != look.lines || !strings.Contains(lines[len(lines)-1], "already correct as far as is known; no CPU limit is known, its affinity is 8 CPUs; unknown: /cg/pod/cpu.max: ") {
			t.Fatalf("look %d: %q, want %d lines", i, lines, look.lines)
		}
	}
}

// A move to another group is followed, since every look begins at /proc; Every
// looks once, then at every tick.
func TestWatchMove(t *testing.T) {
	tr := newTree(t)
	tr.write("cg/pod/app/cpu.max", "200000 100000\n")
	tr.write("cg/other/cgroup.procs", "")
	tr.write("cg/other/cpu.max", "500000 100000\n")
	rt := &machine{procs: 8}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var got []int
	w := tr.watched(rt, false, nil, OnChange(func(r Result) {
		if got = append(got, r.Procs); len(got) == 2 {
			cancel()
		}
	}))
	looks := 0
	w.sys.affinity = func() int {
		if looks++; looks == 3 {
			tr.write("proc/self/cgroup", "0::/other\n")
		}
		return 8
	}
	if err := watch.Every(ctx, time.Millisecond, w.step); !errors.Is(err, context.Canceled) {
		t.Fatalf("run: %v", err)
	}
	if len(got) != 2 || got[0] != 2 || got[1] != 5 || looks != 3 {
		t.Errorf("took %v in %d looks, want 2 and, in the third, 5", got, looks)
	}
}

// Nothing runs after Watch has returned, and a valid environment ends it.
func TestWatchEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	ended := make(chan error)
	for i := 0; i < 4; i++ {
		go func() { ended <- Watch(ctx, Period(time.Millisecond)) }()
	}
	for i := 0; i < 4; i++ {
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Watch: %v", err)
		}
	}
	must.Until(t, "without goroutines", func() bool { return runtime.NumGoroutine() <= before })
	t.Setenv("GOMAXPROCS", "2")
	said := 0
	if err := Watch(context.Background(), Logger(func(string, ...any) { said++ })); err != nil || said != 1 {
		t.Errorf("with a valid environment: %v, %d lines", err, said)
	}
}

func ExampleSet() {
	undo, err := Set(Min(2), Reserve(0.5), Logger(func(format string, args ...any) {
		// log.Printf, say
	}))
	if err != nil {
		// not all limits could be read; GOMAXPROCS was not raised
	}
	defer undo()
	// Output:
}

func TestSetOfThisProcess(t *testing.T) {
	was := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(was)
	before := was + 1
	runtime.GOMAXPROCS(before)
	const most = 1
	t.Setenv("GOMAXPROCS", "many")
	var lines []string
	var r Result
	undo, err := Set(Max(most), Detail(&r), Logger(func(format string, args ...any) {
		lines = append(lines, args[0].(Result).String())
	}))
	if err != nil || r.Procs != most || runtime.GOMAXPROCS(0) != most || r.Action != "changed" {
		t.Errorf("%+v, %v, GOMAXPROCS is %d; want %d", r, err, runtime.GOMAXPROCS(0), most)
	}
	if len(lines) != 1 || !strings.Contains(lines[0], `"many" in the environment is not a positive integer`) {
		t.Errorf("said %q", lines)
	}
	undo()
	if got := runtime.GOMAXPROCS(0); got != before {
		t.Errorf("after undo %d, before %d", got, before)
	}
	t.Setenv("GOMAXPROCS", "3")
	if _, err := Set(Max(most), Detail(&r)); err != nil || r.Action != "kept_env" || runtime.GOMAXPROCS(0) != before {
		t.Errorf("with a valid environment: %+v, %v", r, err)
	}
}
