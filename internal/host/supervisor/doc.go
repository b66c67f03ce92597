// Package supervisor runs commands so that nothing of them is left: the program
// under test, the compilers, the load generators, whatever procfit starts.
//
// The model, three processes deep:
//
//	procfit ── supervisor ── command ── its descendants
//
// The supervisor is procfit's own executable in another part (see Stage), one a
// command, in a session of its own and outside of the command's cgroups. It is
// the reaper of every orphan below it (PR_SET_CHILD_SUBREAPER), so whatever the
// command starts stays within its reach, daemons too. A socket joins it to
// procfit: when that closes, because procfit died by whatever signal, the
// supervisor kills every descendant until none is left and removes the cgroups
// and the folders that it was told of.
//
// The command begins as procfit's executable once more, the stage, which writes
// itself into the cgroups, sets its affinity and then becomes the command by
// execve: a Go program reads both when it starts, and one moved later keeps the
// default it took before. Both hold for a process of many threads, too, since
// execve ends all but the calling one.
//
// When the command ends, by itself or by Stop, its leftover descendants are
// killed before that is reported, and what the whole tree used is reported with
// it. Its output goes through the supervisor, which keeps the first and the last
// part, so a command never waits for the disk, nor fills it.
//
// A supervisor that is killed is lost: the command itself dies with it
// (PR_SET_PDEATHSIG), and its orphans come to procfit, which is a reaper too and
// ends them (LostError).
//
// What outlives single commands, a folder of compiled programs and the cgroups
// of all replicas, is told to a Keeper, which is a supervisor without a command.
//
// Limits: Linux only; elsewhere Run runs a command plainly, and the rest fails. A
// set-user-ID command loses the death signal. When procfit and a supervisor are
// killed at once, that one's daemons are left. The maximum resident size is never
// below the stage's own of some 10 MB, as execve does not reset it.
package supervisor
