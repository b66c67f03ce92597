package contest

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// SlowFrom is how much slower a machine is, as a share, than usual, when what it ran
// meanwhile is not compared.
const SlowFrom = 0.15

// UsualSpeed is the median of a run's speeds, of two in the middle the lower; 0 of none.
func UsualSpeed(speeds []float64) float64 {
	if len(speeds) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(speeds))[(len(speeds)-1)/2]
}

// Slowed is by how much the machine was slower during each of the trials, as a share: at
// its slower end, next to the median of the run or to its other end, where that is more.
// A speed that changed in between is no better than one that was low, since settings of
// one block then ran at different speeds. A block whose trials have the throughput that their
// settings have elsewhere was not slowed: the program does not depend on what was slower, as
// one that stays in its caches does not depend on the memory of a machine that others share.
// Nor was any block slowed where the throughput of all trials is known not to follow the speed.
// 0: not measured.
func Slowed(trials []journal.Trial) []float64 {
	slowed, low := make([]float64, len(trials)), make([]float64, len(trials))
	var speeds []float64
	var places []int // where they were measured: 2i before the i-th trial, 2i+1 after it
	for i := range trials {
		for k, speed := range []*float64{trials[i].SpeedBefore, trials[i].SpeedAfter} {
			if x := positive(speed); x > 0 {
				speeds, places = append(speeds, x), append(places, 2*i+k)
			}
		}
	}
	usual := UsualSpeed(speeds)
	for i := range trials {
		next := sort.SearchInts(places, 2*i+1)
		high := usual
		for _, x := range speeds[max(0, next-1):min(len(speeds), next+1)] {
			low[i], high = min(cmp.Or(low[i], x), x), max(high, x)
		}
		if low[i] > 0 {
			slowed[i] = max(0, 1-low[i]/high)
		}
	}
	if !follows(trials, low) {
		return make([]float64, len(trials))
	}
	for block := range unslowed(trials, slowed) {
		for i := range trials {
			if trials[i].Block == block && trials[i].Role != journal.RolePilot {
				slowed[i] = 0
			}
		}
	}
	return slowed
}

// follows reports whether the throughput may follow the machine's speed, by the slope of the
// logarithm of one on that of the other within the trials of each setting. With 97.5%
// confidence it does not if a machine that is slower by SlowFrom changes it by less than a third of that.
func follows(trials []journal.Trial, speed []float64) bool {
	type point struct{ x, y float64 }
	of := map[journal.SettingKey][]point{}
	for i := range trials {
		if t := &trials[i]; speed[i] > 0 && tells(t) {
			of[t.Setting.Key()] = append(of[t.Setting.Key()], point{math.Log(speed[i]), math.Log(*t.ThroughputPerSecond)})
		}
	}
	var xx, xy, yy float64
	free := -1.0 // degrees of freedom: one for the slope and one for the level of each setting
	for _, points := range of {
		var mean point
		for _, p := range points {
			mean.x, mean.y = mean.x+p.x/float64(len(points)), mean.y+p.y/float64(len(points))
		}
		for _, p := range points {
			x, y := p.x-mean.x, p.y-mean.y
			xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
		}
		free += float64(len(points) - 1)
	}
	if free < 1 || xx == 0 {
		return true
	}
	slope := xy / xx
	deviation := math.Sqrt(max(0, yy-slope*xy) / free / xx)
	return !(math.Abs(slope)+stat.TQuantile(0.975, free)*deviation < 1.0/3)
}

// tells reports whether a trial's throughput says something of the machine's speed. That
// which is the rate of its load does not.
func tells(t *journal.Trial) bool {
	x := positive(t.ThroughputPerSecond)
	return t.Valid && t.Role != journal.RolePilot && x > 0 && math.Abs(x-offered(t)) > x*SlowFrom/3
}

// unslowed are the blocks in which the machine was slow and the program was not: each trial
// that can be compared with trials of its setting in other blocks is within a third of
// SlowFrom of their median.
func unslowed(trials []journal.Trial, slowed []float64) map[int]bool {
	slow := map[int]bool{}
	for i := range trials {
		if slowed[i] > SlowFrom && tells(&trials[i]) {
			slow[trials[i].Block] = true
		}
	}
	usual := map[journal.SettingKey][]float64{}
	for i := range trials {
		if t := &trials[i]; tells(t) && !slow[t.Block] {
			usual[t.Setting.Key()] = append(usual[t.Setting.Key()], *t.ThroughputPerSecond)
		}
	}
	same, other := map[int]bool{}, map[int]bool{}
	for i := range trials {
		t := &trials[i]
		if of := usual[t.Setting.Key()]; tells(t) && slow[t.Block] && len(of) > 0 {
			if math.Abs(*t.ThroughputPerSecond/UsualSpeed(of)-1) <= SlowFrom/3 {
				same[t.Block] = true
			} else {
				other[t.Block] = true
			}
		}
	}
	maps.DeleteFunc(same, func(block int, _ bool) bool { return other[block] })
	return same
}

// withoutSlow makes valid trials invalid, as [journal.InvalidSlow], during which the machine was
// slow.
func withoutSlow(trials []journal.Trial) {
	for i, slower := range Slowed(trials) {
		if t := &trials[i]; slower > SlowFrom && t.Valid && t.Role != journal.RolePilot {
			t.Valid, t.InvalidCode, t.InvalidReason = false, journal.InvalidSlow, "the machine was slower than in other blocks, or its speed changed"
		}
	}
}

// aside reports whether a trial is neither compared nor a failure of its setting, since the
// machine was to blame.
func aside(t *journal.Trial) bool {
	return t.InvalidCode == journal.InvalidCrowded || t.InvalidCode == journal.InvalidSlow
}
