package race

import (
	"cmp"
	"slices"
)

// A single trial proves nothing: with an outlier in twenty trials, a value that had one in
// its only trial was proven worse, and the wrong value named. So a comparison must hold
// without the trial of the rival that helps it most.

// stray is how far from its setting's level one trial may be, as a logarithm: what is
// further away than that differs in truth.
const stray = 1.0

// alone says whether it is a single trial of b that makes a as good: without it, a looks
// worse by more than the margin.
func (m *Model) alone(a, b int, by Figure, margin float64) bool {
	if m.without == ruleAlone {
		return false
	}
	f := m.of(by)
	mean, without := f.mean[f.index[a]], f.without[f.index[b]]
	if by == P99 {
		return mean-without[1] >= margin
	}
	return mean-without[0] <= -margin
}

// leaveOut finds the mean of each setting without its lowest trial, and without its
// highest; of one that has a single trial, as far from it as a trial may stray.
func (f *fit) leaveOut(d *design, fits []solution) {
	f.without = make([][2]float64, len(d.settings))
	for a, mean := range f.mean {
		f.without[a] = [2]float64{mean + stray, mean - stray}
	}
	if len(fits) == 0 {
		return
	}
	s := slices.MaxFunc(fits, func(a, b solution) int { return cmp.Compare(a.likelihood, b.likelihood) })
	for a := range f.without {
		low, high, sum, weights := -1, -1, 0.0, 0.0
		for i, x := range d.samples {
			if x.setting != a {
				continue
			}
			if low < 0 || s.residual[i] < s.residual[low] {
				low = i
			}
			if high < 0 || s.residual[i] > s.residual[high] {
				high = i
			}
			sum += d.weight[i] * s.residual[i]
			weights += d.weight[i]
		}
		if f.count[a] > 1 {
			f.without[a] = [2]float64{
				f.mean[a] + (sum-d.weight[low]*s.residual[low])/(weights-d.weight[low]),
				f.mean[a] + (sum-d.weight[high]*s.residual[high])/(weights-d.weight[high]),
			}
		}
	}
}
