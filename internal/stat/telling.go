package stat

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/journal"
)

// telling words what a walk found.
type telling struct {
	plan        journal.Plan
	group       *Group
	loadLimited bool // in most trials
	// pilotsInvalid: some pilot was, of whichever group
	pilotsInvalid bool
}

// name is a setting in a sentence: "2", "unset (2)", "8 (the default)".
func (t telling) name(s *setting) string {
	switch {
	case s.procs == 0:
		return "unset"
	case s.arms[0].Procs == nil:
		return fmt.Sprintf("unset (%d)", s.procs)
	case s.isDefault:
		return fmt.Sprintf("%d (the default)", s.procs)
	}
	return fmt.Sprint(s.procs)
}

func (t telling) names(list []*setting) string {
	var names []string
	for _, s := range list {
		names = append(names, t.name(s))
	}
	return and(names)
}

// figures are a setting's medians, those of the arm that names it.
func (t telling) figures(s *setting) string {
	text := perSecond(s.rate, t.group.ThroughputUnit)
	if s.hasP99() {
		text += ", p99 " + seconds(s.tail)
	}
	return text
}

// asDefault is the setting named by its unset arm.
func (s *setting) asDefault() *setting {
	a := s.byDefault()
	if a == nil {
		return s
	}
	c := *s
	if v := values(a.measure, throughputOf); len(v) > 0 {
		c.rate = medianFloat(v)
	}
	if v := values(a.measure, p99Of); len(v) > 0 {
		c.tail = medianFloat(v)
	}
	return &c
}

// where is what a verdict holds for.
func (t telling) where() string {
	if t.group.QuotaCPUs != nil {
		return "under a quota of " + cpus(*t.group.QuotaCPUs)
	}
	return "on " + cpus(t.group.EffectiveCPUs)
}

func (t telling) keep(w *walk, x *setting) string {
	return fmt.Sprintf("Leave GOMAXPROCS unset: the default chose %d, %s (%s) %s.", x.procs, t.standing(w, x), t.figures(x.asDefault()), t.where())
}

func (t telling) set(w *walk, x *setting) string {
	s := fmt.Sprintf("Set GOMAXPROCS=%d: %s (%s) %s", x.procs, t.standing(w, x), t.figures(x), t.where())
	if d := w.standard(); d != nil {
		s += fmt.Sprintf("; the default chose %d", d.procs)
		if c := w.throughput(d.throughput, x.throughput); c.worse {
			s += ", " + change(c.mid)
		} else if c := w.p99(d.p99, x.p99); w.latency && c.worse {
			s += ", with a p99 " + shift(c.mid)
		} else {
			s += ", no better"
		}
	}
	return s + "."
}

// standing is why x, in the words that the proof allows: "the smallest" only
// where every smaller one is proven worse.
func (t telling) standing(w *walk, x *setting) string {
	for _, s := range w.undecided(x) {
		if s.procs < x.procs {
			return "the smallest value shown to be as good as the best"
		}
	}
	return "the smallest value that is as good as the best"
}

func (t telling) alike(w *walk) string {
	text := fmt.Sprintf("%s give the same throughput within %s", t.names(w.settings), percent(t.plan.Margin))
	if w.latency {
		text += fmt.Sprintf(" and p99 within %s", percent(t.plan.MarginP99))
	}
	return text + " " + t.where()
}

func (t telling) tradeOff(w *walk, x, rival *setting) string {
	return fmt.Sprintf("A trade-off: %s has the throughput (%s), %s the latency (%s): %s, but a p99 %s %s.",
		t.name(x), t.figures(x), t.name(rival), t.figures(rival),
		change(w.throughput(rival.throughput, x.throughput).mid), shift(w.p99(rival.p99, x.p99).mid), t.where())
}

// noneOnLatency is for a T in which no setting is shown to have the best p99.
func (t telling) noneOnLatency(w *walk) string {
	text := "Cannot tell: "
	if len(w.tail) == 1 {
		return text + fmt.Sprintf("%s has the most throughput, but could not carry the rate at which latency is judged.", t.name(w.tail[0]))
	}
	text += fmt.Sprintf("%s are the best on throughput, and on p99 they cannot be told apart.", t.names(w.tail))
	if d := w.standard(); d != nil && w.inTail(d) {
		text += fmt.Sprintf(" Nothing shows the default, %d, to be wrong: leave it until more is known.", d.procs)
	}
	return text
}

// settle says what would make a verdict possible, from the spread of these
// blocks.
func (t telling) settle(w *walk) []string {
	var list []string
	ask := func(metric string, of func(*setting) series, margin, ratio float64) {
		sd, n := spread(of, w.best, w.settings)
		if n < 2 || math.IsNaN(sd) {
			return
		}
		switch need := enough(sd, margin); {
		case need == 0:
			list = append(list, fmt.Sprintf("a quieter machine or a longer --duration: the %s varies by %s between trials of a block, too much for a margin of %s", metric, percent(sd), percent(ratio)))
		case need > n:
			list = append(list, fmt.Sprintf("about %d blocks instead of %d, to tell %s of %s", need, n, percent(ratio), metric))
		default:
			list = append(list, fmt.Sprintf("about %d blocks instead of %d: these fell short by chance, or the %s differs by about the margin of %s", 2*n, n, metric, percent(ratio)))
		}
	}
	open := w.open()
	if open.throughput {
		ask("throughput", speedOf, w.margin, t.plan.Margin)
	}
	if open.p99 {
		ask("p99", tailOf, w.marginP99, t.plan.MarginP99)
	}
	if len(list) == 0 {
		list = append(list, "more blocks: --repeats")
	}
	return list
}

// openness is which metrics leave something open.
type openness struct{ throughput, p99 bool }

func (w *walk) open() openness {
	var o openness
	for _, s := range w.settings {
		c := w.throughput(s.throughput, w.best.throughput)
		o.throughput = o.throughput || s != w.best && !c.asGood && !c.worse
	}
	for _, a := range w.tail {
		for _, b := range w.tail {
			c := w.p99(a.p99, b.p99)
			o.p99 = o.p99 || w.latency && a != b && !c.asGood && !c.worse
		}
	}
	return o
}
