package page

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
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

func TestLargeDifferencesAreFactors(t *testing.T) {
	for change, want := range map[float64]string{0.99: "99% higher", 1: "2.0× higher", 3.4: "4.4× higher", 123.56: "125× higher", -0.93: "93% lower", -0.98: "50× lower", -0.992: "125× lower", -0.995: "200× lower", -1: "100% lower"} {
		if got := higher(change); got != want {
			t.Errorf("%g: %q, want %q", change, got, want)
		}
	}
	for spread, want := range map[float64]string{0.032: "3.2%", 0.46: "46%", 1.6: "a factor of 2.6", 124.56: "a factor of 126"} {
		if got := strayed(spread); got != want {
			t.Errorf("%g: %q, want %q", spread, got, want)
		}
	}
}

func TestIntervalsThatHoldNoChange(t *testing.T) {
	for want, i := range map[string][2]float64{"between 0% and 3% higher": {1, 1.03}, "between 4% lower and 0%": {0.96, 1.0001}, "the same within 2%": {0.99, 1.01}} {
		if got := changedFrom("x", stat.Interval{Median: &i[0], Low: &i[0], High: &i[1]}, 0.02); got != "x is "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFunctionNames(t *testing.T) {
	for name, want := range map[string]string{
		"runtime.mallocgc":                                       "runtime.mallocgc",
		"github.com/a/b/c.(*S).Handle":                           "c.(*S).Handle",
		"github.com/a/b.F[go.shape.struct { github.com/x/y.Z }]": "b.F[go.shape.struct { github.com/x/y.Z }]",
		"a/" + strings.Repeat("x", 99):                           strings.Repeat("x", functionRoom-1) + "…",
		"(lib.so)":                                               "(lib.so)", "": "",
	} {
		if got := functionName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestTickLabelsDiffer(t *testing.T) {
	for _, c := range []struct{ low, high float64 }{{0.0009, 0.0266}, {1e-6, 3}, {0.5, 11}, {2, 50}} {
		for _, logarithmic := range []bool{false, true} {
			ticks := axisTicks(number.Time(), document.NewAxis(c.low, c.high, logarithmic))
			for i := 1; i < len(ticks); i++ {
				if ticks[i].Label == ticks[i-1].Label || ticks[i].At <= ticks[i-1].At {
					t.Errorf("%g to %g: tick %v after %v", c.low, c.high, ticks[i], ticks[i-1])
				}
			}
		}
	}
}
