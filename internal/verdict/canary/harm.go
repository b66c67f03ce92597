package canary

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

const (
	// UnreadyMost is how long a pod may not be ready.
	UnreadyMost = 10 * time.Second
	// falseAlarms is how many canaries of equal pods may end for a query.
	falseAlarms = 0.01
)

// Harm looks for a query, a latency or a number of failed requests that is above the
// control's, in all slices of a round so far. It may be asked after every slice: chance
// alone ends one canary in 100 at most, whatever the number of its settings and metrics.
func (h Header) Harm(list []Slice) *journal.Harm {
	guarded := h.guarded(list)
	alpha := falseAlarms / float64(max(1, len(guarded)*h.compared()))
	for _, a := range list[len(list)-1] {
		for _, name := range guarded {
			is, was := pairsOf(list, a.Setting.Label, name)
			if ratio, harm := paired.Above(is, was, h.Plan.MarginP99, alpha); harm {
				return &journal.Harm{Code: journal.HarmQuery, Setting: a.Setting.Label, Query: name, Slices: len(is), Ratio: ratio}
			}
		}
	}
	return nil
}

// guarded are the metrics that end a canary: the user's queries, and what the programs'
// Meters have.
func (h Header) guarded(list []Slice) (names []string) {
	for _, f := range h.figures() {
		own := f == FigureP99 || f == FigureFailed
		if h.asked(f) || own && slices.ContainsFunc(list, func(s Slice) bool {
			return slices.ContainsFunc(s, func(t journal.Trial) bool { return metric(&t, f) != nil })
		}) {
			names = append(names, f)
		}
	}
	return names
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

// compared is how many settings are compared with a control, in all rounds.
func (h Header) compared() (n int) {
	for _, settings := range h.Canary.Rounds {
		n += len(settings) - 1
	}
	return n
}
