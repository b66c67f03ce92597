package contest

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Counted are a journal's trials as they count, of which all contests and duels are made.
type Counted struct {
	Header journal.Header
	Trials []journal.Trial
	Slices []journal.Trial // of one start, as they are in the journal
	LeftOut

	// Groups are those of the plan, and what only trials have after them.
	Groups []journal.GroupKey

	settings map[journal.GroupKey][]journal.Setting
	of       map[journal.SettingKey][]*journal.Trial
	contests map[journal.GroupKey]*Contest // those that were asked for
}

// LeftOut is which trials of a journal do not count, though they were measured.
type LeftOut struct {
	Repeated int // whose setting, role and block another has
	// Mixed have their throughput in another unit than their group: Unit is that of the
	// group, and Other that of the first of them.
	Mixed       int64
	Unit, Other string
}

// Count decides which of a journal's trials count. Of each setting, role and block it is the
// first: a journal that was joined from copies holds some twice, and counting the last
// would let a repetition choose its outcome. Invalid are made those in another unit than
// their group, those that other programs starved for a while, and those during which the
// machine itself was slow. The caller's trials are left as they are.
func Count(h journal.Header, trials []journal.Trial, sliced ...journal.Trial) *Counted {
	kept, repeated := once(trials)
	left := oneUnit(h, kept)
	left.Repeated = repeated
	t := &Counted{
		Header: h, Trials: withoutSlow(h, withoutBusy(h, withoutBursts(h, kept))), Slices: sliced, LeftOut: left,
		settings: map[journal.GroupKey][]journal.Setting{}, of: map[journal.SettingKey][]*journal.Trial{}, contests: map[journal.GroupKey]*Contest{},
	}
	t.collect()
	return t
}

// collect sorts the trials into settings, and these into groups. Pilots are left out: they
// choose a rate and compare nothing.
func (t *Counted) collect() {
	find := func(a journal.Setting) journal.SettingKey {
		k := a.Key()
		if _, known := t.of[k]; known {
			return k
		}
		if t.of[k] = nil; t.settings[k.Group] == nil {
			t.Groups = append(t.Groups, k.Group)
		}
		t.settings[k.Group] = append(t.settings[k.Group], a)
		return k
	}
	for _, a := range t.Header.Plan.Settings {
		if !t.Header.Plan.Racing() { // of a race it is all that may be measured
			find(a)
		}
	}
	copies := map[journal.SettingKey][]*journal.Trial{}
	for i := range t.Trials {
		switch one := &t.Trials[i]; one.Role {
		case journal.RoleMeasure:
			k := find(one.Setting)
			t.of[k] = append(t.of[k], one)
		case journal.RoleAA:
			k := find(one.Setting)
			copies[k] = append(copies[k], one)
		}
	}
	for k, list := range copies {
		t.of[k] = append(t.of[k], list...)
	}
	for _, a := range t.Header.Plan.Settings { // a group without a trial is named too
		if t.settings[a.Group()] == nil {
			find(a)
		}
	}
	for g, list := range t.settings {
		axis := t.Header.Plan.Axis(g.Compares) // ranks all the same where GOMAXPROCS is compared
		sorting.Stable(list, func(a, b journal.Setting) int {
			x, y := a.Key(), b.Key()
			return cmp.Or(cmp.Compare(axis.Rank(x.Value), axis.Rank(y.Value)), cmp.Compare(x.Variant, y.Variant), cmp.Compare(x.Procs, y.Procs))
		})
	}
}

// Contest is that of one group.
func (t *Counted) Contest(g journal.GroupKey) *Contest {
	if t.contests[g] == nil {
		t.contests[g] = contestOf(t, g)
	}
	return t.contests[g]
}

// Contests are those that the plan asks for, in its order.
func (t *Counted) Contests() (list []*Contest) {
	for _, s := range t.Searches() {
		list = append(list, s.Contests...)
	}
	return list
}

// once keeps the first trial of each place in a plan. Pilots may repeat.
func once(trials []journal.Trial) (kept []journal.Trial, repeated int) {
	type place struct {
		journal.SettingKey
		role  journal.Role
		block int
	}
	seen := map[place]bool{}
	for _, t := range trials {
		p := place{t.Setting.Key(), t.Role, t.Block}
		if t.Role != journal.RolePilot && seen[p] {
			repeated++
			continue
		}
		seen[p] = true
		kept = append(kept, t)
	}
	return kept, repeated
}

// plainUnits are what is counted where no figure of the program's own is.
var plainUnits = []string{"requests", "runs"}

// oneUnit makes trials invalid whose throughput is in another unit than their group's:
// rows a second and runs per second cannot be compared. Older journals may hold both,
// where the figure that was asked for was missing from some trials; then the unit that
// is the program's own is the group's.
func oneUnit(h journal.Header, trials []journal.Trial) (left LeftOut) {
	counts := map[journal.GroupKey]map[string]int{}
	for i := range trials {
		if t := &trials[i]; t.Valid && t.Role != journal.RolePilot && t.ThroughputUnit != "" {
			k := t.Setting.Group()
			if counts[k] == nil {
				counts[k] = map[string]int{}
			}
			counts[k][t.ThroughputUnit]++
		}
	}
	for i := range trials {
		t := &trials[i]
		of := counts[t.Setting.Group()]
		if !t.Valid || t.Role == journal.RolePilot || t.ThroughputUnit == "" || len(of) < 2 {
			continue
		}
		if unit := unitOf(of, len(h.Load.Metrics) > 0); t.ThroughputUnit != unit {
			if left.Mixed++; left.Mixed == 1 {
				left.Unit, left.Other = unit, t.ThroughputUnit
			}
			t.Valid, t.InvalidCode = false, journal.InvalidUnit
		}
	}
	return left
}

// unitOf is the unit of most trials; of those of its own, where the user asked for one.
func unitOf(count map[string]int, asked bool) string {
	own := map[string]int{}
	for unit, n := range count {
		if !slices.Contains(plainUnits, unit) {
			own[unit] = n
		}
	}
	if asked && len(own) > 0 {
		return MostOften(own)
	}
	return MostOften(count)
}

// MostOften is the key of the highest count; of equals the first by name.
func MostOften(count map[string]int) string {
	best, most := "", 0
	for key, c := range count {
		if c > most || c == most && key < best {
			best, most = key, c
		}
	}
	return best
}
