// Package contest compares the settings of a journal. Count decides which of its trials
// count. A Contest is those of one group, whose settings can be compared with each other,
// under one set of rules. The planner asks it what to measure next, and the verdict what came
// out: there is one maker, so that a sweep cannot stop measuring what its verdict still
// compares. What it compares are Values: the settings that ran with one number of Ps, their
// trials, and their levels. What is not known of a Value is nil.
//
// A contest counts values of GOMAXPROCS, or ranks of the values of another variable. Of
// several variables, one is compared after the other: that is a Search.
//
// A trial without GOMAXPROCS is a trial of the value that
// most of them ran at; before any ran, of the value that the runtime will choose. It
// takes no part where that value cannot be read (unless the user said that it cannot be:
// then it is of what the runtime will choose), or where it is proven to perform
// unlike the number by more than the margin. A setting that other programs left too few
// CPUs takes no part either. What a contest decides, package race decides from its
// trials.
//
// A gate compares two programs at one setting: it is a Duel, and in no Contest. It asks another
// question than an experiment in blocks (package paired): whether the new program is worse by
// more than the margin, where paired asks whether a value is worse at all, unless it is within
// the margin. A pair is two whole trials, so that the normal sequence alone decides: with signs
// too, as under traffic, a loss of a tenth takes 13.1 pairs in the mean instead of 12.3, in
// 2,000 simulated gates that all find it. And the planner asks a Duel what is next, which it
// could not ask of paired: that is above verdict, and verdict above contest.
package contest

import (
	"maps"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Contest is the trials of one group of a journal under one set of rules. Only [Counted] makes one.
type Contest struct {
	Group journal.GroupKey
	// Latency is the quantile that settings are compared by.
	Latency Latency
	// Default is the GOMAXPROCS of the trials without one: the value that most of them
	// ran at; before any, the value that the pilots ran at or that the runtime will
	// choose. 0: the group does not measure it, or it takes no part.
	Default int
	Unset   Part
	// TooLarge are the settings that used more memory than the plan allows, and Unweighed those of
	// which no valid trial has it, where the plan asks for it: they take no part.
	TooLarge, Unweighed map[journal.SettingKey]bool
	// Peak is the most memory of any trial of each setting's value, in bytes, where the plan limits
	// that: what they are judged by.
	Peak map[journal.SettingKey]int64
	// Sliced is what slices of one start say; nil: the plan asks for none.
	Sliced *Sliced
	// Blocks are the journal's numbers of the contest's blocks: the contest counts its
	// own, from 0.
	Blocks []int

	// Settings are those that were measured, and of a grid those to measure: unset first, then
	// by procs, or by their rank; the old command's of a gate come after them.
	Settings []journal.Setting
	// Values are those that are compared, by Ps. TooFewCPUs are those that other programs left too
	// few CPUs, and Apart is the unset setting where it has no part.
	Values     []*Value
	TooFewCPUs []*Value
	Apart      *Value
	Best       *Value   // of the highest throughput
	Lowest     *Value   // of the lowest latency of those that carry the rate and are not out; nil without any
	Tail       []*Value // as good in throughput as the best, which is among them
	// ByLatency reports whether the judged latency is compared: some value of the tail has one.
	ByLatency bool

	tooFewCPUs map[journal.SettingKey]bool // that other programs left too few CPUs
	h          journal.Header
	counted    *Counted
	settings   []journal.Setting // of the plan
	own        []*journal.Trial  // that count, those with too few CPUs and those of an Unset that takes no part included
	rules      race.Rules
	trials     []race.Trial
	race       *race.Race
	lead       race.Lead
}

// Part is how the trials without GOMAXPROCS take part in a contest.
type Part string

const (
	PartNone    Part = ""        // there are none
	PartPooled  Part = "pooled"  // with those of the value that they ran at
	PartUnread  Part = "unread"  // none: the value that they ran at could not be read
	PartDiffers Part = "differs" // none: they are proven unlike those of their value
)

func contestOf(counted *Counted, g journal.GroupKey) *Contest {
	h := counted.Header
	c := &Contest{Group: g, Settings: counted.settings[g], h: h, counted: counted}
	for _, a := range h.Plan.Of(g) {
		if a.Variant == "" {
			c.settings = append(c.settings, a)
		}
	}
	var pilots []*journal.Trial
	for i := range counted.Trials {
		t := &counted.Trials[i]
		switch own := t.Setting.Group(); {
		case own.Base() != g.Base() || t.Setting.Variant != "":
		case t.Role == journal.RolePilot:
			pilots = append(pilots, t)
		case own == g && !aside(t):
			c.own = append(c.own, t)
		}
	}
	judged := steady
	if h.Plan.GateAgainst { // which keeps to the quantile that it was asked to hold, however that strays
		judged = highest
	}
	c.Latency = judged(g, c.own)
	c.place(pilots)
	c.rules = c.rulesOf()
	c.slice(pilots)
	out := c.withhold()
	c.exclude(out)
	c.trials = c.raced(out)
	c.assess()
	c.reconcile()
	c.evaluate()
	return c
}

// place finds what the trials without GOMAXPROCS are trials of.
func (c *Contest) place(pilots []*journal.Trial) {
	if c.Group.Compares != "" {
		return
	}
	unset := Where(c.own, isUnset)
	if len(unset) == 0 && !slices.ContainsFunc(c.settings, func(a journal.Setting) bool { return a.Procs == nil }) {
		return
	}
	c.Unset = PartPooled
	if c.Default, _ = Resolved(unset); c.Default > 0 {
		return
	}
	// Of a program that cannot be read at all it is taken to be what today's runtime chooses.
	if !c.h.Target.AnyProgram && slices.ContainsFunc(unset, func(t *journal.Trial) bool { return t.Valid }) {
		c.Unset = PartUnread
		return
	}
	if c.Default, _ = Resolved(Where(pilots, isUnset)); c.Default == 0 {
		c.Default = foretold(c.h, c.Group)
	}
}

func isUnset(t *journal.Trial) bool { return t.Setting.Procs == nil }

// Resolved is the GOMAXPROCS that most valid trials ran at, over all replicas, and how it
// was read; 0: none tells.
func Resolved(trials []*journal.Trial) (procs int, source string) {
	count, sources := map[int]int{}, map[int]string{}
	for _, t := range trials {
		for _, p := range t.ObservedProcs {
			if t.Valid && p != nil && *p > 0 {
				count[*p]++
				sources[*p] = t.ObservedSource
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(count)) {
		if count[p] > count[procs] {
			procs = p
		}
	}
	return procs, sources[procs]
}

// foretold is the value that today's runtime chooses: since Go 1.25 the CPU limit
// rounded up, at least 2, and never more than the CPUs.
func foretold(h journal.Header, g journal.GroupKey) int {
	cpus := max(1, int(math.Ceil(usableCPUs(h, nil))))
	if g.Limited {
		return min(cpus, max(2, int(math.Ceil(g.QuotaCPUs))))
	}
	return cpus
}

// valueOf is the GOMAXPROCS that trials of a setting are of, or the rank of its variable's
// value; 0: they take no part.
func (c *Contest) valueOf(a journal.Setting) int {
	if name := c.Group.Compares; name != "" {
		return c.h.Plan.Axis(name).Rank(a.Key().Value)
	}
	if a.Procs != nil {
		return *a.Procs
	}
	if c.Unset != PartPooled {
		return 0
	}
	return c.Default
}

// raced are the trials as package race takes them, but for those of the values that are out.
func (c *Contest) raced(out map[int]bool) (list []race.Trial) {
	for _, t := range c.own {
		v := c.valueOf(t.Setting)
		if v <= 0 || out[v] {
			continue
		}
		r := c.Latency.figures(t)
		r.Value, r.Unset = v, t.Setting.Procs == nil && c.Group.Compares == ""
		if r.Block = slices.Index(c.Blocks, t.Block); r.Block < 0 {
			r.Block = len(c.Blocks)
			c.Blocks = append(c.Blocks, t.Block)
		}
		list = append(list, r)
	}
	return list
}

// assess finds the lead. The budget has lost trials to all groups and to the pilots; where several
// variables are compared, each has an equal part, so that one which cannot be decided leaves the
// others theirs.
func (c *Contest) assess() {
	if most := c.h.Plan.MaxTrials; most > 0 {
		c.rules.MaxTrials = max(1, min(most-(len(c.counted.Trials)-len(c.trials)), most/comparedBy(c.h.Plan)))
	}
	c.hold()
}

func (c *Contest) hold() {
	c.race = race.New(c.rules, c.trials)
	c.lead = c.race.Lead()
}

// reconcile decides which of the trials without GOMAXPROCS that are proven unlike those of their
// value: by less than the margin they are trials of one setting all the same, by more
// they take no part.
func (c *Contest) reconcile() {
	if !c.lead.Copies.Apart {
		return
	}
	if math.Abs(math.Log(c.lead.Copies.Ratio)) <= Loss(c.rules.Margin) {
		for i := range c.trials {
			c.trials[i].Unset = false
		}
	} else {
		c.trials = slices.DeleteFunc(c.trials, func(t race.Trial) bool { return t.Unset })
		c.Unset, c.rules.Default = PartDiffers, 0
	}
	c.assess()
}

// Current are the settings that the contest is about: not a gate's old command's.
func (c *Contest) Current() []journal.Setting {
	return slices.DeleteFunc(slices.Clone(c.Settings), func(a journal.Setting) bool { return a.Variant != "" })
}

// Trials are those of a setting in the journal's order, the second copies of an A/A pair after
// the first ones.
func (c *Contest) Trials(a journal.Setting) []*journal.Trial { return c.counted.of[a.Key()] }

// Measured are those without the second copies, and Copies these.
func (c *Contest) Measured(a journal.Setting) []*journal.Trial {
	all := c.Trials(a)
	return all[:len(all)-len(c.Copies(a))]
}

// Copies are the second copies of an A/A pair.
func (c *Contest) Copies(a journal.Setting) []*journal.Trial {
	all := c.Trials(a)
	i := slices.IndexFunc(all, func(t *journal.Trial) bool { return t.Role == journal.RoleAA })
	if i < 0 {
		return nil
	}
	return all[i:]
}

// Lead is which setting is best so far, and what is proven.
func (c *Contest) Lead() race.Lead { return c.lead }

// Rules are what the contest is held by.
func (c *Contest) Rules() race.Rules { return c.rules }

// only is the contest of some settings of the group by themselves, whether or not they
// take part in this one. Trials whose value is not known are of the value 1.
func (c *Contest) only(settings ...journal.Setting) *Contest {
	alone := *c
	alone.own, alone.Blocks = nil, nil
	for _, t := range c.own {
		if slices.ContainsFunc(settings, func(a journal.Setting) bool { return a.Key() == t.Setting.Key() }) {
			alone.own = append(alone.own, t)
		}
	}
	alone.Unset, alone.Default = PartPooled, max(1, c.Default)
	alone.trials = alone.raced(nil)
	alone.hold()
	return &alone
}

// RulesOf are the margins of a plan.
func RulesOf(p journal.Plan) race.Rules {
	return race.Rules{Margin: min(max(p.Margin, 0), 0.99), MarginP99: max(p.MarginP99, 0)} // a journal may be anyone's
}

func (c *Contest) rulesOf() race.Rules {
	p := c.h.Plan
	r := RulesOf(p)
	r.Listed, r.Goal = p.Listed, race.Goal(p.Goal)
	// Each group has a seed of its own: with one, all would run in the same order.
	r.Seed = p.Seed + uint64(max(0, slices.Index(p.Groups(), c.Group))) + orderOf(c.Group)
	r.Latency, r.MaxByLatency, r.Default = c.Latency.Quantile > 0, mostByLatency(c.h, c.Group, c.own), c.Default
	if p.SLO == nil { // under an objective each trial looked for a rate of its own
		for _, t := range c.own {
			r.Rate = max(r.Rate, offered(t))
		}
	}
	if c.Group.Compares != "" { // the preferred value has the smallest rank, so that of equals the one of the least memory is named
		axis := c.h.Plan.Axis(c.Group.Compares)
		for i := range axis.Values {
			r.Values = append(r.Values, i+1)
		}
		r.Listed, r.MaxByLatency, r.Default = true, 0, axis.Rank(axis.Start)
		return r
	}
	for _, a := range c.settings {
		if a.Procs != nil && *a.Procs > 0 { // a plan is checked, a journal may be anyone's
			r.Values = append(r.Values, *a.Procs)
		}
	}
	if c.Default > 0 {
		r.Values = append(r.Values, c.Default)
	}
	slices.Sort(r.Values)
	r.Values = slices.Compact(r.Values)
	return r
}
