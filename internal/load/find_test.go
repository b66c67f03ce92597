package load

import (
	"regexp"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// Why a metric is refused.
const (
	absent      = "nothing in the output matches"
	noNumber    = "is neither a number nor a duration"
	outOfRange  = "is outside the range that can be compared"
	notAbove0   = "it must be more than 0"
	cutOff      = "the output was too long to keep whole"
	severalUnit = "the replicas print it in different units"
)

// refusedFor reports whether an error has the reason; without a reason there is none.
func refusedFor(err error, why string) bool {
	if err == nil || why == "" {
		return err == nil && why == ""
	}
	return strings.Contains(err.Error(), why)
}

// A figure whose ratio or reciprocal no float64 and no JSON number can hold is
// refused, with the text that was found.
func TestMetricsOutOfRange(t *testing.T) {
	for _, tt := range []struct {
		metric, text string
		why          string
	}{
		{"time:lower=v (.*)", "1e-320", outOfRange},
		{"throughput=v (.*)", "1e-320", outOfRange},
		{"throughput=v (.*)", "1e-301", outOfRange},
		{"throughput=v (.*)", "1e-400", outOfRange}, // 0 as a float64
		{"throughput=v (.*)", "1e301", outOfRange},
		{"throughput=v (.*)", "-1e400", outOfRange},
		{"throughput=v (.*)", "1e-299", ""},
		{"throughput=v (.*)", "0", notAbove0},
		{"p99=v (.*)", "0ms", notAbove0},
		{"p99=v (.*)", "-3", notAbove0},
		{"errors=v (.*)", "0", ""},
		{"idle=v (.*)", "0.00", ""},
		{"idle=v (.*)", "-2", ""},
		{"idle=v (.*)", "NaN", noNumber},
		{"idle=v (.*)", "Inf", noNumber},
		{"idle=v (.*)", "0x10", noNumber},
		{"idle=w (.*)", "1", absent},
	} {
		_, err := FindMetrics(Output{Head: []byte("v " + tt.text + "\n")}, []Metric{metric(t, tt.metric)})
		if !refusedFor(err, tt.why) {
			t.Errorf("%s of %q: %v, want %q", tt.metric, tt.text, err, tt.why)
		}
		if err != nil && !strings.Contains(err.Error(), `"`+tt.text) && tt.why != absent {
			t.Errorf("%s of %q: %v does not quote it", tt.metric, tt.text, err)
		}
	}
	for _, v := range []float64{0, -1} {
		if err := (Value{Value: v}).CheckRatio("x"); !refusedFor(err, notAbove0) {
			t.Errorf("%v: %v", v, err)
		}
	}
	if err := (Value{Value: 1e-299}).CheckRatio("x"); err != nil {
		t.Error(err)
	}
}

func TestMetricsOfACutOutput(t *testing.T) {
	for name, tt := range map[string]struct {
		head, tail string
		want       float64
		why        string
	}{
		"cut short at the end":         {"a\nrate 12", "", 0, cutOff},
		"cut short, once before":       {"rate 7\nrate 12", "", 0, cutOff},
		"whole, once":                  {"rate 7\nother 12", "", 7, ""},
		"several, the last is unknown": {"rate 7\nrate 8\nother", "", 0, cutOff},
		"the summary is in the tail":   {"rate 7\nrate 8\nra", "56\nrate 123\n", 123, ""},
		"cut short at its beginning":   {"x\n", "rate 56", 0, cutOff},
		"nothing":                      {"x\ny", "z\n", 0, absent},
	} {
		o := Output{Head: []byte(tt.head), Cut: true, Tail: []byte(tt.tail)}
		found, err := FindMetrics(o, []Metric{metric(t, `rate=rate (\d+)`)})
		if !refusedFor(err, tt.why) || found["rate"].Value != tt.want {
			t.Errorf("%s: %v (%v); want %v, %q", name, found["rate"].Value, err, tt.want, tt.why)
		}
	}
}

func TestJoinMetrics(t *testing.T) {
	metrics := []Metric{metric(t, `throughput=(\S+) req/s`), metric(t, `p50=p50 (\S+)`), metric(t, `max=max (\S+)`), metric(t, `io_per_sec=(\S+) io/s`)}
	one := Output{Head: []byte("10 req/s p50 2ms max 3ms 5 io/s\n")}
	two := Output{Head: []byte("30 req/s p50 4ms max 9ms 7 io/s\n")}
	joined := must.Get(JoinMetrics([]Output{one, two}, metrics))(t)
	for name, want := range map[string]Value{
		"throughput": {40, "", BetterHigher}, "p50": {0.003, "seconds", BetterLower},
		"max": {0.009, "seconds", BetterLower}, "io_per_sec": {12, "", BetterHigher},
	} {
		if joined[name] != want {
			t.Errorf("%s: %+v, want %+v", name, joined[name], want)
		}
	}
	alone, err := JoinMetrics([]Output{one}, metrics)
	if err != nil || alone["p50"].Value != 0.002 || alone["throughput"].Value != 10 {
		t.Errorf("one replica: %v, %v", alone, err)
	}
	_, err = JoinMetrics([]Output{one, two, {}}, metrics)
	if !refusedFor(err, absent) || !strings.Contains(err.Error(), "replica 3 of 3: metric throughput") {
		t.Errorf("a replica without it: %v", err)
	}
	_, err = JoinMetrics([]Output{one, {Head: []byte("30 req/s p50 4 max 9ms 7 io/s\n")}}, metrics)
	if !refusedFor(err, severalUnit) || !strings.Contains(err.Error(), "metric p50") {
		t.Errorf("different units: %v", err)
	}
}

// FuzzCut: a figure that is found in a cut output stood in a whole line of it.
func FuzzCut(f *testing.F) {
	f.Add("v 12\nv 3456\nv 7\n", uint(12), uint(15))
	f.Add("v 1\n v 2", uint(5), uint(5))
	f.Fuzz(func(t *testing.T, out string, from, to uint) {
		m := Metric{Name: "v", Better: BetterHigher, Regexp: regexp.MustCompile(`(?m)v (\S+)`)}
		i := min(from, uint(len(out)))
		j := min(max(to, i), uint(len(out)))
		found, err := FindMetrics(Output{Head: []byte(out[:i]), Cut: true, Tail: []byte(out[j:])}, []Metric{m})
		if err != nil {
			return
		}
		for line := range strings.Lines(out) {
			for _, match := range m.Regexp.FindAllStringSubmatch(line, -1) {
				if v, _, ok := figure(match[1]); ok && v == found["v"].Value {
					return
				}
			}
		}
		t.Fatalf("%q without %d to %d: %v stands in no line", out, i, j, found["v"])
	})
}
