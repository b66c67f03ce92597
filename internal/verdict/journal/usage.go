package journal

// PageFaults are those that had to read from a disk, of all replicas. Such a fault keeps
// the P of its goroutine until the page is there.
type PageFaults struct {
	Major       int64    `json:"major"`
	HeldSeconds *float64 `json:"held_seconds"` // how long threads waited in them, summed over threads; null: procfit may not look at the threads
}

// Add adds those of other processes. What they held is known only if it is known of all.
func (f *PageFaults) Add(more PageFaults) {
	f.Major += more.Major
	if f.HeldSeconds == nil || more.HeldSeconds == nil {
		f.HeldSeconds = nil
		return
	}
	f.HeldSeconds = new(*f.HeldSeconds + *more.HeldSeconds)
}

// Add adds the accounting of another group, or of another stretch.
func (c *Cgroup) Add(more Cgroup) {
	c.Periods += more.Periods
	c.ThrottledPeriods += more.ThrottledPeriods
	c.ThrottledSeconds += more.ThrottledSeconds
	c.Bursts += more.Bursts
	c.BurstSeconds += more.BurstSeconds
}

// Memory is that of all processes of the target together; shared memory is counted once for each.
type Memory struct {
	RSSBytes     *int64 `json:"rss_bytes"`      // at the end of the span; null of a batch program
	PeakRSSBytes int64  `json:"peak_rss_bytes"` // since their start; of a batch program the most that was seen
}

// GC is what the garbage collectors of all replicas did, as their runtimes count it.
type GC struct {
	Cycles       int64   `json:"cycles"`
	PauseSeconds float64 `json:"pause_seconds"`
	HeapBytes    int64   `json:"heap_bytes"` // in use when the last cycle ended, the garbage of it too; 0: none has
	// CPUSeconds is the time of Ps that collecting took, but for idle ones, and BusySeconds
	// the time in which they did anything, both over whole cycles; null: not known. Times of
	// Ps are wall time: with fewer CPUs than Ps both hold waiting too.
	CPUSeconds  *float64 `json:"cpu_seconds"`
	BusySeconds *float64 `json:"busy_seconds"`
	// SpanSeconds is what the cycles are of, of all replicas added up. Of a batch program
	// it is what its runs took until they were last looked at.
	SpanSeconds float64 `json:"span_seconds"`
}

// Add adds that of other processes.
func (m *Memory) Add(more Memory) {
	m.PeakRSSBytes += more.PeakRSSBytes
	if m.RSSBytes == nil {
		m.RSSBytes = more.RSSBytes
	} else if more.RSSBytes != nil {
		m.RSSBytes = new(*m.RSSBytes + *more.RSSBytes)
	}
}

// Add adds the collector of another process to what may be none yet. Times of which a
// part is not known are not known.
func (g *GC) Add(more GC) {
	if g.SpanSeconds == 0 {
		*g = more
		return
	}
	g.Cycles += more.Cycles
	g.PauseSeconds += more.PauseSeconds
	g.HeapBytes += more.HeapBytes
	g.SpanSeconds += more.SpanSeconds
	add := func(to, more *float64) *float64 {
		if to == nil || more == nil {
			return nil
		}
		return new(*to + *more)
	}
	g.CPUSeconds, g.BusySeconds = add(g.CPUSeconds, more.CPUSeconds), add(g.BusySeconds, more.BusySeconds)
}
