package explain

import (
	"fmt"
	"io"
	"strconv"

	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/rule"
	"github.com/procfit/procfit/internal/terminal"
)

// WriteText prints the answer, the steps to it, and what to do.
func (e Explanation) WriteText(w io.Writer, color bool) error {
	b := &terminal.Writer{Color: color}
	if e.policy != "" {
		d := e.decisions[0]
		fmt.Fprintf(b, "%s: %s chooses %d\n", e.who, d.Policy, d.Procs)
		for _, r := range d.Reasons {
			fmt.Fprintf(b, "  %s\n", phrase.Clean(r))
		}
	} else {
		fmt.Fprintf(b, "%s\n  %s\n\n", b.Style(terminal.Bold, e.who+" "+e.answer()), phrase.Clean(e.because()))
		e.steps(b)
		e.advice(b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// steps are the numbers, each with its reasons: those of go and fit in full, of
// the others what has not been said above.
func (e Explanation) steps(b *terminal.Writer) {
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

func row(b *terminal.Writer, name, procs string, reasons []string) {
	for _, r := range reasons {
		fmt.Fprintf(b, "  %-12s  %4s  %s\n", name, procs, phrase.Clean(r))
		name, procs = "", ""
	}
}

// advice is the findings; where several have the same way out, it follows the
// last of them.
func (e Explanation) advice(b *terminal.Writer) {
	for i, f := range e.findings {
		if i == 0 || e.findings[i-1].Fix != f.Fix {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "  %s %s: %s\n", f.Rule, b.Style(terminal.Grade(f.Severity.Rank()), string(f.Severity)), phrase.Clean(f.Message))
		if i+1 == len(e.findings) || e.findings[i+1].Fix != f.Fix {
			fmt.Fprintf(b, "  → %s\n", phrase.Clean(f.Fix))
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
