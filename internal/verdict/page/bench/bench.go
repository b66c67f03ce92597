// Package bench writes a Result in the Go benchmark format, one line a valid
// trial, so that benchstat reads it: `benchstat -col /procs bench.txt` compares
// the values of GOMAXPROCS with benchstat's own tests. It takes trials for
// unpaired samples and so sees less than the paired comparison of the report.
//
// The setting is in the benchmark's name, /procs=unset or /procs=2, with /quota,
// /replicas, /go, /set and /variant where the plan names them. Repeats of the default are
// among its trials, as in the verdict; pilots and invalid trials are skipped.
package bench

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// The units of a line; throughput has the name of what is counted.
const (
	unitP50 = "p50-sec"
	unitP99 = "p99-sec"
)

// Write writes the trials of a Result.
func Write(w io.Writer, r *verdict.Result) error {
	out := benchfmt.NewWriter(w)
	config := configuration(r)
	// Each unit's direction once, before its first use: benchstat takes smaller for
	// better where nothing is reported.
	declared := map[string]bool{}
	groups := slices.Concat(r.Groups, r.Compared)
	for i := range groups {
		g := &groups[i]
		rate := rateUnit(g.ThroughputUnit)
		printed := printedBy(g, r.Name)
		units := [][2]string{{rate, "higher"}, {unitP50, "lower"}, {unitP99, "lower"}}
		for _, m := range printed {
			units = append(units, [2]string{m.unit, m.better})
		}
		for _, u := range units {
			if declared[u[0]] || u[1] != "higher" && u[1] != "lower" {
				continue
			}
			declared[u[0]] = true
			meta := &benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: u[0], Key: "better"}, OrigUnit: u[0], Value: u[1]}
			if err := out.Write(meta); err != nil {
				return fmt.Errorf("write bench.txt: %w", err)
			}
		}
		for j := range g.Settings {
			a := &g.Settings[j]
			for _, p := range a.Points {
				if !p.Valid || p.Role != journal.RoleMeasure && p.Role != journal.RoleAA {
					continue
				}
				for _, l := range lines(p, r.Name, rate, printed) {
					res := &benchfmt.Result{Config: config, Name: benchfmt.Name(name(l.title, g, a)), Iters: 1, Values: l.values}
					if err := out.Write(res); err != nil {
						return fmt.Errorf("write bench.txt: %w", err)
					}
				}
			}
		}
	}
	return nil
}

func configuration(r *verdict.Result) []benchfmt.Config {
	var out []benchfmt.Config
	for _, c := range [][2]string{
		{"goos", r.Host.OS}, {"goarch", r.Host.Arch}, {"pkg", r.Target.MainModule}, {"cpu", r.Host.CPUModel},
		{"kernel", r.Host.Kernel}, {"go", r.Target.GoVersion}, {"procfit", r.Tool.Version}, {"seed", strconv.FormatUint(r.Plan.Seed, 10)}, {"origin", string(r.Origin)},
	} {
		if v := oneLine(c[1]); v != "" {
			out = append(out, benchfmt.Config{Key: c[0], Value: []byte(v), File: true})
		}
	}
	return out
}

// name is the part after "Benchmark", of a title. /procs comes last: its value never ends in
// a dash and digits, which the format would take for a GOMAXPROCS of its own.
func name(run string, g *verdict.Group, a *verdict.Row) string {
	n := run
	if g.QuotaCPUs != nil {
		n += "/quota=" + strconv.FormatFloat(*g.QuotaCPUs, 'f', -1, 64)
	}
	if g.Replicas > 1 {
		n += "/replicas=" + strconv.Itoa(g.Replicas)
	}
	if g.GoVersion != "" {
		n += "/go=" + word(g.GoVersion)
	}
	if a.Variant != "" {
		n += "/variant=" + word(a.Variant)
	}
	for _, v := range g.Variables {
		n += "/" + word(v.Name) + "=" + word(v.Value)
	}
	if g.Compares != "" {
		n += "/" + word(g.Compares) + "=" + word(a.Variable)
	}
	if a.Procs == nil {
		return n + "/procs=unset"
	}
	return n + "/procs=" + strconv.Itoa(*a.Procs)
}

// replaced has another character (-1: none) for each that is not wanted.
func replaced(s string, by rune, wanted func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if wanted(r) {
			return r
		}
		return by
	}, s)
}

// among reports whether a character is an ASCII letter, a digit, or one of some more.
func among(more string) func(rune) bool {
	return func(r rune) bool {
		return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(more, r))
	}
}

// title may follow "Benchmark": letters and digits, the first not in lower case.
func title(s string) string {
	if s = replaced(s, -1, among("")); s == "" {
		return "Sweep"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// word keeps what neither ends a field nor begins another key.
func word(s string) string { return replaced(s, '_', among("._+")) }

func oneLine(s string) string {
	return strings.Join(strings.Fields(replaced(s, ' ', unicode.IsPrint)), " ")
}

func rateUnit(name string) string {
	switch name {
	case "", "requests":
		return "req/s"
	case "runs":
		return "runs/s"
	case "operations":
		return "op/s"
	}
	// A metric is its own unit.
	return unitOf(name)
}

func unitOf(name string) string { return replaced(name, '_', among("._+/")) }

// metric was printed by the program: a benchmark's goes on a line of that benchmark.
type metric struct {
	key    string // in the points
	title  string
	unit   string
	better string
}

// printedBy lists the metrics by name. Those of Go benchmarks are called "Parse/small ns/op".
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

// benchmark is the name of a Go benchmark without what would end a field.
func benchmark(s string) string {
	s = replaced(s, '_', func(r rune) bool { return unicode.IsPrint(r) && !unicode.IsSpace(r) })
	if first := []rune(s)[0]; unicode.IsLower(first) {
		return "_" + s
	}
	return s
}

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
		// A unit appears once on a line; the run's own come first.
		if !slices.ContainsFunc(list[i].values, func(v benchfmt.Value) bool { return v.Unit == unit }) {
			list[i].values = append(list[i].values, benchfmt.Value{Value: *x, Unit: unit})
		}
	}
	if !p.Missed() { // what it carries is not known
		add(list[0].title, rate, p.ThroughputPerSecond)
	}
	add(list[0].title, unitP50, p.P50)
	add(list[0].title, unitP99, p.P99)
	for _, m := range printed {
		if x, ok := p.Metrics[m.key]; ok {
			add(m.title, m.unit, &x.Value)
		}
	}
	return slices.DeleteFunc(list, func(l line) bool { return len(l.values) == 0 })
}
