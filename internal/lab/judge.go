package lab

import (
	"fmt"
	"math"
	"strconv"

	"github.com/procfit/procfit/internal/phrase"
)

// Judge holds an experiment's hypotheses against what was measured on a machine of so
// many CPUs.
func Judge(e Experiment, r Results, cpus float64) []Judged {
	var list []Judged
	for _, s := range e.Hypotheses {
		j := Judged{Hypothesis: s, Got: s.Measure(r).finite()}
		j.Answer, j.Reason = j.judge(cpus)
		list = append(list, j)
	}
	return list
}

func (j *Judged) judge(cpus float64) (Answer, string) {
	got, most := j.Got, math.Inf(1)
	if j.AtMost != 0 {
		most = j.AtMost
	}
	switch {
	case cpus < j.Needs:
		are := "are"
		if cpus == 1 {
			are = "is"
		}
		return CannotTell, fmt.Sprintf("needs %s, here %s %s", phrase.CPUs(j.Needs), are, number(cpus))
	case got.Value == nil || got.Low == nil || got.High == nil:
		return CannotTell, got.Why
	case *got.Low >= j.AtLeast && *got.High <= most:
		return Holds, ""
	case *got.High < j.AtLeast || *got.Low > most:
		return DoesNotHold, ""
	}
	bound := j.AtLeast
	if *got.High > most {
		bound = most
	}
	return CannotTell, fmt.Sprintf("the interval holds the bound of %s: more --repeats or a quieter machine would tell", number(bound))
}

// number writes three significant digits.
func number(x float64) string {
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// finite is without what is no number.
func (e Estimate) finite() Estimate {
	for _, x := range []**float64{&e.Value, &e.Low, &e.High} {
		if *x != nil && (math.IsNaN(**x) || math.IsInf(**x, 0)) {
			*x = nil
			if e.Why == "" {
				e.Why = "the figures make no finite ratio"
			}
		}
	}
	return e
}
