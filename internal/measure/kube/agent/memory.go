package agent

import (
	"time"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// memory adds the target's memory, and what its garbage collector did since the start.
func (s *span) memory(u *journal.Usage) {
	if m, ok := observe.MemoryOf(pids()); ok {
		u.Memory = &journal.Memory{RSSBytes: &m.Resident, PeakRSSBytes: m.Peak}
	}
	if s.pid == 0 {
		return
	}
	now, err := s.eye.reader.GC(s.pid)
	if err != nil {
		return
	}
	since, ok := now.Since(s.gc, s.began)
	if !ok {
		return
	}
	u.GC = &journal.GC{Cycles: since.Cycles, PauseSeconds: since.Pause.Seconds(), HeapBytes: since.Heap, SpanSeconds: time.Since(s.began).Seconds()}
	if since.CPU != nil {
		u.GC.CPUSeconds, u.GC.BusySeconds = new(since.CPU.Collecting.Seconds()), new(since.CPU.Busy.Seconds())
	}
}
