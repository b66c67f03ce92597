// Package explain shows which GOMAXPROCS one program uses, which one it should use, and
// why: as text, as procfit.decision/v1, and for a what-if.
//
// It reads nothing itself: its input is a rule.Subject with everything that was observed.
// The policies of the library decide, and package rule judges. This package adds the words
// and their order: the answer first, then the steps to it, then what to do.
package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Explanation is everything that procfit explain prints about one program.
type Explanation struct {
	subject   rule.Subject
	who       string
	policy    string // the only one to show; "": all
	decisions []facts.Decision
	findings  []rule.Finding
	memory    *memory // nil: not shown

	Request    Request
	Neighbours *observe.Neighbours // what the reserve was measured by; nil: it was not
}

// New explains a Subject. The text calls it who; policy is the only policy to show, or
// empty.
func New(s rule.Subject, who, policy string) Explanation {
	e := Explanation{subject: s, who: who, policy: policy, findings: rule.Judge(s)}
	for _, d := range s.Decisions() {
		if policy == "" || facts.PolicyName(policy) == d.Policy {
			e.decisions = append(e.decisions, d)
		}
	}
	return e
}

func Process(s rule.Subject) string {
	name := "process " + strconv.Itoa(s.PID)
	if s.Name != "" {
		name += " (" + phrase.Clean(s.Name) + ")"
	}
	return name
}

// WriteRule prints the page of a rule in a width; 0 is that of a pipe.
func WriteRule(w io.Writer, r rule.Rule, width int) error {
	b := terminal.NewWriter(width, false)
	b.Line(r.ID + "  " + r.Title)
	b.Line(fmt.Sprintf("%s, since procfit %s", r.Severity, r.Since))
	for paragraph := range strings.SplitSeq(r.Why+"\n\nWhat to do\n\n"+r.Fix, "\n\n") {
		b.Gap()
		b.Paragraph("", "", paragraph)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteText prints the answer, the steps to it, and what to do. With a width above 0,
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
		if code := mapped(e.subject); code != "" {
			b.Folded("  "+code, "  ")
		}
		b.Folded("  "+phrase.Clean(e.because()), "  ")
		b.WriteString("\n")
		e.steps(b)
		e.advice(b)
		fits := 0
		if r := inspect.Recommend(e.subject); r.Known() {
			fits = r.Procs
		}
		e.Request.write(b, fits)
		if e.memory != nil {
			e.memory.write(b)
		}
	}
	if e.Neighbours != nil {
		writeNeighbours(b, e.Neighbours)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// steps prints the numbers, each with its reasons: all reasons of go and fit, and of the
// others those that were not printed before.
func (e Explanation) steps(b *terminal.Writer) {
	s := e.subject
	switch {
	case s.Live != nil:
		row(b, "live", strconv.Itoa(*s.Live), liveReasons(s))
	case s.LiveUnknown != "":
		row(b, "live", "?", []string{s.LiveUnknown})
	}
	if x := s.Expected; x != nil {
		row(b, "expected", strconv.Itoa(x.Procs), []string{x.String()})
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
		row(b, e.rowName(d.Policy), procs, reasons)
	}
}

// rowName is what a policy is for the reader.
func (e Explanation) rowName(p facts.PolicyName) string {
	switch {
	case p == facts.PolicyFit && !e.measured():
		return "recommended"
	case p == facts.PolicyJVM:
		return "a JVM"
	}
	return string(p)
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

// advice prints the findings, and the fix below those that share it.
func (e Explanation) advice(b *terminal.Writer) {
	for _, shared := range inspect.ByFix(e.findings) {
		b.WriteString("\n")
		for _, f := range shared {
			severity := b.Style(terminal.Grade(f.Severity.Rank()), string(f.Severity))
			b.Folded(fmt.Sprintf("  %s %s: %s", f.Rule, severity, phrase.Clean(f.Message)), "    ")
		}
		for _, line := range inspect.Remedies(shared) {
			b.Folded("  → "+phrase.Clean(line), "    ")
		}
	}
}

// liveReasons says how the value was read, and how many of these Ps wait.
func liveReasons(s rule.Subject) []string {
	reasons := []string{liveReason(s)}
	if f := s.Faults; f != nil && f.Held >= inspect.FewestHeld {
		reasons = append(reasons, "page faults keep "+number.Hundredths(f.Held)+" of these Ps waiting for the disk, on average")
	}
	return reasons
}

// mapped says which Go code a process runs whose executable is not Go's; "": it is the executable.
func mapped(s rule.Subject) string {
	if s.Mapped == "" {
		return ""
	}
	return "a Go " + phrase.If(s.Library, "library", "program") + " is mapped: " + phrase.Join(", ", phrase.Clean(s.Mapped), s.Facts.GoVersion)
}

func liveReason(s rule.Subject) string {
	how := phrase.If(s.LiveSource != "", "read from its memory ("+s.LiveSource+")", "this is procfit itself")
	if s.Lent() != "" {
		return how + "; set by procfit, which lends this value" + s.Lent()
	}
	switch s.SetBy {
	case rule.SetByEnv:
		return how + "; set by the environment"
	case rule.SetByCode:
		return how + "; set " + s.ByCall()
	case rule.SetByOutside:
		return how + "; set from outside (procfit set, a debugger): the program has no call of runtime.GOMAXPROCS that sets it"
	case rule.SetByUnknown:
		if *s.Live != s.Go.Procs {
			return how + "; set " + s.ByCall() + ", or its CPUs have changed since it started"
		}
	}
	if s.MissesLimit() {
		return how + "; its runtime does not see the limit of its cgroup, or was idle since that was lowered"
	}
	return how
}

// answer is the first line: the value, and whether it is the recommended one.
func (e Explanation) answer() string {
	s := e.subject
	n, known := s.Procs()
	switch {
	case s.Go.Outcome == facts.Dies && s.Live == nil && s.ProgramUnknown == "":
		return "will crash at start because of the limit of its cgroup; " + should(s)
	case s.NotGo:
		return "is not a Go program; for a Go program in its place " + should(s)
	case !known && s.LiveUnknown == "":
		return "may use another GOMAXPROCS than its runtime chooses; " + should(s)
	case !known && s.ProgramUnknown != "":
		return "cannot be read and may not be a Go program; for one in its place " + should(s)
	case !known:
		return "uses a GOMAXPROCS that cannot be read; " + should(s)
	}
	return s.Uses(n) + e.verdict()
}

func should(s rule.Subject) string {
	switch r := inspect.Recommend(s); {
	case r.Procs == 0:
		return "the recommended value cannot be determined"
	case r.AtMost:
		return fmt.Sprintf("it should be at most %d", r.Procs)
	default:
		return fmt.Sprintf("it should be %d", r.Procs)
	}
}

func (e Explanation) verdict() string {
	s := e.subject
	for _, f := range e.findings {
		switch {
		case f.Rule == "PF001" && f.Severity == rule.Info:
			return fmt.Sprintf("; the recommended value is %d", s.Fit.Procs)
		case f.Rule == "PF001":
			return "; " + should(s)
		case f.Rule == "PF002":
			return fmt.Sprintf("; it could use %d", s.Fit.Procs)
		case f.Rule == "PF060" && !s.Measured():
			return fmt.Sprintf("; the expected value of %d is outdated", s.Expected.Procs)
		case f.Rule == "PF060":
			return fmt.Sprintf("; the expected value is %d", s.Expected.Procs)
		}
	}
	unknown := inspect.Recommend(s).AtMost
	hidden := observe.HiddenParents(s.Facts.Cgroup) && !s.Measured()
	runs, _ := s.Procs()
	n, overridden := s.Overridden()
	switch {
	case overridden && unknown:
		return fmt.Sprintf(", not the %d of its environment; which one it should use cannot be determined", n)
	case overridden && hidden:
		return fmt.Sprintf(", not the %d of its environment%s", n, unlessHidden)
	case overridden:
		return fmt.Sprintf(", as it should, and not the %d of its environment", n)
	case unknown:
		return "; whether it should cannot be determined"
	case hidden:
		return unlessHidden
	case s.Good() && !s.Meant && !s.Measured() && !s.Shared && s.Fit.Procs != runs:
		return fmt.Sprintf(", as it should: both %d and %d are good values for %s", runs, s.Fit.Procs, number.CPUs(s.Facts.EffectiveCPUs()))
	}
	return ", as it should"
}

// unlessHidden is the verdict if nothing that can be seen speaks against the value.
const unlessHidden = "; it should, unless a parent cgroup that is hidden from procfit allows less"

// because is the second line: what chose the value, and which CPUs there are.
func (e Explanation) because() string {
	s := e.subject
	if s.ProgramUnknown != "" {
		return cpus(s)
	}
	if s.SetsOwn {
		return "its code seems to set a value of its own; " + cpus(s)
	}
	if n, overridden := s.Overridden(); overridden {
		return fmt.Sprintf("GOMAXPROCS=%d in its environment has no effect; %s", n, cpus(s))
	}
	if n, counts := s.EnvProcs(); counts {
		return fmt.Sprintf("GOMAXPROCS=%d is in its environment; %s", n, cpus(s))
	}
	chooser := s.RuntimeName()
	if s.Language != "" {
		chooser += " (go " + s.Language + " in go.mod)"
	}
	if s.Go.Outcome == facts.Dies {
		return fmt.Sprintf("%s crashes at start; %s", chooser, cpus(s))
	}
	if s.MissesLimit() {
		return fmt.Sprintf("%s does not see its limit, or was idle since that was lowered; %s", chooser, cpus(s))
	}
	return fmt.Sprintf("%s chooses %d; %s", chooser, s.Go.Procs, cpus(s))
}

func cpus(s rule.Subject) string {
	if s.Facts.EffectiveCPUs() == 0 {
		return "its CPUs are not known"
	}
	if s.Reserve > 0 {
		return allowed(s) + ", " + number.BareCPUs(s.Reserve) + " of them reserved for others"
	}
	return allowed(s)
}

func allowed(s rule.Subject) string {
	have := s.Facts.EffectiveCPUs()
	tightest, limited := s.Limit()
	_, own := s.Facts.Own()
	for i, l := range s.Facts.Limits {
		switch {
		case !limited || l.Dir != tightest.Dir:
		case !own:
			return "a parent of its cgroup allows " + number.Limit(have, l.Burst.CPUs)
		default:
			return ancestor(i) + " allows " + number.Limit(have, l.Burst.CPUs)
		}
	}
	return "it may run on " + number.CPUs(have)
}
