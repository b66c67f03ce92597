package maxprocs

import (
	"strings"
	"testing"
)

// machine is a runtime that can be watched. Its GOMAXPROCS is its own as long as none is set.
type machine struct {
	procs, def int  // def is what the runtime itself chooses
	automatic  bool // no number has been set
	ignores    bool // the limit of its cgroup
	sets       int
}

func (m *machine) set(n int) int {
	before := m.procs
	if n > 0 {
		m.procs, m.automatic = n, false
		m.sets++
	}
	return before
}

// seenBy is what a tree says to a program whose runtime ignores the limit of its cgroup,
// or does not: this test's own runtime has no file of the tree open.
func seenBy(root string, ignores bool) limits {
	l := findLimits(root)
	l.blind = ignores
	return l
}

func (m *machine) system(root, env string, affinity int, hasDefault bool) system {
	return system{
		limits:     func() limits { return seenBy(root, m.ignores) },
		env:        func() (string, bool) { return env, env != "unset" },
		affinity:   func() int { return affinity },
		procs:      m.set,
		setDefault: func() { m.procs, m.automatic = m.def, true },
		hasDefault: hasDefault,
	}
}

func TestSetDecides(t *testing.T) {
	const worlds = "facts/testdata/worlds/"
	for name, tc := range map[string]struct {
		world, env  string
		affinity    int
		before, def int
		old, blind  bool // before Go 1.25; a go line below 1.25
		options     []Option
		want        int
		action      Action
		automatic   bool // after Set
		says        string
		fails       string
	}{
		"right already":           {world: "v2-leaf", before: 3, def: 3, want: 3, action: Kept, automatic: true, says: "already correct; /sys/fs/cgroup/app/cpu.max limits it to 2.5 CPUs, its affinity is 8 CPUs"},
		"a parent's limit":        {world: "v2-tighter-parent", affinity: 64, before: 20, def: 20, want: 2, action: Changed, says: "was 20; /sys/fs/cgroup/pod/cpu.max limits it to 1.5 CPUs"},
		"one CPU":                 {world: "v2-quarter", before: 2, def: 2, want: 1, action: Changed, says: "0.25"},
		"an old runtime":          {world: "v2-leaf", before: 8, def: 8, old: true, want: 3, action: Changed, says: "was 8"},
		"an old go line":          {world: "v2-leaf", before: 8, def: 8, blind: true, want: 3, action: Changed},
		"an old go line, its own": {world: "v2-leaf", before: 3, def: 8, blind: true, options: []Option{Max(2)}, want: 2, action: Changed, says: "its affinity is 8 CPUs\n"},
		"no longer follows":       {world: "v2-quarter", affinity: 2, before: 2, def: 2, want: 1, action: Changed, says: "its affinity is 2 CPUs; the runtime no longer updates it\n"},
		"v1":                      {world: "v1-leaf", before: 8, def: 8, old: true, want: 3, action: Changed, says: "cpu.cfs_quota_us"},
		"set in code":             {world: "v2-leaf", before: 7, def: 3, want: 3, action: Automatic, automatic: true, says: "is used again"},
		"valid env":               {world: "v2-leaf", env: "7", before: 7, def: 3, want: 7, action: KeptEnv, says: "GOMAXPROCS=7: set in the environment"},
		"valid env, too late":     {world: "v2-leaf", env: "7", before: 3, def: 3, want: 3, action: KeptEnv, automatic: true, says: "GOMAXPROCS=3: GOMAXPROCS=7 in the environment was set too late, or code has set another"},
		"ignored env":             {world: "v2-leaf", env: "2.5", before: 3, def: 3, want: 3, action: Kept, automatic: true, says: `GOMAXPROCS="2.5" in the environment is not a positive integer, so it is ignored`},
		"env above int32":         {world: "v2-leaf", env: "9999999999", before: 3, def: 3, want: 3, action: Kept, automatic: true, says: `GOMAXPROCS="9999999999" in the environment is above 2147483647, so it is ignored`},
		"env of zeros":            {world: "v2-leaf", env: "00", before: 3, def: 3, want: 3, action: Kept, automatic: true, says: `GOMAXPROCS="00" in the environment is not a positive integer`},
		"empty env":               {world: "v2-tighter-parent", affinity: 64, env: "", before: 20, def: 20, want: 2, action: Changed, says: `GOMAXPROCS="" in`},
		"unknown, not raised":     {world: "v2-malformed", before: 3, def: 8, want: 3, action: NotRaised, fails: `/sys/fs/cgroup/pod/app/cpu.max: expected "QUOTA PERIOD", got "lots of it\n"`},
		"unknown, lowered":        {world: "v2-malformed", before: 8, def: 8, want: 4, action: Changed, fails: "cpu.max: "},
		"no cgroup shown":         {world: "v2-group-gone", before: 8, def: 8, want: 8, action: Kept, automatic: true, fails: "/proc/self/mountinfo: no mount shows the cgroup /app"},
		"bad mountinfo":           {world: "v2-bad-escape", before: 8, def: 8, want: 8, action: Kept, automatic: true, fails: "bad octal escape"},
		"no cgroup mount":         {world: "v1-not-mounted", before: 8, def: 8, want: 8, action: Kept, automatic: true, says: "already correct as far as is known; no CPU limit is known, its affinity is 8 CPUs; unknown: /proc/self/mountinfo: no mount of cgroup v"},
		"no cgroups":              {world: "none", before: 8, def: 8, want: 8, action: Kept, automatic: true, says: "no CPU limit is known"},
		"min":                     {world: "v2-quarter", options: []Option{Min(2)}, before: 2, def: 2, want: 2, action: Kept, automatic: true},
		"max":                     {world: "none", options: []Option{Max(4)}, before: 8, def: 8, want: 4, action: Changed, says: "no CPU limit is known, its affinity is 8 CPUs\n"},
		"floor":                   {world: "v2-leaf", options: []Option{Round(Floor)}, before: 3, def: 3, want: 2, action: Changed},
		"threshold":               {world: "v2-leaf", options: []Option{Threshold(0.6)}, before: 3, def: 3, want: 2, action: Changed},
		"at the threshold":        {world: "v2-leaf", options: []Option{Threshold(0.5), Round(Floor)}, before: 3, def: 3, want: 3, action: Kept, automatic: true},
		"min without a limit":     {world: "none", options: []Option{Min(12)}, before: 8, def: 8, want: 8, action: Kept, automatic: true},
		"min below 1":             {world: "v2-quarter", options: []Option{Min(2), Min(0), Min(-1)}, before: 2, def: 2, want: 2, action: Kept, automatic: true},
		"reserve":                 {world: "v2-leaf", options: []Option{Reserve(0.5)}, before: 3, def: 3, want: 2, action: Changed},
		"reserve, not whole":      {world: "v2-leaf", options: []Option{Reserve(1)}, before: 3, def: 3, want: 1, action: Changed},
		"reserve, rounded up":     {world: "v2-leaf", options: []Option{Reserve(1), Round(Ceil)}, before: 3, def: 3, want: 2, action: Changed},
		"reserve, no limit":       {world: "none", options: []Option{Reserve(0.5)}, before: 8, def: 8, want: 7, action: Changed},
		"a function":              {world: "v2-leaf", options: []Option{RoundQuotaFunc(func(c float64) int { return int(c * 2) })}, before: 3, def: 3, want: 5, action: Changed},
		"a function, bounded":     {world: "v2-leaf", options: []Option{Max(4), Reserve(0.5), RoundQuotaFunc(func(c float64) int { return int(c * 10) })}, before: 3, def: 3, want: 4, action: Changed},
		"a function, no limit":    {world: "none", options: []Option{RoundQuotaFunc(func(float64) int { return 5 })}, before: 8, def: 8, want: 8, action: Kept, automatic: true},
		"a function of zero":      {world: "v2-leaf", options: []Option{RoundQuotaFunc(func(float64) int { return 0 })}, before: 3, def: 3, want: 1, action: Changed},
		"no /proc, a chroot":      {world: "no-such-world", affinity: 2, before: 1, def: 2, want: 1, action: NotRaised, fails: "/proc/self/cgroup: missing: /proc is not mounted here"},
		"no cgroup file":          {world: "no-proc-cgroup", before: 8, def: 8, want: 8, action: Kept, automatic: true, fails: "/proc/self/cgroup: missing, although cgroups are mounted"},
		"an ancestor's mount":     {world: "v2-namespace-below", before: 8, def: 8, want: 3, action: Changed, says: "/sys/fs/cgroup/cpu.max limits it to 3 CPUs", fails: "shows the cgroup /"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.affinity == 0 {
				tc.affinity = 8
			}
			if tc.env == "" && name != "empty env" {
				tc.env = "unset"
			}
			m := &machine{procs: tc.before, def: tc.def, automatic: tc.before == tc.def, ignores: tc.old || tc.blind}
			was := *m
			var r Result
			var said string
			undo, err := Set(append(tc.options, func(c *config) { c.sys = m.system(worlds+tc.world, tc.env, tc.affinity, !tc.old) },
				Detail(&r), Logger(func(format string, args ...any) { said = args[0].(Result).String() }))...)
			if m.procs != tc.want || r.Procs != tc.want || r.Before != tc.before || r.Action != tc.action || m.automatic != tc.automatic && !tc.old {
				t.Errorf("got %+v with %+v; want %d, %s, automatic %v", m, r, tc.want, tc.action, tc.automatic)
			}
			if !strings.Contains(said+"\n", tc.says) {
				t.Errorf("said %q, want %q", said, tc.says)
			}
			if (tc.fails == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("error %v, want %q", err, tc.fails)
			}
			undo()
			if m.procs != was.procs || m.automatic != was.automatic && !tc.old {
				t.Errorf("undone to %+v, was %+v", *m, was)
			}
			if r.Action == Kept && m.sets != 0 {
				t.Errorf("set %d times though it was right", m.sets)
			}
		})
	}
}

// A limit three groups up costs no more than the reading of it.
func TestAllocations(t *testing.T) {
	tr := newTree(t)
	tr.write("proc/self/cgroup", "0::/a/b/c/d\n")
	for _, dir := range []string{"cg/a", "cg/a/b", "cg/a/b/c", "cg/a/b/c/d"} {
		tr.write(dir+"/cgroup.procs", "")
		tr.write(dir+"/cpu.max", "max 100000\n")
	}
	tr.write("cg/a/cpu.max", "200000 100000\n")
	m := &machine{}
	s := m.system(tr.root, "unset", 8, true)
	const most = 10
	if got := testing.AllocsPerRun(20, func() {
		m.procs = 8
		undo, err := Set(func(c *config) { c.sys = s })
		if err != nil || m.procs != 2 {
			t.Fatalf("GOMAXPROCS is %d, %v", m.procs, err)
		}
		undo()
	}); got > most {
		t.Errorf("%v allocations, want at most %d", got, most)
	}
}
