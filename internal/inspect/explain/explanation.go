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

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
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
	request   Request
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

// Process names a process in a text.
func Process(s rule.Subject) string {
	name := "process " + strconv.Itoa(s.PID)
	if s.Name != "" {
		name += " (" + phrase.Clean(s.Name) + ")"
	}
	return name
}

// WriteRule prints a rule's page.
func WriteRule(w io.Writer, r rule.Rule) error {
	_, err := fmt.Fprintf(w, "%s  %s\n%s, since procfit %s\n\n%s\n\nWhat to do\n\n%s\n", r.ID, r.Title, r.Severity, r.Since, r.Why, r.Fix)
	return err
}
