package local

import (
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/profile"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// profiledArgument makes this test binary a server that works, and answers as its mode says
// where profiles are.
const profiledArgument = "(profiled)"

// profiledServer serves profiles, or in mode "none" its one answer everywhere, or in mode
// "login" only with a header, or in mode "busy" only those of the memory.
func profiledServer(mode string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.Write(sweepAway(make([]byte, 4<<10))) })
	serve := func(pattern string, h http.HandlerFunc) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if mode == "login" && r.Header.Get("X-Key") != "k" {
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			h(w, r)
		})
	}
	if mode != "none" {
		serve("/debug/pprof/", pprof.Index)
		serve("/debug/pprof/profile", func(w http.ResponseWriter, r *http.Request) {
			if mode == "busy" {
				http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", http.StatusInternalServerError)
				return
			}
			pprof.Profile(w, r)
		})
	}
	return mux
}

// sweepAway is the function that takes the time.
//
//go:noinline
func sweepAway(b []byte) []byte {
	for range 50 {
		for i := range b {
			b[i] = b[i]*31 + byte(i)
		}
	}
	return b[:100]
}

func profiledSpec(t *testing.T, mode string) plan.Spec {
	t.Helper()
	s := overheadSpec(t)
	s.Target.Command = []string{s.Target.Command[0], profiledArgument, "127.0.0.1:" + plan.PortPlaceholder, mode}
	s.Load.Duration, s.Profile = 1200*time.Millisecond, plan.ProfileOwn // a busy machine answers late
	return s
}

// profilerOf returns a runner of the spec, and the folder of its profiles and logs.
func profilerOf(t *testing.T, s plan.Spec, environ ...string) (plan.Runner, string) {
	t.Helper()
	dir := t.TempDir()
	return prepared(t, s, Config{Environ: append(os.Environ(), environ...), CreateLog: logsIn(dir), CreateProfile: func(name string) (*os.File, string, error) {
		f, err := os.Create(filepath.Join(dir, name))
		return f, "profiles/" + name, err
	}}, unset), dir
}

// A server's profiles name the function that works.
func TestProfileOfAServer(t *testing.T) {
	t.Parallel()
	s := profiledSpec(t, "login")
	s.Load.Headers = []string{"X-Key: k"}
	r, dir := profilerOf(t, s)
	setting := journal.Setting{Label: "2", Procs: new(2), Replicas: 1}
	const burning = "github.com/procfit/procfit/internal/measure/local.sweepAway"
	p, err := r.(plan.Profiler).Profile(t.Context(), setting)
	// With -race most of the time is in its own functions, and a busy machine gives few samples.
	for tries := 1; err == nil && p.CPU != nil && tries < 5; tries++ {
		if share := p.CPU.Share(burning); share != nil && *share >= 0.02 {
			break
		}
		p, err = r.(plan.Profiler).Profile(t.Context(), setting)
	}
	if err != nil || p.Missing != "" || p.CPU == nil || p.Allocations == nil || p.Setting.Label != "2" {
		t.Fatalf("%+v, %v", p, err)
	}
	if share := p.CPU.Share(burning); share == nil || *share < 0.02 || p.CPU.Seconds != 1 {
		t.Errorf("%v of %g s in %g s: %+v", share, p.CPU.Total, p.CPU.Seconds, p.CPU.Functions[:min(5, len(p.CPU.Functions))])
	}
	if p.Allocations.Total <= 0 || p.Allocations.Seconds < 1 {
		t.Errorf("%g bytes in %g s", p.Allocations.Total, p.Allocations.Seconds)
	}
	if p.ObservedProcs != nil && *p.ObservedProcs != 2 {
		t.Errorf("it ran at %d", *p.ObservedProcs)
	}
	for kind, name := range map[profile.Kind]string{profile.CPU: "2-cpu.pprof", profile.Allocations: "2-allocations.pprof"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			_, err = profile.Read(kind, b)
		}
		if err != nil {
			t.Error(err)
		}
	}
	again, err := answered(t.Context(), r, plan.Task{Setting: unset, Role: journal.RolePilot}, nil)
	if profiles, _ := filepath.Glob(filepath.Join(dir, "*.pprof")); err != nil || !again.Valid || len(profiles) != 2 {
		t.Errorf("a trial after the profile: %v, %s, profiles %q", err, again.InvalidReason, profiles)
	}
}

// Of a server without profiles it is known why there are none.
func TestServerWithoutProfiles(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"none": "it is not a profile", "login": `it answered 401 Unauthorized ("who are you?")`} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r, _ := profilerOf(t, profiledSpec(t, mode))
			if p, err := r.(plan.Profiler).Profile(t.Context(), unset); err != nil || !strings.Contains(p.Missing, want) || p.CPU != nil || p.Allocations != nil {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

// A program that refuses a CPU profile at once is still profiled for as long as one takes.
func TestProfileWithoutCPU(t *testing.T) {
	t.Parallel()
	r, _ := profilerOf(t, profiledSpec(t, "busy"))
	p, err := r.(plan.Profiler).Profile(t.Context(), unset)
	if err != nil || p.CPU != nil || !strings.Contains(p.Missing, "cpu profiling already in use") {
		t.Fatalf("%+v, %v", p, err)
	}
	if a := p.Allocations; a == nil || a.Seconds < 1 {
		t.Errorf("allocations %+v, want those of a second; missing: %s", a, p.Missing)
	}
}

// Another program's profiles are not taken for those of the target.
func TestProfilesOfAnotherProgram(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(profiledServer("all"))
	defer other.Close()
	s := profiledSpec(t, "none")
	s.Profile = other.URL + "/debug/pprof/"
	r, _ := profilerOf(t, s)
	if _, err := r.(plan.Profiler).Profile(t.Context(), unset); err == nil || !strings.Contains(err.Error(), "something listens on "+strings.TrimPrefix(other.URL, "http://")+" already") {
		t.Errorf("%v", err)
	}
}

// A test binary writes its profiles itself.
func TestProfileOfABenchmark(t *testing.T) {
	t.Parallel()
	need.Command(t, "go")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/bench\n\ngo 1.21\n",
		"x_test.go": `package bench

import "testing"

var sink []byte

func BenchmarkWork(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = work(make([]byte, 4096))
	}
}

//go:noinline
func work(b []byte) []byte {
	for range [20]int{} {
		for i := range b {
			b[i] = b[i]*31 + byte(i)
		}
	}
	return b
}
`,
	} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	s := job("go", "test", "-C", dir, "-bench", "Work", "-benchtime", "500ms", "-cpuprofile", "mine.out", ".")
	s.Profile = plan.ProfileOwn
	must.OK(t, s.Validate())
	r, _ := profilerOf(t, s, "GOWORK=off")
	for range 2 { // the second is not of the first one's files
		p, err := r.(plan.Profiler).Profile(t.Context(), unset)
		if err != nil || p.Missing != "" || p.CPU == nil || p.Allocations == nil {
			t.Fatalf("%+v, %v", p, err)
		}
		// Where other programs take the CPU away, the samples are of the runtime.
		own := slices.IndexFunc(p.CPU.Functions, func(f journal.ProfiledFunction) bool { return !strings.HasPrefix(f.Name, "runtime.") })
		if own < 0 || p.CPU.Functions[own].Name != "example.com/bench.work" || p.CPU.Seconds < 0.4 {
			t.Errorf("%+v of %g", p.CPU.Functions, p.CPU.Total)
		}
		if share := p.Allocations.Share("example.com/bench.BenchmarkWork"); share == nil || *share < 0.5 {
			t.Errorf("%v of %g bytes", share, p.Allocations.Total)
		}
	}
}
