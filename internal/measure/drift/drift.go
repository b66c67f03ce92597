// Package drift compares what a program does under its own traffic with what its expected
// value was measured under: how many requests it serves, and the CPU time of each.
//
// # Model
//
// Programs with a Meter (package maxprocs/live) count requests and CPU time. [Watch] reads
// the counters of those programs whose expected value has a load, with each scan, and cuts them
// into slices. The CPU time per request of a slice is a bet of package eprocess that it is more
// than a tolerance above, or below, what was measured. A finding needs a proof, so that
// its false alarms are bounded however often somebody looks.
//
// # Limits
//
//   - A program without a Meter, or whose memory this process may not read, is not compared:
//     its load is not known.
//   - Only slices whose load is within the measured range are compared. A program that idles
//     for most of the day needs a measurement at that load.
//   - What was found is forgotten when the watching process ends.
package drift

import (
	"math"

	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/verdict/eprocess"
	"github.com/procfit/procfit/maxprocs/live"
)

const (
	// alpha is how likely a false alarm is in 30 days; each direction has half of it.
	alpha = 0.05
	// starts are the slices of 30 days.
	starts = 30 * 24 * 3600 / sliceSeconds
	// sliceSeconds is the least that a slice takes, and fewestRequests what it has.
	sliceSeconds   = 10800
	fewestRequests = 1000
	// off is the change that is to be found. Half of it, as a ratio, is the tolerance, which
	// is for what changes with the hour and from one machine to another.
	off = 0.15
	// recent is of how many slices the change is the mean, once it is proven.
	recent = 12
)

// service is what is known of one process over time.
type service struct {
	expected    rule.Expected
	began, last *live.Metrics // of the slice, and the reading before; nil: there is none

	above, below eprocess.Shift
	changes      []float64 // of the latest slices: logarithms of ratios to the expected median
}

// add takes a reading of a program with so many CPUs, and returns what it shows.
func (s *service) add(e *rule.Expected, now live.Metrics, cpus int) *rule.Traffic {
	if s.last == nil || !same(&s.expected, e) {
		s.begin(*e, now)
		return nil
	}
	step, err := meter.Between(*s.last, now, cpus)
	if err != nil { // its numbers are wrong, or of another process
		s.begin(*e, now)
		return nil
	}
	span := float64(now.At-s.last.At) / 1e9
	s.last = &now
	if whole, err := meter.Between(*s.began, now, cpus); err == nil {
		seconds := float64(now.At-s.began.At) / 1e9
		if seconds >= sliceSeconds && whole.Requests >= fewestRequests {
			s.slice(float64(whole.Requests)/seconds, whole.CPU/float64(whole.Requests))
			s.began = &now
		}
	}
	t := &rule.Traffic{PerSecond: float64(step.Requests) / span, Change: s.proven()}
	// Requests come by chance: only what is too many for that is beyond.
	t.Beyond = float64(step.Requests)-3*math.Sqrt(float64(step.Requests)) > e.Requests.Max*span
	return t
}

func (s *service) begin(e rule.Expected, now live.Metrics) {
	*s = service{expected: e, began: &now, last: &now, above: eprocess.Shift{Starts: starts}, below: eprocess.Shift{Starts: starts}}
}

// same reports whether two values were measured together.
func same(a, b *rule.Expected) bool {
	return a.Procs == b.Procs && a.Measured == b.Measured && *a.Requests == *b.Requests &&
		(a.CPUPerRequest == nil) == (b.CPUPerRequest == nil) && (a.CPUPerRequest == nil || *a.CPUPerRequest == *b.CPUPerRequest)
}

// slice takes the CPU time per request of one, in seconds, if its load was measured.
func (s *service) slice(perSecond, each float64) {
	c, r := s.expected.CPUPerRequest, s.expected.Requests
	if c == nil || perSecond < r.Min || perSecond > r.Max || !(each > 0) {
		return
	}
	up, down := tolerance(c.Max/c.Median), tolerance(c.Median/c.Min)
	change := math.Log(each / c.Median)
	s.above.Add(change - up)
	s.below.Add(-change - down)
	s.changes = append(s.changes, change)
	s.changes = s.changes[max(0, len(s.changes)-recent):]
}

// tolerance is half of what is to be found, or the ratio within which the trials of the
// measurement were themselves, as a logarithm.
func tolerance(measured float64) float64 {
	return max(math.Log1p(off)/2, math.Log(measured))
}

// proven is by how much the CPU time per request is another than expected: 0.2 is 20% more;
// 0: that is not proven.
func (s *service) proven() float64 {
	if !s.above.Found(alpha/2) && !s.below.Found(alpha/2) {
		return 0
	}
	sum := 0.0
	for _, c := range s.changes {
		sum += c
	}
	return math.Expm1(sum / float64(len(s.changes)))
}
