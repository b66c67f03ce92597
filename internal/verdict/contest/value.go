package contest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// Value is one compared value: a number of Ps, or the rank of a variable's value, with all
// settings that ran with it. The unset setting is part of the value that its default chose,
// and so is the second copy of an A/A setting: copies of one thing are not compared.
type Value struct {
	Setting  string            // the label of the setting that names it: a numbered one, or unset
	Procs    int               // 0: the unset setting, whose value could not be read
	Default  bool              // it is what the unset setting chose
	Settings []journal.Setting // the one that names it first
	Trials   []*journal.Trial  // of all its settings, both copies of an A/A pair
	// Throughput and P99 (of the judged quantile) are its levels over the run, what the
	// machine did to all values of a block taken out.
	Throughput, P99 stat.Interval
	N               int  // trials that have a throughput
	Saturated       bool // proven not to carry the common rate
	Unmet           bool // it met the objective in half of its trials at most: it carries less than its Throughput
	Out             bool // too slow to be the best, proven or measured no further
	// VersusPeak is against the value of the highest throughput: the bounds that decide
	// whether it is worse, or as good.
	VersusPeak stat.Interval
	Excluded   *Excluded // why it has no part in what is judged, or not in all of it
}

// Excluded says why a setting has no part in what is judged, or not in all of it.
type Excluded string

const (
	ExcludedInvalid    Excluded = "invalid"       // it has no valid trial
	ExcludedTooFewCPUs Excluded = "too_few_cpus"  // other programs left it too few CPUs
	ExcludedUnread     Excluded = "unread"        // unset, and which value it chose is not known
	ExcludedDiffers    Excluded = "differs"       // unset, and unlike the numbered setting of its value
	ExcludedNoFigure   Excluded = "no_throughput" // no valid trial has a throughput
	ExcludedSlower     Excluded = "slower"        // too slow to be the best, proven or measured no further: its latency is not compared
	ExcludedSaturated  Excluded = "saturated"     // it fell behind the common rate, proven or more often than another value: its latency is not compared
	ExcludedUnmet      Excluded = "objective"     // it met the objective in half of its trials at most
	ExcludedLatency    Excluded = "no_latency"    // no trial's latency may be judged
	ExcludedMemory     Excluded = "memory"        // it used more memory than --max-memory
	ExcludedUnweighed  Excluded = "no_memory"     // its memory was not read, and --max-memory limits it
	ExcludedShared     Excluded = "load_on_cpus"  // more Ps than CPUs while the load is on them: not preferred by latency
)

func (c *Contest) evaluate() {
	byValue := map[int][]journal.Setting{}
	var unset *journal.Setting
	for _, a := range c.Current() {
		switch rank := c.valueOf(a); {
		case Valid(c.Measured(a)) == 0, c.TooLarge[a.Key()], c.Unweighed[a.Key()], rank == 0 && c.Group.Compares != "":
		case a.Procs != nil: // a number names its value
			byValue[rank] = append([]journal.Setting{a}, byValue[rank]...)
		case rank == 0:
			unset = &a
		default:
			byValue[rank] = append(byValue[rank], a)
		}
	}
	for _, rank := range slices.Sorted(maps.Keys(byValue)) {
		v := c.value(rank, byValue[rank]...)
		if slices.ContainsFunc(v.Settings, c.HadTooFewCPUs) {
			v.level(c.only(v.Settings...))
			c.TooFewCPUs = append(c.TooFewCPUs, v)
			continue
		}
		v.level(c)
		c.Values = append(c.Values, v)
	}
	if unset != nil {
		v := c.value(0, *unset)
		v.level(c.only(*unset))
		if c.Unset == PartDiffers {
			v.Procs = c.Default
		}
		if c.HadTooFewCPUs(*unset) {
			c.TooFewCPUs = append(c.TooFewCPUs, v)
		} else {
			c.Apart = v
		}
	}
	c.Best, c.Lowest = c.Of(c.lead.Peak), c.Of(c.lead.BestP99)
	for _, v := range c.Values {
		if c.Best != nil && (v == c.Best || c.Throughput(v, c.Best).AsGood) {
			c.Tail = append(c.Tail, v)
		}
	}
	c.ByLatency = slices.ContainsFunc(c.Tail, (*Value).HasLatency)
	for _, v := range c.All() {
		v.VersusPeak, v.Excluded = c.versusPeak(v), c.Excluded(v.Settings[0])
	}
}

func (c *Contest) value(procs int, settings ...journal.Setting) *Value {
	v := &Value{Procs: procs, Setting: settings[0].Label, Settings: settings}
	for _, a := range settings {
		v.Default = v.Default || a.Procs == nil
		v.Trials = append(v.Trials, c.Trials(a)...)
	}
	return v
}

func (v *Value) level(of *Contest) {
	l := of.Level(max(1, cmp.Or(v.Procs, of.Default))) // one that is unknown is compared with none
	v.N, v.Saturated, v.Unmet, v.Out = l.Trials, l.Saturated, l.Unmet, l.Out
	v.Throughput, v.P99 = l.Throughput, l.P99
}

// HasLatency reports whether the value's latency may be judged.
func (v *Value) HasLatency() bool { return v.P99.Median != nil }

// ByDefault is the unset setting; nil: it did not run with the value.
func (v *Value) ByDefault() *journal.Setting {
	i := slices.IndexFunc(v.Settings, func(a journal.Setting) bool { return a.Procs == nil })
	if i < 0 {
		return nil
	}
	return &v.Settings[i]
}

// All are the values that are compared and those that are not, by Ps, unset before its number.
func (c *Contest) All() []*Value {
	all := slices.Concat(c.Values, c.TooFewCPUs)
	if c.Apart != nil {
		all = append(all, c.Apart)
	}
	return sorting.Sorted(all, func(a, b *Value) int {
		switch {
		case a.Procs != b.Procs:
			return cmp.Compare(a.Procs, b.Procs)
		case a.Settings[0].Procs == nil:
			return -1
		}
		return 1
	})
}

// ValueOf is the value that a setting is of; nil: it is of none.
func (c *Contest) ValueOf(a journal.Setting) *Value {
	key := a.Key()
	for _, v := range c.All() {
		if slices.ContainsFunc(v.Settings, func(own journal.Setting) bool { return own.Key() == key }) {
			return v
		}
	}
	return nil
}

// Excluded is why a setting has no part in the verdict, or not in all of it; nil where it
// has, and for the old command's, which have a gate of their own.
func (c *Contest) Excluded(a journal.Setting) *Excluded {
	v := c.ValueOf(a)
	switch {
	case a.Variant != "":
		return nil
	case Valid(c.Trials(a)) == 0:
		return new(ExcludedInvalid)
	case c.TooLarge[a.Key()]:
		return new(ExcludedMemory)
	case c.Unweighed[a.Key()]:
		return new(ExcludedUnweighed)
	case v == nil || v.Throughput.Median == nil:
		return new(ExcludedNoFigure)
	case slices.Contains(c.TooFewCPUs, v):
		return new(ExcludedTooFewCPUs)
	case v == c.Apart && v.Procs == 0:
		return new(ExcludedUnread)
	case v == c.Apart:
		return new(ExcludedDiffers)
	case v.Saturated:
		return new(ExcludedSaturated)
	case c.Out(v):
		return new(ExcludedSlower)
	case c.Level(v.Procs).Behind:
		return new(ExcludedSaturated)
	case v.Unmet:
		return new(ExcludedUnmet)
	case c.ByLatency && !v.HasLatency():
		return new(ExcludedLatency)
	case c.Beyond(v):
		return new(ExcludedShared)
	}
	return nil
}

// versusPeak is a value against the best in throughput, with the bounds that decide: the
// lower reports whether it is as good, the upper whether it is worse.
func (c *Contest) versusPeak(v *Value) stat.Interval {
	if c.Best == nil || v.Unmet || v == c.Apart { // which takes no part
		return stat.Interval{}
	}
	if v == c.Best {
		return stat.Interval{Median: new(1.0), N: v.N}
	}
	e := c.between(v, c.Best, race.Throughput)
	if e.N == 0 {
		return stat.Interval{}
	}
	return stat.OfLogs(e.Mid, e.Lower, e.Most, e.N)
}
