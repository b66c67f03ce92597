package inspect

import (
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Recommendation is the GOMAXPROCS that a program should use.
type Recommendation struct {
	Procs  int             // 0: not known, because its CPUs are not known
	AtMost bool            // not all limits could be read, so that the value may be too high
	from   facts.Candidate // what it follows from, if Procs is known
	runs   int             // the value that the program uses; 0: not known

	affinity bool // it may run only on some of the CPUs
}

// Recommend returns the value for a program.
func Recommend(s rule.Subject) Recommendation {
	r := Recommendation{AtMost: len(s.Facts.Unknown()) > 0}
	if n, known := s.Procs(); known {
		r.runs = n
	}
	i := slices.IndexFunc(s.Fit.Candidates, func(c facts.Candidate) bool { return c.Winner })
	if i >= 0 && s.Facts.EffectiveCPUs() > 0 {
		r.Procs, r.from = s.Fit.Procs, s.Fit.Candidates[i]
		r.affinity = r.from.CPUs < s.Facts.Online.CPUs
	}
	return r
}

// Judged reports whether the absence of findings means that the value is good.
func (r Recommendation) Judged() bool { return r.runs > 0 && !r.AtMost }

// String is the value and what it follows from: "→ 1, limit 0.5". If the program uses
// that value, it is "ok".
func (r Recommendation) String() string {
	switch text := r.short(); {
	case r.AtMost || r.Procs == 0 || r.runs == r.Procs:
		return text
	case r.from.What == facts.KindLimit:
		return text + ", limit " + number.BareCPUs(r.from.CPUs)
	case r.affinity:
		return text + ", affinity"
	default:
		return text + ", all CPUs"
	}
}

// short is String without the reason.
func (r Recommendation) short() string {
	switch {
	case r.AtMost || r.Procs == 0:
		return "?"
	case r.runs == r.Procs:
		return "ok"
	case r.runs == 0:
		return strconv.Itoa(r.Procs)
	}
	return "→ " + strconv.Itoa(r.Procs)
}
