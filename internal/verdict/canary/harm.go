package canary

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

const (
	// UnreadyMost is how long a pod may not be ready.
	UnreadyMost = 10 * time.Second
	// falseAlarms is how many canaries of equal pods may end for a query.
	falseAlarms = 0.01
	// harmTuned makes the test find harm in four to eight slices.
	harmTuned = 0.25
)

// Condition is one pod as it is.
type Condition struct {
	Setting, Pod string
	Ended        string // how a container ended; empty: all run, for the first time
	Taken        string // by whom the pod was taken away; empty: it is there
	Ready        bool
	Detail       string // what it says of not being ready
}

// watch looks for harm in what pods are from time to time.
type watch struct{ unready map[string]time.Time }

// see is the harm, or by whom a pod was taken away, which is none of the setting's.
func (w *watch) see(now time.Time, list []Condition) (*journal.Harm, string) {
	if w.unready == nil {
		w.unready = map[string]time.Time{}
	}
	for _, c := range list {
		switch {
		case c.Taken != "":
			return nil, c.Taken
		case c.Ended != "":
			return &journal.Harm{Code: journal.HarmEnded, Setting: c.Setting, Pod: c.Pod, Detail: c.Ended}, ""
		case c.Ready:
			delete(w.unready, c.Pod)
			continue
		}
		since, ok := w.unready[c.Pod]
		if !ok {
			w.unready[c.Pod] = now
		} else if now.Sub(since) >= UnreadyMost {
			return &journal.Harm{Code: journal.HarmUnready, Setting: c.Setting, Pod: c.Pod, Detail: c.Detail}, ""
		}
	}
	return nil, ""
}

// harmIn looks for a query that is above the control's, in all slices of a round so far.
// It may be asked after every slice: chance alone ends one canary in 100 at most, whatever
// the number of its settings and queries.
func harmIn(h Header, list []Slice) *journal.Harm {
	for _, a := range list[len(list)-1] {
		for _, q := range h.Canary.Queries {
			is, was := pairsOf(list, a.Setting.Label, q.Name)
			if ratio, harm := above(is, was, h.Plan.MarginP99, falseAlarms/float64(h.queried())); harm && q.Name != Requests {
				return &journal.Harm{Code: journal.HarmQuery, Setting: a.Setting.Label, Query: q.Name, Slices: len(is), Ratio: ratio}
			}
		}
	}
	return nil
}

// pairsOf are a query's values of a setting and of the control, by slices that have both.
func pairsOf(list []Slice, setting, query string) (is, was []float64) {
	for _, s := range list {
		a, control := s.of(setting), s.of(Control)
		if a == nil || control == nil {
			continue
		}
		if x, y := metric(a, query), metric(control, query); x != nil && y != nil {
			is, was = append(is, *x), append(was, *y)
		}
	}
	return is, was
}

// queried is how many comparisons by queries there are in all rounds.
func (h Header) queried() (n int) {
	for _, f := range h.figures() {
		if h.asked(f) {
			for _, settings := range h.Canary.Rounds {
				n += len(settings) - 1
			}
		}
	}
	return max(1, n)
}

// above reports whether values are proven above the control's, with an error of alpha over
// all looks, and by more than the margin. ratio is how far; nil where the control had none.
// Values are compared by their logarithms. Where one is 0, as errors may be, they are
// compared by their square roots.
func above(is, was []float64, margin, alpha float64) (ratio *float64, proven bool) {
	d := make([]float64, len(is))
	if slices.ContainsFunc(slices.Concat(is, was), func(x float64) bool { return x <= 0 }) {
		for i := range is {
			d[i] = math.Sqrt(max(0, is[i])) - math.Sqrt(max(0, was[i]))
		}
		ratio = share(new(floats.Sum(is)), new(floats.Sum(was)))
	} else {
		for i := range is {
			d[i] = math.Log(is[i] / was[i])
		}
		ratio = share(new(math.Exp(stat.Mean(d, nil))), new(1.0))
	}
	return ratio, (ratio == nil || *ratio > 1+margin) && race.Evidence(d, harmTuned) >= 1/alpha
}
