package load

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// codeOf is the code of a refused metric, empty without an error.
func codeOf(t *testing.T, err error) metricCode {
	t.Helper()
	var refused *metricError
	if err != nil && !errors.As(err, &refused) {
		t.Fatalf("no metricError: %v", err)
	}
	if refused == nil {
		return ""
	}
	return refused.Code
}

// A figure whose ratio or reciprocal no float64 and no JSON number can hold is
// refused, with the text that was found.
func TestMetricsOutOfRange(t *testing.T) {
	for _, tt := range []struct {
		metric, text string
		code         metricCode
	}{
		{"time:lower=v (.*)", "1e-320", metricOutOfRange},
		{"throughput=v (.*)", "1e-320", metricOutOfRange},
		{"throughput=v (.*)", "1e-301", metricOutOfRange},
		{"throughput=v (.*)", "1e-400", metricOutOfRange}, // 0 as a float64
		{"throughput=v (.*)", "1e301", metricOutOfRange},
		{"throughput=v (.*)", "-1e400", metricOutOfRange},
		{"throughput=v (.*)", "1e-299", ""},
		{"throughput=v (.*)", "0", metricNotPositive},
		{"p99=v (.*)", "0ms", metricNotPositive},
		{"p99=v (.*)", "-3", metricNotPositive},
		{"errors=v (.*)", "0", ""},
		{"idle=v (.*)", "0.00", ""},
		{"idle=v (.*)", "-2", ""},
		{"idle=v (.*)", "NaN", metricNoNumber},
		{"idle=v (.*)", "Inf", metricNoNumber},
		{"idle=v (.*)", "0x10", metricNoNumber},
		{"idle=w (.*)", "1", metricAbsent},
	} {
		_, err := FindMetrics(Output{Head: []byte("v " + tt.text + "\n")}, []Metric{metric(t, tt.metric)})
		if code := codeOf(t, err); code != tt.code {
			t.Errorf("%s of %q: code %q, want %q", tt.metric, tt.text, code, tt.code)
		}
		if err != nil && !strings.Contains(err.Error(), `"`+tt.text) && tt.code != metricAbsent {
			t.Errorf("%s of %q: %v does not quote it", tt.metric, tt.text, err)
		}
	}
	for _, v := range []float64{0, -1} {
		if code := codeOf(t, Value{Value: v}.CheckRatio("x")); code != metricNotPositive {
			t.Errorf("%v: code %q", v, code)
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
		code       metricCode
	}{
		"cut short at the end":         {"a\nrate 12", "", 0, metricCut},
		"cut short, once before":       {"rate 7\nrate 12", "", 0, metricCut},
		"whole, once":                  {"rate 7\nother 12", "", 7, ""},
		"several, the last is unknown": {"rate 7\nrate 8\nother", "", 0, metricCut},
		"the summary is in the tail":   {"rate 7\nrate 8\nra", "56\nrate 123\n", 123, ""},
		"cut short at its beginning":   {"x\n", "rate 56", 0, metricCut},
		"nothing":                      {"x\ny", "z\n", 0, metricAbsent},
	} {
		o := Output{Head: []byte(tt.head), Cut: true, Tail: []byte(tt.tail)}
		found, err := FindMetrics(o, []Metric{metric(t, `rate=rate (\d+)`)})
		if code := codeOf(t, err); code != tt.code || found["rate"].Value != tt.want {
			t.Errorf("%s: %v, code %q (%v); want %v, %q", name, found["rate"].Value, code, err, tt.want, tt.code)
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
	if codeOf(t, err) != metricAbsent || !strings.Contains(err.Error(), "replica 3 of 3: metric throughput") {
		t.Errorf("a replica without it: %v", err)
	}
	_, err = JoinMetrics([]Output{one, {Head: []byte("30 req/s p50 4 max 9ms 7 io/s\n")}}, metrics)
	if codeOf(t, err) != metricUnits || !strings.Contains(err.Error(), "metric p50") {
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
