package slo

import (
	"math"
	"testing"
)

func TestParse(t *testing.T) {
	for s, want := range map[string]Objective{
		"p99=20ms": {0.99, 0.02}, " p50 = 1s ": {0.5, 1}, "p999=5ms": {0.999, 0.005}, "p99.9=5ms": {0.999, 0.005}, "p9999=1m": {0.9999, 60}, "p1=1ns": {0.01, 1e-9},
	} {
		got, err := Parse(s)
		if err != nil || math.Abs(got.Quantile-want.Quantile) > 1e-12 || got.Seconds != want.Seconds {
			t.Errorf("%q: %+v, %v; want %+v", s, got, err, want)
		}
		if again, err := Parse(got.String()); err != nil || again != got {
			t.Errorf("%q is told as %q, which is %+v, %v", s, got, again, err)
		}
	}
	for _, s := range []string{"", "p99", "99=20ms", "p=20ms", "p0=1s", "p100=1s", "p99=", "p99=20", "p99=-1s", "p99=0s", "p9x=1s", "p99999=1s", "pNaN=1s", "p1e1=1s"} {
		if got, err := Parse(s); err == nil {
			t.Errorf("%q is taken as %+v", s, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("p99=20ms")
	f.Add("p99.9=1h")
	f.Fuzz(func(t *testing.T, s string) {
		o, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(o.String()); err != nil || again != o || !(o.Quantile > 0 && o.Quantile < 1 && o.Seconds > 0) {
			t.Errorf("%q: %+v, told as %q: %+v, %v", s, o, o, again, err)
		}
	})
}

// A queue's latency at a rate: the mean of M/M/1 times ln 100 is its p99.
func queue(capacity float64) func(rate float64) Probe {
	return func(rate float64) Probe {
		p := Probe{RatePerSecond: rate, Seconds: 5, Carried: rate < capacity}
		if p.Carried {
			p.Seconds = math.Min(5, math.Log(100)/(capacity-rate))
		}
		return p
	}
}

// probed are the probes that a search asks for.
func probed(s Search, serve func(rate float64) Probe) (done []Probe) {
	for rate, more := s.Next(done); more; rate, more = s.Next(done) {
		done = append(done, serve(rate))
	}
	return done
}

func TestSearchFindsTheCapacity(t *testing.T) {
	for _, capacity := range []float64{20, 1000, 50_000} {
		for _, limit := range []float64{0.001, 0.02, 1} {
			s := Search{Objective: Objective{0.99, limit}, Ceiling: capacity, Probes: 8}
			done := probed(s, queue(capacity))
			want := capacity - math.Log(100)/limit
			got, met := s.Capacity(done)
			switch {
			case len(done) > s.Probes:
				t.Errorf("%v: %d probes", s, len(done))
			case want < capacity*lowest:
				if met {
					t.Errorf("%+v: %v, which no rate reaches", s, got)
				}
			case !met || math.Abs(got/want-1) > 0.08:
				t.Errorf("%+v: %.4g after %d probes, %v; want %.4g", s, got, len(done), met, want)
			}
		}
	}
}

func TestSearchEnds(t *testing.T) {
	s := Search{Objective: Objective{0.99, 0.02}, Ceiling: 1000, Probes: 10}
	for name, tc := range map[string]struct {
		serve func(float64) Probe
		want  float64 // 0: it is never met
	}{
		"always met":     {func(r float64) Probe { return Probe{r, 0.001, true} }, 1000},
		"never met":      {func(r float64) Probe { return Probe{r, 1, true} }, 0},
		"never answered": {func(r float64) Probe { return Probe{r, 0, true} }, 0},
		"never carried":  {func(r float64) Probe { return Probe{r, 0.001, false} }, 0},
	} {
		done := probed(s, tc.serve)
		got, met := s.Capacity(done)
		if len(done) > 10 || len(done) == 0 || got != tc.want || met != (tc.want > 0) {
			t.Errorf("%s: %v, %v after %d probes; want %v", name, got, met, len(done), tc.want)
		}
	}
	// Below 10 req/s a probe of 100 ms would offer nothing.
	s.Ceiling, s.Floor = 32, 10
	if done := probed(s, func(rate float64) Probe { return Probe{rate, 1, true} }); len(done) != 2 || done[1].RatePerSecond < s.Floor {
		t.Errorf("%d probes at and above 10 of 32 req/s; want 22.4 and 11.2", len(done))
	}
	for _, ceiling := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if rate, more := (Search{Objective: s.Objective, Ceiling: ceiling, Probes: 10}).Next(nil); more {
			t.Errorf("below a ceiling of %v it tries %v", ceiling, rate)
		}
	}
}
