package local

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// A setting's value and its variables take the place of the user's, and what is unset is in no environment.
func TestEnvironment(t *testing.T) {
	environ := []string{"A=1", "GOMAXPROCS=9", "GOGC=75", "GOMAXPROCSX=1"}
	for _, tc := range []struct {
		procs     *int
		variables []journal.Variable
		want      []string
	}{
		{nil, nil, []string{"A=1", "GOGC=75", "GOMAXPROCSX=1"}},
		{new(3), nil, []string{"A=1", "GOGC=75", "GOMAXPROCSX=1", "GOMAXPROCS=3"}},
		{nil, []journal.Variable{{Name: "GOGC", Value: journal.Unset}, {Name: "X", Value: "1"}, {Name: "A", Value: "off"}}, []string{"GOMAXPROCSX=1", "X=1", "A=off"}},
	} {
		if got := environment(environ, tc.procs, tc.variables...); !slices.Equal(got, tc.want) {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

func TestThrottledSince(t *testing.T) {
	before := []cgroup.Stats{{Periods: 10, ThrottledPeriods: 2, Throttled: time.Second}, {}}
	after := []cgroup.Stats{{Periods: 15, ThrottledPeriods: 4, Throttled: 3 * time.Second}, {Periods: 5, Throttled: time.Second}}
	got := throttledSince(before, after)
	if want := (journal.Cgroup{Periods: 10, ThrottledPeriods: 2, ThrottledSeconds: 3}); got == nil || *got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if throttledSince(nil, after) != nil || throttledSince(before, nil) != nil {
		t.Error("without a reading there is no accounting")
	}
}

// logsIn makes logs in a folder.
func logsIn(dir string) func(name string) (*os.File, string, error) {
	return func(name string) (*os.File, string, error) {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
		return f, "logs/" + name, err
	}
}

// job is the Spec of a batch program, which may be any.
func job(command ...string) plan.Spec {
	s := plan.Default()
	s.Target.Command, s.Target.AnyProgram = command, true
	s.Load.Warmup = 0
	return s
}

func prepared(t *testing.T, spec plan.Spec, config Config, settings ...journal.Setting) plan.Runner {
	t.Helper()
	if config.Environ == nil {
		config.Environ = os.Environ()
	}
	if config.CreateLog == nil {
		config.CreateLog = logsIn(t.TempDir())
	}
	r := must.Get(New(spec, config))(t)
	t.Cleanup(func() { r.Close() })
	must.OK(t, r.Prepare(t.Context(), journal.Plan{Settings: settings}, nil))
	return r
}

var unset = journal.Setting{Label: journal.Default, Replicas: 1}

// answered is a trial in which requests got answers: on a busy machine a short one may be over before
// enough of them come.
func answered(ctx context.Context, r plan.Runner, task plan.Task, observe func(plan.Activity)) (trial journal.Trial, err error) {
	for range 5 {
		trial, err = r.Run(ctx, task, observe)
		if err != nil || trial.InvalidCode != journal.InvalidNoAnswer && trial.InvalidCode != journal.InvalidErrors {
			break
		}
	}
	return trial, err
}

// valid is a trial of the default, which must be valid.
func valid(t *testing.T, spec plan.Spec) journal.Trial {
	t.Helper()
	trial := must.Get(answered(t.Context(), prepared(t, spec, Config{}, unset), plan.Task{Setting: unset}, nil))(t)
	if !trial.Valid {
		t.Fatalf("%s %q", trial.InvalidCode, trial.InvalidReason)
	}
	return trial
}

// Programs that are ready run as they are; what cannot be had makes its settings'
// trials invalid and leaves the others alone. A run beyond the limit is ended.
func TestReadyAndLimit(t *testing.T) {
	t.Parallel()
	spec := job("/nowhere/program")
	config := Config{Programs: map[string]Program{"1.4": {Err: errors.New("no such release")}, "1.26": {Command: []string{"true"}}, "1.13": {Command: []string{"sleep", "60"}}}}
	must.OK(t, Check(spec, true))
	var settings []journal.Setting
	for _, v := range []string{"1.4", "1.26", "1.13"} {
		settings = append(settings, journal.Setting{Label: journal.Default, Replicas: 1, GoVersion: v})
	}
	r := prepared(t, spec, config, settings...)
	for i, want := range []struct {
		code   journal.InvalidCode
		reason string
	}{{journal.InvalidNoProgram, "no such release"}, {}, {journal.InvalidTimeout, "did not end within 3 s"}} {
		if want.code == journal.InvalidTimeout {
			r.(*runner).spec.Target.RunTimeout = 3 * time.Second
		}
		trial, err := r.Run(t.Context(), plan.Task{Setting: settings[i], Order: i}, nil)
		if err != nil || trial.InvalidCode != want.code || trial.InvalidReason != want.reason || trial.Valid != (want.code == "") {
			t.Errorf("%s: %v, %s %q, want %+v", settings[i].GoVersion, err, trial.InvalidCode, trial.InvalidReason, want)
		}
	}
}

// What cannot be compiled now may be at another time: it is among what was tried, so that a run in which the
// rest alone was compiled is not taken for one of other code.
func TestNotCompiled(t *testing.T) {
	t.Parallel()
	need.Command(t, "go")
	spec := job()
	spec.Target.Build = "./nowhere"
	r := prepared(t, spec, Config{}, unset)
	if paths := r.(*runner).Compiled(); len(paths) != 1 {
		t.Errorf("%q, want the file that was to be compiled", paths)
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		want   string
		change func(*plan.Spec)
	}{
		{"command", func(s *plan.Spec) { s.Target.Command = []string{"/nowhere/program"} }},
		{"command", func(s *plan.Spec) { s.Target.Against = []string{"/nowhere/program"} }}, // compare's OLD
		{"prepare", func(s *plan.Spec) { s.Target.Prepare = []string{"/nowhere/program"} }},
		{"load", func(s *plan.Spec) { s.Load.Command = "/nowhere/program {url}" }},
		{"cpus", func(s *plan.Spec) { s.Target.CPUs = []int{4095} }},
		{"cpus", func(s *plan.Spec) { s.Load.CPUs = []int{0, 4095} }},
	} {
		spec := job("true")
		tc.change(&spec)
		var wrong *plan.FieldError
		if err := Check(spec, false); !errors.As(err, &wrong) || wrong.Field != tc.want {
			t.Errorf("%v, want one of %s", err, tc.want)
		}
	}
}

// A short program runs again and again until the time is used, each time after what
// prepares it; what is printed in each run counts.
func TestSeveralRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	count := filepath.Join(dir, "count")
	spec := job("sh", "-c", "read n <"+count+"; echo run $n; sleep 0.02")
	spec.Target.Prepare = []string{"sh", "-c", "n=0; [ -f " + count + " ] && read n <" + count + "; echo $((n+1)) >" + count}
	spec.Target.RunFor, spec.Load.Warmup = time.Second, 50*time.Millisecond
	var steps []plan.Step
	r := prepared(t, spec, Config{CreateLog: logsIn(dir)}, unset)
	trial, err := r.Run(t.Context(), plan.Task{Setting: unset}, func(a plan.Activity) { steps = append(steps, a.Step) })
	if err != nil || !trial.Valid {
		t.Fatalf("%v, %s", err, trial.InvalidReason)
	}
	p := trial.Phases[0]
	if p.Requests < 2 || p.Requests > 50 || trial.DurationSeconds < 1 || math.Abs(trial.MeasuredSeconds-p.DurationSeconds) > 1e-6 {
		t.Errorf("%+v, measured %g s: want some runs in 1 s", p, trial.MeasuredSeconds)
	}
	if got := *trial.ThroughputPerSecond; got < float64(p.Requests)/p.DurationSeconds*0.999 || got > 50 {
		t.Errorf("%g runs a second, of %d in %g s", got, p.Requests, p.DurationSeconds)
	}
	b := must.Get(os.ReadFile(count))(t)
	prepares := 0
	for _, s := range steps {
		if s == plan.StepPrepare {
			prepares++
		}
	}
	if ran := strings.TrimSpace(string(b)); int64(prepares) <= p.Requests || ran == "1" {
		t.Errorf("prepared %d times (the file says %s) for %d runs and their warm-up", prepares, ran, p.Requests)
	}
	if trial.HostUse == nil || trial.CPUSeconds == nil {
		t.Errorf("evidence is missing: %+v", trial.Usage)
	}
}

// A program that ends at once is not run again for as long as its runs need to fill the
// time: the trial ends after three times that, and the run in which that passes.
func TestShortRuns(t *testing.T) {
	spec := job("true")
	spec.Target.RunFor = 500 * time.Millisecond
	trial := valid(t, spec)
	one := trial.DurationSeconds / float64(trial.Phases[0].Requests)
	// On a busy machine the last start alone may take long.
	if p := trial.Phases[0]; p.DurationSeconds > 0.5+one || p.DurationSeconds >= 0.5 && trial.DurationSeconds > 1.5+5*one {
		t.Errorf("%d runs of %g s in all, in %g s: want 1.5 s at most", p.Requests, p.DurationSeconds, trial.DurationSeconds)
	}
}

func TestPrepareFails(t *testing.T) {
	t.Parallel()
	spec := job("true")
	spec.Target.Prepare = []string{"sh", "-c", "echo no space; exit 3"}
	trial, err := prepared(t, spec, Config{}, unset).Run(t.Context(), plan.Task{Setting: unset}, nil)
	if err != nil || trial.InvalidCode != journal.InvalidPrepare || !strings.Contains(trial.InvalidReason, "exited with code 3") || !strings.Contains(trial.InvalidReason, "no space") {
		t.Errorf("%v, %s %q", err, trial.InvalidCode, trial.InvalidReason)
	}
}

// The log of many runs that print much keeps the first and the last.
func TestLogOfManyRuns(t *testing.T) {
	f, path, err := logsIn(t.TempDir())("x.log")
	must.OK(t, err)
	defer f.Close()
	l := &log{file: f, path: path}
	chunk := make([]byte, trial.LogLimit/2)
	for range 9 {
		must.OK(t, l.next())
		must.Get(f.Write(chunk))(t)
	}
	if info, _ := f.Stat(); info.Size() > 3*trial.LogLimit || l.keep != trial.LogLimit/2 || l.from < l.keep {
		t.Errorf("%d bytes, the last run's from %d, the first's up to %d", info.Size(), l.from, l.keep)
	}
	must.OK(t, os.Truncate(f.Name(), l.from-1)) // as somebody else may do
	if _, err := l.output(supervisor.Exit{}); err == nil || !strings.Contains(err.Error(), "x.log: something shortened this file during the run; find out what") {
		t.Errorf("a file that was shortened: %v", err)
	}
}

// A program without any Go in it is reported as such, and refused unless it may be any.
func TestNoGoProgram(t *testing.T) {
	t.Parallel()
	spec := job("sleep", "1") // long enough for a busy machine to find it
	setting := journal.Setting{Label: "2", Procs: new(2), Replicas: 1}
	trial, err := prepared(t, spec, Config{}, setting).Run(t.Context(), plan.Task{Setting: setting}, nil)
	if err != nil || !trial.Valid || len(trial.Warnings) != 1 || trial.Warnings[0].Code != journal.WarnNoGo {
		t.Errorf("%v, %s, warnings %+v", err, trial.InvalidReason, trial.Warnings)
	}
	spec.Target.AnyProgram = false
	var wrong *plan.FieldError
	if _, err := prepared(t, spec, Config{}, setting).Run(t.Context(), plan.Task{Setting: setting}, nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "sleep is not a Go program") {
		t.Errorf("%v", err)
	}
}

// A program that always ends before procfit can read it is known by its file; one whose other
// processes were seen is not, since a launcher may start a Go program.
func TestNoGoProgramByItsFile(t *testing.T) {
	t.Parallel()
	gone := trial.Reading{Ended: true, Err: errors.New("the process is gone")}
	value := trial.Reading{Procs: 2}
	self := must.Get(os.Executable())(t)
	script := filepath.Join(t.TempDir(), "start")
	must.OK(t, os.WriteFile(script, []byte("#!/bin/sh\nexec sleep 1\n"), 0o755))
	for name, c := range map[string]struct {
		argv []string
		read trial.Reading
		want bool
	}{
		"not Go":                {[]string{"sleep", "0.01"}, gone, true},
		"Go":                    {[]string{self}, gone, false},
		"not there":             {[]string{"/no/such/file"}, gone, false},
		"read as Go":            {[]string{"sleep", "1"}, value, false},
		"not permitted":         {[]string{"sleep", "1"}, trial.Reading{Err: errors.New("permission denied")}, false},
		"a shell":               {[]string{"sh", "-c", "echo $HOME; exec sleep 1"}, gone, false},
		"a wrapper":             {[]string{"env", "A=1", self}, gone, false},
		"a shell with a script": {[]string{"sh", script}, gone, false},
		"a script":              {[]string{script}, gone, false},
	} {
		r := &run{runner: &runner{programs: map[programKey]program{{}: {argv: c.argv, notGo: fileNotGo(c.argv)}}}, Task: &trial.Task{}}
		readings := []trial.Reading{c.read}
		r.byFile(readings)
		if readings[0].NoGo != c.want || c.want && !slices.Equal(readings[0].Programs, []string{"sleep"}) {
			t.Errorf("%s: %+v", name, readings[0])
		}
	}
}

// With --any-program nothing is refused, so nobody looks for the names of the programs while they
// are measured.
func TestNamesAreForARefusal(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	must.OK(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	r := &run{runner: &runner{}}
	for anyProgram, want := range map[bool]int{false: 1, true: 0} {
		r.spec.Target.AnyProgram = anyProgram
		if got := r.readBusiest([]int{cmd.Process.Pid}); !got.NoGo || len(got.Programs) != want {
			t.Errorf("any program %v: %+v", anyProgram, got)
		}
	}
}

// A process that ends while procfit looks at it takes nothing away from what was known.
func TestBetterReading(t *testing.T) {
	value, none := trial.Reading{Procs: 4}, trial.Reading{NoGo: true, Err: errors.New("no Go program")}
	gone := trial.Reading{Ended: true, Err: errors.New("the process is gone")}
	unread := trial.Reading{Err: errors.New("permission denied")}
	for name, c := range map[string]struct {
		earlier, now, want trial.Reading
		pids               []int
	}{
		"a first value":                   {gone, value, value, []int{1}},
		"another value":                   {value, trial.Reading{Procs: 2}, trial.Reading{Procs: 2}, []int{1}},
		"a value, then its end":           {value, gone, value, []int{1}},
		"a value, then no Go program":     {value, none, value, []int{1}},
		"no Go program":                   {gone, none, none, []int{1}},
		"no Go program, then its end":     {none, gone, none, []int{1}},
		"no Go program, then another":     {none, gone, trial.Reading{Err: gone.Err}, []int{1, 3}},
		"no Go program, then no process":  {none, gone, none, nil},
		"no Go program, then one by exec": {none, unread, unread, []int{1}},
		"not readable, then its end":      {unread, gone, unread, []int{1}},
		"not readable, then its launcher": {unread, none, unread, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			one := &replica{notGo: lookback{pids: []int{1, 2}}}
			if got := one.better(c.earlier, c.now, lookback{pids: c.pids}); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// A program that was no Go program when it was looked at may have become one since.
func TestMissedProgram(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		look lookback
		exit supervisor.Exit
		want bool
	}{
		"seen to its end":                       {lookback{after: 90 * ms, cpu: 80 * ms}, supervisor.Exit{Wall: 100 * ms, User: 90 * ms}, false},
		"idle to its end":                       {lookback{after: 900 * ms, cpu: 2 * ms}, supervisor.Exit{Wall: time.Second, User: 2 * ms}, false},
		"late to start, then one that is short": {lookback{after: 120 * ms, cpu: 2 * ms}, supervisor.Exit{Wall: 150 * ms, User: 6 * ms}, true},
		"seen at its start":                     {lookback{after: 2 * ms}, supervisor.Exit{Wall: 50 * ms, User: 2 * ms}, true},
		"late to start, then one that idles":    {lookback{after: 70 * ms, cpu: 2 * ms}, supervisor.Exit{Wall: 130 * ms, User: 5 * ms}, true},
		"a wait, then another that is short":    {lookback{after: 400 * ms}, supervisor.Exit{Wall: 430 * ms, User: 20 * ms, System: 10 * ms}, true},
		"a computation, then one that is short": {lookback{after: 400 * ms, cpu: 400 * ms}, supervisor.Exit{Wall: 430 * ms, User: 430 * ms}, false},
	} {
		if got := c.look.missed(c.exit); got != c.want {
			t.Errorf("%s: missed is %v", name, got)
		}
	}
}

// full makes the log of that name in a folder whose disk is full.
func full(t *testing.T) func(name string) (*os.File, string, error) {
	t.Helper()
	if _, err := os.Stat("/dev/full"); err != nil {
		need.Skip(t, "needs /dev/full")
	}
	return func(name string) (*os.File, string, error) {
		f, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
		return f, "logs/" + name, err
	}
}

// Without its output a program that failed, or printed no figure, would be judged
// by what it did not say: that is not a trial, and the next would fare no better.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{
		"good":   {"echo", "BenchmarkA 1 5 ns/op"},
		"failed": {"sh", "-c", "echo why; exit 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := prepared(t, job(command...), Config{CreateLog: full(t)}, unset)
			trial, err := r.Run(t.Context(), plan.Task{Setting: unset}, nil)
			var u *unkept
			if !errors.As(err, &u) || !strings.Contains(err.Error(), "no space left on device; free some space there, then run the same command with the same --out to continue") {
				t.Errorf("%v, valid %v: %s", err, trial.Valid, trial.InvalidReason)
			}
		})
	}
}

// Likewise what an external load command printed.
func TestFullDiskOfTheLoad(t *testing.T) {
	of := &runner{spec: job("x"), config: Config{Environ: os.Environ(), CreateLog: full(t)}}
	r := &run{runner: of, Task: trial.NewTask(journal.OriginLocal, of.spec, plan.Task{}, nil, nil)}
	_, _, err := r.runLoad(t.Context(), []string{"echo", "12 requests/s"}, "-load", time.Second)
	if u := (*unkept)(nil); !errors.As(err, &u) {
		t.Errorf("%v, want that it could not be written", err)
	}
}
