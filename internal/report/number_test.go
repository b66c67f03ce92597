package report

import (
	"testing"

	"github.com/procfit/procfit/internal/stat"
)

func TestUnitsWordValues(t *testing.T) {
	rate, seconds, share, few := perSecond("req/s"), duration(), percentage(), plain("CPUs")
	for _, c := range []struct {
		unit unit
		x    float64
		want string
	}{
		{rate, 11834.2, "11.8k req/s"},
		{rate, 999.6, "1.00k req/s"},
		{rate, 999.4, "999 req/s"},
		{rate, 0.01234, "0.0123 req/s"},
		{rate, 0, "0 req/s"},
		{perSecond(""), 0, "0"},
		{perSecond("/s"), 0, "0 /s"},
		{perSecond(""), 999, "999"},
		{rate, 2.5e9, "2.50G req/s"},
		{rate, 9.995e12, "10000G req/s"},
		{rate, -1234, "-1.23k req/s"},
		{seconds, 0.0041, "4.10 ms"},
		{seconds, 0.00099996, "1.00 ms"},
		{seconds, 1.25, "1.25 s"},
		{seconds, 3.2e-7, "320 ns"},
		{seconds, 4e-11, "0.0400 ns"},
		{seconds, 0, "0 s"},
		{share, 0.05, "5 %"},
		{share, 0.634, "63 %"},
		{share, 0.0042, "0.42 %"},
		{share, 1, "100 %"},
		{few, 1.5, "1.50 CPUs"},
	} {
		if got := c.unit.value(c.x); got != c.want {
			t.Errorf("%g: %q, want %q", c.x, got, c.want)
		}
	}
}

func TestIntervalsShareTheScaleOfTheirMedian(t *testing.T) {
	of := func(m, l, h float64) stat.Interval { return stat.Interval{Median: &m, Low: &l, High: &h} }
	for _, c := range []struct {
		unit unit
		i    stat.Interval
		want string
	}{
		{duration(), of(0.0041, 0.00392, 0.00455), "[3.92 ms, 4.55 ms]"},
		{duration(), of(0.8, 0.79, 1.2), "[790 ms, 1200 ms]"},
		{perSecond("req/s"), of(11800, 11200, 12100), "[11.2k, 12.1k]"},
		{perSecond("req/s"), of(1000, 990, 1010), "[0.990k, 1.01k]"},
		{percentage(), of(0.05, 0.04, 0.063), "[4 %, 6.3 %]"},
		{perSecond(""), of(0, 0, 1200), "[0, 1200]"},
		{duration(), stat.Interval{Median: new(float64)}, ""},
		{duration(), stat.Interval{}, ""},
	} {
		if got := c.unit.brackets(c.i); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestRatiosAreWordedAsChanges(t *testing.T) {
	for ratio, want := range map[float64]string{0.804: "−19.6 %", 1: "0.0 %", 1.05: "+5.0 %", 0.99999: "0.0 %", 1.99: "+99.0 %", 2: "2.0×", 124.56: "125×"} {
		if got := change(ratio); got != want {
			t.Errorf("%g: %q, want %q", ratio, got, want)
		}
	}
}
