package inspect

import (
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Fit is the GOMAXPROCS that suits the CPUs of a program.
type Fit struct {
	Procs  int             // 0: not known, since no CPUs are
	AtMost bool            // not all limits could be read, so that less may suit
	from   facts.Candidate // what it follows from, where Procs is known
	runs   int             // the value that the program has; 0: not known

	affinity bool // it may run on a part of the CPUs only
}

// FitOf says which value suits a program.
func FitOf(s rule.Subject) Fit {
	f := Fit{AtMost: len(s.Facts.Unknown()) > 0}
	if n, known := s.Procs(); known {
		f.runs = n
	}
	i := slices.IndexFunc(s.Fit.Candidates, func(c facts.Candidate) bool { return c.Winner })
	if i >= 0 && s.Facts.EffectiveCPUs() > 0 {
		f.Procs, f.from = s.Fit.Procs, s.Fit.Candidates[i]
		f.affinity = f.from.CPUs < s.Facts.Online.CPUs
	}
	return f
}

// Judged tells that having no finding means something: that the value fits.
func (f Fit) Judged() bool { return f.runs > 0 && !f.AtMost }

// String is the value and what it follows from: "→ 1, limit 0.5". Where the program has
// that value it is "fits".
func (f Fit) String() string {
	switch text := f.short(); {
	case f.AtMost || f.Procs == 0 || f.runs == f.Procs:
		return text
	case f.from.What == facts.KindLimit:
		return text + ", limit " + number.BareCPUs(f.from.CPUs)
	case f.affinity:
		return text + ", affinity"
	default:
		return text + ", all CPUs"
	}
}

// short is String without the reason.
func (f Fit) short() string {
	switch {
	case f.AtMost || f.Procs == 0:
		return "?"
	case f.runs == f.Procs:
		return "fits"
	case f.runs == 0:
		return strconv.Itoa(f.Procs)
	}
	return "→ " + strconv.Itoa(f.Procs)
}
