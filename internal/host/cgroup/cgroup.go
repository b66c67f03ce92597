package cgroup

import (
	"fmt"
	"math"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
)

const (
	// Period is the CFS period of every group that is made here.
	Period = 100 * time.Millisecond
	// MinQuota in CPUs follows from the kernel's least quota of 1 ms a period
	// (min_cfs_quota_period in kernel/sched/core.c).
	MinQuota = 0.01
	// maxQuota is more than any machine has; the kernel's own bound is near it.
	maxQuota = 1e5
)

// Stats is the CFS bandwidth accounting of a group since it was made.
type Stats = facts.Throttling

// CheckQuota says whether SetQuota would take this many CPUs.
func CheckQuota(cpus float64) error {
	_, err := quotaMicros(cpus)
	return err
}

// quotaMicros is the CPU time a period for this many CPUs.
func quotaMicros(cpus float64) (int64, error) {
	switch {
	case math.IsNaN(cpus) || cpus > maxQuota:
		return 0, fmt.Errorf("quota %v is not a number of CPUs from %v to %v", cpus, MinQuota, maxQuota)
	case cpus < MinQuota:
		return 0, fmt.Errorf("quota %v is below the kernel's minimum of %v CPU (1 ms in a period of %v)", cpus, MinQuota, Period)
	}
	return int64(math.Round(cpus * float64(Period.Microseconds()))), nil
}
