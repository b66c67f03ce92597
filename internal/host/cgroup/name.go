package cgroup

import (
	"fmt"
	"strings"
)

const (
	groupPrefix = "procfit-"
	// A leaf that holds procfit itself, and whoever shared its group. It is
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
