package explain

import (
	"fmt"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/facts"
)

// answer is the first line: the value, and whether it is right.
func (e Explanation) answer() string {
	s := e.subject
	n, known := s.Procs()
	switch {
	case s.Go.Outcome == facts.Dies && s.Live == nil && s.ProgramUnknown == "":
		return "would not start: the limit of its group crashes its runtime; " + right(s)
	case s.NotGo:
		return "is not a Go program; for one in its place " + right(s)
	case !known && s.LiveUnknown == "":
		return "may run with another value than its runtime chooses; " + right(s)
	case !known:
		return "runs with a value that cannot be read; " + right(s)
	}
	verb := "would run with"
	if s.Live != nil {
		verb = "runs with"
	}
	return fmt.Sprintf("%s %d%s", verb, n, e.verdict())
}

// right says which value is.
func right(s rule.Subject) string {
	switch fit := inspect.FitOf(s); {
	case fit.Procs == 0:
		return "what would be right cannot be told"
	case fit.AtMost:
		return fmt.Sprintf("at most %d would be right", fit.Procs)
	default:
		return fmt.Sprintf("%d would be right", fit.Procs)
	}
}

// verdict follows the value.
func (e Explanation) verdict() string {
	s := e.subject
	for _, f := range e.findings {
		switch {
		case f.Rule == "PF001" && f.Severity == rule.Info:
			return fmt.Sprintf("; %d would fit", s.Fit.Procs)
		case f.Rule == "PF001":
			return "; " + right(s)
		case f.Rule == "PF002":
			return fmt.Sprintf("; it could use %d", s.Fit.Procs)
		}
	}
	unknown := inspect.FitOf(s).AtMost
	n, overridden := s.Overridden()
	switch {
	case overridden && unknown:
		return fmt.Sprintf(", not with the %d of its environment; which is right cannot be told", n)
	case overridden:
		return fmt.Sprintf(", which fits, and not with the %d of its environment", n)
	case unknown:
		return "; whether that is right cannot be told"
	}
	return ", which is right"
}

// because is the second line: who chose, and what there is.
func (e Explanation) because() string {
	s := e.subject
	if s.ProgramUnknown != "" {
		return grants(s)
	}
	if n, overridden := s.Overridden(); overridden {
		return fmt.Sprintf("GOMAXPROCS=%d is in its environment and not in force; %s", n, grants(s))
	}
	if n, counts := s.EnvProcs(); counts {
		return fmt.Sprintf("GOMAXPROCS=%d is in its environment; %s", n, grants(s))
	}
	chooser := s.RuntimeName()
	if s.Language != "" {
		chooser += " (go " + s.Language + " in go.mod)"
	}
	if s.Go.Outcome == facts.Dies {
		return fmt.Sprintf("%s crashes at start; %s", chooser, grants(s))
	}
	return fmt.Sprintf("%s chooses %d; %s", chooser, s.Go.Procs, grants(s))
}

// grants says which CPUs there are, and by whom.
func grants(s rule.Subject) string {
	if s.Facts.EffectiveCPUs() == 0 {
		return "its CPUs are not known"
	}
	if s.Reserve > 0 {
		return granted(s) + ", " + number.BareCPUs(s.Reserve) + " of them for others"
	}
	return granted(s)
}

func granted(s rule.Subject) string {
	have := s.Facts.EffectiveCPUs()
	tightest, limited := s.Limit()
	_, own := s.Facts.Own()
	for i, l := range s.Facts.Limits {
		switch {
		case !limited || l.Dir != tightest.Dir:
		case !own:
			return "an ancestor of its group grants " + number.CPUs(have)
		default:
			return ancestor(i) + " grants " + number.CPUs(have)
		}
	}
	return "its affinity allows " + number.CPUs(have)
}
