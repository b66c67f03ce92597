package agent

import (
	"time"

	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// memory adds the target's memory, and what its garbage collector did since the start.
func (s *span) memory(u *journal.Usage) {
	u.Memory = trial.MemoryOf(pids())
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
	u.GC = new(trial.GCOf(since, time.Since(s.began)))
}
