//go:build !portable

package supervisor

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// setAffinity binds this thread to the CPUs, all of them or none: the kernel
// would silently leave out those that it does not grant.
func setAffinity(cpus []int) error {
	if cpus == nil {
		return nil
	}
	var want, got, all unix.CPUSet
	for _, cpu := range cpus {
		want.Set(cpu)
	}
	_ = unix.SchedGetaffinity(0, &all) // only for the message below
	err := unix.SchedSetaffinity(0, &want)
	if err == nil {
		err = unix.SchedGetaffinity(0, &got)
	}
	if err == nil && got == want && want.Count() == countDistinct(cpus) {
		return nil
	}
	message := fmt.Sprintf("cannot run on CPUs %v: of those, this process may use %v", cpus, granted(all, cpus))
	if err != nil {
		return fmt.Errorf("%s: %w", message, err)
	}
	return fmt.Errorf("%s", message)
}

// countDistinct: a CPU beyond CPUSet's size is silently not in it.
func countDistinct(cpus []int) int {
	sorted := slices.Sorted(slices.Values(cpus))
	return len(slices.Compact(sorted))
}

func granted(all unix.CPUSet, cpus []int) []int {
	granted := []int{}
	for _, cpu := range cpus {
		if all.IsSet(cpu) {
			granted = append(granted, cpu)
		}
	}
	return granted
}
