package sched

import "slices"

const (
	// recentGaps are those whose median is a process's interval.
	recentGaps = 5
	// fewGaps are too few to know it by: the first is often long, as the program
	// starts.
	fewGaps = 3
)

// process is what one process wrote so far.
type process struct {
	tally
	series series

	at     int64 // the log's clock at its last line
	least  int64 // its shortest gap in milliseconds, 0 without any
	gaps   [recentGaps]int64
	gapN   int
	dying  bool // its last line is a fatal panic's
	before int  // GOMAXPROCS before the last change
	flaps  int64
	falls  int64 // lines due of it whose ticks fell
	mixed  bool  // some of its lines may be another's
}

// usual is the median of the last gaps, 0 before the first.
func (p *process) usual() int64 {
	n := min(p.gapN, recentGaps)
	if n == 0 {
		return 0
	}
	sorted := p.gaps
	slices.Sort(sorted[:n])
	return sorted[(n-1)/2]
}

// dying tells that a fatal panic printed the sample.
func (s *Sample) dying() bool { return s.Detail != nil && s.Detail.Threads.Dying > 0 }
