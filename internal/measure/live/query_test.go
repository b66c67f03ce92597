package live

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	blocks "github.com/procfit/procfit/internal/verdict/paired"
)

// asking is a header of an experiment that asks for one number.
func asking(values ...int) judge.Header {
	h := header(values...)
	h.Live.Queries = []journal.Query{{Name: "late", Text: "late(x[$slice])"}}
	return h
}

// answers makes a fake answer with the number that its GOMAXPROCS has, and 2% of noise, after
// a while.
func answers(f *fake, after time.Duration, of map[int]float64) {
	r := rand.New(rand.NewPCG(3, 3))
	f.asked = func(_ context.Context, query string) (*float64, error) {
		f.mu.Lock()
		procs := f.procs
		f.mu.Unlock()
		time.Sleep(after)
		if query != "late(x[4s])" {
			return nil, errors.New("asked " + query)
		}
		return new(of[procs] * math.Exp(0.02*r.NormFloat64())), nil
	}
}

// TestQuery: the user's own number decides like every other. One that is less makes a value
// better, and one that is more ends the experiment.
func TestQuery(t *testing.T) {
	for name, c := range map[string]struct {
		late  float64 // at 1; of 2 it is 5
		after time.Duration
		want  blocks.Outcome
		harm  bool
	}{
		"less":                      {4, 0, blocks.Better, false},
		"less, and slowly answered": {4, 3 * time.Second, blocks.Better, false},
		"the same":                  {5, 0, blocks.Same, false},
		"more":                      {7, 0, blocks.Undecided, true},
		"much more":                 {50, 0, blocks.Undecided, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			answers(f, c.after, map[int]float64{1: c.late, 2: 5})
			h := asking(1)
			h.Load.DurationSeconds = 1200
			end, content := measured(t.Context(), f, h, nil)
			r := judge.Analyze(content)
			came := r.Live.Settings[1]
			if (end.Code == journal.EndHarm) != c.harm || !c.harm && came.Came != string(c.want) {
				t.Errorf("%s: %+v, %+v", name, end, came)
			}
			if h := end.Harm; c.harm && (h == nil || h.Code != journal.HarmQuery || h.Query != "late" || h.Setting != "1" || h.Slices > 8 || math.Abs(*h.Ratio*5/c.late-1) > 0.05) {
				t.Errorf("%s: %+v", name, h)
			}
			late := came.Of("late")
			if late == nil || late.Value.Median == nil || math.Abs(*late.Value.Median/c.late-1) > 0.05 || len(r.Warnings) != 0 {
				t.Errorf("%s: %+v, %+v", name, late, r.Warnings)
			}
			if !f.released || f.procs != 2 {
				t.Errorf("%s: released %v, at %d", name, f.released, f.procs)
			}
		})
	}
}

// TestQueryWithoutAnswers: a Prometheus that has no answer in the baseline ends the experiment
// before anything is changed; one that has none later leaves the value open, with a warning.
// While it is waited for, harm is seen as always.
func TestQueryWithoutAnswers(t *testing.T) {
	gone := errors.New("no Prometheus")
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.asked = func(context.Context, string) (*float64, error) { return nil, gone }
		end, _ := measured(t.Context(), f, asking(1), nil)
		if end.Code != journal.EndFailed || !strings.Contains(end.Reason, "--query late has a value in 0 of 6 slices of the baseline (late: no Prometheus): 4 s must hold two scrapes; use a longer --slice") {
			t.Errorf("%+v", end)
		}
		if slices.ContainsFunc(f.sets, func(s set) bool { return s.procs != 2 }) {
			t.Error("it was changed")
		}
	})
	synctest.Test(t, func(t *testing.T) { // an error of one query is no reason of another's
		f, h, asked := newFake(), asking(1), 0
		h.Live.Queries = append(h.Live.Queries, journal.Query{Name: "none", Text: "none(x[$slice])"})
		f.asked = func(_ context.Context, query string) (*float64, error) {
			if query == "none(x[4s])" {
				return nil, nil
			}
			if asked++; asked == 1 {
				return nil, gone
			}
			return new(5.0), nil
		}
		end, _ := measured(t.Context(), f, h, nil)
		if end.Code != journal.EndFailed || !strings.Contains(end.Reason, "--query none has a value in 0 of 6 slices of the baseline: 4 s must hold") {
			t.Errorf("%+v", end)
		}
	})
	synctest.Test(t, func(t *testing.T) { // two that are answered slowly are asked at the same time
		f, h := newFake(), asking(1)
		h.Live.Queries = append(h.Live.Queries, journal.Query{Name: "errors", Text: "errors(x[$slice])"})
		f.asked = func(ctx context.Context, _ string) (*float64, error) {
			if err := wait.For(ctx, 6*time.Second); err != nil {
				return nil, err
			}
			return new(5.0), nil
		}
		if end, c := measured(t.Context(), f, h, nil); end.Code == journal.EndFailed || len(judge.Analyze(c).Warnings) != 0 || f.apart > keptFor/4 {
			t.Errorf("%+v; the program was not looked at for %v", end, f.apart)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f, began := newFake(), time.Now()
		f.cost[1] = 0.0008
		f.asked = func(context.Context, string) (*float64, error) {
			if time.Since(began) > time.Minute {
				return nil, gone
			}
			return new(5.0), nil
		}
		end, c := measured(t.Context(), f, asking(1), nil)
		r := judge.Analyze(c)
		if x := r.Live.Settings[1]; end.Code != journal.EndComplete || x.Came != string(blocks.Cheaper) || len(r.Warnings) != 1 || r.Warnings[0].Code() != "trial_warnings" {
			t.Errorf("%+v, %+v, %+v", end, x, r.Warnings)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		answers(f, 0, map[int]float64{1: 5, 2: 5})
		quick := f.asked
		f.asked = func(ctx context.Context, q string) (*float64, error) {
			f.mu.Lock()
			slow := f.procs == 1
			if slow {
				f.capacity[1] = 30 // from the end of the slice on
			}
			f.mu.Unlock()
			if slow {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return quick(ctx, q)
		}
		end, c := measured(t.Context(), f, asking(1), nil)
		if r := judge.Analyze(c); end.Code != journal.EndDecided || r.Live.Settings[1].Came != string(blocks.Left) {
			t.Errorf("%+v, %+v", end, r.Live.Settings[1])
		}
	})
}
