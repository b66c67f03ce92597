package page

import (
	"testing"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/stat"
)

func TestIntervalsShareTheScaleOfTheirMedian(t *testing.T) {
	of := func(m, l, h float64) stat.Interval { return stat.Interval{Median: &m, Low: &l, High: &h} }
	for _, c := range []struct {
		unit number.Unit
		i    stat.Interval
		want string
	}{
		{number.Time(), of(0.0041, 0.00392, 0.00455), "[3.92 ms, 4.55 ms]"},
		{number.Time(), of(0.8, 0.79, 1.2), "[790 ms, 1200 ms]"},
		{number.PerSecond("req/s"), of(11800, 11200, 12100), "[11.2k, 12.1k]"},
		{number.PerSecond("req/s"), of(1000, 990, 1010), "[0.990k, 1.01k]"},
		{number.Ratio(), of(0.05, 0.04, 0.063), "[4%, 6.3%]"},
		{number.PerSecond(""), of(0, 0, 1200), "[0, 1200]"},
		{number.Time(), stat.Interval{Median: new(float64)}, ""},
		{number.Time(), stat.Interval{}, ""},
	} {
		if got := brackets(c.unit, c.i); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestRatiosAreWordedAsChanges(t *testing.T) {
	for ratio, want := range map[float64]string{0.804: "−19.6%", 1: "0.0%", 1.05: "+5.0%", 0.99999: "0.0%", 1.99: "+99.0%", 2: "2.0×", 124.56: "125×"} {
		if got := change(ratio); got != want {
			t.Errorf("%g: %q, want %q", ratio, got, want)
		}
	}
}
