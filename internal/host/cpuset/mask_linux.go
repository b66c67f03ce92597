package cpuset

import "golang.org/x/sys/unix"

// Mask is a set for sched_setaffinity(2). It has room for every CPU: the kernel does not fill one
// that is smaller than its own, which [unix.CPUSet] is on a machine of more than 1024 CPUs.
func Mask(cpus ...int) unix.CPUSetDynamic {
	mask := unix.NewCPUSet(most)
	for _, cpu := range cpus {
		mask.Set(cpu)
	}
	return mask
}
