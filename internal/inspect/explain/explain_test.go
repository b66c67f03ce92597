package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/memlimit"
	"github.com/procfit/procfit/test/must"
)

// machine is a Go program on CPUs, with a limit where it is above 0, and what the
// environment sets, if anything; live is what it runs with, if it runs.
func machine(cpus int, limit float64, env string, live int) rule.Observed {
	o := Nowhere().Observed
	o.Facts.Affinity = facts.Fact{State: facts.Known, CPUs: float64(cpus)}
	o.Facts.GoVersion = "go1.26.1"
	if limit > 0 {
		o.Facts.Cgroup = facts.Cgroup{Fact: facts.Fact{State: facts.Known}, Version: 2, MountRoot: "/", RootSeen: true}
		o.Facts.Limits = []facts.Limit{{Dir: "/cg", Fact: facts.Fact{State: facts.Known, CPUs: limit, File: "/cg/cpu.max", Raw: fmt.Sprintf("%.0f 100000\n", limit*100_000)}}}
	}
	if env != "" {
		o.Facts.Env = facts.Fact{State: facts.Known, Raw: env}
	}
	if live > 0 {
		o.Live, o.LiveSource = &live, "symbol"
	}
	return o
}

func text(t *testing.T, o rule.Observed, policy string, color bool, width ...int) string {
	t.Helper()
	return said(t, New(rule.NewSubject(o), "x", policy), color, width...)
}

func said(t *testing.T, e Explanation, color bool, width ...int) string {
	t.Helper()
	var b strings.Builder
	must.OK(t, e.WriteText(&b, color, slices.Max(append(width, 0))))
	return b.String()
}

// TestAnswer holds the first two lines.
func TestAnswer(t *testing.T) {
	notGo := machine(2, 0, "", 0)
	notGo.NotGo, notGo.ProgramUnknown, notGo.LiveUnknown = true, "not a Go program", "not a Go program"
	back := machine(2, 0, "4", 2)
	back.Custom = new(bool)
	burst := machine(8, 2, "", 2)
	burst.Facts.Limits[0].Burst = facts.Fact{State: facts.Known, CPUs: 0.5}
	sandbox := machine(8, 2, "", 8)
	sandbox.Custom = new(bool)
	hidden := machine(8, 2, "", 2)
	hidden.Facts.Cgroup.RootSeen = false
	hiddenEnv := machine(8, 2, "4", 2)
	hiddenEnv.Facts.Cgroup.RootSeen = false
	library := machine(2, 0, "", 2)
	library.Mapped, library.Library = "libx.so", true
	unnamed := library
	unnamed.Facts.GoVersion = ""
	loaded := machine(2, 0, "4", 4)
	loaded.Mapped = "app"
	measured := machine(2, 0, "1", 1)
	measured.Expected = &rule.Expected{Procs: 2, CPUs: 2, Measured: "2026-01-31"}
	outdated := machine(8, 4, "", 4)
	outdated.Expected = &rule.Expected{Procs: 2, LimitCPUs: new(2.0), CPUs: 8, Measured: "2026-01-31"}
	unread := machine(2, 0, "", 0)
	unread.LiveUnknown = "its memory: permission denied"
	garbled := unread
	garbled.Facts.GoVersion = ""
	for _, tc := range []struct {
		observed rule.Observed
		want     string
	}{
		{unread, "x seems to use GOMAXPROCS=2, as it should\n"},
		{garbled, "x uses a GOMAXPROCS that cannot be read; it should be 2\n"},
		{library, "x uses GOMAXPROCS=2, as it should\n  a Go library is mapped: libx.so, go1.26.1\n  the runtime of go1.26.1 chooses 2; "},
		{unnamed, "x uses GOMAXPROCS=2, as it should\n  a Go library is mapped: libx.so\n"},
		{loaded, "x uses GOMAXPROCS=4; it should be 2\n  a Go program is mapped: app, go1.26.1\n"},
		{measured, "x uses GOMAXPROCS=1; the expected value is 2\n"},
		{outdated, "x uses GOMAXPROCS=4; the expected value of 2 is outdated\n"},
		{burst, "x uses GOMAXPROCS=2, as it should\n  the runtime of go1.26.1 chooses 2; its own cgroup allows 2 CPUs with a burst of 0.5\n"},
		{sandbox, "x uses GOMAXPROCS=8; it should be 2\n  the runtime of go1.26.1 does not see its limit, or was idle since that was lowered; its own cgroup allows 2 CPUs\n\n  live             8  read from its memory (symbol); its runtime does not see the limit of its cgroup, or was idle since that was lowered\n"},
		{hidden, "x uses GOMAXPROCS=2; it should, unless a parent cgroup that is hidden from procfit allows less\n"},
		{hiddenEnv, "x uses GOMAXPROCS=2, not the 4 of its environment; it should, unless a parent"},
		{machine(2, 0, "", 2), "x uses GOMAXPROCS=2, as it should\n  the runtime of go1.26.1 chooses 2; it may run on 2 CPUs\n"},
		{machine(2, 0, "4", 4), "x uses GOMAXPROCS=4; it should be 2\n  GOMAXPROCS=4 is in its environment; it may run on 2 CPUs\n"},
		{machine(2, 0, "4", 2), "x uses GOMAXPROCS=2, as it should, and not the 4 of its environment\n  GOMAXPROCS=4 in its environment has no effect; it may run on 2 CPUs\n"},
		{back, "x uses GOMAXPROCS=2, as it should, and not the 4 of its environment\n"},
		{machine(8, 0, "4", 2), "x uses GOMAXPROCS=2; it could use 8\n  GOMAXPROCS=4 in its environment has no effect; "},
		{machine(2, 0, "4", 0), "x will use GOMAXPROCS=4; it should be 2\n"},
		{machine(8, 2.5, "", 2), "x uses GOMAXPROCS=2, as it should: both 2 and 3 are good values for 2.5 CPUs\n"},
		{machine(8, 1, "", 2), "x uses GOMAXPROCS=2; the recommended value is 1\n"},
		{notGo, "x is not a Go program; for a Go program in its place it should be 2\n"},
		{Nowhere().Observed, "x may use another GOMAXPROCS than its runtime chooses; the recommended value cannot be determined\n"},
	} {
		if got := text(t, tc.observed, "", false); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%.200s\nwant\n%s", got, tc.want)
		}
	}
}

// TestHeldPs: Ps that wait for the disk are shown with the value, and judged.
func TestHeldPs(t *testing.T) {
	o := machine(6, 0, "", 6)
	o.Faults = &rule.Faults{Held: 4.126, Queued: new(22.0)}
	got := text(t, o, "", false)
	must.Say(t, got,
		"  live             6  read from its memory (symbol)\n                      page faults keep 4.13 of these Ps waiting for the disk, on average\n",
		"  PF023 info: uses GOMAXPROCS=6, and page faults keep 4.1 of these Ps waiting for the disk, while 22 goroutines wait for a P\n  → more Ps than CPUs are worth a measurement: procfit sweep --procs 6,9,12,18,30 -- COMMAND;",
	)
	var b strings.Builder
	if err := New(rule.NewSubject(o), "x", "").WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"fault_held_ps":4.126,`) {
		t.Errorf("%s, %v", b.String(), err)
	}
	o.Faults.Held = 0.004
	if got := text(t, o, "", false); strings.Contains(got, "disk") {
		t.Errorf("of almost none:\n%s", got)
	}
}

// TestOverridden: explain names who has set the live value, and which of both to fix.
func TestOverridden(t *testing.T) {
	got := text(t, machine(2, 0, "4", 2), "", false)
	must.Say(t, got,
		"set by a call of runtime.GOMAXPROCS\n",
		"  PF013 warning: uses GOMAXPROCS=2, but its environment sets GOMAXPROCS=4, which has no effect: a call of runtime.GOMAXPROCS overrides it, in the program or by procfit set\n",
		"  → remove GOMAXPROCS=4 from its environment\n",
	)
	// With automaxprocs in it, nobody sees whether that or procfit set made the call.
	o := machine(8, 2, "", 5)
	o.Automaxprocs, o.Facts.Env = "v1.6.0", facts.Fact{State: facts.Absent}
	got = text(t, o, "", false)
	must.Say(t, got, "set by go.uber.org/automaxprocs or another call of runtime.GOMAXPROCS\n", "→ set GOMAXPROCS=2 in its environment, which automaxprocs never overrides\n")
}

// TestSharedFix: a fix is said once, below all its findings.
func TestSharedFix(t *testing.T) {
	e := New(rule.NewSubject(machine(2, 0, "4", 2)), "x", "")
	e.findings = []rule.Finding{
		{Rule: "PF901", Severity: rule.Warning, Message: "one", Fix: "do"}, {Rule: "PF902", Severity: rule.Warning, Message: "two", Fix: "other"},
		{Rule: "PF903", Severity: rule.Info, Message: "three", Fix: "do"},
	}
	got, want := said(t, e, false), "\n  PF901 warning: one\n  PF903 info: three\n  → do\n\n  PF902 warning: two\n  → other\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestColor(t *testing.T) {
	o := machine(8, 0, "auto", 0)
	plain, color := text(t, o, "", false), text(t, o, "", true)
	if strings.Contains(plain, "\x1b") || !strings.Contains(color, "\x1b[31merror\x1b[0m") {
		t.Errorf("plain %q, in colour %q", plain, color)
	}
}

// TestWidth: no line is wider than the terminal, and none is folded without one.
func TestWidth(t *testing.T) {
	o := machine(2, 0, "4", 2)
	endless := text(t, o, "", false)
	for _, width := range []int{60, 80, 120} {
		got := text(t, o, "", true, width)
		for line := range strings.SplitSeq(got, "\n") {
			if ansi.StringWidth(line) > width {
				t.Errorf("at %d columns %q has %d", width, line, ansi.StringWidth(line))
			}
		}
		if words := strings.Fields(ansi.Strip(got)); !slices.Equal(words, strings.Fields(endless)) {
			t.Errorf("at %d columns other words: %q", width, words)
		}
	}
}

// TestHostile: what a file holds neither reaches the terminal raw nor breaks a line.
func TestHostile(t *testing.T) {
	o := machine(8, 0, "\x1b[2J\n\u202e", 0)
	if got := text(t, o, "", false); strings.ContainsAny(got, "\x1b\u202e") || !strings.Contains(got, `\x1b[2J`) {
		t.Errorf("%q", got)
	}
	o.Facts.Env.Raw = "x"
	if got := text(t, o, "go", false); !strings.HasPrefix(got, "x: go chooses 8\n  ") {
		t.Errorf("%q", got)
	}
}

func FuzzParseLimits(f *testing.F) {
	for _, seed := range []string{"2.5", "20,1.5", "none", "none,4", "", ",", "0.01", "1e9", "1e300", "NaN", "-1", "500m", " 2 "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limits, err := ParseLimits(text)
		if err != nil {
			return
		}
		if len(limits) != strings.Count(text, ",")+1 {
			t.Errorf("%q gives %d limits", text, len(limits))
		}
		for _, l := range limits {
			limited := l.CPUs > 0
			if limited == strings.HasPrefix(l.Raw, "max ") || limited != (l.State == "known") {
				t.Errorf("%q gives %+v", text, l)
			}
		}
	})
}

// TestMemoryAnswer: what a process runs with counts, where it is known, and not what it
// started with.
func TestMemoryAnswer(t *testing.T) {
	const gib = 1 << 30
	bytes := func(n int64) *int64 { return &n }
	for _, tc := range []struct {
		live *int64
		env  string
		want string
		fix  bool
	}{
		{nil, "", "it starts with GOMEMLIMIT=off; it should be 1843MiB", true},
		{nil, "1GiB", "it starts with GOMEMLIMIT=1GiB, as it should", false},
		{bytes(memlimit.NoLimit), "", "it runs with GOMEMLIMIT=off; it should be 1843MiB", true},
		{bytes(gib), "", "it runs with GOMEMLIMIT=1GiB, as it should", false},
		{bytes(gib), "4GiB", "it runs with GOMEMLIMIT=1GiB, as it should", false},
		{bytes(4 * gib), "", "it runs with GOMEMLIMIT=4GiB, above its limit of 2GiB; it should be 1843MiB", true},
		{bytes(4 * gib), "1GiB", "it runs with GOMEMLIMIT=4GiB, above its limit of 2GiB; it should be 1843MiB", true},
	} {
		m := facts.Memory{Cgroup: facts.Cgroup{Fact: facts.Fact{State: facts.Known}}, Limits: []facts.MemoryLimit{{Fact: facts.Fact{State: facts.Known, File: "/cg/memory.max", Raw: "2147483648\n"}, Bytes: 2 * gib}}}
		if m.Env = (facts.Fact{State: facts.Absent}); tc.env != "" {
			m.Env = facts.Fact{State: facts.Known, Raw: tc.env}
		}
		got := said(t, New(rule.NewSubject(machine(2, 0, "", 2)), "x", "").WithMemory(m, tc.live), false)
		if !strings.Contains(got, "its memory: "+tc.want+"\n") || strings.Contains(got, "→ set GOMEMLIMIT=1843MiB") != tc.fix || strings.Contains(got, "  read from its memory\n") != (tc.live != nil) {
			t.Errorf("live %v, %q: want %q, a fix %t:\n%s", tc.live, tc.env, tc.want, tc.fix, got)
		}
		o := machine(2, 0, "", 2)
		o.Facts.GoVersion = "go1.18.10"
		must.Say(t, said(t, New(rule.NewSubject(o), "x", "").WithMemory(m, nil), false), "its memory: the runtime of go1.18.10 has no GOMEMLIMIT\n", "  go                 off  the runtime of go1.18.10 has no GOMEMLIMIT\n", "  → build it with Go 1.19 or newer, and set GOMEMLIMIT=1843MiB in its environment\n")
	}
}
