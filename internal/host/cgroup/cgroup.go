// Package cgroup makes the control groups that hold a target under a CFS quota,
// reads their throttling and removes them; and knows which CPU request the weight of
// any group stands for.
//
// The model: a Parent is a directory of the hierarchy with the cpu controller,
// cgroup v1 or v2, in which procfit may make groups. A Group is one of them; it
// starts without a limit. A process enters by writing "0" to ProcsFile, which
// the target's stage does before exec, since a Go program reads its quota at
// start.
//
// Where groups are made:
//
//   - v1: below procfit's own group of the cpu hierarchy.
//   - v2 as root, where the root of the hierarchy is visible: directly below it.
//   - v2 otherwise: below procfit's own group, if it is delegated (an ordinary
//     user's, by systemd's Delegate=yes) or writable (root in a container). v2
//     allows no processes in a group whose children have controllers, so Find
//     moves everything in that group into a leaf child procfit-self-…, where it
//     stays after procfit has ended; the next run started there finds it and
//     uses its parent.
//
// A group's name says who made it: procfit-NS-PID-START-N, with the inode of
// the PID namespace, the process and its start time in clock ticks. RemoveStale
// removes those whose maker is gone. Groups of another PID namespace are left
// alone, because there is no telling who lives there.
//
// Limits: a quota above that of a parent cgroup is refused by v1 and has no effect
// on v2 beyond the ancestor's. The period is always 100 ms, the kernel's and
// Kubernetes' default, so quotas start at 0.01 CPU. A kernel built without
// CONFIG_CFS_BANDWIDTH, or one in threaded mode, is not supported.
package cgroup

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

const (
	// Period is the CFS period of every group that is made here.
	Period = 100 * time.Millisecond
	// MinQuota in CPUs follows from the kernel's least quota of 1 ms a period
	// (min_cfs_quota_period in kernel/sched/core.c).
	MinQuota = 0.01
)

// Stats is the CFS bandwidth accounting of a group since it was made.
type Stats = facts.Throttling

func quotaMicros(cpus float64) (int64, error) {
	switch {
	case math.IsNaN(cpus) || cpus > number.MostCPUs:
		return 0, fmt.Errorf("CPU limit %v is not a number of CPUs from %v to %v", cpus, MinQuota, number.MostCPUs)
	case cpus < MinQuota:
		return 0, fmt.Errorf("CPU limit %v is below the kernel's minimum of %v CPU (1 ms in a period of %v)", cpus, MinQuota, Period)
	}
	return int64(math.Round(cpus * float64(Period.Microseconds()))), nil
}

const (
	groupPrefix = "procfit-"
	// A leaf that holds procfit itself, and whoever shared its cgroup. It is
	// removed when empty, its processes are never killed.
	leafPrefix = groupPrefix + "self-"
)

// An owner is the process that made a group. The start time tells it from a
// later process of the same PID.
type owner struct {
	namespace uint64 // inode of its PID namespace
	pid       int
	start     uint64 // clock ticks since boot
}

func (o owner) String() string {
	return fmt.Sprintf("%d-%d-%d", o.namespace, o.pid, o.start)
}

func (o owner) group(n int64) string { return fmt.Sprintf("%s%v-%d", groupPrefix, o, n) }
func (o owner) leaf() string         { return leafPrefix + o.String() }

// parseName tells who made the group or leaf of this name; ok is false for
// every name that is not exactly one of ours.
func parseName(name string) (o owner, leaf, ok bool) {
	var n int64
	if strings.HasPrefix(name, leafPrefix) {
		_, err := fmt.Sscanf(name, leafPrefix+"%d-%d-%d", &o.namespace, &o.pid, &o.start)
		return o, true, err == nil && o.leaf() == name
	}
	_, err := fmt.Sscanf(name, groupPrefix+"%d-%d-%d-%d", &o.namespace, &o.pid, &o.start, &n)
	return o, false, err == nil && o.group(n) == name
}
