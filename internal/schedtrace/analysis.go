package schedtrace

import (
	"io"
	"slices"
)

const (
	maxSegments = 32
	maxChanges  = 64
)

// Analysis adds samples up as they come. Its memory is bounded by the number of
// Ps, not of samples.
type Analysis struct {
	samples int64
	count   int64 // segments
	done    []*Segment
	main    *Segment // the longest of the segments that are over
	now     *tally
	procs   int // GOMAXPROCS of the last sample of this segment
	changed int64
	changes []Change
	series  series
}

// NewAnalysis returns an Analysis of no samples.
func NewAnalysis() *Analysis { return &Analysis{} }

// Add adds a sample; it keeps nothing of it. Time that runs backwards begins a
// new segment.
func (a *Analysis) Add(s *Sample) {
	a.samples++
	if a.now == nil || s.Millis < a.now.last {
		a.close()
		a.now = &tally{}
		a.now.seg.Index = a.count
		a.count++
		a.procs = Absent
	}
	if s.Procs >= 0 {
		if a.procs >= 0 && s.Procs != a.procs {
			a.changed++
			if len(a.changes) < maxChanges {
				a.changes = append(a.changes, Change{Line: s.Line, Millis: s.Millis, From: a.procs, To: s.Procs})
			}
		}
		a.procs = s.Procs
	}
	a.now.add(s)
	a.series.add(a.count-1, s)
}

// close ends the present segment.
func (a *Analysis) close() {
	if a.now == nil {
		return
	}
	if len(a.done) == maxSegments && a.now.seg.Samples <= a.main.Samples {
		return
	}
	g := a.now.segment()
	if len(a.done) < maxSegments {
		a.done = append(a.done, g)
	}
	a.main = longer(a.main, g)
}

func longer(a, b *Segment) *Segment {
	if a == nil || b.Samples > a.Samples {
		return b
	}
	return a
}

// Summary is the state so far and shares nothing with the Analysis, which may go
// on. sc is where the samples came from, for what it could not read; it may be
// nil.
func (a *Analysis) Summary(sc *Scanner) *Summary {
	s := &Summary{
		Counts:       Counts{Samples: a.samples},
		SegmentCount: a.count,
		Segments:     slices.Clone(a.done),
		Main:         a.main,
		ChangeCount:  a.changed,
		Changes:      slices.Clone(a.changes),
		Series:       a.series.clone(),
	}
	if sc != nil {
		s.Counts, s.Skipped = sc.Counts(), sc.Skipped()
		if err := sc.Err(); err != nil {
			s.ReadError = err.Error()
		}
	}
	if a.now != nil {
		g := a.now.segment()
		if len(s.Segments) < maxSegments {
			s.Segments = append(s.Segments, g)
		}
		s.Main = longer(s.Main, g)
	}
	return s
}

// Analyse reads a log to its end. An error of the reader is the summary's
// ReadError, since what came before it was read.
func Analyse(r io.Reader) *Summary {
	sc, a := NewScanner(r), NewAnalysis()
	for sc.Scan() {
		a.Add(sc.Sample())
	}
	return a.Summary(sc)
}
