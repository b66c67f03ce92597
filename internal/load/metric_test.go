package load

import (
	"math"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

func TestParseMetric(t *testing.T) {
	for _, tt := range []struct {
		in, name, better, err string
	}{
		{in: "throughput=([0-9.]+) MB/s", name: "throughput", better: "higher"},
		{in: "p99=99% in (.*)", name: "p99", better: "lower"},
		{in: "p50=x(.)", name: "p50", better: "lower"},
		{in: "latency=x(.)", name: "latency", better: "lower"},
		{in: "gc_seconds=x(.)", name: "gc_seconds", better: "lower"},
		{in: "ns_op=x(.)", name: "ns_op", better: "lower"},
		{in: "errors=x(.)", name: "errors", better: "lower"},
		{in: "ops_per_sec=x(.)", name: "ops_per_sec", better: "higher"},
		{in: "requests=x(.)", name: "requests", better: "higher"},
		{in: "msgs=x(.)", name: "msgs", better: "higher"},
		{in: "latency:higher=x=(.)", name: "latency", better: "higher"},
		{in: "score:lower=(?i)x(.)", name: "score", better: "lower"},
		{in: "", err: "NAME[:lower|:higher]=REGEXP"},
		{in: "p99", err: "NAME"},
		{in: "p99=", err: "NAME"},
		{in: "=x(.)", err: `the name ""`},
		{in: "a b=x(.)", err: `the name "a b"`},
		{in: "a:up=x(.)", err: `direction "up"`},
		{in: "a=x(", err: "missing closing"},
		{in: "a=x", err: "needs a group"},
	} {
		m, err := ParseMetric(tt.in)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: error %v, want one with %q", tt.in, err, tt.err)
			}
			continue
		}
		if err != nil || m.Name != tt.name || m.Better != tt.better {
			t.Errorf("%q: %+v, %v", tt.in, m, err)
		}
	}
}

func metric(t testing.TB, text string) Metric {
	t.Helper()
	return must.Get(ParseMetric(text))(t)
}

func TestFindMetrics(t *testing.T) {
	const out = "progress: 5 items/s\nprogress: 7 items/s\ntotal 1,234,567.5 rows\np99: 12.3ms\np50: 4\ndelta -1.5e-3\nlist 1,2\nname x\n"
	for _, tt := range []struct {
		metric, unit, err string
		value             float64
	}{
		{metric: `throughput=([0-9.]+) items/s`, value: 7},
		{metric: `rows=total (\S+)`, value: 1234567.5},
		{metric: `p99=p99: (\S+)`, value: 0.0123, unit: "seconds"},
		{metric: `p50=^p50: (\S+)$`, value: 4},
		{metric: `delta=delta (\S+)`, value: -0.0015},
		{metric: `list=list (\S+)`, err: `"1,2"`},
		{metric: `name=name (\S+)`, err: `"x"`},
		{metric: `empty=total()`, err: `""`},
		{metric: `none=nowhere ([0-9]+)`, err: "list 1,2\nname x"},
		{metric: `none=nowhere ([0-9]+)`, err: `"nowhere ([0-9]+)"`},
	} {
		m := metric(t, tt.metric)
		found, err := FindMetrics(Output{Head: []byte(out)}, []Metric{m})
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want one with %q", tt.metric, err, tt.err)
			}
			continue
		}
		if got := found[m.Name]; err != nil || math.Abs(got.Value-tt.value) > 1e-12 || got.Unit != tt.unit || got.Better != m.Better {
			t.Errorf("%s: %+v, %v", tt.metric, got, err)
		}
	}
}

// FuzzMetric: a figure that is found is a finite number.
func FuzzMetric(f *testing.F) {
	f.Add("p99=p99: (\\S+)", "p99: 12.3ms\n")
	f.Add("rows:lower=total (\\S+)", "total 1,234.5")
	f.Fuzz(func(t *testing.T, text, out string) {
		m, err := ParseMetric(text)
		if err != nil {
			return
		}
		if m.Better != BetterLower && m.Better != BetterHigher {
			t.Fatalf("%q: direction %q", text, m.Better)
		}
		found, err := FindMetrics(Output{Head: []byte(out)}, []Metric{m})
		if err != nil {
			return
		}
		v := found[m.Name].Value
		if math.IsNaN(v) || math.IsInf(v, 0) || v != 0 && math.IsInf(1/v, 0) {
			t.Fatalf("%q in %q: %v", text, out, v)
		}
	})
}

// FuzzParseCallName: a name that is read is read again as it was.
func FuzzParseCallName(f *testing.F) {
	f.Add("a.B/C")
	f.Add("/a.B.C")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := parseCallName(text)
		if err != nil {
			return
		}
		if again, err := parseCallName(n.String()); err != nil || again != n || strings.Count(n.Path(), "/") != 2 {
			t.Fatalf("%q: %+v, %v", text, n, err)
		}
	})
}
