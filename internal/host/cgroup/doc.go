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
// Limits: a quota above that of an ancestor is refused by v1 and has no effect
// on v2 beyond the ancestor's. The period is always 100 ms, the kernel's and
// Kubernetes' default, so quotas start at 0.01 CPU. A kernel built without
// CONFIG_CFS_BANDWIDTH, or one in threaded mode, is not supported.
package cgroup
