package contest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// Sliced is what slices of one start of the program say of a group's values. They choose which
// values are measured in starts of their own, and prove nothing.
type Sliced struct {
	Kept []int // values that are measured in starts of their own first; nil: all are measured in them
	SlicedEnd
	Values []SliceValue // by Ps
	Took   float64      // seconds
	Apart  *SlicedApart // by which value slices and starts differ; nil: by none
	// SizedAtStart are modules of the program that are known to take a size from GOMAXPROCS once.
	SizedAtStart []string

	slicing *race.Slicing
}

// SliceValue is one value in the slices.
type SliceValue struct {
	Procs  int
	Slices int
	Kept   bool
	Slower bool // than the fastest, clearly
	// Throughput is over the default's.
	Throughput stat.Interval
}

// SlicedApart is the throughput of a value over the default's, in slices and in starts of its own.
type SlicedApart struct {
	Procs          int
	Slices, Starts float64
}

// SlicedWhy is a reason for starts of their own.
type SlicedWhy string

const (
	SlicedNotSet SlicedWhy = "not_set"   // no value could be set in the running program
	SlicedSilent SlicedWhy = "no_answer" // too many slices were invalid, and no request was answered in the last one
	SlicedFailed SlicedWhy = "failed"    // too many were invalid, the last for another reason
	SlicedBusy   SlicedWhy = "busy"      // other programs used CPUs before the first slice, or that is not known
	SlicedDiffer SlicedWhy = "differ"    // from what starts of their own show
)

// SlicedEnd is why all values are measured in starts of their own.
type SlicedEnd struct {
	Why     SlicedWhy // empty: some are not
	Invalid int       // slices, which do not count
	Detail  string    // why the last of too many does not
}

// Because is the reason in words.
func (s SlicedEnd) Because() string {
	switch s.Why {
	case SlicedBusy:
		return "other programs used CPUs before the first slice, or that is not known"
	case SlicedNotSet:
		return s.Detail
	case SlicedSilent:
		return fmt.Sprintf("%d slices of one start were invalid, and in the last one no request was answered", s.Invalid)
	}
	return fmt.Sprintf("%d slices of one start were invalid; the last one: %s", s.Invalid, s.Detail)
}

// mostInvalid is how many slices may be invalid. Each of them ends its start.
const mostInvalid = 3

// slice finds what the slices of the group say, and leaves to the race the values that these
// keep. The default's value must be known by then.
func (c *Contest) slice(pilots []*journal.Trial) {
	if !c.h.Plan.Slices || c.Unset != PartPooled || c.Group.Compares != "" {
		return
	}
	s := &Sliced{}
	c.Sliced = s
	if slices.ContainsFunc(pilots, func(t *journal.Trial) bool { return t.Valid && !quietTrial(t) }) {
		s.Why = SlicedBusy
	}
	own := s.valid(c)
	rules := c.rules
	rules.Latency, rules.Rate = true, 0 // as they will be: what is kept must not follow from the trials
	narrow := c.rules
	s.slicing = race.Slices(rules, inStarts(own))
	if s.Why == "" && len(own) > 0 && s.slicing.Next() == nil {
		narrow = s.slicing.Narrow(rules)
		narrow.Latency, narrow.Rate = c.rules.Latency, c.rules.Rate
		s.Kept = narrow.First
		if n, live, fresh := s.slicing.Apart(c.raced(nil)); n > 0 {
			s.Kept, s.Why, s.Apart, narrow = nil, SlicedDiffer, &SlicedApart{n, live, fresh}, c.rules
		}
	}
	s.level(c)
	c.rules = narrow
}

// valid are the slices that count. It finds whether too many do not.
func (s *Sliced) valid(c *Contest) (own []*journal.Trial) {
	for i := range c.counted.Slices {
		t := &c.counted.Slices[i]
		if t.Setting.Group() != c.Group || t.Setting.Procs == nil || t.Start == nil { // a journal may be anyone's
			continue
		}
		s.Took += t.DurationSeconds
		if len(t.SizedAtStart) > 0 {
			s.SizedAtStart = t.SizedAtStart
		}
		if t.Valid {
			own = append(own, t)
			continue
		}
		s.Invalid++
		why := cmp.Or(map[journal.InvalidCode]SlicedWhy{journal.InvalidNotSet: SlicedNotSet, journal.InvalidNoAnswer: SlicedSilent}[t.InvalidCode], SlicedFailed)
		if s.Why == "" && (why == SlicedNotSet || s.Invalid == mostInvalid) {
			s.Why, s.Detail = why, t.InvalidReason
		}
	}
	return own
}

// inStarts are slices as package race takes trials. Each start has a level and a drift of its own.
func inStarts(own []*journal.Trial) (list []race.Trial) {
	blocks := map[[2]int]int{}
	for _, t := range own {
		at := [2]int{*t.Start, t.Block}
		if _, seen := blocks[at]; !seen {
			blocks[at] = len(blocks)
		}
		r := Latency{}.figures(t)
		r.Value, r.Block, r.Start = *t.Setting.Procs, blocks[at], *t.Start
		list = append(list, r)
	}
	return list
}

func (s *Sliced) level(c *Contest) {
	lead, standard := s.slicing.Lead(), c.Default
	for _, l := range lead.Levels {
		v := SliceValue{Procs: l.Value, Slices: l.Trials, Kept: s.Kept == nil || slices.Contains(s.Kept, l.Value), Slower: s.slicing.Slower(l.Value)}
		v.Kept = v.Kept || slices.ContainsFunc(c.own, func(t *journal.Trial) bool { return t.Setting.Procs != nil && *t.Setting.Procs == l.Value })
		if ratio, low, high := lead.Model.Ratio(l.Value, standard, race.Throughput, 0.95); !math.IsNaN(ratio) {
			v.Throughput = stat.Interval{Median: new(ratio), N: l.Trials}
			if l.Value != standard && l.Trials > 1 {
				v.Throughput.Low, v.Throughput.High = new(low), new(high)
			}
		}
		s.Values = append(s.Values, v)
	}
}

// NextSlices are the values of the next block of slices, in the order to run; none: starts of
// their own are next.
func (c *Contest) NextSlices() []int {
	if c.Sliced == nil || c.Sliced.Why != "" || len(c.own) > 0 {
		return nil
	}
	return c.Sliced.slicing.Next()
}
