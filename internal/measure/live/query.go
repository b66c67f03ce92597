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

// longestAnswer is how long a Prometheus may take for a query.
const longestAnswer = 10 * time.Second

// ask asks a query of the slice that ended at a time.
func (e *Experiment) ask(ctx context.Context, name string, _ time.Duration, _ []string, at time.Time) (*float64, error) {
	ctx, cancel := context.WithTimeout(ctx, longestAnswer)
	defer cancel()
	return e.Ask(ctx, name, judge.Asked(seconds(e.Header.Live.SliceSeconds)), nil, at)
}

// unanswered is an error if a query has no value in half of the baseline's slices.
func (e *Experiment) unanswered(trials []*journal.Trial) error {
	for _, q := range e.Header.Live.Queries {
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
			return endFor(journal.EndFailed, "--query %s has a value in %d of %s of the baseline%s: %s must hold two scrapes; use a longer --slice", q.Name, n, phrase.Count(len(trials), "slice"), why, number.Chosen(judge.Asked(seconds(e.Header.Live.SliceSeconds))))
		}
	}
	return nil
}
