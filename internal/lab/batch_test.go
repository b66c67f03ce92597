package lab

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/procfit/procfit/internal/trace/exec"
	"github.com/procfit/procfit/test/must"
)

// quick is, for each batch program, how to see in a moment that it works, and
// the benchmarks that it then reports.
var quick = map[string][]struct{ args, names string }{
	"parallel": {{"-steps 100000", "Parallel"}},
	"workload": {
		{"-duration 30ms -workload cpu", "Workload/cpu"},
		{"-duration 30ms -workload io", "Workload/io"},
		{"-duration 30ms -gomaxprocs 3", "Workload/mixed"},
	},
	"cpubound":   {{"-n 3 -steps 100000", "CPUBound"}},
	"iobound":    {{"-d 10ms -n 5", "IOBound"}},
	"contention": {{"-n 2001", "Contention/alone Contention/contended Contention/switching"}},
	"preempt":    {{"-d 10ms", "Preempt"}, {"-steps 1000", "Preempt/turns"}},
	"stealing":   {{"-work 1ms", "Stealing"}, {"-work 10us -waves 3", "Stealing"}, {"-work 100us -for 20ms", "Stealing"}},
	"schedtrace": {{"-d 20ms -n 20", "Schedtrace/idle Schedtrace/spread Schedtrace/crowd"}},
	"chain":      {{"-n 20", "Chain"}, {"-n 1 -goroutines 1", "Chain"}},
	"chainbuf":   {{"-n 20", "ChainBuf"}, {"-n 20 -buffer 10", "ChainBuf"}},
	"sieve":      {{"-n 50", "Sieve"}, {"-n 1", "Sieve"}},
	"powser":     {{"-n 1", "Powser"}, {"-n 2 -terms 1", "Powser"}},
	"handoff":    {{"-n 100 -threads 20", "Handoff/goroutines Handoff/threads"}},
	"garbage":    {{"-n 4 -functions 20", "Garbage"}},
	"http":       {{"-n 100", "HTTP"}},
	"json":       {{"-n 2 -levels 2", "JSON"}},
	"threads":    {{"-d 100ms -n 300", "Threads"}},
	"busyworker": {{"-n 10000", "Busyworker/busy=4/other=10"}, {"-n 1000 -busy 16 -other 100", "Busyworker/busy=16/other=100"}},
	"defaults":   {{"", "Defaults"}},
	"headroom":   {{"-d 30ms", "Headroom"}, {"-d 30ms -wait 1ms -clients 2", "Headroom"}, {"-d 30ms -records 20 -blocked 2", "Headroom"}},
	"idle":       {{"-d 10ms -n 20", "Idle/tcp Idle/http"}},
	"extremes":   {{"-d 30ms", "Extremes"}},
	"gc":         {{"-n 20000 -live 64", "GC"}},
	"blocking":   {{"-d 20ms -n 5", "Blocking"}},
	"tenants":    {{"-d 50ms -rate 200", "Tenants"}, {"-d 30ms -rate 200 -how quiet", "Tenants/quiet"}, {"-d 30ms -how busy", "Tenants/busy"}},
	"racy":       {{"-n 2000", "Racy/increment Racy/compute"}},
	"remedies":   {{"-n 2001", "Remedies/mutex Remedies/atomic Remedies/sharded Remedies/batched"}},
}

// results holds a program's output against the Go benchmark format and returns
// the benchmarks' names.
func results(t *testing.T, output string) string {
	t.Helper()
	var names []string
	reader := benchfmt.NewReader(strings.NewReader(output), "output")
	for reader.Scan() {
		r, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%v, in:\n%s", reader.Result(), output)
		}
		for _, v := range r.Values {
			if !(v.Value >= 0) {
				t.Errorf("%v %s of %s", v.Value, v.Unit, r.Name)
			}
		}
		names = append(names, r.Name.String())
	}
	must.OK(t, reader.Err())
	for _, line := range strings.Split(strings.TrimSpace(output), "\n") {
		if !strings.HasPrefix(line, "Benchmark") && !strings.HasPrefix(line, "toolchain: ") {
			t.Errorf("a line that is no result: %q", line)
		}
	}
	return strings.Join(names, " ")
}

var batchLine = regexp.MustCompile(`^\S+ \S+ (\w+): GOMAXPROCS=(\d+) NumCPU=(\d+) Version=(\S+)\n`)

func TestRun(t *testing.T) {
	for _, e := range of(Batch) {
		t.Run(e.ID, func(t *testing.T) {
			skipRacy(t, e.ID)
			goroutines, procs := runtime.NumGoroutine(), runtime.GOMAXPROCS(0)
			for _, q := range quick[e.ID] {
				var stdout, stderr bytes.Buffer
				if code, err := Run(e.ID, strings.Fields(q.args), &stdout, &stderr); code != 0 || err != nil {
					t.Fatalf("%s: exit code %d, %v: %s", q.args, code, err, stderr.String())
				}
				if got := results(t, stdout.String()); got != q.names {
					t.Errorf("%s: benchmarks %q, want %q, in:\n%s", q.args, got, q.names, stdout.String())
				}
				if m := batchLine.FindStringSubmatch(stderr.String()); m == nil || m[1] != e.ID || m[4] != runtime.Version() {
					t.Errorf("it does not begin with what it runs with: %q", stderr.String())
				}
			}
			if len(quick[e.ID]) == 0 {
				t.Error("no test of it")
			}
			for args, want := range map[string]int{"-h": 0, "-no-such-flag": 2} {
				var stderr bytes.Buffer
				if code, err := Run(e.ID, strings.Fields(args), io.Discard, &stderr); code != want || err != nil || stderr.Len() == 0 {
					t.Errorf("%s: exit code %d, %v, want %d; it says %q", args, code, err, want, stderr.String())
				}
			}
			// It leaves procfit as it was.
			if now := runtime.GOMAXPROCS(0); now != procs {
				t.Errorf("GOMAXPROCS is %d after it, and was %d", now, procs)
			}
			for i := 0; runtime.NumGoroutine() > goroutines; i++ {
				if i == 1000 {
					t.Fatalf("%d goroutines after it, %d before", runtime.NumGoroutine(), goroutines)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
}

func TestStealingTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace")
	var stderr bytes.Buffer
	if code, err := Run("stealing", []string{"-work", "0", "-trace", file}, io.Discard, &stderr); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, stderr.String())
	}
	// Strings of a trace are in it as they are.
	b, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(b, []byte("go 1.")) || !bytes.Contains(b, []byte("worker")) {
		t.Errorf("a trace of %d bytes, %v", len(b), err)
	}
	if code, _ := Run("stealing", []string{"-trace", filepath.Join(file, "none")}, io.Discard, &stderr); code != 1 {
		t.Errorf("a trace that cannot be written: exit code %d", code)
	}
}

// What each goroutine computed is what it ran, by the execution trace of the same run, unless
// other programs have the CPUs: the longer a run is, the less their turns are of it.
func TestStealingIsFair(t *testing.T) {
	long := 300 * time.Millisecond
	for ; long < 20*time.Second; long *= 2 {
		computed, ran := fairness(t, long)
		if computed <= 1.0/16 || computed > 1 {
			t.Fatalf("Jain's index is %g", computed)
		}
		if math.Abs(ran-computed) < 0.05 {
			return
		}
		t.Logf("Jain's index of what they computed is %g, and of how long they ran %g", computed, ran)
	}
	t.Errorf("the two differ in each run of up to %v", long/2)
}

// fairness is Jain's index of what the goroutines of a run computed, and of how long they ran.
func fairness(t *testing.T, long time.Duration) (computed, ran float64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace")
	var stdout, stderr bytes.Buffer
	if code, err := Run("stealing", []string{"-procs", "2", "-work", "200us", "-for", long.String(), "-trace", file}, &stdout, &stderr); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, stderr.String())
	}
	var waves int
	var ns float64
	if _, err := fmt.Sscanf(stdout.String(), "BenchmarkStealing %d %f ns/op %f jain-index", &waves, &ns, &computed); err != nil {
		t.Fatalf("%q: %v", stdout.String(), err)
	}
	f := must.Get(os.Open(file))(t)
	defer f.Close()
	tr := must.Get(exec.Read(f, exec.Options{}))(t)
	for _, a := range tr.Fairness() {
		if a.Goroutines == 16 {
			return computed, a.Jain
		}
	}
	t.Fatalf("no sixteen goroutines in %+v", tr.Fairness())
	return 0, 0
}

// Beside the loop a collection starts and ends, since Go 1.14.
func TestPreemptCollects(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code, err := Run("preempt", []string{"-d", "1ms", "-collect"}, &stdout, &stderr); code != 0 || err != nil || results(t, stdout.String()) != "Preempt" {
		t.Errorf("exit code %d, %v: %s%s", code, err, stdout.String(), stderr.String())
	}
}
