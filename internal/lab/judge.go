package lab

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/number"
)

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
	if e.Value == nil || e.Low == nil || e.High == nil {
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
