package bench

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/procfit/procfit/internal/verdict"
)

// metric is a metric that the program printed, and where it goes: a benchmark's on
// a line of that benchmark, another on the run's own.
type metric struct {
	key    string // in the points
	title  string
	unit   string
	better string
}

// printedBy lists the metrics of a group, by name. Those of Go benchmarks are
// named "Parse/small ns/op".
func printedBy(g *verdict.Group, run string) []metric {
	all := map[string]verdict.MetricInterval{}
	for i := range g.Settings {
		maps.Copy(all, g.Settings[i].Metrics)
	}
	var list []metric
	for _, key := range slices.Sorted(maps.Keys(all)) {
		m := metric{key: key, title: title(run), unit: unitOf(key), better: all[key].Better}
		if of, ok := strings.CutSuffix(key, " "+all[key].Unit); ok && of != "" && all[key].Unit != "" {
			m.title, m.unit = benchmark(of), unitOf(all[key].Unit)
		}
		if m.unit != "" {
			list = append(list, m)
		}
	}
	return list
}

// benchmark is the name of a Go benchmark, kept as it is but for what would end a
// field.
func benchmark(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, s)
	if first := []rune(s)[0]; unicode.IsLower(first) {
		return "_" + s
	}
	return s
}

// line is one of a trial.
type line struct {
	title  string
	values []benchfmt.Value
}

// lines are the run's own metrics, then each benchmark's.
func lines(p verdict.Point, run, rate string, printed []metric) []line {
	list := []line{{title: title(run)}}
	add := func(title, unit string, x *float64) {
		if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
			return
		}
		i := slices.IndexFunc(list, func(l line) bool { return l.title == title })
		if i < 0 {
			i = len(list)
			list = append(list, line{title: title})
		}
		// A unit stands once on a line; the run's own come first.
		if !slices.ContainsFunc(list[i].values, func(v benchfmt.Value) bool { return v.Unit == unit }) {
			list[i].values = append(list[i].values, benchfmt.Value{Value: *x, Unit: unit})
		}
	}
	add(list[0].title, rate, p.Throughput)
	add(list[0].title, unitP50, p.P50)
	add(list[0].title, unitP99, p.P99)
	for _, m := range printed {
		if x, ok := p.Metrics[m.key]; ok {
			add(m.title, m.unit, &x)
		}
	}
	return slices.DeleteFunc(list, func(l line) bool { return len(l.values) == 0 })
}
