package contest

import (
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Search finds the best setting of one of the plan's groups. Without --vary it is that
// group's contest. With it, GOMAXPROCS and each variable are compared one after the other,
// each while the others have the best values so far, until each was compared at the best
// values of all others. Where they do not depend on each other, that is once or twice each.
type Search struct {
	Contests []*Contest      // in order; the last may not have ended
	At       journal.Setting // the best so far
	Done     bool
	// Interact are the variables whose best value changed with the others' values, and Apart
	// those whose best value was the same when others had changed; "" is GOMAXPROCS.
	Interact, Apart []string
}

// mostTurns is how often each variable may be compared, where the best values depend on
// each other in a circle.
const mostTurns = 4

// Searches are those of the plan's groups, in their order.
func (t *Counted) Searches() (list []Search) {
	for _, g := range t.Header.Plan.Groups() {
		if len(t.Header.Plan.Vary) == 0 {
			list = append(list, Search{Contests: []*Contest{t.Contest(g)}})
			continue
		}
		list = append(list, t.search(g))
	}
	return list
}

func (t *Counted) search(g journal.GroupKey) Search {
	h := t.Header
	settings := h.Plan.Of(g)
	if len(settings) == 0 { // of a journal that procfit did not write
		return Search{Done: true}
	}
	unset := slices.IndexFunc(settings, func(a journal.Setting) bool { return a.Procs == nil })
	s := Search{At: settings[max(0, unset)]} // until GOMAXPROCS has been compared
	if g.Compares != "" {                    // a grid, which compares one variable
		axis := h.Plan.Axis(g.Compares)
		c := t.Contest(g)
		if s.At = c.settings[max(0, axis.Rank(axis.Start)-1)]; c.Answer() != nil {
			s.At = *c.Answer()
		}
		s.Contests, s.Done = []*Contest{c}, true
		return s
	}
	var names []string
	if len(settings) > 1 {
		names = append(names, "")
	}
	for _, axis := range h.Plan.Vary {
		names = append(names, axis.Name)
	}
	answers := map[journal.GroupKey]*journal.Setting{}
	before := map[string]journal.SettingKey{} // the answers of the last contest of each variable
	for turn, still := 0, 0; still < len(names) && turn < mostTurns*len(names); turn++ {
		name := names[turn%len(names)]
		at := s.At
		at.Compares = name
		best, known := answers[at.Group()]
		if !known {
			c := t.Contest(at.Group())
			s.Contests = append(s.Contests, c)
			if c.Next().Stop == "" {
				return s
			}
			best = c.Answer()
			answers[at.Group()] = best
		}
		if best == nil {
			still++
			continue
		}
		if was, again := before[name]; again && !known {
			s.compare(name, was, best.Key())
		}
		before[name] = best.Key()
		if still++; best.Key() != at.Key() {
			still, s.At = 1, *best
		}
	}
	s.Done = true
	return s
}

// comparedBy is how many variables a plan compares, GOMAXPROCS with them.
func comparedBy(p journal.Plan) int {
	n := len(p.Vary)
	if n == 0 || len(p.Settings) > 0 && len(p.Of(p.Settings[0].Group())) > 1 {
		n++
	}
	return n
}

// Fewest is how many trials a plan takes at least, pilots aside: the first look of each group,
// or of each of its variables, which have equal parts of the budget.
func Fewest(h journal.Header) (n int) {
	for _, c := range Count(h, nil).Contests() {
		rules := c.rules
		rules.MaxTrials = math.MaxInt32 // what it takes, not what it may
		least := len(race.New(rules, nil).Next().Block)
		for _, a := range h.Plan.Vary {
			least = max(least, race.TrialsPerListed*len(a.Values))
		}
		n += least * comparedBy(h.Plan)
	}
	return n
}

// compare notes whether the answer of a variable changed with the others' values.
func (s *Search) compare(name string, was, now journal.SettingKey) {
	list := &s.Apart
	if was.Value != now.Value || was.Procs != now.Procs && name == "" {
		list = &s.Interact
		s.Apart = slices.DeleteFunc(s.Apart, func(n string) bool { return n == name })
	}
	if !slices.Contains(s.Interact, name) && !slices.Contains(s.Apart, name) {
		*list = append(*list, name)
	}
}

// Answer is the setting that the contest comes to; nil: to none. Where nothing is proven
// worse than the default, that is the default of GOMAXPROCS, and the first value of a
// variable.
func (c *Contest) Answer() *journal.Setting {
	pick := c.lead.Pick
	if c.equal() {
		pick = c.Default
	}
	if pick == 0 && c.Unset == PartNone && c.Group.Compares == "" {
		pick = c.lead.Peak // some value must be set
	}
	if pick == 0 || c.Group.Compares != "" && pick > len(c.settings) {
		return nil
	}
	best := c.setting(race.Choice{Value: pick, Unset: c.Unset == PartPooled && pick == c.Default})
	return &best
}

// equal reports whether the default of GOMAXPROCS is as good as any, and no value is proven
// worse.
func (c *Contest) equal() bool {
	return c.Group.Compares == "" && c.Unset == PartPooled && c.lead.Default != "" && !c.rules.Moves &&
		!slices.ContainsFunc(c.lead.Levels, func(l race.Level) bool { return l.Out && !l.OutByOne || l.Slower || l.Later })
}

// Sure is how sure the answer is; empty: nothing is proven or likely of it.
func (c *Contest) Sure() race.Goal {
	switch {
	case c.Answer() == nil:
		return ""
	case c.equal():
		return c.lead.Default
	}
	return c.lead.Confidence
}

// Name is what a value of the contest is called.
func (c *Contest) Name(value int) string {
	if c.Group.Compares != "" && 0 < value && value <= len(c.settings) {
		return c.settings[value-1].Label
	}
	if value <= 0 {
		return ""
	}
	return strconv.Itoa(value)
}

// orderOf makes the seed of a group that follows from the plan's variables its own.
func orderOf(g journal.GroupKey) uint64 {
	if g == g.Base() {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(g.Variables + " " + g.Compares))
	return h.Sum64() + uint64(g.Procs)
}

// exclude finds the settings that used more memory than the plan allows one replica, in any
// trial. Their values take no part, and are not measured again. Those whose memory no valid trial
// has take no part either: a second trial may have it.
func (c *Contest) exclude(out map[int]bool) {
	most := c.h.Plan.MaxMemoryBytes
	if most <= 0 {
		return
	}
	c.TooLarge, c.Unweighed, c.Peak = map[journal.SettingKey]bool{}, map[journal.SettingKey]bool{}, map[journal.SettingKey]int64{}
	peaks, weighed, valid := map[int]int64{}, map[int]bool{}, map[int]int{}
	large := func(v int) bool { return peaks[v] > most*int64(max(1, c.Group.Replicas)) }
	for _, t := range c.own {
		v, peak := c.valueOf(t.Setting), t.PeakMemory()
		if t.Valid {
			valid[v]++
			weighed[v] = weighed[v] || peak != nil
		}
		if peak != nil {
			peaks[v] = max(peaks[v], *peak)
		}
	}
	unweighed := func(v int) bool { return valid[v] > 0 && !weighed[v] && !large(v) }
	for _, t := range c.own {
		v, key := c.valueOf(t.Setting), t.Setting.Key()
		if v <= 0 {
			continue
		}
		if peak, known := peaks[v]; known {
			c.Peak[key] = peak
		}
		switch {
		case large(v):
			c.TooLarge[key], out[v] = true, true
		case unweighed(v):
			c.Unweighed[key], out[v] = true, true
		}
	}
	gone := func(v int) bool { return large(v) || unweighed(v) && valid[v] >= FewestProve }
	c.rules.Values = slices.DeleteFunc(c.rules.Values, gone)
	if gone(c.rules.Default) {
		c.rules.Default = 0
	}
}
