package trial

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
	"github.com/procfit/procfit/test/must"
)

// server answers 1,000 requests a second at most, each within a millisecond, and a
// second late beyond that.
type server struct {
	Place // of which the loops need nothing else
	asked []load.Options
	fails error
}

func (s *server) Offer(_ context.Context, o load.Options, count bool) (*load.Result, *journal.Usage, error) {
	s.asked = append(s.asked, o)
	if s.fails != nil {
		return nil, nil, s.fails
	}
	r := &load.Result{Mode: load.ModeClosed, Duration: o.Duration, AchievedPerSecond: 1000, Rate: o.Rate, Requests: 1000,
		Latency: hdrhistogram.New(1, int64(time.Minute), 3), SendLag: hdrhistogram.New(1, int64(time.Minute), 3), PerURL: []load.URLCount{{Connections: 4, Answered: 1000}}}
	took := time.Millisecond
	if o.Rate > 0 {
		r.Mode, r.AchievedPerSecond = load.ModeOpen, min(o.Rate, 1000)
	}
	if o.Rate > 1000 {
		took = time.Second
	}
	return r, nil, r.Latency.RecordValues(int64(took), 6000)
}

func TestServerLoops(t *testing.T) {
	rate := 500.0
	objective := must.Get(slo.Parse("p99=5ms"))(t)
	for name, tc := range map[string]struct {
		spec  func(*plan.Spec)
		rate  *float64
		rates []float64 // of the loops; of a search only the first
		check func(journal.Trial) bool
	}{
		"a pilot":      {func(*plan.Spec) {}, nil, []float64{0}, func(tr journal.Trial) bool { return *tr.ThroughputPerSecond == 1000 && tr.LatencySeconds == nil }},
		"both loops":   {func(*plan.Spec) {}, &rate, []float64{0, 500}, func(tr journal.Trial) bool { return *tr.ThroughputPerSecond == 1000 && tr.LatencySeconds != nil }},
		"attached":     {func(s *plan.Spec) { s.Target.Attach, s.Load.Rate = &plan.Attached{PID: 1}, rate }, &rate, []float64{500}, func(tr journal.Trial) bool { return *tr.ThroughputPerSecond == 500 && tr.LatencySeconds != nil }},
		"an objective": {func(s *plan.Spec) { s.Load.SLO = &objective }, nil, []float64{0}, func(tr journal.Trial) bool { return tr.Attained != nil && *tr.ThroughputPerSecond <= 1000 }},
	} {
		s, on := plan.Default(), &server{}
		tc.spec(&s)
		c := NewTask(journal.OriginLocal, s, plan.Task{Setting: journal.Setting{Replicas: 1}, RatePerSecond: tc.rate}, nil, map[journal.GroupKey]bool{})
		c.urls = []string{"http://x/"}
		if err := c.loops(t.Context(), on); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var rates []float64
		for _, o := range on.asked {
			rates = append(rates, o.Rate)
		}
		if s.Load.SLO != nil {
			rates = rates[:1]
		}
		if !slices.Equal(rates, tc.rates) || !tc.check(*c.Trial) {
			t.Errorf("%s: loops at %v, want %v; %+v", name, rates, tc.rates, c.Trial)
		}
	}
}

// A warm-up of a server that is in use never exceeds its rate, and a loop's error ends
// the trial.
func TestLoopsOfAttached(t *testing.T) {
	s, on := plan.Default(), &server{}
	c := NewTask(journal.OriginLocal, s, plan.Task{RatePerSecond: new(20.0)}, nil, map[journal.GroupKey]bool{})
	c.urls = []string{"http://x/"}
	if err := c.warmUp(t.Context(), on); err != nil || on.asked[0].Rate != 0 || on.asked[0].Duration != s.Load.Warmup {
		t.Errorf("%v: a server of ours is warmed up with %+v", err, on.asked[0])
	}
	c.Spec.Target.Attach, c.Spec.Load.Rate = &plan.Attached{PID: 1}, 20
	if err := c.warmUp(t.Context(), on); err != nil || on.asked[1].Rate != 20 {
		t.Errorf("%v: one that is in use is warmed up with %+v, want 20 a second", err, on.asked[1])
	}
	on.fails = errors.New("no load")
	if err := c.loops(t.Context(), on); !errors.Is(err, on.fails) {
		t.Errorf("%v, want %v", err, on.fails)
	}
}

// That a p99 will not be judged is reported once per group.
func TestForetold(t *testing.T) {
	told := 0
	s := plan.Default()
	s.Load.Stretch, s.Target.URL, s.Target.Command = false, "http://x/", []string{"x"}
	c := NewTask(journal.OriginLocal, s, plan.Task{Setting: journal.Setting{Replicas: 1}, RatePerSecond: new(100.0)}, func(a plan.Activity) {
		if a.Step == plan.StepUnjudged {
			told++
		}
	}, map[journal.GroupKey]bool{})
	c.urls = []string{"http://x/"}
	for range 3 {
		c.Trial = &journal.Trial{}
		must.OK(t, c.loops(t.Context(), new(server)))
	}
	if told != 1 {
		t.Errorf("said %d times, want once", told)
	}
}
