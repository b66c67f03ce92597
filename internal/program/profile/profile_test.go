package profile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/procfit/procfit/test/must"
)

// burn uses CPU time, and keep allocates: both are found by their names.
//
//go:noinline
func burn(d time.Duration) (n int) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for i := range 100_000 {
			n += i * i
		}
	}
	return n
}

var kept []byte

//go:noinline
func keep(bytes int) {
	for range bytes / (64 << 10) {
		kept = make([]byte, 64<<10)
	}
}

// memory is the profile of what this test has allocated.
func memory(t testing.TB) []byte {
	t.Helper()
	runtime.GC()
	var b bytes.Buffer
	must.OK(t, pprof.Lookup("heap").WriteTo(&b, 0))
	return b.Bytes()
}

func cpu(t testing.TB, d time.Duration) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, pprof.StartCPUProfile(&b))
	//lint:ignore SA4017 It is called for the CPU time that it takes.
	burn(d)
	pprof.StopCPUProfile()
	return b.Bytes()
}

func read(t testing.TB, kind Kind, b []byte) Sums {
	t.Helper()
	return must.Get(Read(kind, b))(t)
}

// The runtime's own profiles name the functions that took the time and the memory.
func TestRealProfiles(t *testing.T) {
	var s Sums
	var burnt Function
	took := 250 * time.Millisecond
	for ; took < 2*time.Minute; took *= 2 { // what is sampled is the CPU, of which a busy machine gives little
		s = read(t, CPU, cpu(t, took))
		// Where a busy machine takes the CPU away, the sample is of the runtime.
		own := slices.IndexFunc(s.Functions, func(f Function) bool { return !strings.HasPrefix(f.Name, "runtime.") })
		if own < 0 {
			continue
		}
		if burnt = s.Functions[own]; burnt.Value >= 0.05 && s.Seconds >= 0.9*took.Seconds() { // a profile of a busy machine begins late
			break
		}
	}
	if !strings.HasSuffix(burnt.Name, "profile.burn") || burnt.Value < 0.05 || s.Seconds < 0.9*took.Seconds() || s.Total < burnt.Value || s.Total > 5*s.Seconds {
		t.Errorf("%+v in %v, want burn at the head of what is not the runtime's", s, took)
	}
	before := memory(t)
	keep(512 << 20) // one of 512 KiB is sampled: 1024, give or take 32
	b := must.Get(Between(before, memory(t)))(t)
	s = read(t, Allocations, b)
	at := slices.IndexFunc(s.Functions, func(f Function) bool { return strings.HasSuffix(f.Name, "profile.keep") })
	if at != 0 || s.Functions[0].Value < 384<<20 || s.Functions[0].Value > 640<<20 {
		t.Errorf("%+v, want 512 MiB of keep", s)
	}
	path := filepath.Join(t.TempDir(), "x")
	must.OK(t, os.WriteFile(path, b, 0o600))
	if back, err := ReadFile(path); err != nil || !bytes.Equal(back, b) {
		t.Errorf("%d bytes of a file, %v", len(back), err)
	}
}

// stack is one entry of a profile: a CPU time in ms, and functions, the innermost first.
// One with a bar is compiled into the one behind it.
type stack struct {
	ms    int64
	names []string
}

// made is a CPU profile of some stacks.
func made(stacks ...stack) *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000, DurationNanos: 2_000_000_000,
	}
	functions := map[string]*profile.Function{}
	for _, s := range stacks {
		sample := &profile.Sample{Value: []int64{s.ms / 10, s.ms * 1_000_000}}
		for _, frame := range s.names {
			l := &profile.Location{ID: uint64(len(p.Location) + 1)}
			for name := range strings.SplitSeq(frame, "|") {
				if functions[name] == nil {
					functions[name] = &profile.Function{ID: uint64(len(functions) + 1), Name: name}
					p.Function = append(p.Function, functions[name])
				}
				l.Line = append(l.Line, profile.Line{Function: functions[name]})
			}
			p.Location = append(p.Location, l)
			sample.Location = append(sample.Location, l)
		}
		p.Sample = append(p.Sample, sample)
	}
	return p
}

func packed(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, p.Write(&b))
	return b.Bytes()
}

func TestSums(t *testing.T) {
	s := read(t, CPU, packed(t, made(
		stack{300, []string{"main.inner|main.outer", "main.main"}},
		stack{100, []string{"main.outer", "main.main"}},
		stack{50, []string{"runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker.func2", "runtime.systemstack"}},
		stack{40, []string{"runtime.memclr", "runtime.gcAssistAlloc", "runtime.mallocgc", "runtime.schedule", "main.main"}}, // of the collector, whatever is below
		stack{30, []string{"runtime.epollwait", "runtime.netpoll", "runtime.findRunnable", "runtime.schedule", "runtime.mcall"}},
		stack{20, []string{"runtime.futex", "runtime.ready", "main.main"}},
		stack{0, []string{"main.never"}},
		stack{70, []string{"compress/flate.NewWriter", "runtime/pprof.StartCPUProfile", "net/http/pprof.Profile", "net/http.serverHandler.ServeHTTP"}},
		stack{10, nil},
	)))
	want := map[string]float64{"main.inner": 0.3, "main.outer": 0.1, "runtime.scanobject": 0.05, "runtime.memclr": 0.04, "runtime.epollwait": 0.03, "runtime.futex": 0.02, unnamed: 0.01}
	if len(s.Functions) != len(want) || s.Functions[0].Name != "main.inner" {
		t.Errorf("%+v", s.Functions)
	}
	near := func(a, b float64) bool { return a > b-1e-9 && a < b+1e-9 }
	for _, f := range s.Functions {
		if !near(f.Value, want[f.Name]) {
			t.Errorf("%s: %g, want %g", f.Name, f.Value, want[f.Name])
		}
	}
	if !near(s.Total, 0.55) || s.Seconds != 2 {
		t.Errorf("%+v", s)
	}
	var many []stack
	for i := range mostFunctions + 3 {
		many = append(many, stack{10 + int64(i), []string{fmt.Sprintf("f%d", i)}})
	}
	if s := read(t, CPU, packed(t, made(many...))); len(s.Functions) != mostFunctions || s.Left != 3 || s.Functions[0].Name != "f502" {
		t.Errorf("%d functions, %d left", len(s.Functions), s.Left)
	}
}

// Many lines at a location, a long name, and many stacks through both do not multiply: each is
// looked at once.
func TestHugeProfile(t *testing.T) {
	p := made(stack{10, []string{strings.Repeat("x", 4<<20), "runtime.gcBgMarkWorker"}})
	l := p.Location[0]
	for range 20_000 {
		l.Line = append(l.Line, l.Line[0])
	}
	for range 5_000 {
		p.Sample = append(p.Sample, &profile.Sample{Value: []int64{1, 10_000_000}, Location: []*profile.Location{l, l, l, l}})
	}
	began := time.Now()
	s := read(t, CPU, packed(t, p))
	if took := time.Since(began); took > 20*time.Second || len(s.Functions) != 1 || len([]rune(s.Functions[0].Name)) != mostName || s.Total < 50 {
		t.Errorf("%d functions, %g s, after %v", len(s.Functions), s.Total, took)
	}
}

func TestNoProfiles(t *testing.T) {
	bomb := new(bytes.Buffer)
	z := gzip.NewWriter(bomb)
	for range mostBytes>>20 + 1 {
		must.Get(z.Write(make([]byte, 1<<20)))(t)
	}
	must.OK(t, z.Close())
	whole := packed(t, made(stack{10, []string{"f"}}))
	for name, of := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing": {nil, "not a profile"}, "text": {[]byte("<html>ok</html>"), "not a profile"}, "half of it": {whole[:len(whole)/2], "not a profile"},
		"only its packing": {whole[:2], "not a profile"}, "more than it seems": {bomb.Bytes(), "more than 32 MiB"},
		"another kind": {packed(t, &profile.Profile{SampleType: []*profile.ValueType{{Type: "goroutine", Unit: "count"}}, PeriodType: &profile.ValueType{}}), "of another kind"},
	} {
		if p, err := Read(CPU, of.b); err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v, %v, want %q", name, p, err, of.want)
		}
	}
	if _, err := Between(memory(t), whole); err == nil {
		t.Error("profiles of two kinds have a difference")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(packed(f, made(stack{10, []string{"a|b", "runtime.gcBgMarkWorker"}}, stack{20, nil})))
	f.Add(memory(f))
	f.Add([]byte("\x1f\x8b"))
	var plain bytes.Buffer
	must.OK(f, made(stack{10, []string{"a"}}).WriteUncompressed(&plain))
	f.Add(plain.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []Kind{CPU, Allocations} {
			s, err := Read(kind, b)
			if err != nil {
				continue
			}
			if s.Total < 0 || len(s.Functions) > mostFunctions {
				t.Errorf("%+v", s)
			}
		}
		if d, err := Between(b, b); err == nil {
			if s := read(t, Allocations, d); s.Total > 1 && s.Total > read(t, Allocations, b).Total*1e-6 {
				t.Errorf("%g since itself", s.Total)
			}
		}
	})
}
