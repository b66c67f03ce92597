package live

import (
	"context"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
)

// longestAnswer is how long a Prometheus may take for all queries.
const longestAnswer = 10 * time.Second

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
			return r.Ask(ctx, queries[i].Name, judge.Asked(seconds(r.Header.Live.SliceSeconds)), nil, at)
		})
	}()
	return all
}

// answered keeps the answers, if they are there.
func (r *Run) answered(t *journal.Trial, answers <-chan []journal.Answer) bool {
	select {
	case list := <-answers:
		for i, a := range list {
			t.Keep(r.Header.Live.Queries[i], "lower", a)
		}
		return true
	default:
		return false
	}
}

// unanswered is an error if a query has no value in half of the baseline's slices.
func (r *Run) unanswered(trials []*journal.Trial) error {
	for _, q := range r.Header.Live.Queries {
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
			return endFor(journal.EndFailed, "--query %s has a value in %d of %s of the baseline%s: %s must hold two scrapes; use a longer --slice", q.Name, n, phrase.Count(len(trials), "slice"), why, number.Chosen(judge.Asked(seconds(r.Header.Live.SliceSeconds))))
		}
	}
	return nil
}
