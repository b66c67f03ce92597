package sched

const (
	// maxPoints bounds the series: about a pixel each.
	maxPoints = 600
	// maxPlotted Ps have their queue in a point.
	maxPlotted = 256
)

// Point is one or more samples in a row. Its levels keep the extremes, so that a
// short peak is seen however long the trace is.
type Point struct {
	Segment    int64 `json:"segment"`    // its process
	ToSegment  int64 `json:"to_segment"` // the same
	FromMillis int64 `json:"from_ms"`
	ToMillis   int64 `json:"to_ms"`
	Samples    int64 `json:"samples"`

	Procs       *Level `json:"gomaxprocs"`
	IdleProcs   *Level `json:"idle_procs"`
	Threads     *Level `json:"threads"`
	IdleThreads *Level `json:"idle_threads"`
	Spinning    *Level `json:"spinning_threads"`
	GlobalQueue *Level `json:"global_queue"`
	LocalQueues *Level `json:"local_queues"` // their sum
	Misplaced   *Level `json:"misplaced_share"`
	QueueMax    []int  `json:"queue_max"` // by P, the first maxPlotted; -1 where not known
}

// series holds every sample of a process while they are few, and then points of 2,
// 4, 8 … samples.
type series struct {
	points []Point
	stride int64
}

func (t *series) add(segment int64, s *Sample) {
	if n := len(t.points); n > 0 && t.points[n-1].Samples < t.stride {
		t.points[n-1].note(s)
		return
	}
	if len(t.points) == maxPoints {
		t.halve()
	}
	p := Point{Segment: segment, ToSegment: segment, FromMillis: s.Millis, QueueMax: make([]int, 0, min(len(s.LocalQueues), maxPlotted))}
	p.note(s)
	t.points = append(t.points, p)
}

// note adds a sample.
func (p *Point) note(s *Sample) {
	p.Samples++
	p.ToMillis = s.Millis
	noteCount(&p.Procs, s.Procs)
	noteCount(&p.IdleProcs, s.IdleProcs)
	noteCount(&p.Threads, s.Threads)
	noteCount(&p.IdleThreads, s.IdleThreads)
	noteCount(&p.Spinning, s.SpinningThreads)
	noteCount(&p.GlobalQueue, s.GlobalQueue)
	noteCount(&p.LocalQueues, s.QueuedLocal())
	if share, ok := s.misplaced(); ok {
		note(&p.Misplaced, share)
	}
	p.highest(s.LocalQueues)
}

// Join is one point for several in a row, at least one.
func Join(points []Point) Point {
	t := series{points: points[:1]}
	p := t.clone()[0]
	for i := range points[1:] {
		p.join(&points[1+i])
	}
	return p
}

func (p *Point) highest(queues []int) {
	for i, q := range queues[:min(len(queues), maxPlotted)] {
		if i == len(p.QueueMax) {
			p.QueueMax = append(p.QueueMax, absent)
		}
		p.QueueMax[i] = max(p.QueueMax[i], q)
	}
}

// halve joins neighbours.
func (t *series) halve() {
	t.stride = max(t.stride, 1) * 2
	kept := t.points[:0]
	for i := 0; i < len(t.points); i += 2 {
		p := t.points[i]
		if i+1 < len(t.points) {
			p.join(&t.points[i+1])
		}
		kept = append(kept, p)
	}
	clear(t.points[len(kept):])
	t.points = kept
}

func (p *Point) join(q *Point) {
	p.ToMillis = q.ToMillis
	p.Samples += q.Samples
	for _, l := range []struct {
		to   **Level
		from *Level
	}{
		{&p.Procs, q.Procs}, {&p.IdleProcs, q.IdleProcs}, {&p.Threads, q.Threads}, {&p.IdleThreads, q.IdleThreads},
		{&p.Spinning, q.Spinning}, {&p.GlobalQueue, q.GlobalQueue}, {&p.LocalQueues, q.LocalQueues},
		{&p.Misplaced, q.Misplaced},
	} {
		join(l.to, l.from)
	}
	p.highest(q.QueueMax)
}

func (t *series) clone() []Point {
	points := append([]Point{}, t.points...)
	for i := range points {
		p := &points[i]
		for _, l := range []**Level{&p.Procs, &p.IdleProcs, &p.Threads, &p.IdleThreads, &p.Spinning, &p.GlobalQueue, &p.LocalQueues, &p.Misplaced} {
			*l = (*l).clone()
		}
		p.QueueMax = append([]int{}, p.QueueMax...)
	}
	return points
}
