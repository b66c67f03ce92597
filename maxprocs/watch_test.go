package maxprocs

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// fakeRuntime has a GOMAXPROCS of its own, which follows its group's limit as
// long as none is set.
type fakeRuntime struct {
	procs     int
	automatic bool
	touched   int
}

func (r *fakeRuntime) set(n int) int {
	before := r.procs
	if n > 0 {
		r.procs, r.automatic = n, false
		r.touched++
	}
	return before
}

// steps feeds one changing tree to a watcher. Each step of the table is a look,
// ten seconds after the one before.
func TestWatchSteps(t *testing.T) {
	type look struct {
		leaf, parent string // cpu.max; "" leaves it
		want         int
		automatic    bool
	}
	const none = "max 100000\n"
	cpus := func(n string) string { return n + "00000 100000\n" }
	for name, tc := range map[string]struct {
		options    WatchOptions
		hasDefault bool
		looks      []look
		touched    int // calls that set a number
	}{
		"while the runtime is right, nothing is touched": {WatchOptions{}, true, []look{
			{cpus("4"), none, 4, true}, {cpus("6"), "", 6, true}, {cpus("3"), "", 3, true}, {none, "", 8, true},
		}, 0},
		"an ancestor": {WatchOptions{}, true, []look{
			{cpus("6"), none, 6, true}, {"", cpus("1"), 6, true}, {"", "", 6, true}, {"", "", 6, true}, {"", "", 1, false},
			{"", cpus("3"), 3, false}, {"", none, 6, true},
		}, 2},
		"the first look lowers at once": {WatchOptions{}, true, []look{{cpus("6"), cpus("1"), 1, false}}, 1},
		"an older runtime": {WatchOptions{}, false, []look{
			{cpus("2"), none, 2, false}, {cpus("6"), "", 6, false}, {cpus("2"), "", 6, false}, {"", "", 6, false}, {"", "", 6, false}, {"", "", 2, false},
		}, 3},
		"up and down is not followed": {WatchOptions{}, false, []look{
			{cpus("6"), none, 6, false}, {cpus("2"), "", 6, false}, {cpus("6"), "", 6, false}, {cpus("2"), "", 6, false}, {cpus("6"), "", 6, false},
		}, 1},
		"released to the most that was needed": {WatchOptions{}, false, []look{
			{cpus("6"), none, 6, false}, {cpus("2"), "", 6, false}, {cpus("4"), "", 6, false}, {cpus("3"), "", 6, false}, {"", "", 4, false},
		}, 2},
		"without hold": {WatchOptions{Hold: -1}, false, []look{
			{cpus("6"), none, 6, false}, {cpus("2"), "", 2, false},
		}, 2},
		"back to the runtime at the same number": {WatchOptions{Hold: -1}, true, []look{
			{cpus("6"), none, 6, true}, {"", cpus("3"), 3, false}, {cpus("3"), none, 3, true}, {cpus("4"), "", 4, true},
		}, 1},
		"unknown is not raised": {WatchOptions{}, false, []look{
			{cpus("2"), none, 2, false}, {"what\n", "", 2, false}, {cpus("3"), "", 3, false},
		}, 2},
		"options of Fit": {WatchOptions{Fit: Fit{Reserve: 1, Max: 4}}, false, []look{
			{cpus("3"), none, 2, false}, {none, "", 4, false},
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{
				"proc/self/status":              {Data: []byte("Cpus_allowed_list:\t0-7\n")},
				"proc/self/environ":             {},
				"proc/self/mountinfo":           {Data: []byte("30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n")},
				"proc/self/cgroup":              {Data: []byte("0::/pod/app\n")},
				"sys/devices/system/cpu/online": {Data: []byte("0-7\n")},
				"cg/pod/app/cgroup.procs":       {},
			}
			read := func() Facts {
				f, err := ReadFS(tree, 0)
				if err != nil {
					t.Fatal(err)
				}
				f.GoVersion = "go1.26"
				return f
			}
			rt := &fakeRuntime{procs: 8, automatic: tc.hasDefault}
			follow := func() { // what the runtime does by itself
				if rt.automatic {
					rt.procs = Decide(read(), Go{}).Procs
				}
			}
			changes, now := 0, time.Unix(0, 0)
			tc.options.OnChange = func(c Change) {
				changes++
				if c.Procs != rt.procs || c.Before == c.Procs && !c.Automatic || c.Automatic != rt.automatic || len(c.Decision.Reasons) == 0 {
					t.Errorf("told of %+v, at %d", c, rt.procs)
				}
			}
			if tc.options.Hold == 0 {
				tc.options.Hold = DefaultHold
			}
			w := watcher{
				WatchOptions: tc.options, now: func() time.Time { return now }, read: read, procs: rt.set,
				setDefault: func() { rt.automatic = true; follow() }, hasDefault: tc.hasDefault,
			}
			var state watchState
			for i, l := range tc.looks {
				for file, text := range map[string]string{"cg/pod/app/cpu.max": l.leaf, "cg/pod/cpu.max": l.parent} {
					if text != "" {
						tree[file] = &fstest.MapFile{Data: []byte(text)}
					}
				}
				follow()
				before := rt.procs
				touched := rt.touched
				w.step(read(), &state, i == 0)
				if rt.procs != l.want || rt.automatic != l.automatic {
					t.Errorf("look %d: %d Ps, automatic %v; want %d, %v", i, rt.procs, rt.automatic, l.want, l.automatic)
				}
				if (before != rt.procs || touched != rt.touched) && changes == 0 {
					t.Errorf("look %d: a change of which nobody was told", i)
				}
				now = now.Add(10 * time.Second)
			}
			if rt.touched != tc.touched {
				t.Errorf("set %d times, want %d", rt.touched, tc.touched)
			}
		})
	}
}

// A move to another group is followed, since every look begins at /proc; run
// looks once, then at every tick.
func TestWatchMove(t *testing.T) {
	tree := sys(map[string]string{"cg/other/cgroup.procs": "", "cg/other/cpu.max": "500000 100000\n"})
	rt := &fakeRuntime{procs: 8}
	ticks := make(chan time.Time)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var got []int
	looks := 0
	w := watcher{ticks: ticks, now: time.Now, procs: rt.set, read: func() Facts {
		if looks++; looks == 3 {
			tree["proc/self/cgroup"] = &fstest.MapFile{Data: []byte("0::/other\n")}
		}
		f, err := ReadFS(tree, 0)
		if err != nil {
			panic(err)
		}
		return f
	}}
	w.OnChange = func(c Change) {
		if got = append(got, c.Procs); len(got) == 2 {
			cancel()
		}
	}
	go func() {
		for ctx.Err() == nil {
			select {
			case ticks <- time.Time{}:
			case <-ctx.Done():
			}
		}
	}()
	if err := w.run(ctx); !errors.Is(err, context.Canceled) {
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
		go func() { ended <- Watch(ctx, WatchOptions{Period: time.Millisecond}) }()
	}
	for i := 0; i < 4; i++ {
		if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Watch: %v", err)
		}
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
	t.Setenv("GOMAXPROCS", "2")
	if err := Watch(context.Background(), WatchOptions{}); err != nil {
		t.Errorf("with a valid environment: %v", err)
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
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	t.Setenv("GOMAXPROCS", "many")
	var lines []string
	var r Result
	undo, err := Set(Min(before+3), Detail(&r), Logger(func(format string, args ...any) {
		lines = append(lines, args[0].(string))
	}))
	if err != nil || r.Procs != before+3 || runtime.GOMAXPROCS(0) != before+3 || r.Action != "changed" {
		t.Errorf("%+v, %v, GOMAXPROCS is %d; want %d", r, err, runtime.GOMAXPROCS(0), before+3)
	}
	if len(lines) != 1 || !strings.Contains(lines[0], `"many" in the environment is no positive integer`) {
		t.Errorf("said %q", lines)
	}
	undo()
	if got := runtime.GOMAXPROCS(0); got != before {
		t.Errorf("after undo %d, before %d", got, before)
	}
	t.Setenv("GOMAXPROCS", "3")
	if _, err := Set(Min(before+3), Detail(&r)); err != nil || r.Action != "kept_env" || runtime.GOMAXPROCS(0) != before {
		t.Errorf("with a valid environment: %+v, %v", r, err)
	}
}
