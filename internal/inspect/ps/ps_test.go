package ps

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// goProcess is a Go program on 8 CPUs with a live value.
func goProcess(pid int, name string, live int, change ...func(*rule.Observed)) observe.Process {
	o := rule.Observed{
		Place: rule.Place{PID: pid}, Name: name, Live: &live, LiveSource: "symbol", NumCPU: 8,
		Facts: facts.Facts{
			GoVersion: "go1.26.1 X:some", Env: facts.Fact{State: facts.Absent},
			Affinity: facts.Fact{State: facts.Known, CPUs: 8},
			Cgroup:   facts.Cgroup{Fact: facts.Fact{State: facts.Known}, Version: 2, MountRoot: "/"},
		},
	}
	for _, c := range change {
		c(&o)
	}
	p := observe.Process{Subject: rule.NewSubject(o), Threads: 5}
	p.Findings = rule.Judge(p.Subject)
	p.Total = observe.Counts{Span: time.Second, CPU: time.Second / 2, Counted: true, RunQueueWait: 12 * time.Millisecond, Voluntary: 100}
	return p
}

func env(value string) func(*rule.Observed) {
	return func(o *rule.Observed) { o.Facts.Env = facts.Fact{State: facts.Known, Raw: value} }
}

func limit(cpus float64) func(*rule.Observed) {
	return func(o *rule.Observed) {
		o.Facts.Limits = []facts.Limit{{Dir: "/sys/fs/cgroup/pods/api", Fact: facts.Fact{State: facts.Known, CPUs: cpus, File: "cpu.max", Raw: "1 1\n"}}}
	}
}

func snapshot(all ...observe.Process) observe.Snapshot {
	return observe.Snapshot{Processes: all, Others: 3, Counters: observe.Taskstats}
}

func render(t *testing.T, snap observe.Snapshot, color bool, width int) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, WriteText(&b, snap, color, width))
	return b.String()
}

func TestTable(t *testing.T) {
	snap := snapshot(goProcess(17, "api", 8, limit(1.5)), goProcess(4242, "日本\x1b[31m", 8))
	got := render(t, snap, false, Wide)
	want := ` PID  NAME          GO      PROCS  RECOMMENDED     CPU USE  SET BY  SOURCE  NUMCPU  LIMIT  LIMIT OF  SCHED P50  SCHED P99  WAITING  THROTTLED  SWITCHES  THREADS  FINDINGS
  17  api           1.26.1      8  → 2, limit 1.5     0.50  -       symbol       8    1.5  api               -          -     0.01          -       100        5  PF001
4242  日本\x1b[31m  1.26.1      8  ok                 0.50  auto    symbol       8      -  -                 -          -     0.01          -       100        5
`
	table, advice, _ := strings.Cut(got, "\n\n")
	if table+"\n" != want {
		t.Errorf("%s\nwant\n%s", table, want)
	}
	if !strings.HasPrefix(advice, "PF001 warning: 17 (api): uses GOMAXPROCS=8, but the limit of /sys/fs/cgroup/pods/api allows 1.5 CPUs\n  → ") {
		t.Errorf("advice %q", advice)
	}
	head, _, _ := strings.Cut(render(t, snap, false, 0), "\n")
	if want := " PID  NAME          GO      PROCS  RECOMMENDED     CPU USE  SET BY  SCHED P99  THROTTLED  FINDINGS"; head != want {
		t.Errorf("in a pipe %q, want %q", head, want)
	}
	if strings.Contains(got, "\x1b") || !strings.Contains(render(t, snap, true, 0), "\x1b[33mPF001\x1b[0m") {
		t.Error("colour without being asked for, or none")
	}
	mapped := func(name string, library bool) func(*rule.Observed) {
		return func(o *rule.Observed) { o.Mapped, o.Library = name, library }
	}
	of := snapshot(goProcess(18, "python3", 8, env("8"), limit(1.5), mapped("libx.so", true)), goProcess(19, "ld.so", 8, mapped("app", false)))
	if got := render(t, of, false, 0); !strings.Contains(got, "18  python3: libx.so  1.26.1") || !strings.Contains(got, "19  app  ") || !strings.Contains(got, "PF001") || strings.Contains(got, "procfit set") {
		t.Errorf("of a library\n%s", got)
	}
	must.Say(t, render(t, snapshot(goProcess(18, "api", 8, env("8"), limit(1.5))), false, 0), "\n  → now: procfit set 18 2\n  → remove GOMAXPROCS=8 from its environment")
	if got := render(t, snapshot(), false, 80); got != "no Go process; 3 others\n" {
		t.Errorf("of none %q", got)
	}
	if got := render(t, observe.Snapshot{}, false, 80); got != "no Go process\n" {
		t.Errorf("of nothing %q", got)
	}
}

// TestRareColumn: Ps that page faults held have a column where there are any.
func TestRareColumn(t *testing.T) {
	held := goProcess(17, "api", 8)
	held.Total.MajorFaults, held.Total.Held = 300, &procstat.FaultUse{Duration: time.Second, Held: 4100 * time.Millisecond}
	none := goProcess(18, "other", 8)
	none.Total.Held = &procstat.FaultUse{Duration: time.Second, Held: time.Millisecond}
	const heading = "FAULT HELD PS"
	if got := render(t, snapshot(none), false, Wide); strings.Contains(got, heading) {
		t.Errorf("a column that nobody needs:\n%s", got)
	}
	must.Say(t, render(t, snapshot(none, held), false, Wide), "WAITING  FAULT HELD PS  THROTTLED", " 0.01           4.10  ", " 0.01              -  ")
	held.Live = new(2) // which is all that there is to hold
	must.Say(t, render(t, snapshot(held), false, Wide), " 0.01           2.00  ")
	held.Live = new(8)
	if got := render(t, snapshot(none, held), false, 165); strings.Contains(got, heading) || !strings.Contains(got, "LIMIT OF") {
		t.Errorf("it is not dropped first:\n%s", got)
	}
}

// TestNarrow: what is needed least goes first, then names and findings are cut.
func TestNarrow(t *testing.T) {
	throttled := func(o *rule.Observed) {
		o.Throttling = &rule.Throttling{Dir: "/sys/fs/cgroup/pods/api", Span: time.Second, Throttling: facts.Throttling{Periods: 10, ThrottledPeriods: 10, Throttled: time.Second}}
	}
	wide := func(o *rule.Observed) { o.Facts.Affinity.CPUs = 64 }
	snap := snapshot(goProcess(1234567, "a-service-with-a-long-name-of-its-own", 12, limit(10.75), env("12"), throttled, wide), goProcess(2, "api", 8))
	heads := map[int]string{}
	for _, width := range []int{60, 80, 100, 120, 160, 200} {
		text := render(t, snap, false, width)
		heads[width], _, _ = strings.Cut(text, "\n")
		for line := range strings.SplitSeq(text, "\n") {
			if ansi.StringWidth(line) > width {
				t.Errorf("at %d columns %q has %d", width, line, ansi.StringWidth(line))
			}
		}
	}
	for width, want := range map[int][]string{
		60:  {"PID", "NAME", "PROCS", "RECOMMENDED", "FINDINGS"},
		80:  {"PID", "NAME", "PROCS", "RECOMMENDED", "FINDINGS"},
		100: {"RECOMMENDED", "CPU USE", "THROTTLED"},
		120: {"CPU USE", "SET BY", "SCHED P99", "THROTTLED"},
		200: {"LIMIT", "SCHED P50", "WAITING", "THREADS"},
	} {
		must.Say(t, heads[width], want...)
	}
	must.Say(t, render(t, snap, false, 51), "a-service-w…     12  → 11         PF011 +1\n")
	must.Say(t, render(t, snap, false, 60), "a-service-w…     12  → 11, limit 10.75  PF011 +1\n")
}

func TestSelect(t *testing.T) {
	s, err := Select([]string{"17", "^check", "17", "4242", "api$"})
	if err != nil || s.All() || !slices.Equal(s.PIDs, []int{17, 4242}) || !s.Named("checkout") || !s.Named("shop-api") || s.Named("recheck") {
		t.Errorf("%+v, %v", s, err)
	}
	snap := snapshot(goProcess(1, "checkout", 8), goProcess(17, "other", 8))
	if missing := s.Missing(snap); len(missing) != 1 || missing[0].String() != "api$" {
		t.Errorf("missing %v", missing)
	}
	if s, err := Select(nil); err != nil || !s.All() || s.Named("x") {
		t.Errorf("of no words %+v, %v", s, err)
	}
	for word, want := range map[string]string{"0": "expected 1 or more", "-5": "expected 1 or more", "a(": "invalid regular expression: missing closing )"} {
		if _, err := Select([]string{word}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", word, err)
		}
	}
}

func FuzzSelect(f *testing.F) {
	for _, word := range []string{"17", "api", "^a.*b$", "a(", "00", "\xff"} {
		f.Add(word, "api")
	}
	f.Fuzz(func(t *testing.T, word, name string) {
		s, err := Select([]string{word})
		if err == nil && len(s.PIDs)+len(s.Names) != 1 {
			t.Errorf("%q is %+v", word, s)
		}
		s.Named(name)
	})
}

// TestAdvice: those of which the same is said share it, the worst comes first, and
// where a program overrides its environment, ps reports it.
func TestAdvice(t *testing.T) {
	var all []observe.Process
	for pid := range 6 {
		all = append(all, goProcess(pid+1, "web", 8, limit(2), env("8")))
	}
	all = append(all, goProcess(50, "bad", 8, env("2x")), goProcess(60, "own", 8, env("4")))
	got := render(t, snapshot(all...), false, 0)
	error, shared := strings.Index(got, "PF003 error: 50 (bad)"), strings.Index(got, "PF001 warning: 1 (web), 2 (web), 3 (web), 4 (web), 2 more: uses GOMAXPROCS=8")
	if error < 0 || shared < error {
		t.Errorf("the error is at %d, what is shared at %d\n%s", error, shared, got)
	}
	if strings.Contains(got, "procfit set 1 ") {
		t.Errorf("a command for many\n%s", got)
	}
	must.Say(t, got, "\n  → now: procfit set PID 2\n",
		"PF013 warning: 60 (own): uses GOMAXPROCS=8, but its environment sets GOMAXPROCS=4, which has no effect: a call of runtime.GOMAXPROCS")
}

func TestJSON(t *testing.T) {
	p := goProcess(17, "api", 8, limit(1.5))
	p.Total.Counted, p.Subject.Live, p.Subject.LiveUnknown = false, nil, "its memory: permission denied"
	var b bytes.Buffer
	snap := snapshot(p)
	snap.Unreadable = []observe.Unreadable{{PID: 9, Name: "x", Reason: "the whole"}}
	must.OK(t, WriteJSON(&b, snap, false))
	var got struct {
		Schema    string
		Processes []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.Schema != "procfit.ps/v1" || strings.Count(b.String(), "\n") != 1 {
		t.Fatalf("%s, %v", b.String(), err)
	}
	one := got.Processes[0]
	for name, want := range map[string]any{"pid": 17.0, "limit": 1.5, "limit_of": "/sys/fs/cgroup/pods/api", "recommended": 2.0, "recommended_from": "limit", "recommended_cpus": 1.5, "waiting": nil, "switches": nil, "run_queue_wait_seconds": nil, "procs_unknown": "its memory: permission denied", "throttled": nil} {
		if v, there := one[name]; !there || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	if !strings.Contains(b.String(), `"unreadable":[{"pid":9,"name":"x","reason":"the whole"}]`) || strings.Contains(b.String(), `"edit"`) {
		t.Error(b.String())
	}
}

func TestUnread(t *testing.T) {
	snap := snapshot(goProcess(17, "api", 8))
	if Denied(snap) || len(Unread(snap)) > 0 {
		t.Errorf("all was read: %q", Unread(snap))
	}
	for pid := range 6 {
		snap.Unreadable = append(snap.Unreadable, observe.Unreadable{PID: pid + 1, Name: "x\n", Cause: observe.Damaged})
	}
	if Denied(snap) {
		t.Error("a damaged file is no want of permission")
	}
	snap.Unreadable = append(snap.Unreadable, observe.Unreadable{PID: 9, Name: "y", Cause: observe.Denied})
	want := []string{
		"not in the list, since not known to be Go: 1 process could not be read (needs root or CAP_SYS_PTRACE): 9 (y)",
		"not in the list, since not known to be Go: 6 processes could not be read (the file is damaged or of an unknown kind): 1 (x ), 2 (x ), 3 (x ), 4 (x ), 2 more",
	}
	if got := Unread(snap); !Denied(snap) || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%q", got)
	}
	// What no permission makes readable has a line only where there is no list.
	snap.Unreadable = []observe.Unreadable{{PID: 1, Name: "init", Cause: observe.Refused}}
	if got := Unread(snap); Denied(snap) || len(got) > 0 {
		t.Errorf("below a list %q", got)
	}
	snap.Processes = nil
	if got := Unread(snap); len(got) != 1 || !strings.HasSuffix(got[0], "(the kernel refuses, although procfit has CAP_SYS_PTRACE): 1 (init)") {
		t.Errorf("without a list %q", got)
	}
	hidden := goProcess(17, "api", 8)
	hidden.Live, hidden.LiveUnknown, hidden.LiveCause = nil, "its memory: permission denied", observe.DeniedRoot
	if got := Unread(snapshot(hidden)); len(got) != 1 || !strings.HasPrefix(got[0], "the GOMAXPROCS of 1 process is inferred, not read; for one: its memory") || !Denied(snapshot(hidden)) {
		t.Errorf("%q", got)
	}
	// With automaxprocs the value is not known; a program that could not be read has its own line.
	hidden.Automaxprocs = "v1.6.0"
	named := goProcess(18, "x", 8)
	named.Live, named.LiveUnknown, named.ProgramUnknown = nil, "permission denied", "permission denied"
	snap = snapshot(hidden, named)
	snap.Unreadable = []observe.Unreadable{{PID: 18, Name: "x", Cause: observe.Denied}}
	if got := Unread(snap); len(got) != 2 || !strings.HasPrefix(got[0], "GOMAXPROCS is missing: 1 process could not be read") || !strings.HasSuffix(got[0], ": 18 (x)") || !strings.HasPrefix(got[1], "the GOMAXPROCS of 1 process is not known; for one: its memory") {
		t.Errorf("%q", got)
	}
}
