package lab

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// The machines of document 002. A gain on four hardware threads of two cores is not one
// on sixteen, so each number says which of them it is of.
const (
	OnLaptop = "laptop"
	OnServer = "server"
)

// Hypothesis is what a document's numbers say, as a statement about a ratio that
// another machine can test. Absolute times cannot be compared.
type Hypothesis struct {
	ID       string  `json:"id"`                         // unique in its experiment, lower snake case
	Says     string  `json:"says"`                       // "two Ps cost under 1.1 times one P"
	Document string  `json:"document,omitempty"`         // the document's own numbers: "29 ÷ 27.1 µs = 1.07"; "" where it gives none
	Value    float64 `json:"document_value,omitempty"`   // the document's ratio; 0 where it gives none
	On       string  `json:"document_machine,omitempty"` // its machine that Value is of, where it has several
	Today    bool    `json:"today,omitempty"`            // whether it is true of today's Go, of which the document does not speak
	// It holds for a ratio from AtLeast to AtMost; 0 leaves that end open.
	AtLeast float64 `json:"at_least,omitempty"`
	AtMost  float64 `json:"at_most,omitempty"`

	// Needs is how many CPUs it takes to see it, those of the load among them; 0 is any.
	// Below, it is not asked, whatever was measured.
	Needs float64 `json:"needs_cpus,omitempty"`
	// LoadCPUs is how many of those the load takes, where it must leave the program its
	// own; 0 where it takes the program's in the document too.
	LoadCPUs float64 `json:"load_cpus,omitempty"`
	// Strengthens says that more CPUs only make the effect larger: fewer than it needs may show
	// that it holds, and not that it does not.
	Strengthens bool `json:"-"`
	// Apart is how many CPUs are enough for the program where the load has its own, if that is
	// fewer than Needs without those of the load; 0 is that many.
	Apart float64 `json:"-"`
	// Emulated is that with too few CPUs the kept table of a machine that was emulated
	// answers.
	Emulated bool `json:"-"`

	Measure measure `json:"-"`
}

// Results are the stages' results by Stage.ID.
type Results map[string]Measured

// Measured is what a stage came to.
type Measured struct {
	Result *verdict.Result
	Trials []journal.Trial
	Why    string // why there is no Result
}

// Estimate is a measured ratio with its two-sided 95% interval.
type Estimate struct {
	Value *float64 `json:"median"` // nil, of this and the bounds: not known
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	N     int      `json:"n"` // blocks that it rests on; of Ended and of what was printed, trials
	// Printed is that the programs print the number itself, a count or a decision: then
	// other programs do not change it, and Low and High are the least and the most that
	// trials print, and no interval.
	Printed bool   `json:"-"`
	Why     string `json:"-"` // why something is nil

	absent    bool       // the run does not ask for it
	sequences []sequence // that it is made of; none: it is no matter of more blocks
}

// Answer is what became of a hypothesis.
type Answer string

const (
	Holds       Answer = "holds"         // the whole interval lies within
	DoesNotHold Answer = "does_not_hold" // the whole interval lies outside
	AtBound     Answer = "at_bound"      // the whole interval lies around a bound, within what is flat
	Undecided   Answer = "undecided"     // it crosses a bound, or it was not measured
	NotAsked    Answer = "not_asked"     // this machine, or this run, cannot answer it
)

// Decided reports whether more blocks would change nothing of what was measured.
func (a Answer) Decided() bool { return a == Holds || a == DoesNotHold || a == AtBound }

// cpus is how many CPUs the program may use without a quota: all that there are, or
// those that it was given.
func (m Measured) cpus() float64 {
	n := m.Result.Host.EffectiveCPUs
	if given := len(m.Result.Target.Had()); given > 0 {
		return math.Min(n, float64(given))
	}
	return n
}

// each is how many seconds one of its trials takes; 0: not known.
func (m Measured) each() float64 {
	if len(m.Trials) == 0 {
		return 0
	}
	return contest.Seconds(m.Trials) / float64(len(m.Trials))
}

type machine struct {
	cpus         float64 // that the program may use
	separateLoad bool    // the load has others
}

// machineOf is what the stages of a measure had of a machine of that many CPUs.
func machineOf(r Results, of measure, cpus float64) machine {
	for _, id := range slices.Concat(of.stages(), slices.Sorted(maps.Keys(r))) {
		if m := r[id]; m.Result != nil {
			how := m.Result.Load.Arranged()
			return machine{math.Min(cpus, m.cpus()), how == journal.ArrangementApart || how == journal.ArrangementElsewhere}
		}
	}
	return machine{cpus: cpus}
}

// needs is how many CPUs the program itself must have: without those of the load,
// where that has its own.
func (r machine) needs(h Hypothesis) float64 {
	if r.separateLoad {
		return cmp.Or(h.Apart, h.Needs-h.LoadCPUs)
	}
	return h.Needs
}

// place puts the program, and a server's load, where the user wants them.
func (s *Stage) place(o Options) {
	given := len(o.ServerCPUs)+len(o.LoadCPUs) > 0
	if given {
		s.Target.CPUs = o.ServerCPUs
	}
	if s.Load.Warmup == 0 { // a batch program has no load
		return
	}
	s.Load.Command = o.Load
	if given {
		s.Load.CPUs = o.LoadCPUs
	}
	if len(s.Target.CPUs)+len(s.Load.CPUs) > 0 {
		s.Load.Shared = false
	}
}

// judge holds an experiment's hypotheses against what was measured on a machine of so
// many CPUs.
func judge(e Experiment, r Results, cpus float64) []Answered {
	list := []Answered{}
	for _, s := range e.Hypotheses {
		have := machineOf(r, s.Measure, cpus)
		j := Answered{Hypothesis: s, Measured: s.Measure.of(r).finite()}
		short := have.cpus < have.needs(s)
		if short && s.Emulated {
			j.Measured, j.From = s.emulated()
			short = false
		}
		j.judge()
		if short && !(s.Strengthens && (j.Answer == Holds || j.Open && s.has(*j.Measured.Value))) {
			j.Answer, j.Reason, j.Lacks, j.Open, j.MoreBlocks = NotAsked, have.short(s), have.needs(s), false, 0
		} else if j.Measured.Value == nil && (j.Measured.absent || s.Measure.absent(r)) {
			j.Answer = NotAsked
		}
		if j.Answer != NotAsked && j.From == "" {
			if at := slices.IndexFunc(list, func(other Answered) bool { return other.Answer != NotAsked && other.same(&j, r) }); at >= 0 {
				j.Answer, j.Reason, j.Open, j.MoreBlocks = NotAsked, "on this machine it is the same measurement as "+list[at].ID, false, 0
			}
		}
		list = append(list, j)
	}
	return list
}

// same reports whether another hypothesis asks the same numbers for the same: twice a request may be
// as many Ps as once.
func (j *Answered) same(other *Answered, r Results) bool {
	a, b := j.Measure.asks, other.Measure.asks
	return j.AtLeast == other.AtLeast && j.AtMost == other.AtMost && j.Measured.Value != nil && other.Measured.Value != nil && *j.Measured.Value == *other.Measured.Value &&
		slices.EqualFunc(a, b, func(a, b quantity) bool {
			of := r[a.Stage]
			if a.Stage != b.Stage || a.Figure != b.Figure || of.Result == nil {
				return false
			}
			x, known := a.key(of)
			y, also := b.key(of)
			return known && also && x == y
		})
}

func (h Hypothesis) has(x float64) bool { return x >= h.AtLeast && (h.AtMost == 0 || x <= h.AtMost) }

// absent reports whether the run has no setting that the measure is taken from, though its stage was
// run, or is not among those that it has.
func (m measure) absent(r Results) bool {
	return slices.ContainsFunc(m.asks, func(q quantity) bool {
		of, planned := r[q.Stage]
		if !planned || of.Result == nil {
			return !planned && len(r) > 0
		}
		key, known := q.key(of)
		return !known || len(contest.OfSetting(of.Trials, key)) == 0
	})
}

func (r machine) short(h Hypothesis) string {
	what := number.CPUs(r.needs(h))
	switch {
	case r.separateLoad && h.LoadCPUs > 0:
		what += " in addition to those of the load generator"
	case h.LoadCPUs > 0:
		what += ", " + number.Count(h.LoadCPUs) + " of them for the load generator"
	}
	return fmt.Sprintf("needs %s; this machine has %s", what, number.Count(r.cpus))
}

func (j *Answered) judge() {
	got := j.Measured
	if got.Value == nil {
		j.Answer, j.Reason = Undecided, got.Why
		return
	}
	if got.Low != nil && got.High != nil {
		j.Answer = got.answer(&j.Hypothesis)
	} else {
		j.Answer, j.Reason = Undecided, got.Why
	}
	if j.Answer != Undecided {
		if j.Answer == AtBound {
			j.Reason = "it is the bound of " + number.Count(got.bound(&j.Hypothesis)) + ", within 5%: on which side, only chance would decide"
		}
		return
	}
	if got.Printed {
		if got.Low == nil || got.High == nil { // a ratio to a 0 that was printed
			return
		}
		j.Reason = fmt.Sprintf("trials print different numbers, %s to %s, some within the bounds and some not", number.Count(*got.Low), number.Count(*got.High))
		return
	}
	j.Open, j.MoreBlocks = len(got.sequences) > 0, got.needs(&j.Hypothesis)
	if j.Reason == "" {
		j.Reason = j.between()
	}
}

// between says what keeps a hypothesis with an interval open.
func (j *Answered) between() string {
	for _, bound := range []float64{j.AtLeast, j.AtMost} {
		if bound != 0 && *j.Measured.Low <= bound && bound <= *j.Measured.High {
			return "the interval contains the bound of " + number.Count(bound)
		}
	}
	return phrase.Count(j.Measured.N, "block") + " do not prove it yet"
}

func (e Estimate) finite() Estimate {
	for _, x := range []**float64{&e.Value, &e.Low, &e.High} {
		if *x != nil && (math.IsNaN(**x) || math.IsInf(**x, 0)) {
			*x = nil
			if e.Why == "" {
				e.Why = "the numbers make no finite ratio"
			}
		}
	}
	return e
}
