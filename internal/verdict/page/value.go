package page

import (
	"fmt"
	"math"
	"strconv"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// words words a group's recommendation and warnings. Names and reasons from outside
// stand in them as they are: a View cleans them, JSON escapes them.
type words struct {
	group  *verdict.Group
	result *verdict.Result // that the group is of
}

func (w words) plan() journal.Plan {
	if w.result == nil {
		return journal.Plan{}
	}
	return w.result.Plan
}

// metric is what sentences call it: of latency the quantile that is judged.
func (w words) metric(name string) string {
	if name == verdict.MetricP99 {
		return w.group.Latency.Name()
	}
	return name
}

// quantile is what the judged latency is called.
func (w words) quantile() string { return w.group.Latency.Name() }

// name is a setting in a sentence: "2", "unset (2)", "8 (the default)".
func name(s *verdict.Value) string {
	switch {
	case s.Procs == 0:
		return "unset"
	case s.Unset:
		return "unset (" + strconv.Itoa(s.Procs) + ")"
	case s.Default:
		return strconv.Itoa(s.Procs) + " (the default)"
	}
	return strconv.Itoa(s.Procs)
}

func names(list []verdict.Value) string {
	var all []string
	for i := range list {
		all = append(all, name(&list[i]))
	}
	return phrase.And(all)
}

// figures are a setting's levels, as tables have them.
func (w words) figures(s *verdict.Value) string {
	if s.Throughput == nil {
		return "no throughput"
	}
	return w.perSecond(*s.Throughput) + w.latencyClause(s)
}

func (w words) latencyClause(s *verdict.Value) string {
	if s.P99 == nil {
		return ""
	}
	return ", " + w.quantile() + " " + number.Seconds(*s.P99)
}

// perSecond is a throughput of the group.
func (w words) perSecond(x float64) string {
	if w.group.ThroughputUnit == unitRuns && x > 0 {
		return number.Seconds(float64(max(1, w.group.Replicas))/x) + " per run"
	}
	if u := throughputUnit(w.group.ThroughputUnit); u != "" {
		return number.Count(x) + " " + u
	}
	return number.Count(x)
}

// rate is the common one that was offered.
func (w words) rate() string {
	if r := w.group.RatePerSecond; r != nil {
		return number.Count(*r) + " req/s"
	}
	return "the rate"
}

// where is what a verdict holds for.
func (w words) where() string {
	if q := w.group.QuotaCPUs; q != nil {
		return "under a limit of " + number.CPUs(*q)
	}
	if p := w.group.Part; p != nil {
		return fmt.Sprintf("on %d of %s", p.CPUs, number.CPUs(float64(p.Of)))
	}
	return "on " + number.CPUs(w.group.EffectiveCPUs)
}

// elsewhere keeps advice for a part of the CPUs from being taken for all of them.
func (w words) elsewhere() string {
	if p := w.group.Part; p != nil {
		return fmt.Sprintf(" For all %d CPUs keep the default, or measure with the load generator on another machine.", p.Of)
	}
	return ""
}

// slower words a change of throughput: "46% slower", "2.3× faster".
func slower(change float64) string { return differs(change, "faster", "slower") }

// higher words a change of a latency: "30% higher", "4.4× higher", "4% lower".
func higher(change float64) string { return differs(change, "higher", "lower") }

// same is a difference that rounds to none.
const same = "the same"

func differs(change float64, more, less string) string {
	text := amount(change)
	switch {
	case text == "0%":
		return same
	case change > 0:
		return text + " " + more
	}
	return text + " " + less
}

// amount is how large a change is: "30%", and from 100% on as a factor, "4.4×".
func amount(change float64) string {
	if change >= 1 {
		return number.Significant(1+change, 2) + "×"
	}
	return number.Percent(math.Abs(change))
}

// strayed is how far trials stray: "46%", "a factor of 2.6".
func strayed(spread float64) string {
	if spread >= 1 {
		return "a factor of " + short(1+spread, 2)
	}
	return number.Ratio().Number(spread)
}

// percentDown is a ratio rounded down: 98.96% is not 99%.
func percentDown(ratio float64) string {
	return strconv.FormatFloat(math.Floor(1000*ratio+1e-9)/10, 'f', -1, 64) + "%"
}
