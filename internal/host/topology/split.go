package topology

import (
	"math"
	"slices"
)

// Busiest is how busy the load's CPUs may be: beyond it a request waits for the load
// and not for the program.
const Busiest = 0.7

// Split gives the load whole cores, from the last on, with so many CPUs that what it
// needs, in CPUs, keeps them no busier than Busiest. The load gets one core at least
// and at most half of the CPUs: what needs more is to come from elsewhere. ok is false
// where the machine has less than two cores.
func Split(cores []Core, need float64) (target, load []int, ok bool) {
	if len(cores) < 2 {
		return nil, nil, false
	}
	all := 0
	for _, c := range cores {
		all += len(c.CPUs)
	}
	want := 1
	if need > 0 {
		want = int(math.Min(math.Ceil(need/Busiest), float64(all)))
	}
	first := len(cores) // of the load's
	for first > 1 && len(load) < want {
		core := cores[first-1].CPUs
		if len(load) > 0 && 2*(len(load)+len(core)) > all {
			break
		}
		first--
		load = append(load, core...)
	}
	for _, c := range cores[:first] {
		target = append(target, c.CPUs...)
	}
	slices.Sort(target)
	slices.Sort(load)
	return target, load, true
}
