package observe

import (
	"github.com/procfit/procfit/internal/goproc"
	"github.com/procfit/procfit/internal/procstat"
)

// What processes and the machine used over a span of time, as package procstat
// measures it.
type (
	Sampler = procstat.Sampler
	Span    = procstat.Span
	Use     = procstat.Use
	CPU     = procstat.CPU
)

// Live is a running Go program with its GOMAXPROCS.
type Live = goproc.Live

// ThreadGroup is the process that a thread belongs to; a process's own PID is that
// of its first thread.
func ThreadGroup(tid int) (pid int, err error) { return procstat.ThreadGroup(tid) }

// NewSampler opens the kernel's counters; Close it.
func NewSampler() (*Sampler, error) { return procstat.NewSampler() }

// MachineCPU reads the CPU time of the whole machine since boot.
func MachineCPU() (CPU, error) { return procstat.ReadCPU() }
