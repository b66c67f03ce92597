// Package target runs the program under test: it starts it inside its cgroups
// and affinity, waits until it answers, stops it, and leaves nothing behind.
//
// The model, three processes deep:
//
//	procfit ── supervisor ── target ── its descendants
//
// The supervisor is procfit's own executable in another part (see Stage), one a
// target, in a session of its own and outside of the target's cgroups. It is the
// reaper of every orphan below it (PR_SET_CHILD_SUBREAPER), so whatever the
// target starts stays within its reach, daemons too. A socket joins it to
// procfit: when that closes, because procfit died by whatever signal, the
// supervisor kills every descendant until none is left and removes the cgroups.
//
// The target begins as procfit's executable once more, the stage, which writes
// itself into the cgroups, sets its affinity and then becomes the target by
// execve: a Go program reads both when it starts, and one moved later keeps the
// default it took before. Both hold for a process of many threads, too, since
// execve ends all but the calling one. The death of the supervisor kills the
// target (PR_SET_PDEATHSIG).
//
// When the target ends, by itself or by Stop, its leftover descendants are
// killed before that is reported, and what the whole tree used is reported with
// it. Its output goes through the supervisor, which keeps the first and the last
// part, so a target never waits for the disk, nor fills it.
//
// Limits: Linux only. A target that is set-user-ID loses the death signal. One
// that kills its own supervisor is found by its process group and its cgroup
// only. The maximum resident size is never below the stage's own of some 10 MB,
// as execve does not reset it.
//
// The package also knows what a target may be given as: an URL to wait for, a
// free port, a Go benchmark, a package to be built by some Go version.
package target
