package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

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

// falseAlarms is how many experiments with equal values may end for a query.
const falseAlarms = 0.01

// Asked is the time that queries are of: it fits into the shortest slice.
func Asked(slice time.Duration) time.Duration {
	return max(time.Second, time.Duration(float64(slice)*(1-Jitter)).Truncate(time.Second))
}

// Harm is a query that is proven above the start value's, and by more than its margin, by
// the rule that ends a canary. It may be asked after every block: chance alone ends one
// experiment in 100 at most.
func (h Header) Harm(list []Slice) *journal.Harm {
	margin, compared := h.Rules().margin(), len(h.Plan.Settings)-1
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
