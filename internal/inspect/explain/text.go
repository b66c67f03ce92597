package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/maxprocs/facts"
)

// WriteText prints the answer, the steps to it, and what to do. On a width above 0
// lines are folded.
func (e Explanation) WriteText(w io.Writer, color bool, width int) error {
	b := &terminal.Writer{Width: width, Color: color}
	if e.policy != "" {
		d := e.decisions[0]
		b.Folded(fmt.Sprintf("%s: %s %s", e.who, d.Policy, chooses(d)), "  ")
		for _, r := range d.Reasons {
			b.Folded("  "+phrase.Clean(r), "    ")
		}
	} else {
		b.Folded(b.Style(terminal.Bold, e.who+" "+e.answer()), "  ")
		b.Folded("  "+phrase.Clean(e.because()), "  ")
		b.WriteString("\n")
		e.steps(b)
		e.advice(b)
		e.request.write(b, e.subject.Fit.Procs)
		if e.memory != nil {
			e.memory.write(b)
		}
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
			if d.Policy == facts.PolicyGo || d.Policy == facts.PolicyFit || !said[r] {
				reasons = append(reasons, r)
			}
			said[r] = true
		}
		if len(reasons) == 0 {
			reasons = []string{"for the same reasons"}
		}
		procs := strconv.Itoa(d.Procs)
		if d.Outcome == facts.Dies {
			procs = "dies"
		}
		row(b, string(d.Policy), procs, reasons)
	}
}

func chooses(d facts.Decision) string {
	if d.Outcome == facts.Dies {
		return "crashes at start"
	}
	return fmt.Sprintf("chooses %d", d.Procs)
}

func row(b *terminal.Writer, name, procs string, reasons []string) {
	width := max(4, len(procs))
	for _, r := range reasons {
		head := fmt.Sprintf("  %-12s  %*s  ", name, width, procs)
		b.Folded(head+phrase.Clean(r), strings.Repeat(" ", len(head)))
		name, procs = "", ""
	}
}

// advice is the findings, and below those that share a fix what it is.
func (e Explanation) advice(b *terminal.Writer) {
	for _, shared := range inspect.ByFix(e.findings) {
		b.WriteString("\n")
		for _, f := range shared {
			severity := b.Style(terminal.Grade(f.Severity.Rank()), string(f.Severity))
			b.Folded(fmt.Sprintf("  %s %s: %s", f.Rule, severity, phrase.Clean(f.Message)), "    ")
		}
		b.Folded("  → "+phrase.Clean(shared[0].Fix), "    ")
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
