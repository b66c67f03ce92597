package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
	"github.com/procfit/procfit/internal/verdict/stat"
)

type words struct {
	*verdict.Group
	r *verdict.Result // that the group is of
}

// metric is what sentences call it: of latency the quantile that is judged.
func (w words) metric(name string) string {
	if name == verdict.MetricP99 {
		return w.Latency.Name()
	}
	return name
}

func (w words) quantile() string { return w.Latency.Name() }

// valueName is a setting in a sentence: "2", "8 (default)", "the default".
func valueName(s *contest.Value) string {
	switch {
	case s.Procs == 0:
		return "the default"
	case s.Default:
		return fmt.Sprintf("%d (%s)", s.Procs, journal.Default)
	}
	return strconv.Itoa(s.Procs)
}

func valueNames(list []*contest.Value) string { return phrase.And(phrase.Each(list, valueName)) }

func (w words) figures(s *contest.Value) string {
	if s.Throughput.Median == nil {
		return "no throughput"
	}
	return w.perSecond(*s.Throughput.Median) + w.latencyClause(s)
}

func (w words) latencyClause(s *contest.Value) string {
	if s.P99.Median == nil {
		return ""
	}
	return ", " + w.quantile() + " " + number.Seconds(*s.P99.Median)
}

// perSecond is a throughput of the group.
func (w words) perSecond(x float64) string {
	if w.ThroughputUnit == unitRuns && x > 0 {
		return number.Seconds(float64(max(1, w.Replicas))/x) + " per run"
	}
	return strings.TrimSpace(number.Count(x) + " " + throughputUnit(w.ThroughputUnit))
}

func (w words) rate() string {
	if r := w.RatePerSecond; r != nil {
		return number.Count(*r) + " req/s"
	}
	return "the rate"
}

// settings are those of some labels: "GOMAXPROCS 1 and 2", "the old version".
func (w words) settings(labels []string) string {
	if !w.r.Plan.GateAgainst {
		return "GOMAXPROCS " + phrase.And(labels)
	}
	return phrase.And(phrase.Each(labels, func(l string) string { return "the " + w.version(l) }))
}

// version is such as "old version", or "new version at GOMAXPROCS 2"; without a gate the label.
func (w words) version(label string) string {
	if !w.r.Plan.GateAgainst {
		return label
	}
	procs, old := strings.CutPrefix(label, "old ")
	name := phrase.If(old, "old version", "new version")
	if procs != journal.Default {
		name += " at GOMAXPROCS " + procs
	}
	return name
}

func (w words) where() string {
	if q := w.QuotaCPUs; q != nil {
		return "under a limit of " + number.CPUs(*q)
	}
	if p := w.Part; p != nil {
		return fmt.Sprintf("on %d of %s", p.CPUs, number.CPUs(float64(p.Of)))
	}
	return "on " + number.CPUs(w.EffectiveCPUs)
}

// slower words a change of throughput: "46% slower", "2.3× faster".
func slower(change float64) string { return differs(change, "faster", "slower") }

// higher words a change of a latency: "30% higher", "4.4× higher", "4% lower".
func higher(change float64) string { return differs(change, "higher", "lower") }

// theSame is a difference that rounds to none.
const theSame = "the same"

func differs(change float64, more, less string) string {
	text := amount(change)
	switch {
	case text == "0%":
		return theSame
	case change > 0:
		return text + " " + more
	}
	return text + " " + less
}

// amount is how large a change is: "30%", and as a factor, "4.4×", from twice as much on and from a
// fiftieth on: 99% lower may be 70 times or 200.
func amount(change float64) string {
	switch {
	case change >= 1:
		return number.Significant(1+change, 2) + "×"
	case change <= -0.98 && change > -1:
		return number.Significant(1/(1+change), 2) + "×"
	}
	return number.Percent(math.Abs(change))
}

// strayed is how far trials stray: "46%", "a factor of 2.6".
func strayed(spread float64) string {
	if spread >= 1 {
		return "a factor of " + shortNumber(1+spread, 2)
	}
	return number.Ratio().Number(spread)
}

// percentDown is a ratio rounded down: 98.96% is not 99%.
func percentDown(ratio float64) string {
	return strconv.FormatFloat(math.Floor(1000*ratio+1e-9)/10, 'f', -1, 64) + "%"
}

// absent represents what was not measured, in a table.
const absent = "–"

func maybe(x *float64, write func(float64) string) string {
	if x == nil {
		return absent
	}
	return write(*x)
}

func memorySize(bytes *float64) string { return maybe(bytes, number.Memory().Short().Number) }

// brackets is an interval in the scale of its median, "[3.92 ms, 4.55 ms]", or empty.
func brackets(u number.Unit, i stat.Interval) string {
	if i.Median == nil || i.Low == nil || i.High == nil {
		return ""
	}
	return "[" + u.Range(*i.Median, *i.Low, *i.High) + "]"
}

// axisTicks are those of an axis, labelled by round numbers without trailing zeros.
func axisTicks(u number.Unit, a document.Axis) (out []document.Tick) {
	for _, x := range a.Ticks() {
		label := "0"
		if x != 0 {
			label = u.Short().Number(x)
		}
		out = append(out, document.Tick{At: a.At(x), Label: label})
	}
	return out
}

// shortNumber is a number that somebody chose, with as many digits as are significant.
func shortNumber(x float64, digits int) string { return number.Short(number.Significant(x, digits)) }

// nameRoom is how many characters of a name from outside are shown: units, variants, metrics.
const nameRoom = 24

// throughputUnit names what is counted a second. A metric's name is its own unit;
// "throughput" says nothing beyond the metric.
func throughputUnit(name string) string {
	if unit, known := throughputUnits[name]; known {
		return unit
	}
	return phrase.Clip(name, nameRoom)
}

var throughputUnits = map[string]string{"": "req/s", "requests": "req/s", unitRuns: "runs/s", "operations": "op/s", verdict.MetricThroughput: ""}

// unitRuns is what the throughput of a batch program counts.
const unitRuns = "runs"

// runs reports that whole runs of a program are counted: people know how long one takes,
// and not how many there are a second.
func (g *group) runs() bool { return g.ThroughputUnit == unitRuns }

func (g *group) unit() number.Unit {
	if g.runs() {
		return number.Time()
	}
	return number.PerSecond(throughputUnit(g.ThroughputUnit))
}

// asShown is the time of a run, where each replica makes its own, or the throughput.
func (g *group) asShown(i stat.Interval) stat.Interval {
	if !g.runs() {
		return i
	}
	return i.Inverse().Scaled(float64(max(1, g.Replicas)))
}

// group is a verdict.Group with what is needed to word it.
type group struct {
	words
	anchor    string
	gateAlone bool
	rows      []*verdict.Row // what tables and charts show
}

// objectiveBound is an objective in words: p99 within 20 ms.
func objectiveBound(o slo.Objective) string {
	return o.Name() + " within " + number.Time().Short().Value(o.Seconds)
}

// changedFrom words a ratio to the default, with the end of its interval that is nearer to no
// change. Within the margin nothing has changed.
func changedFrom(name string, i stat.Interval, margin float64) string {
	if i.Median == nil || i.Low == nil || i.High == nil {
		return name + " was not compared often enough to decide"
	}
	switch x := *i.Median; {
	case *i.Low > 1:
		return fmt.Sprintf("%s is %s (at least %s)", name, higher(x-1), amount(*i.Low-1))
	case *i.High < 1:
		return fmt.Sprintf("%s is %s (at least %s)", name, higher(x-1), amount(*i.High-1))
	case *i.Low > 1-margin && *i.High < 1+margin:
		return name + " is the same within " + number.Percent(margin)
	default:
		end := func(ratio float64) string { return strings.Replace(higher(ratio-1), theSame, "0%", 1) }
		return fmt.Sprintf("%s is between %s and %s", name, end(*i.Low), end(*i.High))
	}
}

// lowerFirst is a sentence that follows a colon.
func lowerFirst(s string) string {
	if len(s) < 2 || s[1] != strings.ToLower(s)[1] { // a name such as GOGC
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// difference words a ratio as a change: 0.804 is −19.6%.
func difference(i stat.Interval) document.Cell {
	if i.Median == nil {
		return document.Cell{Value: absent}
	}
	middle, bounds := asChange(i, change)
	return document.Cell{Value: middle, Detail: bounds}
}

// asChange is a ratio with its interval, empty where it has none, in one unit: where any of it
// is twice or more these are factors, for nobody reads "+340%".
func asChange(i stat.Interval, change func(float64) string) (middle, bounds string) {
	times := func(x float64) string { return number.Significant(x, 2) + "×" }
	both := i.Low != nil && i.High != nil
	if *i.Median >= 2 || both && *i.High >= 2 {
		change = times
	}
	if both {
		bounds = "[" + change(*i.Low) + ", " + change(*i.High) + "]"
	}
	return change(*i.Median), bounds
}

// change is a ratio as one, with a decimal: "−19.6%", "2.3×".
func change(ratio float64) string {
	return signed(ratio, func(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + "%" })
}

// signed is a ratio as a change: from twice on as a factor.
func signed(ratio float64, percent func(float64) string) string {
	text := percent(math.Abs(ratio - 1))
	switch {
	case ratio >= 2:
		return number.Significant(ratio, 2) + "×"
	case text == percent(0):
		return text
	case ratio < 1:
		return "−" + text
	}
	return "+" + text
}

func timesText(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "×" }

func verb(n int, one, many string) string { return phrase.If(n == 1, one, many) }

func (w words) likely() bool { return w.Recommendation.Confidence == verdict.Likely }

// others is what other programs took: "other programs used 1.6 of 2 CPUs".
func (w words) others() string {
	o := w.Others
	switch {
	case o.CPUs == nil && o.AtMost != nil:
		return fmt.Sprintf("other programs cannot be counted in trials of less than half a second (they may have used %s of the CPU time)", number.Percent(*o.AtMost))
	case o.CPUs == nil:
		return "other programs used CPUs that the target may use"
	}
	used := func(cpus float64) string { return shortNumber(math.Round(cpus*100)/100, number.Digits) }
	if most := o.MostCPUs; most != nil && *most > 2**o.CPUs {
		return fmt.Sprintf("other programs used up to %s of %s, in the trials of %s", used(*most), number.CPUs(float64(o.Of)), o.MostSetting)
	}
	return fmt.Sprintf("other programs used %s of %s", used(*o.CPUs), number.CPUs(float64(o.Of)))
}

// throughputName is what is compared, in a sentence: of Go benchmarks their mean.
func (g *group) throughputName() string {
	if g.Benchmarks != nil {
		return fmt.Sprintf("geometric mean of %d benchmarks", len(g.Benchmarks.List))
	}
	return phrase.If(g.runs(), "time per run", "throughput")
}
