package live

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// header is of an experiment of ten minutes with slices of 5 s.
func header(values ...int) Header {
	h := Header{journal.Header{Live: &journal.Live{Unit: "request", Start: 2, SliceSeconds: 5, BurnInSeconds: 2, BaselineSeconds: 30, Budget: 1000}}}
	h.Load.DurationSeconds = 600
	h.Plan = journal.Plan{Seed: 7, Settings: Settings(2, values, false)}
	return h
}

func TestCheck(t *testing.T) {
	h := header(1, 4)
	if err := h.Check(); err != nil {
		t.Error(err)
	}
	h.Load.DurationSeconds = 60
	if err := h.Check(); err == nil || !strings.Contains(err.Error(), "after the baseline of 30 s that is 1 block of 21 s") || !strings.Contains(err.Error(), "--for 4m") {
		t.Error(err)
	}
}

// TestBlock: four values at a time, those nearest to the start value first.
func TestBlock(t *testing.T) {
	h := header(1, 3, 4, 6, 8)
	look := paired.Judge(h.Rules(), nil)
	values := func() (list []int) {
		for _, i := range h.compared(look) {
			list = append(list, *h.Plan.Settings[i].Procs)
		}
		return list
	}
	if got := values(); !slices.Equal(got, []int{2, 3, 1, 4}) {
		t.Error(got)
	}
	look.Values[0].Outcome, look.Values[1].Outcome = paired.Left, paired.Same
	if got := values(); !slices.Equal(got, []int{2, 4, 6, 8}) {
		t.Error(got)
	}
	for i := range look.Values {
		look.Values[i].Outcome = paired.Better
	}
	if got := values(); got != nil {
		t.Error(got)
	}
}

// TestOutcome: what ended an experiment in its baseline, which has no report, is in the error.
func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		end  journal.End
		want string // empty: it is no error
	}{
		{journal.End{Code: journal.EndDecided}, ""},
		{journal.End{Code: journal.EndTaken, Reason: "draining"}, "draining"},
		{journal.End{Code: journal.EndHarm, Reason: "a journal from elsewhere"}, "a journal from elsewhere"},
		{journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmPanic, Setting: "1"}}, "harm with GOMAXPROCS 1 ended the experiment"},
		{journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmEnded, Setting: "2", Detail: "the program was restarted, or ended"}}, "harm with GOMAXPROCS 2 ended the experiment: the program was restarted, or ended"},
	} {
		if err := Outcome(&c.end, nil); (err != nil) != (c.want != "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %v, want %q", c.end, err, c.want)
		}
	}
}

// TestAtLeast: a p99 above the last bucket is more than any that is known.
func TestAtLeast(t *testing.T) {
	h := header(1)
	h.Live.LatencyBy, h.Live.Seen = ByMetrics, []string{FigureLatencyP99}
	at := slices.IndexFunc(h.Rules().Metrics, func(m paired.Metric) bool { return m.Name == FigureLatencyP99 })
	for beyond, want := range map[bool]float64{false: 0.1, true: math.Inf(1)} {
		s := h.SliceOf(&journal.Trial{Setting: h.Plan.Settings[1], Metrics: map[string]journal.Metric{FigureLatencyP99: {Value: 0.1, AtLeast: beyond}}})
		if got := s.Figures[at]; got != want {
			t.Errorf("at least: %v: %g", beyond, got)
		}
	}
}
