package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Machine is the lab run of one of several machines.
type Machine struct {
	Name string // what to call it: its results directory
	*Outcome
	Skipped int // hypotheses that ask another question than the newest run does
}

// label is a machine in the place of an Answered's From.
func (m Machine) label(quick bool) string {
	s := m.Name + ", " + number.CPUs(m.Host.EffectiveCPUs)
	if quick {
		s += ", --quick"
	}
	return s
}

type asked struct {
	Answered
	on    *Machine
	quick bool
}

// weight is how much an answer counts: one that a machine measured, one of the kept table,
// one that more blocks may decide, and one that the machine could not give; in full size
// before --quick.
func (a asked) weight() int {
	w := 0
	switch {
	case a.Answer.Decided() && a.From == "":
		w = measuredHere
	case a.Answer.Decided():
		w = 4
	case a.Open:
		w = 2
	}
	if !a.quick {
		w++
	}
	return w
}

// measuredHere is the least weight of an answer that a machine measured.
const measuredHere = 6

// Join is the runs of several machines as one. Each hypothesis has the answer of a machine
// that had the CPUs for it; of several, that with the most CPUs and the most blocks. Where
// such machines disagree, the answer is Undecided, with what each says. The questions are
// those of the newest run.
func Join(machines []*Machine) *Outcome {
	machines = slices.Clone(machines)
	sorting.Stable(machines, func(a, b *Machine) int { return b.Started.Compare(a.Started) })
	newest := machines[0]
	all := &Outcome{Schema: OutcomeSchema, Started: newest.Started, Host: newest.Host, Spec: newest.Spec, Tool: newest.Tool, Complete: true}
	for _, e := range List() {
		if ran := joinExperiment(e.ID, machines); ran != nil {
			all.Complete = all.Complete && ran.Complete
			all.Experiments = append(all.Experiments, *ran)
		}
	}
	return all
}

// joinExperiment is one experiment of all machines; nil where none has it.
func joinExperiment(id string, machines []*Machine) (joined *Ran) {
	var order []string
	answers := map[string][]asked{}
	for _, m := range machines {
		r := m.Ran(id)
		if r == nil {
			continue
		}
		if joined == nil || joined.NotRun != "" && r.NotRun == "" {
			joined = &Ran{ID: r.ID, Title: r.Title, Document: r.Document, Claim: r.Claim, Kind: r.Kind, NotRun: r.NotRun, Quick: r.Quick, Complete: r.Complete, Stages: []RanStage{}}
		}
		joined.Quick, joined.Complete = joined.Quick && r.Quick, joined.Complete || r.Complete
		for _, a := range r.Hypotheses {
			of := answers[a.ID]
			if len(of) > 0 && !of[0].sameQuestion(a) {
				m.Skipped++
				continue
			} else if len(of) == 0 {
				order = append(order, a.ID)
			}
			answers[a.ID] = append(of, asked{a, m, r.Quick})
		}
	}
	for _, h := range order {
		joined.Hypotheses = append(joined.Hypotheses, decide(answers[h]))
	}
	return joined
}

// Ran is an experiment as the run has it; nil: it was not in it.
func (o *Outcome) Ran(id string) *Ran {
	for i := range o.Experiments {
		if o.Experiments[i].ID == id {
			return &o.Experiments[i]
		}
	}
	return nil
}

var inWords = strings.NewReplacer(string(AtBound), "is at its bound", "_", " ")

func decide(list []asked) Answered {
	best := list[0]
	for _, a := range list[1:] {
		w, cpus := a.weight()-best.weight(), a.on.Host.EffectiveCPUs-best.on.Host.EffectiveCPUs
		if w > 0 || w == 0 && (cpus > 0 || cpus == 0 && a.Measured.N > best.Measured.N) {
			best = a
		}
	}
	var says []string
	disagree := false
	for _, a := range list {
		if a.weight() >= measuredHere && a.Measured.Value != nil {
			says = append(says, fmt.Sprintf("%s on %s (%s)", inWords.Replace(string(a.Answer)), a.on.Name, number.Figure(*a.Measured.Value)))
			disagree = disagree || a.Answer != best.Answer
		}
	}
	if best.Measured.Value != nil && best.From == "" {
		best.From = best.on.label(best.quick)
	}
	if disagree {
		best.Answer, best.Open, best.Reason = Undecided, false, "it "+phrase.And(says)
	}
	return best.Answered
}

// sameQuestion reports whether two runs asked the same of a hypothesis, whatever they
// measured.
func (j Answered) sameQuestion(b Answered) bool {
	return j.ID == b.ID && j.Says == b.Says && j.Document == b.Document && j.AtLeast == b.AtLeast && j.AtMost == b.AtMost &&
		j.Needs == b.Needs && j.LoadCPUs == b.LoadCPUs
}
