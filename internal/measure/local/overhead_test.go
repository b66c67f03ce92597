package local

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// serverArgument makes this test binary the server of BenchmarkOverhead.
const serverArgument = "(server)"

func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) == 3 && os.Args[1] == serverArgument {
		fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[2], http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
		os.Exit(1)
	}
	if len(os.Args) == 4 && os.Args[1] == profiledArgument {
		runtime.MemProfileRate = 4 << 10 // a busy machine may answer so seldom that one of 512 KiB finds nothing
		fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[2], profiledServer(os.Args[3])))
		os.Exit(1)
	}
	if code, ok := steer.Stage(os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) == 4 && os.Args[1] == lesseeArgument {
		lessee(os.Args[3])
		fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[2], http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
		os.Exit(1)
	}
	if len(os.Args) == 4 && os.Args[1] == liarArgument {
		liar(os.Args[2], os.Args[3])
		os.Exit(1)
	}
	need.Waiting(4) // for programs that run for a given time
	os.Exit(m.Run())
}

func overheadSpec(tb testing.TB) plan.Spec {
	self := must.Get(os.Executable())(tb)
	s := plan.Default()
	s.Target.Command = []string{self, serverArgument, "127.0.0.1:" + plan.PortPlaceholder}
	s.Target.URL = "http://127.0.0.1:" + plan.PortPlaceholder + "/"
	s.Load.Duration, s.Load.Warmup, s.Load.Connections = 400*time.Millisecond, 0, 4
	s.Load.Stretch = false
	s.Procs, s.Repeats = plan.Procs{Values: []*int{new(2)}}, 1
	must.OK(tb, s.Validate())
	return s
}

func overheadRunner(tb testing.TB, spec plan.Spec) (plan.Runner, plan.Task) {
	wanted := spec.Plan(2, 1)
	r := must.Get(New(spec, Config{Environ: os.Environ(), CreateLog: logsIn(tb.TempDir())}))(tb)
	tb.Cleanup(func() { r.Close() })
	must.OK(tb, r.Prepare(tb.Context(), wanted, nil))
	rate := 100.0
	return r, plan.Task{Setting: wanted.Settings[0], Role: journal.RoleMeasure, RatePerSecond: &rate}
}

// TestTrialOfAServer carries a real trial out and looks at its evidence.
func TestTrialOfAServer(t *testing.T) {
	r, task := overheadRunner(t, overheadSpec(t))
	trial := must.Get(answered(t.Context(), r, task, nil))(t)
	if !trial.Valid || len(trial.ObservedProcs) != 1 || trial.ObservedProcs[0] == nil || *trial.ObservedProcs[0] != 2 {
		t.Fatalf("valid %v (%s), observed %v", trial.Valid, trial.InvalidReason, trial.ObservedProcs)
	}
	if len(trial.Phases) != 2 || trial.Phases[0].Mode != journal.ModeClosed || trial.Phases[1].Mode != journal.ModeOpen || trial.Phases[1].Requests < 4 {
		t.Errorf("phases %+v, want a closed and an open loop", trial.Phases)
	}
	if trial.CPUSeconds == nil || trial.ContextSwitches == nil || trial.RunQueueWaitSeconds == nil || trial.ThreadsMax == nil || trial.HostUse == nil || trial.Load == nil {
		t.Errorf("evidence is missing: %+v", trial)
	}
	for _, p := range trial.Phases {
		if u := p.Usage; u == nil || u.CPUSeconds == nil || u.ContextSwitches == nil || u.HostUse == nil || u.MeasuredSeconds < 0.2 {
			t.Errorf("the %s loop has no counters of its own: %+v", p.Mode, u)
		}
	}
	if trial.ObservedMainModule != "github.com/procfit/procfit" || trial.ObservedGoVersion == "" {
		t.Errorf("the program is %q of %q", trial.ObservedMainModule, trial.ObservedGoVersion)
	}
	if trial.Cgroup != nil {
		t.Error("there was no quota, yet there is an accounting of one")
	}
}

// BenchmarkOverhead is the time of a trial beyond its load and beyond what the
// target takes to start by itself, in overhead-ms.
func BenchmarkOverhead(b *testing.B) {
	spec := overheadSpec(b)
	r, task := overheadRunner(b, spec)
	var overhead time.Duration
	for b.Loop() {
		own := ownStart(b, spec.Target.Command)
		began := time.Now()
		trial, err := r.Run(b.Context(), task, nil)
		if err != nil || !trial.Valid {
			b.Fatalf("%v %s", err, trial.InvalidReason)
		}
		overhead += time.Since(began) - own - spec.Load.Duration - spec.Load.Settle() - spec.Load.OpenHead()
	}
	b.ReportMetric(float64(overhead.Milliseconds())/float64(b.N), "overhead-ms")
}

// ownStart is the time from the start of the server to its first answer.
func ownStart(b *testing.B, argv []string) time.Duration {
	ports := must.Get(target.FreePorts(1))(b)
	words := target.ExpandPort(append(argv[:len(argv):len(argv)], plan.PortPlaceholder), ports[0])
	cmd := exec.Command(words[0], words[1:len(words)-1]...)
	began := time.Now()
	must.OK(b, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	for {
		response, err := http.Get("http://127.0.0.1:" + words[len(words)-1] + "/")
		if err == nil {
			response.Body.Close()
			return time.Since(began)
		}
		time.Sleep(time.Millisecond)
	}
}
