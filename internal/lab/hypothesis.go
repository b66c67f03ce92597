package lab

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict"
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
	ID       string  // unique in its experiment, lower snake case
	Says     string  // "two Ps cost under 1.1 times one P"
	Document string  // the document's own numbers: "29 ÷ 27.1 µs = 1.07"; "" where it gives none
	Value    float64 // the document's ratio; 0 where it gives none
	On       string  // its machine that Value is of, where it has several

	// Needs is how many CPUs it takes to see it, those of the load among them; 0 is any.
	// Below, the answer is CannotTell, whatever was measured.
	Needs float64
	// LoadCPUs is how many of those the load takes, where it must leave the program its
	// own; 0 where it takes the program's in the document too.
	LoadCPUs float64
	// Apart is how many CPUs are enough for the program where the load has its own, if that is
	// fewer than Needs without those of the load; 0 is that many.
	Apart float64
	// Emulated is that with too few CPUs the kept table of a machine that was emulated
	// answers.
	Emulated bool

	Measure measure
	// It holds for a ratio from AtLeast to AtMost; 0 leaves that end open.
	AtLeast, AtMost float64
}

// Results are the stages' results by Stage.ID.
type Results map[string]Measured

// Measured is what a stage came to.
type Measured struct {
	Result *verdict.Result
	Trials []journal.Trial
	Why    string // why there is no Result
	Rounds int    // how often blocks were added after a look at the answers
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
}

// Answer is what became of a hypothesis.
type Answer string

const (
	Holds       Answer = "holds"         // the whole interval lies within
	DoesNotHold Answer = "does_not_hold" // the whole interval lies outside
	CannotTell  Answer = "undecided"     // it crosses a bound, or the machine cannot show it
)

// judged is a hypothesis with its answer.
type judged struct {
	Hypothesis
	Got    Estimate
	From   string // whose Got is; empty: this machine's
	Answer Answer
	Reason string // of CannotTell, in words
	Open   bool   // the interval holds a bound, so that more blocks may tell
}

// header is what a journal's first line says of CPUs.
func (m Measured) header() journal.Header {
	return journal.Header{Target: m.Result.Target, Load: m.Result.Load}
}

// cpus is how many CPUs the program may use without a quota: all that there are, or
// those that it was given.
func (m Measured) cpus() float64 {
	n := m.Result.Host.EffectiveCPUs
	if given := len(m.header().Target.Had()); given > 0 {
		return math.Min(n, float64(given))
	}
	return n
}

// separateLoad reports whether the load ran on other CPUs than the program.
func (m Measured) separateLoad() bool {
	how := m.header().Load.Arranged()
	return how == journal.ArrangementApart || how == journal.ArrangementElsewhere
}

// machine is what an experiment's stages had of the machine; all have the same.
type machine struct {
	cpus         float64 // that the program may use
	separateLoad bool    // the load has others
}

// machineOf is that of a run on a machine of that many CPUs.
func machineOf(r Results, cpus float64) machine {
	for _, id := range slices.Sorted(maps.Keys(r)) {
		if m := r[id]; m.Result != nil {
			return machine{math.Min(cpus, m.cpus()), m.separateLoad()}
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
	s.Target.CPUs = o.ServerCPUs
	if !s.served() {
		return
	}
	s.Load.CPUs, s.Load.Command = o.LoadCPUs, o.Load
	if len(o.ServerCPUs)+len(o.LoadCPUs) > 0 {
		s.Load.Shared = false
	}
}

// served tells a stage of a server: batch programs have no warm-up.
func (s *Stage) served() bool { return s.Load.Warmup > 0 }

// judge holds an experiment's hypotheses against what was measured on a machine of so
// many CPUs.
func judge(e Experiment, r Results, cpus float64) []judged {
	have := machineOf(r, cpus)
	var list []judged
	for _, s := range e.Hypotheses {
		j := judged{Hypothesis: s, Got: s.Measure(r).finite()}
		if s.rounds(r) > 0 {
			j.Got = j.Got.widened()
		}
		if short := have.cpus < have.needs(s); short && s.Emulated {
			j.Got, j.From = s.emulated()
		} else if short {
			j.Answer, j.Reason = CannotTell, have.short(s)
		}
		if j.Answer == "" {
			j.judge()
		}
		list = append(list, j)
	}
	return list
}

// short says what a hypothesis lacks.
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

func (j *judged) judge() {
	got, most := j.Got, math.Inf(1)
	if j.AtMost != 0 {
		most = j.AtMost
	}
	switch {
	case got.Value == nil || got.Low == nil || got.High == nil:
		j.Answer, j.Reason = CannotTell, got.Why
		return
	case *got.Low >= j.AtLeast && *got.High <= most:
		j.Answer = Holds
		return
	case *got.High < j.AtLeast || *got.Low > most:
		j.Answer = DoesNotHold
		return
	case got.Printed:
		j.Answer, j.Reason = CannotTell, fmt.Sprintf("trials print different numbers, %s to %s, some within the bounds and some not", number.Count(*got.Low), number.Count(*got.High))
		return
	}
	bound := j.AtLeast
	if *got.High > most {
		bound = most
	}
	j.Answer, j.Open = CannotTell, true
	j.Reason = fmt.Sprintf("the interval contains the bound of %s: more --repeats, --until-decided or a quieter machine can decide it", number.Count(bound))
}

// stages are those that the hypothesis is measured in, by Stage.ID: without one of them
// it has no value.
func (h Hypothesis) stages(r Results) (ids []string) {
	if h.Measure(r).Value == nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(r)) {
		without := maps.Clone(r)
		delete(without, id)
		if h.Measure(without).Value == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// rounds is how often the hypothesis was judged before, to see whether it needs more
// blocks.
func (h Hypothesis) rounds(r Results) (n int) {
	grown := false
	for _, m := range r {
		grown = grown || m.Rounds > 0
	}
	if !grown {
		return 0
	}
	for _, id := range h.stages(r) {
		n = max(n, r[id].Rounds)
	}
	return n
}

// Rounds is how often at most one asks whether more blocks are needed, the first time
// among them.
const Rounds = 4

// pocock is by how much an interval of 95% must be wider to be one of 95% still after
// as many judgements as Rounds (S. J. Pocock, Group sequential methods in the design and
// analysis of clinical trials, Biometrika 64, 1977: 2.361 in the place of 1.960).
const pocock = 2.361 / 1.960

// widened is the estimate with an interval that may have been judged before. Ratios
// are widened as such; a share of trials may be zero, and is not a ratio.
func (e Estimate) widened() Estimate {
	if e.Value == nil || e.Low == nil || e.High == nil || e.Printed {
		return e
	}
	to, from := func(x float64) float64 { return x }, func(x float64) float64 { return x }
	if *e.Low > 0 {
		to, from = math.Log, math.Exp
	}
	wider := func(end float64) *float64 {
		mid := to(*e.Value)
		return new(from(mid + (to(end)-mid)*pocock))
	}
	e.Low, e.High = wider(*e.Low), wider(*e.High)
	return e
}

// finite is without what is not a number.
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
