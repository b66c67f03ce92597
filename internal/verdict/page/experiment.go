package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/paired"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// experiment are the words of what was measured under a program's own traffic, in values next
// to a control: of a canary, and of a live experiment, whose control is the value at start.
type experiment struct {
	*verdict.Canary               // of a live experiment its settings and its end
	live            *verdict.Live // nil: a canary
	r               *verdict.Result
}

func (w experiment) kind() string {
	if w.live != nil {
		return "experiment"
	}
	return "canary"
}

func (w experiment) control() string {
	if w.live != nil {
		return "the value at start"
	}
	return "the control"
}

// start is the control by its value.
func (w experiment) start() string {
	if w.live != nil {
		return "GOMAXPROCS=" + strconv.Itoa(w.live.Start)
	}
	for _, s := range w.Settings {
		if s.Procs == nil && len(s.Observed) == 1 {
			return fmt.Sprintf("the default (%d)", s.Observed[0])
		}
	}
	return "the default"
}

// outcomes are those of judged metrics, in the order in which sentences have them.
var outcomes = []verdict.Outcome{verdict.OutcomeBetter, verdict.OutcomeWorse, verdict.OutcomeWithin, verdict.OutcomeUndecided}

func (w experiment) proven(v verdict.Verdict) (list []string) {
	for _, a := range w.Settings {
		if a.Procs != nil && a.Verdict == v {
			list = append(list, a.Label)
		}
	}
	return list
}

// against is how the only value of a verdict compares with the control: what is better first.
// Empty: there are several, or nothing is known.
func (w experiment) against(of verdict.Verdict) string {
	if len(w.proven(of)) != 1 {
		return ""
	}
	var list []string
	for _, a := range w.Settings {
		if a.Procs == nil || a.Verdict != of {
			continue
		}
		for _, o := range outcomes {
			for _, f := range a.Figures {
				switch {
				case f.Outcome != o:
				case fromZero(f):
					list = append(list, w.name(f.Name)+" is "+w.changes(f))
				default:
					list = append(list, changedFrom(w.name(f.Name), f.Ratio, w.margin(f.Name)))
				}
			}
		}
	}
	return strings.Join(list, "; ")
}

func (w experiment) margin(figure string) float64 {
	switch {
	case figure == paired.FigureCPU && w.live != nil:
		return w.r.Plan.Margin
	case figure == paired.FigureCPU:
		return canary.MarginCPU
	case figure == paired.FigureP50 && w.live != nil:
		return live.MarginP50
	}
	return w.r.Plan.MarginP99
}

func (w experiment) underThis() string {
	return "Under this traffic GOMAXPROCS " + phrase.And(w.proven(w.r.Recommendation.Verdict))
}

func (w experiment) betterIn() (list []string) {
	for _, a := range w.Settings {
		for _, f := range a.In(verdict.OutcomeBetter) {
			if name := w.name(f); a.Verdict == verdict.Undecided && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// byLimit is that the CPU limit recommends an undecided value, if the one at start is above it
// and nothing is worse; empty: it does not.
func (w experiment) byLimit() string {
	if w.live == nil || w.live.LimitCPUs <= 0 {
		return ""
	}
	n := int(math.Ceil(w.live.LimitCPUs))
	for _, a := range w.Settings {
		if a.Procs != nil && *a.Procs == n && n < w.live.Start && a.Verdict == verdict.Undecided && a.In(verdict.OutcomeWorse) == nil {
			return fmt.Sprintf(" By its CPU limit of %s, %d is the recommended value, and no metric is proven worse with it.", number.CPUs(w.live.LimitCPUs), n)
		}
	}
	return ""
}

// others is what other programs used meanwhile; empty: little, or it is not known.
func (w experiment) others() string {
	most, of := 0.0, w.r.Host.EffectiveCPUs
	for _, a := range w.Settings {
		if f := a.Of(live.FigureOthers); w.live != nil && f != nil && f.Value.Median != nil {
			most = max(most, *f.Value.Median)
		}
	}
	if of <= 0 || most < contest.OthersMatter*of {
		return ""
	}
	return fmt.Sprintf("other programs used %.2g of %s", most, number.CPUs(of))
}

// open is that no value is better: of one that is so in a metric, where it is undecided.
func (w experiment) open(more string) string {
	var list []string
	for _, a := range w.Settings {
		if better, open := a.In(verdict.OutcomeBetter), a.In(verdict.OutcomeUndecided); a.Verdict == verdict.Undecided && better != nil && open != nil {
			list = append(list, fmt.Sprintf("GOMAXPROCS %s is better than %s in %s, and undecided in %s", a.Label, w.start(), w.measured(a, better), w.measured(a, open)))
		}
	}
	if list == nil {
		list = []string{"no value is proven better than " + w.start()}
	}
	return "Under this traffic " + phrase.Semicolons(list) + ": " + more + "."
}

// reason is in which metrics a setting is better, worse, or neither. The table has by how much.
func (w experiment) reason(a verdict.CanarySetting) string {
	if a.Void != nil {
		return "GOMAXPROCS " + a.Label + ": not judged, because " + w.words().say(a.Void).text
	}
	var parts []string
	for _, o := range outcomes {
		if list := a.In(o); list != nil {
			parts = append(parts, outcomeWords[o]+" in "+w.names(list))
		}
	}
	switch {
	case a.Same && (len(parts) != 1 || a.In(verdict.OutcomeWithin) == nil):
		parts = []string{"the value of the default here, so any difference is chance"}
	case a.Verdict == verdict.NoDifference:
		parts = []string{"the same within the margins in " + phrase.And(w.judged())}
	}
	if parts == nil {
		parts = []string{"no metric was compared"}
	}
	if higher := worseUnjudged(a); higher != nil {
		parts = append(parts, "higher, but not judged, because "+phrase.And(w.judged())+" decide: "+w.differences(a, higher))
	}
	return "GOMAXPROCS " + a.Label + ": " + phrase.Semicolons(parts)
}

// worseUnjudged are the metrics that do not decide, and in which a setting is worse all the
// same: a table that shows it must not be under a sentence that is silent on it.
func worseUnjudged(a verdict.CanarySetting) (list []string) {
	for _, m := range a.Figures {
		if low := m.Ratio.Low; m.Outcome == verdict.OutcomeNotJudged && m.Name != paired.FigureRequests && m.Name != live.FigureOthers && low != nil && *low > 1 {
			list = append(list, m.Name)
		}
	}
	return list
}

// measured are metrics with what was measured of them: "latency p99 (−12.0%)".
func (w experiment) measured(a verdict.CanarySetting, figures []string) string {
	return phrase.And(phrase.Each(figures, func(f string) string {
		switch m := a.Of(f); {
		case m == nil || m.Ratio.Median == nil:
			return w.name(f)
		case fromZero(*m):
			return w.name(f) + " (" + w.changes(*m) + ")"
		default:
			return w.name(f) + " (" + change(*m.Ratio.Median) + ")"
		}
	}))
}

func (w experiment) names(figures []string) string { return phrase.And(phrase.Each(figures, w.name)) }

func (w experiment) judged() (list []string) {
	for _, a := range w.Settings {
		for _, m := range a.Figures {
			if name := w.name(m.Name); a.Procs != nil && m.Outcome != verdict.OutcomeNotJudged && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

func (w experiment) name(figure string) string { return w.figure(figure).name }

// figure has the words and the unit of a metric. What a query's value is in, its author knows.
func (w experiment) figure(name string) figureWords {
	each, requests, cpu, wait := "per pod", "requests per pod", number.Plain("CPUs"), number.Plain("s/s")
	if w.live != nil {
		each, requests = "per second", "requests per second"
	}
	if w.PerRequest {
		each, cpu, wait = "per request", number.Time(), number.Time()
	}
	switch name {
	case paired.FigureCPU:
		return figureWords{name: "CPU time " + each, unit: cpu}
	case canary.FigureWait:
		return figureWords{name: "run-queue wait " + each, unit: wait}
	case paired.FigureRequests:
		return figureWords{name: requests, unit: number.PerSecond("req/s")}
	case paired.FigureP50:
		return figureWords{name: "latency p50", unit: number.Time()}
	case paired.FigureP99:
		return figureWords{name: "latency p99", unit: number.Time()}
	case paired.FigureFailed:
		return figureWords{name: "failed requests", unit: number.Ratio()}
	}
	if f, seen := seenFigures[name]; seen && (w.live != nil || name == canary.FigureSched || name == canary.FigureThrottled) {
		return f
	}
	return figureWords{name: name, unit: number.Plain("")}
}

// differences are what is proven of some metrics: "CPU time a request −12.0% [−15.0%, −9.0%]".
func (w experiment) differences(a verdict.CanarySetting, figures []string) string {
	return phrase.And(phrase.Each(figures, func(f string) string {
		if m := a.Of(f); m != nil {
			return w.name(f) + " " + w.changes(*m)
		}
		return w.name(f) + " (unknown)"
	}))
}

// fromZero reports whether the control has none of what a value has: no percentage tells that.
func fromZero(f verdict.CanaryFigure) bool {
	return f.Control.Median != nil && *f.Control.Median == 0 && f.Value.Median != nil && *f.Value.Median > 0
}

func (w experiment) changes(f verdict.CanaryFigure) string {
	if fromZero(f) {
		return valueOf(w.figure(f.Name).unit, f.Value) + " instead of 0"
	}
	c := difference(f.Ratio)
	return c.Value + " " + c.Detail
}

func valueOf(u number.Unit, i stat.Interval) string {
	if i.Median == nil {
		return absent
	}
	return u.Value(*i.Median)
}

// first is the first metric that any setting has, with its highest value.
func (w experiment) first() (figure string, high float64) {
	for _, a := range w.Settings {
		for _, m := range a.Figures {
			if m.Value.Median == nil || figure != "" && m.Name != figure {
				continue
			}
			figure = m.Name
			for _, p := range m.Points {
				for _, x := range p {
					if x != nil {
						high = max(high, *x)
					}
				}
			}
		}
	}
	return figure, high
}

type figureWords struct {
	name string
	unit number.Unit
	what string // that there are so many of, if it is seen of a program from outside
}

// seenFigures are those that are.
var seenFigures = map[string]figureWords{
	live.FigureMean:       {"latency mean", number.Time(), ""},
	live.FigureLatencyP99: {"latency p99", number.Time(), ""},
	live.FigureUnread:     {"connections with unread requests", number.Plain(""), "connections with unread requests"},
	live.FigureSched:      {"scheduling latency p99", number.Time(), ""},
	live.FigureRunnable:   {"goroutines waiting for a CPU", number.Plain(""), "goroutines waiting for a CPU"},
	live.FigureThrottled:  {"throttled periods", number.Ratio(), "of the CPU limit's periods throttled"},
	live.FigureSwitches:   {"context switches per second", number.Plain(""), ""},
	live.FigureOthers:     {"CPUs used by other programs", number.Plain(""), ""},
}

func (f figureWords) count(x float64) string {
	if f.unit == number.Ratio() {
		return number.Share(x)
	}
	return number.Count(math.Round(x))
}
