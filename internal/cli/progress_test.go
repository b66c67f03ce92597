package cli

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/cli/entry"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/results"
	"github.com/procfit/procfit/test/must"
)

// drawnAt is a progress on a terminal of that size, whose clock stands still.
func drawnAt(width, height int) *progress {
	at := time.Unix(1_700_000_000, 0)
	p := newProgress(stdio{err: new(bytes.Buffer)}, func() time.Time { return at })
	at = at.Add(31 * time.Second)
	p.screen.size = func() (int, int) { return width, height }
	return p
}

// task is one of a value; 0 is the default.
func task(procs int, role journal.Role) plan.Task {
	a := journal.Setting{Label: journal.Default, Replicas: 1}
	if procs > 0 {
		a.Label, a.Procs = fmt.Sprint(procs), &procs
	}
	return plan.Task{Setting: a, Role: role}
}

func measured(t plan.Task, rate, p99 float64) *journal.Trial {
	return &journal.Trial{Setting: t.Setting, Role: t.Role, Valid: true, ThroughputPerSecond: &rate, ThroughputUnit: "requests",
		LatencySeconds: &journal.Latency{P99: &p99}}
}

// TestProgress has a row for each setting, with its medians, below the bar's line.
func TestProgress(t *testing.T) {
	p := drawnAt(80, 24)
	at := plan.Progress{Total: 40, AtMost: true, Remaining: 80 * time.Second}
	tell := func(task plan.Task, trial *journal.Trial) {
		at.Task, at.Trial = task, nil
		p.report(at)
		p.activity(plan.Activity{Step: plan.StepOpenLoop, RatePerSecond: 12345.6})
		if trial != nil {
			at.Trial, at.Done = trial, at.Done+1
			p.report(at)
		}
	}
	tell(task(0, journal.RolePilot), measured(task(0, journal.RolePilot), 99999, 9))
	if lines := p.lines(80, 24); len(lines) != 2 || strings.Contains(strings.Join(lines, "\n"), "99,999") {
		t.Errorf("a pilot has a row: %q", lines)
	}
	for _, rate := range []float64{6000, 7000, 6514.4} {
		tell(task(0, journal.RoleMeasure), measured(task(0, journal.RoleMeasure), rate, rate/6e6))
	}
	tell(task(2, journal.RoleAA), measured(task(2, journal.RoleAA), 12345.6, 0.0031))
	tell(task(8, journal.RoleMeasure), &journal.Trial{Setting: task(8, "").Setting, InvalidReason: "its port was taken"})
	at.Open = []plan.Question{{A: "2", B: "8", Quantile: "p90"}}
	tell(task(2, journal.RoleMeasure), nil)
	want := `  GOMAXPROCS   req/s      p99  trials
  default      6,514  1.09 ms  3
▸ 2           12,346  3.10 ms  1
  8                            0, 1 invalid
GOMAXPROCS 2: open loop at 12,346 req/s
undecided: 2 or 8 by p90
[███·················] 6 of at most 40, 0:31, at most 1:20 left`
	if got := trimmed(p.lines(80, 24)); got != want {
		t.Errorf("at 80×24\n%s\nwant\n%s", got, want)
	}
	if out := p.out.(*bytes.Buffer).String(); strings.Count(out, "procfit: [6 of at most 40] GOMAXPROCS 8: invalid: its port was taken") != 1 {
		t.Errorf("the invalid trial is not told, or twice, in %q", out)
	}
	at.Bound, at.Remaining = 2*time.Minute, 30*time.Second // which --for ends
	tell(task(2, journal.RoleMeasure), nil)
	if got := trimmed(p.lines(80, 24)); !strings.HasSuffix(got, "\n[███████████████·····] 6 trials, 0:31, at most 0:30 left") {
		t.Errorf("of a bound in time\n%s", got)
	}
	p.next("2/3 chain", time.Minute)
	if lines := p.lines(80, 24); len(lines) > 0 {
		t.Errorf("of the sweep before: %q", lines)
	}
}

// TestProgressFits: nothing wraps and nothing scrolls, whatever the terminal.
func TestProgressFits(t *testing.T) {
	for _, width := range []int{8, 20, 40, 60, 80, 200} {
		for _, height := range []int{1, 2, 5, 10, 24, 50} {
			p := drawnAt(width, height)
			p.title = "12/23 a-title "
			for n := range 30 {
				one := task(n, journal.RoleMeasure)
				one.Setting.QuotaCPUs, one.Setting.GoVersion, one.Setting.Replicas = new(float64(n%2)+0.5), "1.24.3", 1+n%3
				trial := measured(one, 1e9, 0.1234567)
				trial.Setting, trial.ThroughputUnit = one.Setting, "a metric with a very long name"
				p.report(plan.Progress{Task: one, Trial: trial, Done: n, Total: 400, AtMost: true, Remaining: 3 * time.Hour, Open: []plan.Question{{A: strconv.Itoa(n)}, {A: "2"}}})
			}
			lines := p.lines(width, height)
			if len(lines) == 0 || len(lines) > max(1, height-1) {
				t.Errorf("%d lines at %d×%d", len(lines), width, height)
			}
			if !strings.Contains(lines[len(lines)-1], "29 of at most 400") {
				t.Errorf("the last line at %d×%d is %q", width, height, lines[len(lines)-1])
			}
			for _, line := range lines {
				if n := ansi.StringWidth(line); n >= width && width >= 60 {
					t.Errorf("%d columns at %d×%d: %q", n, width, height, line)
				}
			}
			if height == 10 && width >= 60 {
				if text := strings.Join(lines, "\n"); !strings.Contains(text, " of 30)") || !strings.Contains(text, "▸ ") {
					t.Errorf("at %d×%d\n%s", width, height, text)
				}
			}
		}
	}
}

// TestProgressResumes counts the trials of before.
func TestProgressResumes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results", "x")
	writeJournal(t, dir)
	p := drawnAt(80, 24)
	earlier := must.Get(results.Read(dir))(t)
	p.resume(&results.Results{Contents: &journal.Contents{}})
	p.resume(earlier)
	p.report(plan.Progress{Task: task(1, journal.RoleMeasure), Total: 40, Done: 14})
	if text := trimmed(p.lines(80, 24)); !strings.Contains(text, "  default ") || !strings.Contains(text, "▸ 1 ") || !strings.Contains(text, "req/s") {
		t.Errorf("the trials of before are not there\n%s", text)
	}
}

func TestStandingUnits(t *testing.T) {
	var s trial.Standing
	runs := &journal.Trial{Setting: task(4, "").Setting, Valid: true, ThroughputPerSecond: new(0.25), ThroughputUnit: "runs"}
	s.Add(runs)
	old := *runs
	old.Setting.Variant, old.Setting.Label = journal.VariantAgainst, "old 4"
	s.Add(&old)
	want := "  GOMAXPROCS  per run  trials\n  4            4.00 s  1\n  old 4        4.00 s  1"
	if got := trimmed(standingLines(&s, plan.Progress{}, 10, 80)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for unit, want := range map[string]string{"": "", "requests": "req/s", "runs": "per run", "operations": "op/s", "throughput": "throughput", "1/took": "1/took"} {
		if got := rateHead(unit); got != want {
			t.Errorf("%q is in %q, want %q", unit, got, want)
		}
	}
}

// The rate of a trial that met the objective at none is a bound, wherever it is shown.
func TestProgressBelow(t *testing.T) {
	var s trial.Standing
	one := measured(task(2, journal.RoleMeasure), 112, 0)
	one.LatencySeconds, one.Attained = nil, &journal.Attainment{Met: true}
	s.Add(one)
	missed := *one
	missed.Attained = &journal.Attainment{}
	for _, want := range []string{"  GOMAXPROCS  req/s  trials\n  2             112  1", "  GOMAXPROCS      req/s  trials\n  2           below 112  2"} {
		if got := trimmed(standingLines(&s, plan.Progress{}, 10, 80)); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
		s.Add(&missed)
	}
	for want, x := range map[string]*journal.Trial{"112 req/s": one, "below 112 req/s": &missed} {
		if got := outcomeText(plan.Progress{Trial: x}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A trial that lacks the number which is asked for has runs, and is invalid: the table is of
// the others.
func TestInvalidTrialsHaveNoUnit(t *testing.T) {
	p := drawnAt(80, 24)
	one := measured(task(1, journal.RoleMeasure), 5000, 0)
	one.ThroughputUnit, one.LatencySeconds = "operations", nil
	lacks := *one
	lacks.Setting, lacks.Valid, lacks.ThroughputUnit = task(2, "").Setting, false, "runs"
	p.resume(&results.Results{Contents: &journal.Contents{Trials: []journal.Trial{*one, lacks}}})
	p.last.Total = 40
	if text := trimmed(p.lines(80, 24)); !strings.Contains(text, "  GOMAXPROCS   op/s  trials\n  1           5,000  1\n") {
		t.Errorf("got\n%s", text)
	}
}

// The line of a trial, the table and what is open tell the groups of --replicas apart.
func TestReplicasAreNamed(t *testing.T) {
	one := task(2, journal.RoleMeasure)
	one.Setting.QuotaCPUs, one.Setting.Replicas = new(0.5), 3
	if got, want := taskName(plan.Progress{Task: one}), "GOMAXPROCS 2 limit 0.5 × 3"; got != want {
		t.Errorf("the trial is %q, want %q", got, want)
	}
	if got, want := one.Setting.Name(), "2 limit 0.5 × 3"; got != want {
		t.Errorf("the row is %q, want %q", got, want)
	}
	if got, want := openQuestions([]plan.Question{{Group: one.Setting.Group(), A: "2"}}), ", undecided: 2 (limit 0.5 × 3)"; got != want {
		t.Errorf("open is %q, want %q", got, want)
	}
}

// trimmed is the lines without blanks at their ends.
func trimmed(lines []string) string {
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// A line about an invalid trial does not end in words that announce an output: the last
// line of that has the error.
func TestInOneLine(t *testing.T) {
	for reason, want := range map[string]string{
		"it crashed": "it crashed",
		"exited with code 127; its last output:\nloading\nsh: 1: ./x: not found\n":                                        "exited with code 127; its last output: sh: 1: ./x: not found",
		"exited with code 1; its last output:\n":                                                                          "exited with code 1; its last output",
		"it crashed; it said:\npanic: no\n\ngoroutine 1":                                                                  "it crashed; it said: panic: no",
		"exited with code 2; its last output:\nflag provided but not defined: -adr\nUsage of ./server:\n  -addr string\n": "exited with code 2; its last output: flag provided but not defined: -adr",
		"exited with code 2; its last output:\nusage: x [-h]\nx: error: no such option\n":                                 "exited with code 2; its last output: x: error: no such option",
		"two lines\nand more": "two lines",
	} {
		if got := inOneLine(reason); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestHostileText: what a program, a server or somebody else's file says does nothing to the terminal, in
// a line of progress, below the table and in an error.
func TestHostileText(t *testing.T) {
	const hostile = "\x1b[2J\u202e"
	invalid := plan.Progress{Task: task(8, journal.RoleMeasure), Trial: &journal.Trial{Setting: task(8, "").Setting, InvalidReason: "ended with code 1 (Error: " + hostile + ")"}, Total: 4}
	var lines bytes.Buffer
	newProgress(stdio{err: &lines}, time.Now).report(invalid)
	p := drawnAt(80, 24)
	p.report(invalid)
	p.activity(plan.Activity{Step: plan.StepNode, Detail: hostile})
	for _, text := range []string{lines.String(), p.out.(*bytes.Buffer).String(), entry.Note(nil, "%v", errors.New("a\n\tb"+hostile))} {
		if strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\u202e") || !strings.Contains(text, `\x1b[2J\u202e`) {
			t.Errorf("%q", text)
		}
	}
}

// TestProgressOfVersions: what compares two programs names them, and not their GOMAXPROCS.
func TestProgressOfVersions(t *testing.T) {
	p := drawnAt(100, 24)
	one := task(0, journal.RoleMeasure)
	one.Setting.Procs, one.Setting.Label, one.Setting.Variant = nil, "old default", journal.VariantAgainst
	p.report(plan.Progress{Task: one, Versions: true, Done: 5, Total: 40, AtMost: true})
	if text := trimmed(p.lines(100, 24)); !strings.Contains(text, "version") || !strings.Contains(text, "▸ old") || !strings.Contains(text, "\nold: starting\n") || strings.Contains(text, "GOMAXPROCS") {
		t.Errorf("of two versions\n%s", text)
	}
	one.Setting.Procs, one.Setting.Variant, one.Role = new(2), "", journal.RolePilot
	if got, want := taskName(plan.Progress{Task: one, Versions: true}), "new at GOMAXPROCS 2 (for the rate)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestProgressWaits: between two trials the screen shows that the sweep waits, and for how
// long at most, until the next trial starts.
func TestProgressWaits(t *testing.T) {
	p := drawnAt(100, 24)
	at := plan.Progress{Task: task(2, journal.RoleMeasure), Trial: measured(task(2, journal.RoleMeasure), 1000, 0.001), Done: 5, Total: 40, AtMost: true}
	p.report(at)
	p.notice(plan.Activity{Step: plan.StepBusy, Others: plan.Others{CPUs: 1.5, OfCPUs: 2}, Left: 2 * time.Minute}, newSweepOptions().patience())
	if text := trimmed(p.lines(100, 24)); !strings.Contains(text, "\nwaiting until other programs stop: at most 2:00 more\n") || strings.Contains(text, "GOMAXPROCS 2:") {
		t.Errorf("while it waits\n%s", text)
	}
	if out := p.out.(*bytes.Buffer).String(); !strings.Contains(out, "; --timeout quiet=10m waits longer, --timeout quiet=0s measures anyway") {
		t.Errorf("how to measure anyway is not in %q", out)
	}
	// In a cluster nothing waits, and the settings of a fleet are in its file.
	service := newSweepOptions()
	service.again = sameFleet
	if got := service.patience() + newKubeSweepOptions().patience(); got != "" {
		t.Error(got)
	}
	still := activity(plan.Activity{Step: plan.StepBusy, Others: plan.Others{CPUs: 1.5, OfCPUs: 2, Busiest: []observe.Used{{PID: 42, Name: "etcd", CPUs: 1.2}}}, Waited: 30 * time.Second, Left: 90 * time.Second})
	if want := "still waiting: other programs use 1.5 of 2 CPUs [etcd (PID 42): 1.2 CPUs], at most 1:30 more"; still != want {
		t.Errorf("%q, want %q", still, want)
	}
	p.notice(plan.Activity{Step: plan.StepSlow, Share: 0.2, Trials: []int{4, 5}}, "")
	if out := p.out.(*bytes.Buffer).String(); !strings.Contains(out, "during trials 4 and 5: procfit measures others instead, and uses such trials only if later ones show") {
		t.Errorf("the trials of a slow machine are not named in %q", out)
	}
	for want, list := range map[string][]int{"trial 20": {20}, "trials 16 to 20": {16, 17, 18, 19, 20}, "trials 3, 4 and 6": {3, 4, 6}} {
		if got := numbered(list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	at.Trial = nil
	p.report(at)
	if text := trimmed(p.lines(100, 24)); strings.Contains(text, "waiting") || !strings.Contains(text, "GOMAXPROCS 2: starting") {
		t.Errorf("after the wait\n%s", text)
	}
}

// TestCounterWhileATimerPrints: several goroutines count files, and the timer of a go command that
// takes long prints above them. -race proves that they do not share the screen without its lock.
func TestCounterWhileATimerPrints(t *testing.T) {
	var out bytes.Buffer
	c := newCounter(stdio{err: &out}, "file")
	c.size = func() (int, int) { return 80, 24 }
	var both sync.WaitGroup
	both.Go(func() {
		for n := range 100 {
			c.next = time.Time{}
			c.count(n)
		}
	})
	both.Go(func() {
		for range 100 {
			c.say(stdio{err: &out}, "loading")
		}
	})
	both.Wait()
	c.clear()
	if text := out.String(); strings.Count(text, "\r"+ansi.EraseScreenBelow+"procfit: loading\n") != 100 {
		t.Errorf("a line that stays is not on a line of its own:\n%q", text)
	}
}
