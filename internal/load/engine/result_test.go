package engine

import (
	"math"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
)

func TestPace(t *testing.T) {
	const (
		rate     = 1000.0
		duration = 3 * time.Second
		span     = 5 * time.Second
	)
	// complete answers each request at latency(intended), in seconds.
	complete := func(latency func(at float64) float64) (bins []int64, first time.Duration) {
		bins = make([]int64, paceBins)
		least := math.Inf(1)
		for i := range int(rate * duration.Seconds()) {
			at := float64(i) / rate
			l := latency(at)
			least = min(least, l)
			if k := int((at + l) / span.Seconds() * paceBins); k < paceBins {
				bins[k]++
			}
		}
		return bins, time.Duration(least * 1e9)
	}
	for name, tt := range map[string]struct {
		latency func(at float64) float64
		want    float64 // of the rate
		within  float64
	}{
		"fast":              {func(float64) float64 { return 0.001 }, 1, 0.002},
		"slow but steady":   {func(float64) float64 { return 1 }, 1, 0.002},
		"two kinds":         {func(at float64) float64 { return 0.005 + 0.1*math.Mod(math.Floor(at*1000), 2) }, 1, 0.005},
		"stall at the end":  {func(at float64) float64 { return max(0.001, min(0.05, at-2.9)) }, 1, 0.005},
		"90% carried":       {func(at float64) float64 { return 0.001 + at/0.9 - at }, 0.9, 0.005},
		"98% carried":       {func(at float64) float64 { return 0.001 + at/0.98 - at }, 0.98, 0.002},
		"half carried":      {func(at float64) float64 { return 0.001 + at }, 0.5, 0.005},
		"nothing comes out": {func(at float64) float64 { return 100 }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bins, first := complete(tt.latency)
			if got := pace(bins, span, first, duration) / rate; math.Abs(got-tt.want) > tt.within {
				t.Errorf("%.4f of the rate, want %.4f", got, tt.want)
			}
		})
	}
}

// A server that answers at once carries the rate, however few the requests are.
func TestFewAreCarried(t *testing.T) {
	const duration, span, latency = 10 * time.Second, 12 * time.Second, time.Millisecond
	for n := 1; n <= 12; n++ {
		p := &plan{Prepared: &load.Prepared{Options: load.Options{Rate: float64(n) / duration.Seconds(), Duration: duration}}}
		bins := make([]int64, paceBins)
		for i := range n {
			at := time.Duration(i)*duration/time.Duration(n) + latency
			bins[int(float64(at)/float64(span)*paceBins)]++
		}
		if got := p.carried(bins, span, latency) / p.Rate; math.Abs(got-1) > 0.005 {
			t.Errorf("%d requests: %.4f of the rate", n, got)
		}
	}
}
