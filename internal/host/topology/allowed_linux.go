//go:build !portable

package topology

import (
	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cpuset"
)

// Allowed is the CPUs that procfit may run on, and so what it starts; nil where that
// cannot be told.
func Allowed() []int {
	mask := cpuset.Mask()
	if unix.SchedGetaffinityDynamic(0, mask) != nil {
		return nil
	}
	var cpus []int
	for n := 0; len(cpus) < mask.Count(); n++ {
		if mask.IsSet(n) {
			cpus = append(cpus, n)
		}
	}
	return cpus
}
