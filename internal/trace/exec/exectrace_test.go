package exec

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// recorded are traces of the practice program "stealing": 16 workers made on one
// of 4 Ps, each of 3 ms, by every Go version that has the form of today, and by
// one before it.
func recorded(t testing.TB) []string {
	fewest := 7
	if need.NewGo() != "" {
		fewest = 1
	}
	files, err := filepath.Glob(need.Recorded() + "/*.trace")
	if err != nil || len(files) < fewest {
		t.Fatal(files, err)
	}
	return files
}

func load(t testing.TB, file string) []byte {
	return must.Get(os.ReadFile(file))(t)
}

// checkTrace holds a trace to what must be true of any.
func checkTrace(t *testing.T, name string, tr *Trace) {
	t.Helper()
	byProc, byGoroutine := map[int][]Span{}, map[int64][]Span{}
	for _, s := range tr.Spans {
		if s.Start < 0 || s.End < s.Start || s.End > tr.Duration {
			t.Errorf("%s: span %+v in a trace of %s", name, s, tr.Duration)
		}
		if s.Proc != NoProc {
			byProc[s.Proc] = append(byProc[s.Proc], s)
		}
		byGoroutine[s.Goroutine] = append(byGoroutine[s.Goroutine], s)
	}
	overlap := func(list []Span) {
		slices.SortFunc(list, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
		for i := 1; i < len(list); i++ {
			if list[i].Start < list[i-1].End {
				t.Errorf("%s: %+v begins within %+v", name, list[i], list[i-1])
				return
			}
		}
	}
	for _, list := range byProc {
		overlap(list)
	}
	for _, list := range byGoroutine {
		overlap(list)
	}
	var starts Starts
	var lost int64
	for _, p := range tr.Procs {
		if p.ID >= firstFakeProc || p.Running > tr.Duration || p.Runtime > p.Running || p.Syscalls < 0 {
			t.Errorf("%s: P %+v in a trace of %s", name, p, tr.Duration)
		}
		starts.Own += p.Starts.Own
		starts.Stolen += p.Starts.Stolen
		starts.Unclear += p.Starts.Unclear
		starts.Global += p.Starts.Global
		lost += p.Lost
	}
	starts.Unknown = tr.Starts.Unknown
	if starts != tr.Starts || lost != tr.Starts.Stolen || tr.StealCount != tr.Starts.Stolen+tr.Starts.Unclear {
		t.Errorf("%s: the Ps began %+v and lost %d, the trace has %+v and %d steals", name, starts, lost, tr.Starts, tr.StealCount)
	}
	var flows Starts
	for _, f := range tr.Flows {
		if f.From == f.To {
			t.Errorf("%s: P %d stole from itself", name, f.From)
		}
		flows.Stolen += f.Stolen
		flows.Unclear += f.Unclear
	}
	if flows.Stolen != tr.Starts.Stolen || flows.Unclear != tr.Starts.Unclear {
		t.Errorf("%s: flows %+v, starts %+v", name, flows, tr.Starts)
	}
	for _, g := range tr.Goroutines {
		if g.FirstProc != NoProc && len(g.Procs) > 0 && g.FirstProc != g.Procs[0].Proc {
			t.Errorf("%s: %+v ran on another P before its first start", name, g)
		}
	}
	for _, s := range tr.Steals {
		if s.Start < s.Ready || s.From == s.To {
			t.Errorf("%s: steal %+v", name, s)
		}
	}
}

func TestRecorded(t *testing.T) {
	for _, file := range recorded(t) {
		tr, err := Read(bytes.NewReader(load(t, file)), Options{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		checkTrace(t, file, tr)
		made := map[int]int{}
		workers, stolen := 0, 0
		for _, g := range tr.Goroutines {
			if !strings.HasPrefix(g.Name, "worker ") {
				continue
			}
			workers++
			made[g.ReadyProc]++
			if g.FirstOrigin == Stolen {
				stolen++
			}
			if (g.FirstOrigin == Own) != (g.FirstProc == g.ReadyProc) || g.Runtime || !strings.HasPrefix(g.Func, "main.") || g.Running < time.Millisecond {
				t.Errorf("%s: %+v", file, g)
			}
		}
		if workers != 16 || len(made) != 1 || stolen < 4 || len(tr.Procs) != 4 || tr.Starts.Unclear != 0 {
			t.Errorf("%s: %d workers, made on %v, %d stolen, %d Ps, %+v", file, workers, made, stolen, len(tr.Procs), tr.Starts)
		}
	}
}

// record traces what f does in this very process.
func record(t *testing.T, f func()) *Trace {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skipf("cannot trace: %v", err)
	}
	f()
	trace.Stop()
	tr := must.Get(Read(&b, Options{}))(t)
	checkTrace(t, "live", tr)
	return tr
}

func TestLive(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	tr := record(t, func() {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range 50 {
			wg.Go(func() {
				for range 20 {
					mu.Lock()
					_ = make([]byte, 10_000)
					mu.Unlock()
					time.Sleep(time.Microsecond)
					_, _ = os.Stat("/")
				}
			})
		}
		wg.Wait()
		runtime.GOMAXPROCS(2)
	})
	if tr.ProcChanges != 1 || tr.SpanCount < 1000 || tr.GoroutineCount < 50 || len(tr.Procs) < 2 {
		t.Errorf("%d changes of GOMAXPROCS, %d spans, %d goroutines, %d Ps", tr.ProcChanges, tr.SpanCount, tr.GoroutineCount, len(tr.Procs))
	}
}

// A crowd made at once may run over into the global queue: nothing is proven of it.
func TestACrowdIsUnclear(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	tr := record(t, func() {
		var wg sync.WaitGroup
		for range 5000 {
			wg.Go(func() {
				for end := time.Now().Add(20 * time.Microsecond); time.Now().Before(end); {
				}
			})
		}
		wg.Wait()
	})
	if moved := tr.Starts.Stolen + tr.Starts.Unclear; moved > 0 && tr.Starts.Unclear*2 < moved {
		t.Errorf("of 5000 made at once %d are said to be stolen, %d unclear", tr.Starts.Stolen, tr.Starts.Unclear)
	}
}

func TestCaps(t *testing.T) {
	whole := must.Get(Read(bytes.NewReader(load(t, "testdata/go1.27.1.trace")), Options{}))(t)
	tr := must.Get(Read(bytes.NewReader(load(t, "testdata/go1.27.1.trace")), Options{MaxSpans: 5, MaxGoroutines: 4, MaxSteals: 3}))(t)
	if len(tr.Spans) != 5 || len(tr.Goroutines) != 4 || len(tr.Steals) != 3 {
		t.Errorf("%d spans, %d goroutines, %d steals", len(tr.Spans), len(tr.Goroutines), len(tr.Steals))
	}
	if tr.SpanCount != whole.SpanCount || tr.GoroutineCount != whole.GoroutineCount || tr.StealCount != whole.StealCount || tr.Starts != whole.Starts || !slices.Equal(tr.Procs, whole.Procs) {
		t.Error("the sums are not those of the whole trace")
	}
}

func TestBadInput(t *testing.T) {
	good := load(t, "testdata/go1.27.1.trace")
	for name, tc := range map[string]struct {
		in     io.Reader
		want   string
		offset int64
	}{
		"nothing":       {strings.NewReader(""), "not a Go execution trace", 0},
		"text":          {strings.NewReader(strings.Repeat("SCHED 0ms: gomaxprocs=4\n", 9)), "not a Go execution trace", 216},
		"a header":      {bytes.NewReader(good[:16]), "", 16},
		"cut off":       {bytes.NewReader(good[:len(good)/2]), "it is cut off", int64(len(good) / 2)},
		"a reader's":    {io.MultiReader(bytes.NewReader(good[:1000]), broken{}), "the disk is gone", 1000},
		"of the future": {strings.NewReader("go 1.99 trace\x00\x00\x00"), "unsupported", 16},
	} {
		tr, err := Read(tc.in, Options{})
		if text := fmt.Sprint(err); !strings.HasPrefix(text, fmt.Sprintf("execution trace: by byte %d: ", tc.offset)) || !strings.Contains(text, tc.want) || tr == nil {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%s: %q", name, err)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func TestNamesArePrintable(t *testing.T) {
	tr := record(t, func() {
		done := make(chan bool)
		go func() {
			trace.Log(t.Context(), "evil\x1b[31m", strings.Repeat("x", 1000)+"\n")
			done <- true
		}()
		<-done
	})
	found := false
	for _, g := range tr.Goroutines {
		if strings.HasPrefix(g.Name, `evil\x1b[31m xxx`) {
			found = len([]rune(g.Name)) <= maxName
		}
	}
	if !found {
		t.Error("no goroutine is named by what it logged")
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range recorded(f) {
		f.Add(load(f, file))
	}
	f.Add([]byte("go 1.26 trace\x00\x00\x00"))
	f.Add([]byte("go 1.11 trace\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		tr, err := Read(bytes.NewReader(in), Options{MaxSpans: 100})
		if tr == nil || len(tr.Spans) > 100 {
			t.Fatal("no trace, or too much of it")
		}
		if err == nil {
			return
		}
		offset := 0
		if n, _ := fmt.Sscanf(err.Error(), "execution trace: by byte %d: ", &offset); n != 1 || offset > len(in) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Fatalf("%q", err)
		}
	})
}
