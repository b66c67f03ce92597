package race

import "math"

// How far a trial may stray, as a coefficient of variation, for anything less than a
// proof to stand.
const (
	WildThroughput = 0.15
	WildLatency    = 0.75
)

// Stray is how far a figure strays from trial to trial of one value.
type Stray struct {
	CV    float64 // coefficient of variation
	DF    int     // trials that it comes from, less the values
	Apart bool    // two values are told apart by it all the same
}

// StrayOf measures one figure of the trials. It knows nothing of before.
func StrayOf(trials []Trial, by Figure) Stray {
	f := newFit(samplesOf(trials, by, byValue), priorOf(by))
	if f == nil {
		return Stray{}
	}
	s := Stray{CV: cv(f.sigma)}
	for _, n := range f.count {
		s.DF += n - 1
	}
	for i, a := range f.settings {
		for _, b := range f.settings[:i] {
			d, se := f.difference(a, b)
			s.Apart = s.Apart || math.Abs(d) > f.quantile(outLevel)*se
		}
	}
	return s
}
