package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/procfit/procfit/internal/rule"
)

// writeText prints the answer, the steps to it, and what to do.
func (e explanation) writeText(w io.Writer, color bool) error {
	var b strings.Builder
	if e.policy != "" {
		d := e.decisions[0]
		fmt.Fprintf(&b, "%s: %s chooses %d\n", e.who, d.Policy, d.Procs)
		for _, r := range d.Reasons {
			fmt.Fprintf(&b, "  %s\n", printable(r))
		}
	} else {
		fmt.Fprintf(&b, "%s\n  %s\n\n", paint(color, bold, e.who+" "+e.answer()), printable(e.because()))
		e.steps(&b)
		e.advice(&b, color)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// steps are the numbers, each with its reasons: those of go and fit in full, of
// the others what has not been said above.
func (e explanation) steps(b *strings.Builder) {
	s := e.subject
	switch {
	case s.Live != nil:
		row(b, "live", strconv.Itoa(*s.Live), []string{liveReason(s)})
	case s.LiveUnknown != "":
		row(b, "live", "?", []string{s.LiveUnknown})
	}
	said := map[string]bool{}
	for _, d := range e.decisions {
		reasons := []string{}
		for _, r := range d.Reasons {
			if d.Policy == "go" || d.Policy == "fit" || !said[r] {
				reasons = append(reasons, r)
			}
			said[r] = true
		}
		if len(reasons) == 0 {
			reasons = []string{"for the same reasons"}
		}
		row(b, d.Policy, strconv.Itoa(d.Procs), reasons)
	}
}

func row(b *strings.Builder, name, procs string, reasons []string) {
	for _, r := range reasons {
		fmt.Fprintf(b, "  %-12s  %4s  %s\n", name, procs, printable(r))
		name, procs = "", ""
	}
}

// advice is the findings; where several have the same way out, it follows the
// last of them.
func (e explanation) advice(b *strings.Builder, color bool) {
	for i, f := range e.findings {
		if i == 0 || e.findings[i-1].Fix != f.Fix {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "  %s %s: %s\n", f.Rule, paint(color, severityColor(f.Severity), string(f.Severity)), printable(f.Message))
		if i+1 == len(e.findings) || e.findings[i+1].Fix != f.Fix {
			fmt.Fprintf(b, "  → %s\n", printable(f.Fix))
		}
	}
}

func liveReason(s rule.Subject) string {
	how := "procfit itself, which is one"
	if s.LiveSource != "" {
		how = "read from its memory (" + s.LiveSource + ")"
	}
	switch s.SetBy {
	case rule.SetByEnv:
		return how + "; set by the environment"
	case rule.SetByCode:
		return how + "; set by a call of runtime.GOMAXPROCS"
	case rule.SetByUnknown:
		if *s.Live != s.Go.Procs {
			return how + "; set by a call of runtime.GOMAXPROCS, or its CPUs have changed since it looked"
		}
	}
	return how
}

// answer is the first line: the value, and whether it is right.
func (e explanation) answer() string {
	s := e.subject
	n, known := s.Procs()
	switch {
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
	switch {
	case s.Facts.EffectiveCPUs() == 0:
		return "what would be right cannot be told"
	case len(s.Facts.Unknown()) > 0:
		return fmt.Sprintf("at most %d would be right", s.Fit.Procs)
	}
	return fmt.Sprintf("%d would be right", s.Fit.Procs)
}

// verdict follows the value.
func (e explanation) verdict() string {
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
	if len(s.Facts.Unknown()) > 0 {
		return "; whether that is right cannot be told"
	}
	return ", which is right"
}

// because is the second line: who chose, and what there is.
func (e explanation) because() string {
	s := e.subject
	if s.ProgramUnknown != "" {
		return grants(s)
	}
	if n, counts := s.EnvProcs(); counts {
		return fmt.Sprintf("GOMAXPROCS=%d is in its environment; %s", n, grants(s))
	}
	chooser := s.RuntimeName()
	if s.Language != "" {
		chooser += " (go " + s.Language + " in go.mod)"
	}
	return fmt.Sprintf("%s chooses %d; %s", chooser, s.Go.Procs, grants(s))
}

// grants says which CPUs there are, and by whom.
func grants(s rule.Subject) string {
	have := s.Facts.EffectiveCPUs()
	if have == 0 {
		return "its CPUs are not known"
	}
	tightest, limited := s.Limit()
	for i, l := range s.Facts.Limits {
		if limited && l.Dir == tightest.Dir {
			return ancestor(i) + " grants " + rule.CPUs(have)
		}
	}
	return "its affinity allows " + rule.CPUs(have)
}

// printable keeps a line a line, and a terminal in its state, whatever a file or
// a process name holds.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// Colours of ECMA-48.
const (
	bold   = "1"
	red    = "31"
	yellow = "33"
	cyan   = "36"
)

func severityColor(s rule.Severity) string {
	switch s {
	case rule.Error:
		return red
	case rule.Warning:
		return yellow
	}
	return cyan
}

func paint(on bool, code, text string) string {
	if !on {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
