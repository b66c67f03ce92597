package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// ErrHopeless is in the chain of an error that ends a run whose trials prove nothing.
var ErrHopeless = errors.New("no valid trial")

// hopeless looks at the last trial: an invalid pilot ends the run if no other one of the same is valid,
// and so does a block in which all were invalid, if neither its values nor a machine that is busy for a
// while can be the reason.
func hopeless(r Record, ends bool) error {
	last := r.Trials[len(r.Trials)-1]
	if last.Valid {
		return nil
	}
	if last.Role == journal.RolePilot {
		valid, starved := r.pilots(last.Setting)
		switch {
		case valid > 0:
			return nil // the rate comes from that one
		case hadCPUs(last) && last.Setting.Variant == journal.VariantAgainst:
			return fmt.Errorf("%w: the trial of the old version that finds the request rate was invalid: %s", ErrHopeless, last.InvalidReason)
		case hadCPUs(last):
			return fmt.Errorf("%w: the trial that finds the request rate was invalid: %s", ErrHopeless, last.InvalidReason)
		case starved < pilotTries:
			return nil // the next one comes a few seconds later
		}
		return fmt.Errorf("%w: %d trials in a row that find the request rate were invalid while other programs used the machine's CPUs; the last one: %s", ErrHopeless, starved, last.InvalidReason)
	}
	block := r.of(last.Block)
	if !ends || slices.ContainsFunc(block, func(t journal.Trial) bool { return t.Valid }) || r.faultOfValues(block) || !slices.ContainsFunc(block, hadCPUs) {
		return nil
	}
	return fmt.Errorf("%w: all %d trials of block %d were invalid; the last one: %s", ErrHopeless, len(block), last.Block+1, last.InvalidReason)
}

// pilotTries is how many pilots of the same may be invalid because of a lack of CPUs: with the
// default duration a machine that is busy for half a minute or more has another chance.
const pilotTries = 10

// pilots counts the valid pilots of a capacity, and those that lacked CPUs.
func (r Record) pilots(a journal.Setting) (valid, starved int) {
	for _, t := range r.Trials {
		switch {
		case t.Role != journal.RolePilot || capacityOf(t.Setting) != capacityOf(a):
		case t.Valid:
			valid++
		case !hadCPUs(t):
			starved++
		}
	}
	return valid, starved
}

// again reports that a pilot is to be run once more: none of the same is valid, and it lacked CPUs.
func (r Record) again(t journal.Trial) bool {
	if t.Role != journal.RolePilot || t.Valid || hadCPUs(t) {
		return false
	}
	valid, starved := r.pilots(t.Setting)
	return valid == 0 && starved < pilotTries
}

// waits reports that a task comes after a pilot of its group that is to be run once more.
func (r Record) waits(task Task) bool {
	return task.Role != journal.RolePilot && slices.ContainsFunc(r.Trials, func(t journal.Trial) bool {
		return t.Setting.Group().Base() == task.Setting.Group().Base() && r.again(t)
	})
}

// hadCPUs reports that what went wrong in a trial is not because of a lack of CPUs, nor of
// what else may be over soon. A server that refuses requests, as with status 404, had enough
// to answer them.
func hadCPUs(t journal.Trial) bool {
	silent := (t.InvalidCode == journal.InvalidNoAnswer || t.InvalidCode == journal.InvalidErrors) && !refused(t)
	return !t.InvalidCode.Passing() && !(silent && contest.AtLeast(contest.Others(&t.Usage), contest.CrowdedFrom))
}

// refused reports that most failed requests of a trial have a status that blames the
// request: 400 to 499 (RFC 9110, section 15.5), but for those of a server that has too much
// to do.
func refused(t journal.Trial) bool {
	var all, those int64
	for _, p := range t.Phases {
		for kind, n := range p.ErrorKinds {
			all += n
			if k := load.Kind(kind); k >= load.StatusKind(400) && k < load.StatusKind(500) && k != load.StatusKind(408) && k != load.StatusKind(429) {
				those += n
			}
		}
	}
	return those > all/2
}

// faultOfValues reports whether a block of invalid trials may be the fault of its values
// alone, as a race's, which has few: others of the group are valid, and none of these
// ever was. One alone that was may have crashed by chance.
func (r Record) faultOfValues(block []journal.Trial) bool {
	group := false // has a valid trial
	before := false
	for _, t := range r.Trials {
		if t.Role == journal.RolePilot || !t.Valid {
			continue
		}
		group = group || t.Setting.Group() == block[0].Setting.Group()
		before = before || slices.ContainsFunc(block, func(b journal.Trial) bool { return b.Setting.Key() == t.Setting.Key() })
	}
	return group && (!before || len(block) == 1)
}

// agree makes a trial invalid whose throughput is in another unit than that of its group, or the mean of
// other Go benchmarks: neither can be compared.
func agree(t *journal.Trial, before []journal.Trial) {
	for i := range before {
		b := &before[i]
		if !t.Valid || !b.Valid || b.Setting.Group() != t.Setting.Group() {
			continue
		}
		if b.ThroughputUnit != t.ThroughputUnit {
			t.Valid, t.InvalidCode = false, journal.InvalidUnit
			t.InvalidReason = fmt.Sprintf("its throughput is in %s, but that of earlier trials is in %s", t.ThroughputUnit, b.ThroughputUnit)
		} else if text := otherBenchmarks(t, b); text != "" {
			t.Valid, t.InvalidCode = false, journal.InvalidNoBenchmark
			t.InvalidReason = fmt.Sprintf("it ran other benchmarks than earlier trials (%s), so that their means cannot be compared: choose with -bench those that run in every trial", text)
		}
	}
}

// otherBenchmarks is by which Go benchmarks two trials differ; empty: by none. One that is
// named after GOMAXPROCS has another name at each value, so that there only their number
// counts; two programs of a gate run at one value.
func otherBenchmarks(t, earlier *journal.Trial) string {
	now, then := timed(t), timed(earlier)
	gate := t.Setting.Variant != earlier.Setting.Variant && equal(t.Setting.Procs, earlier.Setting.Procs)
	if len(now) == len(then) && !gate {
		return ""
	}
	without := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(other, name) })
	}
	var parts []string
	if lacks := without(then, now); len(lacks) > 0 {
		parts = append(parts, "without "+phrase.And(lacks))
	}
	if more := without(now, then); len(more) > 0 {
		parts = append(parts, "with "+phrase.And(more))
	}
	return strings.Join(parts, ", ")
}

// timed are the Go benchmarks whose mean is a trial's throughput.
func timed(t *journal.Trial) (names []string) {
	if t.ThroughputUnit != "operations" {
		return nil
	}
	for name, m := range t.Metrics {
		if m.Unit == "ns/op" {
			names = append(names, strings.TrimSuffix(name, " ns/op"))
		}
	}
	slices.Sort(names)
	return names
}
