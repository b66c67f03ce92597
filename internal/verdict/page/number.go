package page

import (
	"github.com/procfit/procfit/internal/show/axis"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// absent represents what was not measured, in a table.
const absent = "–"

// maybe writes a value that may be absent.
func maybe(u number.Unit, x *float64) string {
	if x == nil {
		return absent
	}
	return u.Number(*x)
}

// size is one of memory, which may be absent.
func size(bytes *float64) string { return maybe(number.Memory().Short(), bytes) }

// brackets is an interval in the scale of its median, "[3.92 ms, 4.55 ms]", or empty.
func brackets(u number.Unit, i verdict.Interval) string {
	if i.Median == nil || i.Low == nil || i.High == nil {
		return ""
	}
	return "[" + u.Range(*i.Median, *i.Low, *i.High) + "]"
}

// tick is an axis label: round numbers, no trailing zeros.
func tick(u number.Unit, x float64) string {
	if x == 0 {
		return "0"
	}
	return u.Short().Number(x)
}

// ticks are those of an axis, labelled.
func ticks(u number.Unit, a axis.Axis) []document.Tick {
	var out []document.Tick
	for _, x := range a.Ticks() {
		out = append(out, document.Tick{At: a.At(x), Label: tick(u, x)})
	}
	return out
}

// short is a number that somebody chose, with as many digits as are significant.
func short(x float64, digits int) string { return number.Short(number.Significant(x, digits)) }

// nameRoom is the length, in characters, of the names that are not ours to
// choose: units, variants, metrics.
const nameRoom = 24

// throughputUnit names what is counted a second. A metric's name is its own unit;
// "throughput" says nothing beyond the metric.
func throughputUnit(name string) string {
	switch name {
	case "requests", "":
		return "req/s"
	case unitRuns:
		return "runs/s"
	case "operations":
		return "op/s"
	case verdict.MetricThroughput:
		return ""
	}
	return phrase.Clip(phrase.Clean(name), nameRoom)
}

// unitRuns is what the throughput of a batch program counts.
const unitRuns = "runs"

// runs reports that whole runs of a program are counted: people know how long one takes,
// and not how many there are a second.
func (g *group) runs() bool { return g.ThroughputUnit == unitRuns }

// throughputShown is its unit.
func (g *group) throughputShown() number.Unit {
	if g.runs() {
		return number.Time()
	}
	return number.PerSecond(throughputUnit(g.ThroughputUnit))
}

// asShown is a throughput as it is shown: of runs the time of one, where each replica makes
// its own.
func (g *group) asShown(i verdict.Interval) verdict.Interval {
	if !g.runs() {
		return i
	}
	replicas := float64(max(1, g.Replicas))
	i = inverse(i)
	return verdict.Interval{Median: scaled(i.Median, replicas), Low: scaled(i.Low, replicas), High: scaled(i.High, replicas), N: i.N}
}

// againstPeak heads the ratios of throughput, which stay those where times are next to
// them.
func (g *group) againstPeak() string {
	if g.runs() {
		return "Runs per second, compared with the peak"
	}
	return "Compared with the peak"
}
