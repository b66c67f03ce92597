package contest

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// Counted are a journal's trials as they count, of which all contests and duels are made.
type Counted struct {
	Header journal.Header
	Trials []journal.Trial
	Slices []journal.Trial // of one start, as they are in the journal

	// Groups are those of the plan, and what only trials have after them.
	Groups []journal.GroupKey

	settings map[journal.GroupKey][]journal.Setting
	of       map[journal.SettingKey][]*journal.Trial
	contests map[journal.GroupKey]*Contest // those that were asked for
}

// Count decides which of a journal's trials count. Of a sweep it makes those invalid that other
// programs starved for a while, and those during which the machine itself was slow. A gate compares
// in pairs, and keeps all: both of a pair ran on the same machine. The caller's trials are left as
// they are.
func Count(h journal.Header, trials []journal.Trial, sliced ...journal.Trial) *Counted {
	t := &Counted{
		Header: h, Trials: slices.Clone(trials), Slices: sliced,
		settings: map[journal.GroupKey][]journal.Setting{}, of: map[journal.SettingKey][]*journal.Trial{}, contests: map[journal.GroupKey]*Contest{},
	}
	if !h.Plan.GateAgainst {
		measured := Measured(t.Trials)
		withoutBursts(measured)
		withoutBusy(h, measured)
		withoutSlow(t.Trials)
	}
	t.collect()
	return t
}

// Measured are a journal's trials without pilots: both copies of an A/A pair, and invalid ones too.
func Measured(trials []journal.Trial) (list []*journal.Trial) {
	for i := range trials {
		if trials[i].Role != journal.RolePilot {
			list = append(list, &trials[i])
		}
	}
	return list
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

func grouped[K comparable](trials []*journal.Trial, key func(journal.Setting) K) map[K][]*journal.Trial {
	by := map[K][]*journal.Trial{}
	for _, t := range trials {
		by[key(t.Setting)] = append(by[key(t.Setting)], t)
	}
	return by
}

// TargetCPUs is how many CPUs the target may use, as the trials counted them.
func TargetCPUs(trials []*journal.Trial) (n int) {
	for _, t := range trials {
		if t.Valid && t.HostUse != nil {
			n = max(n, t.HostUse.TargetCPUs)
		}
	}
	return n
}

// Figures are one number of each valid trial that has it.
func Figures(trials []*journal.Trial, figure func(*journal.Trial) *float64) (list []float64) {
	for _, t := range trials {
		if x := figure(t); t.Valid && x != nil && !math.IsNaN(*x) && !math.IsInf(*x, 0) {
			list = append(list, *x)
		}
	}
	return list
}

// Median is that of the figures; nil: there is none.
func Median(trials []*journal.Trial, figure func(*journal.Trial) *float64) *float64 {
	list := Figures(trials, figure)
	if len(list) == 0 {
		return nil
	}
	return new(stat.Middle(list))
}

// Where are the trials that something is true of.
func Where(trials []*journal.Trial, is func(*journal.Trial) bool) []*journal.Trial {
	return slices.DeleteFunc(slices.Clone(trials), func(t *journal.Trial) bool { return !is(t) })
}

// OfSetting are those of one setting, whatever its label, pilots aside.
func OfSetting(trials []journal.Trial, key journal.SettingKey) []*journal.Trial {
	return Where(Measured(trials), func(t *journal.Trial) bool { return t.Setting.Key() == key })
}

// ByBlock is a figure of the valid trials that have it, by block.
func ByBlock(trials []*journal.Trial, figure func(*journal.Trial) *float64) map[int][]float64 {
	values := map[int][]float64{}
	for _, t := range trials {
		if x := figure(t); t.Valid && x != nil {
			values[t.Block] = append(values[t.Block], *x)
		}
	}
	return values
}

// HowMany trials something is true of.
func HowMany(trials []*journal.Trial, is func(*journal.Trial) bool) (n int) {
	for _, t := range trials {
		if is(t) {
			n++
		}
	}
	return n
}

// Valid counts the valid trials.
func Valid(trials []*journal.Trial) int {
	return HowMany(trials, func(t *journal.Trial) bool { return t.Valid })
}

// Most reports whether something is true of most of the valid trials.
func Most(trials []*journal.Trial, is func(*journal.Trial) bool) bool {
	return 2*HowMany(trials, func(t *journal.Trial) bool { return t.Valid && is(t) }) > Valid(trials)
}

func isMeasured(t *journal.Trial) bool { return t.Role == journal.RoleMeasure }
