//go:build !portable

package local

import "golang.org/x/sys/unix"

// affinity is the CPUs that procfit may run on, and so what it starts; nil where
// that cannot be told.
func affinity() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var cpus []int
	for n := range len(set) * 64 {
		if set.IsSet(n) {
			cpus = append(cpus, n)
		}
	}
	return cpus
}
