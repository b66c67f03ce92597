package paired

import (
	"math"

	"github.com/procfit/procfit/internal/verdict/contest/race"
)

// falseAlarms is how many experiments with equal values may end for a guarded metric.
const falseAlarms = 0.01

// Harm is a guarded metric of a value that is proven above the control's, and by more than its
// margin.
type Harm struct {
	Value  int
	Metric string
	Slices int
	Ratio  *float64 // to the control's, of all slices; nil where that was 0
}

// Harm may be asked after every block: chance alone ends one experiment in 100 at most,
// whatever the number of its values and guarded metrics.
func (r Rules) Harm(list []Slice) *Harm {
	guarded := 0
	for _, m := range r.Metrics {
		if m.Guarded {
			guarded++
		}
	}
	for value := 1; value <= r.Values; value++ {
		for i, m := range r.Metrics {
			if !m.Guarded {
				continue
			}
			is, was := pairsOf(list, value, i)
			if ratio, proven := race.Above(is, was, m.Margin, falseAlarms/float64(guarded*r.Values)); proven {
				return &Harm{value, m.Name, len(is), ratio}
			}
		}
	}
	return nil
}

// pairsOf are a metric of a value and of the control, in the blocks that have both.
func pairsOf(list []Slice, value, metric int) (is, was []float64) {
	blocks := map[int][2]*float64{} // of the control and of the value
	for i := range list {
		s := &list[i]
		if s.Void != "" || s.Value != 0 && s.Value != value || math.IsNaN(s.Figures[metric]) {
			continue
		}
		pair := blocks[s.Block]
		pair[min(1, s.Value)] = &s.Figures[metric]
		if blocks[s.Block] = pair; pair[0] != nil && pair[1] != nil {
			is, was = append(is, *pair[1]), append(was, *pair[0])
		}
	}
	return is, was
}
