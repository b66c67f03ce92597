package canary

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Header is the header of a canary's journal: its Canary is never nil. Its duration is that
// of each round, and its margin of a p99 is how far above the control's a query may be.
type Header struct{ journal.Header }

func (h Header) slice() time.Duration    { return seconds(h.Canary.SliceSeconds) }
func (h Header) warmup() time.Duration   { return seconds(h.Load.WarmupSeconds) }
func (h Header) duration() time.Duration { return seconds(h.Load.DurationSeconds) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Slices is how many a round has.
func (h Header) Slices() int { return int(h.duration() / h.slice()) }

// Lasts is how long all rounds take, their pods' starts aside.
func (h Header) Lasts() time.Duration {
	return time.Duration(len(h.Canary.Rounds)) * (h.warmup() + time.Duration(h.Slices())*h.slice())
}

// Most is how many canary pods there are at once at most.
func (h Header) Most() (n int) {
	for _, settings := range h.Canary.Rounds {
		n = max(n, len(settings)*h.Control().Replicas)
	}
	return n
}

// Control is the setting that all others are compared with, in as many pods as each other
// has, under the CPU limit that all have.
func (h Header) Control() (a journal.Setting) {
	for _, settings := range h.Canary.Rounds {
		for _, a := range settings {
			return a
		}
	}
	return a
}

// Slice is what all settings of a round did in the same time.
type Slice struct {
	Round, Index int // within all rounds, and within the round
	Started      time.Time
	Seconds      float64
	Settings     []Seen
}

// Seen is what the pods of one setting did together. Its metrics are the queries that have
// a value.
type Seen struct{ journal.Trial }

func (s Slice) control() *Seen {
	i := slices.IndexFunc(s.Settings, func(a Seen) bool { return a.Setting.Procs == nil })
	if i < 0 {
		return nil
	}
	return &s.Settings[i]
}

// metric is the value of a query, or of what an agent read of the runtime; nil: not known.
func (a Seen) metric(name string) *float64 {
	if m, ok := a.Metrics[name]; ok {
		return &m.Value
	}
	return nil
}

// podSeconds is the time that the counters span, of all pods together; nil: there are none.
func (a Seen) podSeconds() *float64 {
	if !(a.MeasuredSeconds > 0) {
		return nil
	}
	return new(a.MeasuredSeconds * float64(len(a.ObservedProcs)))
}

func (a Seen) cpuSeconds() *float64 {
	if a.CPUSeconds == nil {
		return nil
	}
	return new(a.CPUSeconds.Total())
}

// Contents are a canary's journal by slices.
type Contents struct {
	Header Header
	Slices []Slice
	End    *journal.End // nil: its procfit was killed, or is still at work
}

// Of are the contents of a journal; false: it is not a canary's.
func Of(c *journal.Contents) (*Contents, bool) {
	if c.Header.Canary == nil {
		return nil, false
	}
	out := &Contents{Header: Header{c.Header}, End: c.End}
	each := out.Header.Slices()
	for i, t := range c.Trials {
		if i == 0 || t.Block != c.Trials[i-1].Block {
			out.Slices = append(out.Slices, Slice{Round: t.Block / each, Index: t.Block % each, Started: t.Started, Seconds: t.DurationSeconds})
		}
		s := &out.Slices[len(out.Slices)-1]
		s.Settings = append(s.Settings, Seen{t})
	}
	return out, true
}
