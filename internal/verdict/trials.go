package verdict

import (
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Trials are some of a journal's, in its order.
type Trials []*journal.Trial

// Select is a journal's measured trials, both copies of an A/A pair, invalid ones too.
// Pilots are skipped.
func Select(trials []journal.Trial) Trials {
	var list Trials
	for i := range trials {
		if trials[i].Role != journal.RolePilot {
			list = append(list, &trials[i])
		}
	}
	return list
}

// Of is those of one setting, whatever its label.
func (t Trials) Of(key journal.SettingKey) Trials {
	return t.Where(func(x *journal.Trial) bool { return x.Setting.Key() == key })
}

// Where is those that meet a condition.
func (t Trials) Where(meets func(*journal.Trial) bool) Trials {
	return slices.DeleteFunc(slices.Clone(t), func(x *journal.Trial) bool { return !meets(x) })
}

// ByBlock is a metric of the valid trials, by block, as [Paired] takes it. A metric
// reads one number off a trial; nil where it has none.
func (t Trials) ByBlock(figure func(*journal.Trial) *float64) map[int][]float64 {
	values := map[int][]float64{}
	for _, x := range t {
		if v := figure(x); x.Valid && v != nil {
			values[x.Block] = append(values[x.Block], *v)
		}
	}
	return values
}

// Proportion is k of n with the exact 95% interval (Clopper and Pearson, Biometrika
// 1934); nothing of none.
func Proportion(k, n int) Interval {
	if n <= 0 || k < 0 || k > n {
		return Interval{}
	}
	low, high := 0.0, 1.0
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(0.025)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.975)
	}
	return Interval{Median: new(float64(k) / float64(n)), Low: &low, High: &high, N: n}
}

// Failed returns the last trial of a sweep that has no verdict, since its target ran in
// none of the trials that count. It returns nil if there is something to compare, or if
// nothing has failed yet.
func Failed(trials []journal.Trial) *journal.Trial {
	ran := func(t journal.Trial) bool {
		return t.Role != journal.RolePilot && (t.Valid || !t.InvalidCode.NoTarget())
	}
	if len(trials) == 0 || slices.ContainsFunc(trials, ran) {
		return nil
	}
	if last := &trials[len(trials)-1]; !last.Valid && last.InvalidCode.NoTarget() {
		return last
	}
	return nil
}
