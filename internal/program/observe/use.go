package observe

import (
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
)

// What processes and the machine used over a span of time, as package procstat
// measures it.
type (
	Sampler = procstat.Sampler
	Span    = procstat.Span
	Use     = procstat.Use
	CPU     = procstat.CPU
	Memory  = procstat.Memory
	Stat    = procstat.Stat
	// Identity names a process for as long as the machine runs.
	Identity = procstat.Identity
)

// ReadStat reads what the kernel says of a process at once.
func ReadStat(pid int) (Stat, error) { return procstat.ReadStat(pid) }

// Source is where context switches and run-queue wait come from.
type Source = procstat.Source

// Taskstats is complete; the others miss what threads did just before their end.
const Taskstats = procstat.Taskstats

// How the live GOMAXPROCS was found, beside Inferred.
const (
	Symbol  = string(goproc.Symbol)
	Decoded = string(goproc.Decoded)
)

// What is read of a running Go program: Program has the main module and the Go version.
type (
	Program = goproc.Program
	GC      = goproc.GC
	GCSpan  = goproc.GCSpan
)

// ErrNotGo is in the errors of Reader where the process runs no Go program.
var ErrNotGo = goproc.ErrNotGo

// ThreadGroup is the process that a thread belongs to; a process's own PID is that
// of its first thread.
func ThreadGroup(tid int) (pid int, err error) { return procstat.ThreadGroup(tid) }

// NewSampler opens the kernel's counters; Close it.
func NewSampler() (*Sampler, error) { return procstat.NewSampler() }

// MachineCPU reads the CPU time of the whole machine since boot.
func MachineCPU() (CPU, error) { return procstat.ReadCPU() }

// CPUTime reads the CPU time since boot of some CPUs, of all when none is named.
// What others used over a span is the Busy of CPU.Since without what is known to
// have run there. An offline CPU is an error.
func CPUTime(cpus []int) (CPU, error) { return procstat.ReadCPU(cpus...) }

// TreeCPU is the CPU time of processes and of those of their children that have ended
// and were waited for. What cannot be read, as it is gone, counts nothing.
func TreeCPU(pids []int) time.Duration {
	sum := time.Duration(0)
	for _, pid := range pids {
		if s, err := procstat.ReadStat(pid); err == nil {
			sum += s.User + s.System + s.Reaped
		}
	}
	return sum
}

// MemoryOf is the memory of processes together; false where none can be read. What they
// share counts for each.
func MemoryOf(pids []int) (sum Memory, ok bool) {
	for _, pid := range pids {
		if m, err := procstat.ReadMemory(pid); err == nil {
			sum.Resident, sum.Peak, ok = sum.Resident+m.Resident, sum.Peak+m.Peak, true
		}
	}
	return sum, ok
}
