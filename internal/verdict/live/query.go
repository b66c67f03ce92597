package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// own are the names that no query may have.
var own = []string{FigureCPU, figureP50, FigureP99, figureFailed, figureRequests}

// ParseQuery reads NAME=QUERY.
func ParseQuery(s string) (journal.Query, error) {
	q, err := journal.ParseQuery(s, `p99='histogram_quantile(0.99, sum by (le) (rate(…_bucket[$slice])))'`)
	switch {
	case err != nil:
	case slices.Contains(own, q.Name):
		err = fmt.Errorf("%q: %s is the name of a metric that procfit always counts: choose another name", s, q.Name)
	case strings.Contains(q.Text, journal.PodsPlaceholder):
		err = fmt.Errorf("%q: %s is for kube canary; name the one program that tries the values, for example {pod=\"api-7d9\"}", s, journal.PodsPlaceholder)
	case !strings.Contains(q.Text, journal.SlicePlaceholder):
		err = fmt.Errorf("%q: %s must be in it, so that it is of one value alone: rate(x[$slice]); in a shell, use single quotes", s, journal.SlicePlaceholder)
	}
	return q, err
}

const (
	// falseAlarms is how many experiments with equal values may end for a query.
	falseAlarms = 0.01
	// longestAnswer is how long a Prometheus may take for all queries.
	longestAnswer = 10 * time.Second
)

// Asked is the time that queries are of: it fits into the shortest slice.
func Asked(slice time.Duration) time.Duration {
	return max(time.Second, time.Duration(float64(slice)*(1-jitter)).Truncate(time.Second))
}

// ask asks all queries for the slice that ends now, and does not wait for the answers.
func (r *Run) ask(ctx context.Context) <-chan []journal.Answer {
	queries, all := r.Header.Live.Queries, make(chan []journal.Answer, 1)
	if len(queries) == 0 {
		all <- nil
		return all
	}
	at := time.Now()
	go func() {
		ctx, cancel := context.WithTimeout(ctx, longestAnswer)
		defer cancel()
		all <- journal.Ask(len(queries), func(i int) (*float64, error) {
			return r.Ask(ctx, queries[i].Name, Asked(seconds(r.Header.Live.SliceSeconds)), nil, at)
		})
	}()
	return all
}

// answered keeps the answers, if they are there.
func (h Header) answered(t *journal.Trial, answers <-chan []journal.Answer) bool {
	select {
	case list := <-answers:
		for i, a := range list {
			t.Keep(h.Live.Queries[i], "lower", a)
		}
		return true
	default:
		return false
	}
}

// unanswered is an error if a query has no value in half of the baseline's slices.
func (h Header) unanswered(trials []*journal.Trial) error {
	for _, q := range h.Live.Queries {
		n, why := 0, ""
		for _, t := range trials {
			if _, known := t.Metrics[q.Name]; known {
				n++
			}
			for _, w := range t.Warnings { // of all queries
				if strings.HasPrefix(w.Detail, q.Name+": ") {
					why = " (" + phrase.Clean(w.Detail) + ")"
				}
			}
		}
		if 2*n <= len(trials) {
			return endFor(journal.EndFailed, "--query %s has a value in %d of %s of the baseline%s: %s must hold two scrapes; use a longer --slice", q.Name, n, phrase.Count(len(trials), "slice"), why, number.Chosen(Asked(seconds(h.Live.SliceSeconds))))
		}
	}
	return nil
}

// harmful is a query that is proven above the start value's, and by more than its margin, by
// the rule that ends a canary. It may be asked after every block: chance alone ends one
// experiment in 100 at most.
func (h Header) harmful(list []Slice) *journal.Harm {
	margin, compared := h.rules().margin(), len(h.Plan.Settings)-1
	for value := 1; value <= compared; value++ {
		for _, q := range h.Live.Queries {
			is, was := pairsOf(list, value, q.Name)
			ratio, proven := race.Above(is, was, margin, falseAlarms/float64(len(h.Live.Queries)*compared))
			if proven {
				return &journal.Harm{Code: journal.HarmQuery, Setting: h.Plan.Settings[value].Label, Query: q.Name, Slices: len(is), Ratio: ratio}
			}
		}
	}
	return nil
}

// pairsOf are a query's values with a value and with the start value, in the blocks that have
// both.
func pairsOf(list []Slice, value int, query string) (is, was []float64) {
	blocks := map[int][2]*float64{} // of the start value and of the value
	for i := range list {
		s := &list[i]
		x, known := s.Queries[query]
		if !known || s.Void != "" || s.Value != 0 && s.Value != value {
			continue
		}
		pair := blocks[s.Block]
		pair[min(1, s.Value)] = &x
		if blocks[s.Block] = pair; pair[0] != nil && pair[1] != nil {
			is, was = append(is, *pair[1]), append(was, *pair[0])
		}
	}
	return is, was
}
