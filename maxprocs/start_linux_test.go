package maxprocs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/gort"
	"github.com/procfit/procfit/maxprocs/internal/must"
)

// TestStart looks at a tree, then at what it has become, and holds a runtime that
// Start was called on against one that it was not.
func TestStart(t *testing.T) {
	const none = "max 100000\n"
	cpus := func(n string) string { return n + "00000 100000\n" }
	for name, tc := range map[string]struct {
		leaf, parent string
		cpus         int  // 0: 8
		old, blind   bool // before Go 1.25; a go line below 1.25
		code         int  // GOMAXPROCS set in code before
		options      []Option
		action       Action
		want         int
		follow       bool
		later        [2]string // the leaf and the parent
		meanwhile    int       // GOMAXPROCS set in code after
		then         int
		back         int // and once the value of Start is given back
		alone        int // and the runtime alone
	}{
		"one CPU is left":              {leaf: cpus("1"), parent: none, action: Left, want: 2, later: [2]string{cpus("6"), none}, then: 6, alone: 6},
		"half a CPU":                   {leaf: "50000 100000\n", parent: cpus("3"), action: Left, want: 2, later: [2]string{cpus("6"), none}, then: 6, alone: 6},
		"right already":                {leaf: cpus("3"), parent: cpus("4"), action: Kept, want: 3, later: [2]string{cpus("6"), none}, then: 6, alone: 6},
		"no limit":                     {leaf: none, parent: none, action: Kept, want: 8, later: [2]string{cpus("6"), none}, then: 6, alone: 6},
		"an ancestor":                  {leaf: cpus("6"), parent: cpus("3"), action: Changed, want: 3, follow: true, later: [2]string{cpus("7"), cpus("9")}, then: 7, alone: 7},
		"an ancestor, alone":           {leaf: none, parent: cpus("1"), action: Changed, want: 1, follow: true, later: [2]string{none, none}, then: 8, alone: 8},
		"an ancestor, then one's own":  {leaf: cpus("6"), parent: cpus("3"), action: Changed, want: 3, follow: true, later: [2]string{cpus("1"), none}, then: 2, alone: 2},
		"an ancestor that stays":       {leaf: cpus("1"), parent: "90000 100000\n", action: Changed, want: 1, follow: true, later: [2]string{cpus("6"), cpus("2")}, then: 2, alone: 6},
		"before Go 1.25":               {leaf: cpus("1"), parent: none, old: true, action: Changed, want: 1, follow: true, later: [2]string{cpus("6"), none}, then: 6, alone: 8},
		"before Go 1.25, no limit":     {leaf: none, parent: none, old: true, action: Kept, want: 8, alone: 8, then: 8, later: [2]string{cpus("2"), none}},
		"an old go line":               {leaf: cpus("1"), parent: none, blind: true, action: Changed, want: 1, follow: true, later: [2]string{cpus("6"), none}, then: 6, alone: 8},
		"an old go line, two CPUs":     {leaf: cpus("1"), parent: none, cpus: 2, blind: true, action: Changed, want: 1, follow: true, later: [2]string{cpus("6"), none}, then: 2, alone: 2},
		"two CPUs, one is left":        {leaf: cpus("1"), parent: none, cpus: 2, action: Left, want: 2, later: [2]string{cpus("6"), none}, then: 2, alone: 2},
		"an old go line, back to one":  {leaf: cpus("3"), parent: cpus("1"), cpus: 2, blind: true, action: Changed, want: 1, follow: true, later: [2]string{cpus("1"), none}, then: 1, alone: 2},
		"an old go line, freed":        {leaf: cpus("3"), parent: none, blind: true, action: Changed, want: 3, follow: true, later: [2]string{none, none}, then: 8, alone: 8},
		"an old go line, an ancestor":  {leaf: none, parent: cpus("3"), blind: true, action: Changed, want: 3, follow: true, later: [2]string{cpus("1"), none}, then: 1, alone: 8},
		"set above the limit in code":  {leaf: cpus("3"), parent: none, code: 8, action: Automatic, want: 3, later: [2]string{cpus("6"), none}, then: 6, alone: 8},
		"set below it in code":         {leaf: cpus("4"), parent: none, code: 2, action: Left, want: 2, later: [2]string{cpus("6"), none}, then: 2, alone: 2},
		"set without a limit in code":  {leaf: none, parent: none, code: 20, action: Left, want: 20, later: [2]string{none, none}, then: 20, alone: 20},
		"less set in code after":       {leaf: cpus("6"), parent: cpus("3"), action: Changed, want: 3, follow: true, later: [2]string{cpus("6"), none}, meanwhile: 2, then: 2, back: 6, alone: 2},
		"more set in code after":       {leaf: cpus("3"), parent: none, old: true, action: Changed, want: 3, follow: true, later: [2]string{cpus("6"), none}, meanwhile: 7, then: 7, back: 6, alone: 7},
		"a least that is asked for":    {leaf: cpus("1"), parent: none, options: []Option{Min(4)}, action: Changed, want: 4, follow: true, later: [2]string{cpus("6"), none}, then: 6, alone: 6},
		"a most that does not matter":  {leaf: cpus("1"), parent: none, options: []Option{Max(4)}, action: Left, want: 2, later: [2]string{cpus("3"), none}, then: 3, alone: 3},
		"a most of one":                {leaf: cpus("1"), parent: none, options: []Option{Max(1)}, action: Changed, want: 1, follow: true, later: [2]string{cpus("6"), none}, then: 1, alone: 6},
		"a most that does":             {leaf: none, parent: none, options: []Option{Max(4)}, action: Changed, want: 4, follow: true, later: [2]string{cpus("3"), none}, then: 3, alone: 3},
		"unknown, and nothing tighter": {leaf: "what\n", parent: none, action: Kept, want: 8, later: [2]string{cpus("3"), none}, then: 3, alone: 3},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTree(t)
			set := func(leaf, parent string) {
				tr.write("cg/pod/app/cpu.max", leaf)
				tr.write("cg/pod/cpu.max", parent)
			}
			set(tc.leaf, tc.parent)
			if tc.cpus == 0 {
				tc.cpus = 8
			}
			ignores := tc.old || tc.blind
			def := func() int { return seenBy(tr.root, ignores).runtimeDefault(tc.cpus) }
			start := func() *machine {
				if tc.code > 0 {
					return &machine{procs: tc.code}
				}
				return &machine{procs: def(), automatic: !ignores, ignores: ignores}
			}
			rt, plain := start(), start()
			var said []string
			var detail Result
			changes := 0
			now := time.Unix(0, 0)
			w := tr.watched(rt, !tc.old, func() { rt.procs, rt.automatic = def(), true }, append(tc.options, Detail(&detail), OnChange(func(Result) { changes++ }),
				Logger(func(_ string, args ...any) { said = append(said, args[0].(Result).String()) }))...)
			w.now = func() time.Time { return now }
			w.sys.affinity = func() int { return tc.cpus }
			r, follow := w.start()
			if rt.procs != tc.want || r.Procs != tc.want || r.Action != tc.action || follow != tc.follow || detail != r {
				t.Errorf("GOMAXPROCS is %d, %+v, follows %v; want %d, %s, %v", rt.procs, r, follow, tc.want, tc.action, tc.follow)
			}
			if len(said) != 1 || !strings.HasPrefix(said[0], "GOMAXPROCS=") {
				t.Errorf("said %q, want one line", said)
			}
			if changes > 0 {
				t.Error("OnChange is called for the change of Start itself")
			}
			set(tc.later[0], tc.later[1])
			if tc.meanwhile > 0 {
				rt.set(tc.meanwhile)
				plain.set(tc.meanwhile)
			}
			for looks := 0; looks < 10; looks++ { // hold lasts for three
				for _, r := range []*machine{rt, plain} {
					if r.automatic {
						r.procs = def()
					}
				}
				if follow {
					now = now.Add(DefaultPeriod)
					w.step()
				}
			}
			if rt.procs != tc.then || plain.procs != tc.alone {
				t.Errorf("later GOMAXPROCS is %d, and %d of the runtime alone; want %d and %d", rt.procs, plain.procs, tc.then, tc.alone)
			}
			if detail != r {
				t.Errorf("after Start has returned, its caller's Result becomes %+v", detail)
			}
			if tc.back > 0 {
				rt.set(tc.want)
				if w.step(); rt.procs != tc.back {
					t.Errorf("after the value of Start is given back, GOMAXPROCS is %d; want %d", rt.procs, tc.back)
				}
			}
			sets := rt.sets
			if w.step(); follow && rt.sets != sets {
				t.Errorf("set once more though nothing changed")
			}
		})
	}
}

// A value that something else sets stays, also where Start has given GOMAXPROCS back to the runtime,
// whose own changes are none of something else.
func TestStartIsReplacedLater(t *testing.T) {
	tr := newTree(t)
	def := func() int { return seenBy(tr.root, false).runtimeDefault(8) }
	rt := &machine{}
	follow := func() { rt.procs, rt.automatic = def(), true }
	w := tr.watched(rt, true, follow, Hold(0))
	for i, look := range []struct {
		leaf, parent string
		code         int  // GOMAXPROCS set in code before the look
		back         bool // or its default
		want         int
	}{
		{leaf: "600000", parent: "300000", back: true, want: 3},
		{leaf: "600000", parent: "max", want: 6}, // the runtime's again
		{leaf: "400000", parent: "max", want: 4}, // by itself
		{leaf: "400000", parent: "max", code: 2, want: 2},
		{leaf: "500000", parent: "max", want: 2},
		{leaf: "500000", parent: "300000", back: true, want: 3},
	} {
		tr.write("cg/pod/app/cpu.max", look.leaf+" 100000\n")
		tr.write("cg/pod/cpu.max", look.parent+" 100000\n")
		if rt.automatic || look.back {
			follow()
		}
		rt.set(look.code)
		if i == 0 {
			w.start()
		} else {
			w.step()
		}
		if rt.procs != look.want {
			t.Errorf("look %d: %d Ps, want %d", i, rt.procs, look.want)
		}
	}
}

// What the runtime holds open, it reads, by whatever name.
func TestRuntimeReads(t *testing.T) {
	tr := newTree(t)
	tr.write("cg/pod/app/cpu.max", "100000 100000\n")
	tr.link("cg", "other")
	if l := findLimits(tr.root); !l.blind {
		t.Errorf("%+v: the runtime ignores a file that it has not opened", l)
	}
	f := must.Get(os.Open(filepath.Join(tr.root, "other/pod/app/cpu.max")))(t)
	defer f.Close()
	if l := findLimits(tr.root); l.blind == gort.HasDefault {
		t.Errorf("%+v: the file is open, and since Go 1.25 the runtime keeps it so", l)
	}
}

// Where nothing is to be done nothing runs afterwards, and an error is returned.
func TestStartLeavesNoGoroutine(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	t.Setenv("GOMAXPROCS", "2")
	if err := Start(ctx); err != nil || followers() != 0 {
		t.Errorf("%v, %d goroutines", err, followers())
	}
	tr := newTree(t)
	tr.write("cg/pod/app/cpu.max", "what\n")
	world := func(c *config) { c.sys = (&machine{procs: 8, def: 8}).system(tr.root, "unset", 8, true) }
	if err := Start(ctx, world); !errors.Is(err, ErrMalformed) || followers() != 0 {
		t.Errorf("%v, %d goroutines", err, followers())
	}
	tr.write("cg/pod/app/cpu.max", "200000 100000\n")
	if err := Start(ctx, world); err != nil || followers() != 1 {
		t.Errorf("under a limit: %v, %d goroutines", err, followers())
	}
	cancel()
	must.Until(t, "without the goroutine", func() bool { return followers() == 0 })
}

// followers counts the goroutines that Start has begun: those of the tests before may
// still be ending.
func followers() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "\ncreated by github.com/procfit/procfit/maxprocs.Start")
}
