package paired

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

	judge "github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// stage is a Place without pods. A test runs it in a bubble, where no time passes but in
// waiting.
type stage struct {
	began    time.Time
	begun    [][]journal.Setting
	ended    int // how often the pods were removed
	marks    int
	settings []journal.Setting
	refuse   error                                     // of Apply
	lost     error                                     // of Restore
	cpu      func(mark int, a journal.Setting) float64 // seconds of a pod's 60; nil: 6
	is       func(at time.Duration) judge.Condition    // of the last setting's pod; nil: all is well
	watch    judge.Watch
	mu       sync.Mutex
	asked    []string
}

func (s *stage) Begin(context.Context) ([]*journal.Trial, error) { return nil, nil }

func (s *stage) Apply(ctx context.Context, settings []journal.Setting) error {
	if s.settings != nil {
		if err := s.Restore(ctx); err != nil {
			return err
		}
	}
	s.begun, s.settings = append(s.begun, settings), settings
	return s.refuse
}

func (s *stage) Watch(context.Context) error {
	var list []judge.Condition
	for i, a := range s.settings {
		c := judge.Condition{Ready: true}
		if i == len(s.settings)-1 && s.is != nil {
			c = s.is(time.Since(s.began))
		}
		c.Setting, c.Pod = a.Label, "pod-"+a.Label
		list = append(list, c)
	}
	if end := s.watch.See(time.Now(), list); end != nil {
		return &EndError{*end}
	}
	return nil
}

func (s *stage) Slice(ctx context.Context) (list []*journal.Trial, err error) {
	s.marks++
	for _, a := range s.settings {
		cpu := 6.0
		if s.cpu != nil {
			cpu = s.cpu(s.marks-1, a)
		}
		list = append(list, &journal.Trial{
			Setting: a, Pods: []journal.Pod{{Name: "pod-" + a.Label}}, ObservedProcs: []*int{nil},
			Usage: journal.Usage{MeasuredSeconds: 60, CPUSeconds: &journal.CPUSeconds{User: cpu}},
		})
	}
	return list, ctx.Err()
}

func (s *stage) Restore(ctx context.Context) error {
	s.settings = nil
	s.ended++
	if ctx.Err() != nil {
		return errors.New("nobody is left to remove the pods")
	}
	return s.lost
}

func (s *stage) run(ask func(query string, at time.Time) (*float64, error), queries ...journal.Query) (*Run, judge.Header, *[]journal.Trial) {
	kept := &[]journal.Trial{}
	h := judge.Header{Header: journal.Header{
		Load: journal.Load{DurationSeconds: 300, WarmupSeconds: 30}, Plan: journal.Plan{MarginP99: 0.2},
		Canary: &journal.Canary{SliceSeconds: 60, Queries: queries, Rounds: [][]journal.Setting{{judge.SettingOf(nil), judge.SettingOf(new(1))}, {judge.SettingOf(nil), judge.SettingOf(new(2))}}},
	}}
	r := &Run{
		Place: s, Next: h.Next, Every: time.Second, Length: h.Slice(), Queries: queries,
		Ask: func(_ context.Context, name string, slice time.Duration, pods []string, at time.Time) (*float64, error) {
			i := slices.IndexFunc(queries, func(q journal.Query) bool { return q.Name == name })
			q := queries[i].Over(slice, pods...)
			s.mu.Lock()
			s.asked = append(s.asked, q)
			s.mu.Unlock()
			return ask(q, at)
		},
		Append: func(t journal.Trial) error { *kept = append(*kept, t); return nil },
		Tell:   func(Event) {},
	}
	return r, h, kept
}

// A canary that ended is in a journal, without the credentials that others quote.
func TestRunInto(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	synctest.Test(t, func(t *testing.T) {
		s := &stage{began: time.Now(), is: func(at time.Duration) judge.Condition { return judge.Condition{Ended: "no S3CR3T"} }}
		r, h, _ := s.run(nil)
		h.Spec.Command = "kube canary"
		end, begun, err := r.Into(context.Background(), h.Header, dir, func(text string) string { return strings.ReplaceAll(text, "S3CR3T", "REDACTED") })
		if err != nil || !begun || end.Code != journal.EndHarm || s.ended != 1 {
			t.Errorf("%+v, %v: removed %d times", end, err, s.ended)
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
	r, h, kept := s.run(func(q string, _ time.Time) (*float64, error) {
		if strings.HasPrefix(q, "served") {
			return new(100.0), nil
		}
		return nil, errors.New("no Prometheus")
	}, journal.Query{Name: judge.Requests, Text: "served{$pods}[$slice]"}, journal.Query{Name: "p99", Text: "slow{$pods}"})
	end, err := r.Run(context.Background(), 1)
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
	if total := time.Since(s.began); total != 2*330*time.Second || total != h.Lasts() {
		t.Errorf("it took %s, foretold %s", total, h.Lasts())
	}
}

// A Prometheus that takes long to answer makes no slice longer: its queries are asked at the
// same time, a few at once, while the next slice is under way.
func TestRunSlowQueries(t *testing.T) { synctest.Test(t, runSlowQueries) }

func runSlowQueries(t *testing.T) {
	const takes = 10 * time.Second
	s := &stage{began: time.Now()}
	at, most := 0, 0
	var queries []journal.Query
	for i := range 5 {
		queries = append(queries, journal.Query{Name: fmt.Sprint("q", i), Text: fmt.Sprintf("%d00 $pods", i)})
	}
	r, h, kept := s.run(func(q string, _ time.Time) (*float64, error) {
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
	}, queries...)
	end, err := r.Run(context.Background(), 1)
	if err != nil || end.Code != journal.EndComplete || most != 8 {
		t.Fatalf("%+v, %v: %d queries at once, want 8", end, err, most)
	}
	for i, a := range *kept {
		if a.DurationSeconds != 60 || *metric(&a, "q3") != 300 {
			t.Errorf("trial %d took %g s: %+v", i, a.DurationSeconds, a.Metrics)
		}
	}
	// Of the last slice of each round the answers are waited for: ten queries in two turns.
	if total, want := time.Since(s.began), h.Lasts()+2*2*takes; total != want {
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
			s.is = func(at time.Duration) judge.Condition {
				if at < 100*time.Second {
					return judge.Condition{Ready: true}
				}
				return judge.Condition{Ended: "code 2"}
			}
		}, none, journal.EndHarm, journal.HarmEnded, 1, ""},
		"unready while it warms up": {func(s *stage, _ *Run) {
			s.is = func(time.Duration) judge.Condition { return judge.Condition{} }
		}, none, journal.EndHarm, journal.HarmUnready, 0, ""},
		"a query": {func(*stage, *Run) {}, func(q string, _ time.Time) (*float64, error) {
			if q == "pod-default" {
				return new(1.0), nil
			}
			return new(1.3), nil
		}, journal.EndHarm, journal.HarmQuery, 5, ""},
		"evicted": {func(s *stage, _ *Run) {
			s.is = func(time.Duration) judge.Condition { return judge.Condition{Taken: "evicted"} }
		}, none, journal.EndTaken, "", 0, ""},
		"no start": {func(s *stage, _ *Run) {
			s.refuse = &EndError{journal.End{Code: journal.EndNotStarted, Reason: "no image"}}
		}, none, journal.EndNotStarted, "", 0, ""},
		"no cluster":      {func(s *stage, _ *Run) { s.refuse = errors.New("no API server") }, none, journal.EndFailed, "", 0, "no API server"},
		"pods that stay":  {func(s *stage, _ *Run) { s.lost = errors.New("not gone") }, none, journal.EndFailed, "", 5, "not gone"},
		"no room on disk": {func(_ *stage, r *Run) { r.Append = func(journal.Trial) error { return errors.New("disk full") } }, none, journal.EndFailed, "", 0, "disk full"},
	} {
		s := &stage{began: time.Now()}
		var queries []journal.Query
		if name == "a query" {
			queries = []journal.Query{{Name: "p99", Text: "$pods"}}
		}
		r, _, kept := s.run(c.ask, queries...)
		c.change(s, r)
		end, err := r.Run(context.Background(), 1)
		if end.Code != c.code || (end.Harm == nil) != (c.harm == "") || end.Harm != nil && (end.Harm.Code != c.harm || end.Harm.Setting != "1") {
			t.Errorf("%s: %+v %+v", name, end, end.Harm)
		}
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: error %v, want %q", name, err, c.fails)
		}
		if s.ended < 1 || s.settings != nil || blocksOf(*kept) != c.slices {
			t.Errorf("%s: removed %d times, %d slices", name, s.ended, len(*kept))
		}
	}
}

func TestRunInterrupted(t *testing.T) { synctest.Test(t, runInterrupted) }

func runInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stage{began: time.Now()}
	r, _, kept := s.run(nil)
	r.Tell = func(e Event) {
		if e.Kind == EventSlice && e.Block == 1 {
			cancel()
		}
	}
	end, err := r.Run(ctx, 1)
	if end.Code != journal.EndInterrupted || !errors.Is(err, context.Canceled) || len(*kept) != 4 || s.ended != 1 {
		t.Errorf("%+v, %v: %d slices, removed %d times", end, err, len(*kept), s.ended)
	}
	if strings.Contains(fmt.Sprint(err), "nobody is left") {
		t.Error("the pods are removed under a context that has ended")
	}
}

// Pods that no request reaches are removed after half of the round; one that comes in time lets it continue.
func TestRunUnreached(t *testing.T) { synctest.Test(t, runUnreached) }

func runUnreached(t *testing.T) {
	for name, c := range map[string]struct {
		cpu    func(slice int, a journal.Setting) float64
		slices int // of ten
		code   journal.EndCode
	}{
		"none ever":             {func(int, journal.Setting) float64 { return 0.03 }, 3, journal.EndUnreached},
		"from the third on":     {func(slice int, _ journal.Setting) float64 { return 0.03 + 3*float64(slice/3) }, 10, journal.EndComplete},
		"to the control alone":  {func(_ int, a journal.Setting) float64 { return 0.03 + 3*float64(len(a.Label)/5) }, 10, journal.EndComplete},
		"few, which is no less": {func(int, journal.Setting) float64 { return 0.2 }, 10, journal.EndComplete},
	} {
		s := &stage{began: time.Now(), cpu: c.cpu}
		r, h, kept := s.run(nil)
		end, err := r.Run(context.Background(), 1)
		if err != nil || end.Code != c.code || blocksOf(*kept) != c.slices || s.ended == 0 {
			t.Errorf("%s: ended %q, %v, after %d slices", name, end.Code, err, len(*kept))
		}
		if result := judge.Analyze(&journal.Contents{Header: h.Header, Trials: *kept, End: end}); result.Canary.Unreached != (c.code == journal.EndUnreached) {
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
