//go:build !portable

package topology

import "golang.org/x/sys/unix"

// Allowed is the CPUs that procfit may run on, and so what it starts; nil where that
// cannot be told.
func Allowed() []int {
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
