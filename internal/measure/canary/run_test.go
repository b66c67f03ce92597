package canary

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	judge "github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// stage is a Place without pods. A test runs it in a bubble, where no time passes but in
// waiting.
type stage struct {
	began    time.Time
	begun    [][]journal.Setting
	ended    int
	marks    int
	settings []journal.Setting
	refuse   error                                     // of Begin
	lost     error                                     // of End
	cpu      func(mark int, a journal.Setting) float64 // seconds of a pod's 60; nil: 6
	is       func(at time.Duration) Condition          // of the first setting's pod; nil: all is well
	mu       sync.Mutex
	asked    []string
}

func (s *stage) Begin(_ context.Context, settings []journal.Setting) error {
	s.begun, s.settings = append(s.begun, settings), settings
	return s.refuse
}

func (s *stage) Conditions(context.Context) (list []Condition, err error) {
	for i, a := range s.settings {
		c := Condition{Setting: a.Label, Pod: "pod-" + a.Label, Ready: true}
		if i == len(s.settings)-1 && s.is != nil {
			c = s.is(time.Since(s.began))
			c.Setting, c.Pod = a.Label, "pod-"+a.Label
		}
		list = append(list, c)
	}
	return list, nil
}

func (s *stage) Mark(ctx context.Context) (list []journal.Trial, err error) {
	s.marks++
	for _, a := range s.settings {
		cpu := 6.0
		if s.cpu != nil {
			cpu = s.cpu(s.marks-1, a)
		}
		list = append(list, journal.Trial{
			Setting: a, Pods: []journal.Pod{{Name: "pod-" + a.Label}}, ObservedProcs: []*int{nil},
			Usage: journal.Usage{MeasuredSeconds: 60, CPUSeconds: &journal.CPUSeconds{User: cpu}},
		})
	}
	return list, ctx.Err()
}

func (s *stage) End(ctx context.Context) error {
	s.ended++
	if ctx.Err() != nil {
		return errors.New("nobody is left to remove the pods")
	}
	return s.lost
}

func (s *stage) run(ask func(query string, at time.Time) (*float64, error)) (*Run, *[]journal.Trial) {
	kept := &[]journal.Trial{}
	var r *Run
	r = &Run{
		Header: judge.Header{Header: journal.Header{
			Load: journal.Load{DurationSeconds: 300, WarmupSeconds: 30}, Plan: journal.Plan{MarginP99: 0.2},
			Canary: &journal.Canary{SliceSeconds: 60, Rounds: [][]journal.Setting{{judge.SettingOf(nil), judge.SettingOf(new(1))}, {judge.SettingOf(nil), judge.SettingOf(new(2))}}},
		}},
		Place: s,
		Ask: func(_ context.Context, name string, slice time.Duration, pods []string, at time.Time) (*float64, error) {
			i := slices.IndexFunc(r.Header.Canary.Queries, func(q journal.Query) bool { return q.Name == name })
			q := r.Header.Canary.Queries[i].Over(slice, pods...)
			s.mu.Lock()
			s.asked = append(s.asked, q)
			s.mu.Unlock()
			return ask(q, at)
		},
		Append: func(t journal.Trial) error { *kept = append(*kept, t); return nil },
		Tell:   func(Event) {},
	}
	return r, kept
}

// pods are a stage whose run begins and ends.
type pods struct {
	*stage
	closed int
}

func (p *pods) Prepare(context.Context, journal.Plan, plan.Observer) error { return nil }
func (p *pods) Close() error                                               { p.closed++; return errors.New("some stay") }

// A canary that ended is in a journal, without the credentials that others quote.
func TestRunInto(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	synctest.Test(t, func(t *testing.T) {
		p := &pods{stage: &stage{began: time.Now(), is: func(at time.Duration) Condition { return Condition{Ended: "no S3CR3T"} }}}
		r, _ := p.run(nil)
		r.Header.Spec.Command = "kube canary"
		var left error
		end, err := r.Into(context.Background(), p, dir, func(text string) string { return strings.ReplaceAll(text, "S3CR3T", "REDACTED") }, func(err error) { left = err })
		if err != nil || end.Code != journal.EndHarm || p.closed != 1 || p.ended != 1 || left == nil {
			t.Errorf("%+v, %v: closed %d times, removed %d times, left %v", end, err, p.closed, p.ended, left)
		}
	})
	c, err := journal.ReadDirectory(dir)
	if err != nil || c.End == nil || c.End.Harm.Detail != "no REDACTED" {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestRunComplete(t *testing.T) { synctest.Test(t, runComplete) }

func runComplete(t *testing.T) {
	s := &stage{began: time.Now()}
	r, kept := s.run(func(q string, _ time.Time) (*float64, error) {
		if strings.HasPrefix(q, "served") {
			return new(100.0), nil
		}
		return nil, errors.New("no Prometheus")
	})
	r.Header.Canary.Queries = []journal.Query{{Name: judge.Requests, Text: "served{$pods}[$slice]"}, {Name: "p99", Text: "slow{$pods}"}}
	end, err := r.Run(context.Background())
	if err != nil || end.Code != journal.EndComplete || len(s.begun) != 2 || s.ended != 2 || s.marks != 12 || len(*kept) != 20 {
		t.Fatalf("%+v, %v: %d rounds, %d removed, %d marks, %d slices", end, err, len(s.begun), s.ended, s.marks, len(*kept))
	}
	for i, a := range *kept {
		if a.DurationSeconds != 60 || a.Block != i/2 || a.Order != i%2 || *metric(&a, judge.Requests) != 100 || metric(&a, "p99") != nil || len(a.Warnings) != 1 || a.Warnings[0].Detail != "p99: no Prometheus" {
			t.Errorf("trial %d: %+v", i, a)
		}
	}
	if !slices.Contains(s.asked[:4], "served{pod-1}[60s]") {
		t.Errorf("asked %q", s.asked)
	}
	if total := time.Since(s.began); total != 2*330*time.Second || total != r.Header.Lasts() {
		t.Errorf("it took %s, foretold %s", total, r.Header.Lasts())
	}
}

// A Prometheus that takes long to answer makes no slice longer: its queries are asked at the
// same time, a few at once, while the next slice is under way.
func TestRunSlowQueries(t *testing.T) { synctest.Test(t, runSlowQueries) }

func runSlowQueries(t *testing.T) {
	const takes = 10 * time.Second
	s := &stage{began: time.Now()}
	at, most := 0, 0
	r, kept := s.run(func(q string, _ time.Time) (*float64, error) {
		count := func(n int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			at += n
			most = max(most, at)
		}
		count(1)
		defer count(-1)
		time.Sleep(takes)
		number, _, _ := strings.Cut(q, " ")
		n, err := strconv.ParseFloat(number, 64)
		return &n, err
	})
	for i := range 5 {
		r.Header.Canary.Queries = append(r.Header.Canary.Queries, journal.Query{Name: fmt.Sprint("q", i), Text: fmt.Sprintf("%d00 $pods", i)})
	}
	end, err := r.Run(context.Background())
	if err != nil || end.Code != journal.EndComplete || most != 8 {
		t.Fatalf("%+v, %v: %d queries at once, want 8", end, err, most)
	}
	for i, a := range *kept {
		if a.DurationSeconds != 60 || *metric(&a, "q3") != 300 {
			t.Errorf("trial %d took %g s: %+v", i, a.DurationSeconds, a.Metrics)
		}
	}
	// Of the last slice of each round the answers are waited for: ten queries in two turns.
	if total, want := time.Since(s.began), r.Header.Lasts()+2*2*takes; total != want {
		t.Errorf("it took %s, want %s", total, want)
	}
}

// Whatever ends it has the pods removed, each with its word.
func TestRunEnds(t *testing.T) { synctest.Test(t, runEnds) }

func runEnds(t *testing.T) {
	none := func(string, time.Time) (*float64, error) { return nil, nil }
	for name, c := range map[string]struct {
		change func(*stage, *Run)
		ask    func(string, time.Time) (*float64, error)
		code   journal.EndCode
		harm   journal.HarmCode
		slices int
		fails  string
	}{
		"a container that ends": {func(s *stage, _ *Run) {
			s.is = func(at time.Duration) Condition {
				if at < 100*time.Second {
					return Condition{Ready: true}
				}
				return Condition{Ended: "code 2"}
			}
		}, none, journal.EndHarm, journal.HarmEnded, 1, ""},
		"unready while it warms up": {func(s *stage, _ *Run) {
			s.is = func(time.Duration) Condition { return Condition{} }
		}, none, journal.EndHarm, journal.HarmUnready, 0, ""},
		"a query": {func(_ *stage, r *Run) { r.Header.Canary.Queries = []journal.Query{{Name: "p99", Text: "$pods"}} }, func(q string, _ time.Time) (*float64, error) {
			if q == "pod-unset" {
				return new(1.0), nil
			}
			return new(1.3), nil
		}, journal.EndHarm, journal.HarmQuery, 5, ""},
		"evicted": {func(s *stage, _ *Run) {
			s.is = func(time.Duration) Condition { return Condition{Taken: "evicted"} }
		}, none, journal.EndTaken, "", 0, ""},
		"no start":        {func(s *stage, _ *Run) { s.refuse = &NotStartedError{"1", "no image"} }, none, journal.EndNotStarted, "", 0, "no image"},
		"no cluster":      {func(s *stage, _ *Run) { s.refuse = errors.New("no API server") }, none, journal.EndFailed, "", 0, "no API server"},
		"pods that stay":  {func(s *stage, _ *Run) { s.lost = errors.New("not gone") }, none, journal.EndFailed, "", 5, "not gone"},
		"no room on disk": {func(_ *stage, r *Run) { r.Append = func(journal.Trial) error { return errors.New("disk full") } }, none, journal.EndFailed, "", 0, "disk full"},
	} {
		s := &stage{began: time.Now()}
		r, kept := s.run(c.ask)
		c.change(s, r)
		end, err := r.Run(context.Background())
		if end.Code != c.code || (end.Harm == nil) != (c.harm == "") || end.Harm != nil && (end.Harm.Code != c.harm || end.Harm.Setting != "1") {
			t.Errorf("%s: %+v %+v", name, end, end.Harm)
		}
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: error %v, want %q", name, err, c.fails)
		}
		if s.ended != 1 || blocksOf(*kept) != c.slices {
			t.Errorf("%s: removed %d times, %d slices", name, s.ended, len(*kept))
		}
	}
}

func TestRunInterrupted(t *testing.T) { synctest.Test(t, runInterrupted) }

func runInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stage{began: time.Now()}
	r, kept := s.run(nil)
	r.Tell = func(e Event) {
		if e.Kind == EventSlice && e.Slice[0].Block == 1 {
			cancel()
		}
	}
	end, err := r.Run(ctx)
	if end.Code != journal.EndInterrupted || !errors.Is(err, context.Canceled) || len(*kept) != 4 || s.ended != 1 {
		t.Errorf("%+v, %v: %d slices, removed %d times", end, err, len(*kept), s.ended)
	}
	if strings.Contains(fmt.Sprint(err), "nobody is left") {
		t.Error("the pods are removed under a context that has ended")
	}
}

// The canary reports pods that no request reaches after two slices, and removes them after half of
// the round; one that comes in time lets it continue.
func TestRunUnreached(t *testing.T) { synctest.Test(t, runUnreached) }

func runUnreached(t *testing.T) {
	for name, c := range map[string]struct {
		cpu    func(slice int, a journal.Setting) float64
		told   bool
		slices int // of ten
		code   journal.EndCode
	}{
		"none ever":             {func(int, journal.Setting) float64 { return 0.03 }, true, 3, journal.EndUnreached},
		"from the third on":     {func(slice int, _ journal.Setting) float64 { return 0.03 + 3*float64(slice/3) }, true, 10, journal.EndComplete},
		"to the control alone":  {func(_ int, a journal.Setting) float64 { return 0.03 + 3*float64(len(a.Label)/5) }, false, 10, journal.EndComplete},
		"few, which is no less": {func(int, journal.Setting) float64 { return 0.2 }, false, 10, journal.EndComplete},
	} {
		s := &stage{began: time.Now(), cpu: c.cpu}
		r, kept := s.run(nil)
		told := false
		r.Tell = func(e Event) { told = told || e.Kind == EventUnreached }
		end, err := r.Run(context.Background())
		if err != nil || end.Code != c.code || told != c.told || blocksOf(*kept) != c.slices || s.ended == 0 {
			t.Errorf("%s: ended %q, %v, told %v, after %d slices", name, end.Code, err, told, len(*kept))
		}
		if result := judge.Analyze(&journal.Contents{Header: r.Header.Header, Trials: *kept, End: end}); result.Canary.Unreached != (c.code == journal.EndUnreached) {
			t.Errorf("%s: unreached %v", name, result.Canary.Unreached)
		}
	}
}

// metric is a metric of a trial; nil: it has none.
func metric(t *journal.Trial, name string) *float64 {
	if m, ok := t.Metrics[name]; ok {
		return &m.Value
	}
	return nil
}

// blocksOf is how many slices trials are of.
func blocksOf(trials []journal.Trial) int {
	blocks := map[int]bool{}
	for _, t := range trials {
		blocks[t.Block] = true
	}
	return len(blocks)
}

func TestWatch(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	fine, unready := Condition{Setting: "1", Pod: "b", Ready: true}, Condition{Setting: "1", Pod: "b", Detail: "ContainersNotReady"}
	var w watch
	for _, step := range []struct {
		at    int
		is    Condition
		harm  journal.HarmCode
		taken string
	}{
		{0, fine, "", ""}, {1, unready, "", ""}, {10, unready, "", ""},
		{10, fine, "", ""}, // in time
		{11, unready, "", ""}, {20, unready, "", ""}, {21, unready, journal.HarmUnready, ""},
		{22, Condition{Setting: "1", Pod: "b", Ended: "code 2"}, journal.HarmEnded, ""},
		{23, Condition{Setting: "1", Pod: "b", Taken: "evicted", Ended: "code 137"}, "", "evicted"},
	} {
		h, taken := w.see(at(step.at), []Condition{{Setting: judge.Control, Pod: "a", Ready: true}, step.is})
		if (h == nil) != (step.harm == "") || h != nil && (h.Code != step.harm || h.Setting != "1") || taken != step.taken {
			t.Errorf("after %d s: %+v, taken %q; want %q, %q", step.at, h, taken, step.harm, step.taken)
		}
	}
	var other watch
	if h, _ := other.see(start, []Condition{{Setting: judge.Control, Pod: "a", Ended: "code 1"}}); h == nil || h.Setting != judge.Control {
		t.Errorf("of the control: %+v", h)
	}
}
