package local

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/cgroup"
	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/need"
	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/sweep"
)

func TestKindAndName(t *testing.T) {
	for _, tc := range []struct {
		config     Config
		kind, name string
	}{
		{Config{Command: []string{"/opt/my server", "-a"}, URL: "http://127.0.0.1:1/"}, Server, "my_server"},
		{Config{Command: []string{"./job"}}, Batch, "job"},
		{Config{Command: []string{"go", "test", "-bench", "X", "."}}, GoBench, "gobench"},
		{Config{Command: []string{"go", "test", "./..."}}, Batch, "go"},
		{Config{Build: "./cmd/server", URL: "http://h/"}, Server, "server"},
		{Config{Build: "."}, Batch, "build"},
		{Config{BuiltIn: "cpuserver", Command: []string{"x"}, URL: "http://h/"}, Server, "cpuserver"},
	} {
		if kind, name := tc.config.Kind(), tc.config.Name(); kind != tc.kind || name != tc.name {
			t.Errorf("%+v: %s %s, want %s %s", tc.config, kind, name, tc.kind, tc.name)
		}
	}
}

func TestWhoseLoadTakesThisMachinesCPUs(t *testing.T) {
	for command, want := range map[string]bool{"": true, "wrk {url}": true, "ssh box wrk {url}": false, "/usr/bin/ssh box hey {url}": false, "kubectl exec p -- hey {url}": false} {
		if got := (Config{URL: "http://h/", LoadCommand: command}).LoadOnThisMachine(); got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
	if (Config{Command: []string{"job"}}).LoadOnThisMachine() {
		t.Error("a batch program has no load")
	}
}

func TestEnvironment(t *testing.T) {
	environ := []string{"A=1", "GOMAXPROCS=9", "GOMAXPROCSX=1"}
	if got := environment(environ, nil); !slices.Equal(got, []string{"A=1", "GOMAXPROCSX=1"}) {
		t.Errorf("unset: %q", got)
	}
	three := 3
	if got := environment(environ, &three); !slices.Equal(got, []string{"A=1", "GOMAXPROCSX=1", "GOMAXPROCS=3"}) {
		t.Errorf("3: %q", got)
	}
}

func TestLogNamesDiffer(t *testing.T) {
	half := 0.5
	seen := map[string]bool{}
	for _, arm := range []journal.Arm{{Label: "1", Replicas: 2}, {Label: "1", Replicas: 2, QuotaCPUs: &half}, {Label: "1", Replicas: 2, GoVersion: "1.24"}} {
		for _, role := range []journal.Role{journal.RolePilot, journal.RoleMeasure} {
			for replica := range 2 {
				task := sweep.Task{Arm: arm, Role: role, Order: len(seen)}
				name := logName(task, replica)
				if seen[name] || strings.ContainsAny(name, "/ ") {
					t.Errorf("%+v: %q again, or no file name", task, name)
				}
				seen[name] = true
			}
		}
	}
}

func reading(procs ...int) procsReading {
	var r procsReading
	for _, n := range procs {
		if n == 0 {
			r = append(r, oneProcs{err: os.ErrPermission})
			continue
		}
		r = append(r, oneProcs{live: observe.Live{Procs: n, Source: "symbol"}})
	}
	return r
}

// What cannot be read is neither a match nor a fault.
func TestJudgeProcs(t *testing.T) {
	two := 2
	for name, tc := range map[string]struct {
		procs         *int
		before, after procsReading
		invalid       string
		warnings      int
	}{
		"as intended":          {&two, reading(2, 2), reading(2, 2), "", 0},
		"another":              {&two, reading(2, 4), reading(2, 4), "ran at GOMAXPROCS=4, not at 2", 0},
		"changed":              {&two, reading(2), reading(3), "changed its GOMAXPROCS from 2 to 3", 0},
		"unreadable":           {&two, reading(0), reading(0), "", 1},
		"one of two":           {&two, reading(2, 0), reading(2, 0), "", 1},
		"unset":                {nil, reading(7), reading(7), "", 0},
		"unset, then updated":  {nil, reading(2), reading(4), "", 1},
		"gone before the stop": {&two, reading(2), reading(0), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var trial journal.Trial
			err := tc.before.judge(journal.Arm{Procs: tc.procs}, tc.after, &trial)
			if (err == nil) != (tc.invalid == "") || err != nil && !strings.Contains(err.Error(), tc.invalid) {
				t.Errorf("%v, want %q", err, tc.invalid)
			}
			if len(trial.Warnings) != tc.warnings || len(trial.ObservedProcs) != len(tc.before) {
				t.Errorf("warnings %+v, observed %v", trial.Warnings, trial.ObservedProcs)
			}
			for i, p := range trial.ObservedProcs {
				if tc.before[i].err != nil && p != nil {
					t.Errorf("replica %d could not be read, but is %d", i, *p)
				}
			}
		})
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

func TestJudgeLoad(t *testing.T) {
	r := &Runner{config: Config{URL: "http://h/", MaxErrors: 0.01}}
	for name, tc := range map[string]struct {
		phases []journal.Phase
		want   string
	}{
		"good":        {[]journal.Phase{{Requests: 1000}}, ""},
		"a few":       {[]journal.Phase{{Requests: 1000, Errors: 5}, {Requests: 1000}}, ""},
		"too many":    {[]journal.Phase{{Requests: 1000, Errors: 100}, {Requests: 1000}}, "5 % of the requests failed"},
		"all":         {[]journal.Phase{{Requests: 0, Errors: 7}}, "no request was answered"},
		"more errors": {[]journal.Phase{{Requests: 1, Errors: 99}}, "100 % of the requests failed"},
		"silence":     {[]journal.Phase{{}}, "no request was answered"},
	} {
		err := r.judgeLoad(&journal.Trial{Phases: tc.phases}, "")
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// Each warning of limits comes when it should and not else.
func TestWhoWasTheLimit(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	quiet := func() *journal.Trial {
		return &journal.Trial{Usage: journal.Usage{MeasuredSeconds: 1, HostUse: &journal.HostUse{BusyRatio: 0.5}}, LatencySeconds: &journal.Latency{P99: p(0.01)},
			Load: &journal.LoadCost{CPUSeconds: 0.5, ThreadBusiestRatio: p(0.5), SendLagP99Seconds: p(0.0001)}}
	}
	r := &Runner{config: Config{URL: "http://h/"}}
	if w := r.limits(quiet()); len(w) != 0 {
		t.Errorf("nothing was the limit: %+v", w)
	}
	for want, change := range map[journal.WarningCode]func(*journal.Trial){
		journal.WarnLoadLimited: func(t *journal.Trial) { t.Load.ThreadBusiestRatio = p(0.95) },
		journal.WarnLoadTook:    func(t *journal.Trial) { t.HostUse.BusyRatio = 0.99 },
		journal.WarnSaturated:   func(t *journal.Trial) { t.Saturated = true },
		journal.WarnSentLate:    func(t *journal.Trial) { t.Load.SendLagP99Seconds = p(0.005) },
	} {
		trial := quiet()
		change(trial)
		if w := r.limits(trial); len(w) != 1 || w[0].Code != want {
			t.Errorf("%+v, want one %s", w, want)
		}
	}
	trial := quiet()
	trial.HostUse.BusyRatio = 0.99
	if w := (&Runner{config: Config{URL: "http://h/", LoadCommand: "ssh box wrk"}}).limits(trial); len(w) != 0 {
		t.Errorf("a load from elsewhere takes no CPU here: %+v", w)
	}
}

func TestBenchFigures(t *testing.T) {
	two := 2
	trial := journal.Trial{ObservedProcs: []*int{&two}}
	err := (&Runner{}).benchFigures([]byte("goos: linux\nBenchmarkA-2 \t 10\t 100 ns/op\t 8 B/op\nBenchmarkB/x-2 \t 10\t 400 ns/op\t 5 MB/s\nPASS\n"), &trial)
	if err != nil {
		t.Fatal(err)
	}
	if got := *trial.ThroughputPerSecond; math.Abs(got-5e6) > 1 {
		t.Errorf("throughput %g, want the geometric mean of 1e7 and 2.5e6", got)
	}
	for name, want := range map[string]journal.Metric{
		"A ns/op":   {Value: 100, Unit: "ns/op", Better: "lower"},
		"A B/op":    {Value: 8, Unit: "B/op", Better: "lower"},
		"B/x MB/s":  {Value: 5, Unit: "MB/s", Better: "higher"},
		"B/x ns/op": {Value: 400, Unit: "ns/op", Better: "lower"},
	} {
		if trial.Metrics[name] != want {
			t.Errorf("%s is %+v, want %+v; all: %v", name, trial.Metrics[name], want, trial.Metrics)
		}
	}
	if err := (&Runner{}).benchFigures([]byte("PASS\n"), &trial); err == nil || !strings.Contains(err.Error(), "does -bench match") {
		t.Errorf("no benchmark: %v", err)
	}
}

func TestJudgedMetric(t *testing.T) {
	metrics := []load.Metric{{Name: "took"}, {Name: "throughput"}}
	took := load.Value{Value: 4, Better: load.BetterLower}
	for name, tc := range map[string]struct {
		found map[string]load.Value
		want  float64
		unit  string
	}{
		"the first, reciprocal": {map[string]load.Value{"took": took}, 0.25, "1/took"},
		"throughput wins":       {map[string]load.Value{"took": took, "throughput": {Value: 9, Better: load.BetterHigher}}, 9, "throughput"},
		"zero has no ratio":     {map[string]load.Value{"took": {Better: load.BetterLower}}, 7, "runs"},
	} {
		runs := 7.0
		trial := journal.Trial{ThroughputPerSecond: &runs, ThroughputUnit: "runs"}
		judgedMetric(metrics, tc.found, &trial)
		if *trial.ThroughputPerSecond != tc.want || trial.ThroughputUnit != tc.unit {
			t.Errorf("%s: %g %s, want %g %s", name, *trial.ThroughputPerSecond, trial.ThroughputUnit, tc.want, tc.unit)
		}
	}
}

// Lines of a program that measures no time are metrics beside its runs a second.
func TestBenchmarksWithoutTime(t *testing.T) {
	runs := 7.0
	trial := journal.Trial{ThroughputPerSecond: &runs, ThroughputUnit: "runs"}
	r := &Runner{config: Config{Benchmarks: true}}
	if err := r.benchFigures([]byte("BenchmarkDefaults 1 2 gomaxprocs 8 numcpu\n"), &trial); err != nil {
		t.Fatal(err)
	}
	if *trial.ThroughputPerSecond != 7 || trial.Metrics["Defaults numcpu"].Value != 8 {
		t.Errorf("%+v", trial)
	}
	if err := r.benchFigures([]byte("nothing\n"), &trial); err == nil {
		t.Error("no benchmark at all is no error")
	}
}

// Programs that are ready run as they are; what cannot be had makes its arms'
// trials invalid and leaves the others alone. A run beyond the limit is ended.
func TestReadyAndLimit(t *testing.T) {
	config := Config{
		Command: []string{"/nowhere/program"}, Replicas: 1, LogDir: t.TempDir(), Environ: os.Environ(), Limit: 3 * time.Second,
		Ready: map[string]Ready{"1.4": {Err: errors.New("no such release")}, "1.26": {Command: []string{"true"}}, "1.13": {Command: []string{"sleep", "60"}}},
	}
	if err := config.Check(); err != nil {
		t.Fatal(err)
	}
	r, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var plan journal.Plan
	for _, v := range []string{"1.4", "1.26", "1.13"} {
		plan.Arms = append(plan.Arms, journal.Arm{Label: "unset", Replicas: 1, GoVersion: v})
	}
	if err := r.Prepare(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"no such release", "", "did not end within 3s"} {
		trial, err := r.Run(t.Context(), sweep.Task{Arm: plan.Arms[i], Order: i})
		if err != nil || trial.InvalidReason != want || trial.Valid != (want == "") {
			t.Errorf("%s: %v, %q, want %q", plan.Arms[i].GoVersion, err, trial.InvalidReason, want)
		}
	}
}

// full is a log directory on a disk that is full: the log of the task goes to
// /dev/full.
func full(t *testing.T, logs ...string) (dir string) {
	t.Helper()
	if _, err := os.Stat("/dev/full"); err != nil {
		need.Skip(t, "needs /dev/full")
	}
	dir = t.TempDir()
	for _, log := range logs {
		if err := os.Symlink("/dev/full", filepath.Join(dir, log)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Without its output a program that failed, or printed no figure, would be judged
// by what it did not say: that is no trial, and the next would fare no better.
func TestFullDisk(t *testing.T) {
	task := sweep.Task{Arm: journal.Arm{Label: "unset", Replicas: 1}}
	log := logName(task, 0)
	for name, config := range map[string]Config{
		"good":   {Command: []string{"echo", "BenchmarkA 1 5 ns/op"}},
		"failed": {Command: []string{"sh", "-c", "echo why; exit 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			config.Replicas, config.LogDir, config.Environ = 1, full(t, log), os.Environ()
			r, err := New(config)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if err := r.Prepare(t.Context(), journal.Plan{Arms: []journal.Arm{task.Arm}}); err != nil {
				t.Fatal(err)
			}
			trial, err := r.Run(t.Context(), task)
			var unkept *UnkeptError
			if !errors.As(err, &unkept) || !strings.Contains(err.Error(), log+": no space left on device; free space there, then the same command with the same --out completes what is missing") {
				t.Errorf("%v, valid %v: %s", err, trial.Valid, trial.InvalidReason)
			}
		})
	}
}

// Likewise what an external load command printed.
func TestFullDiskOfTheLoad(t *testing.T) {
	r := &Runner{config: Config{Environ: os.Environ(), Duration: time.Second}}
	log := filepath.Join(full(t, "load.log"), "load.log")
	_, _, err := r.runLoad(t.Context(), []string{"echo", "12 requests/s"}, log)
	if unkept := (*UnkeptError)(nil); !errors.As(err, &unkept) || !strings.Contains(err.Error(), log) {
		t.Errorf("%v, want that %s could not be written", err, log)
	}
}
