package rule

import (
	"cmp"
	"slices"
)

// Severity says how sure and how costly a finding is.
type Severity string

const (
	Error   Severity = "error"   // somebody's intent is not met
	Warning Severity = "warning" // it costs something, here and now
	Info    Severity = "info"    // worth knowing; it may be meant so
)

// Finding is a rule that fired on a Subject.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // what is so, without a subject: "runs with …"
	Fix      string   `json:"fix"`     // the one thing to do
	Place
}

// Rule is one thing that can be wrong.
type Rule struct {
	ID       string // PFnnn; never used again for another rule
	Title    string
	Why      string
	Fix      string
	Since    string // the version of procfit that brought it
	Severity Severity
	Measured bool // it rests on what happened, not on settings alone

	// Check tells whether the rule fires, and fills in Message and Fix. It may
	// lower or raise the Severity; Rule and Place are filled in by Judge.
	Check func(Subject) (Finding, bool)
}

// All returns the rules, by ID.
func All() []Rule {
	return []Rule{
		tooManyPs(),
		tooFewPs(),
		ignoredEnv(),
		frozen(),
		limitsOff(),
		oldGo(),
		redundantAutomaxprocs(),
		unseenAncestor(),
		unreadLimits(),
		missedMount(),
		throttledTooMany(),
		throttledFitting(),
	}
}

// Find returns the rule of the ID.
func Find(id string) (Rule, bool) {
	for _, r := range All() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}

// Judge applies all rules to a Subject that was decided. The worst findings come
// first, among equals those that rest on what happened.
func Judge(s Subject) []Finding {
	findings := []Finding{}
	rules := All()
	slices.SortStableFunc(rules, func(a, b Rule) int { return cmp.Compare(order(a), order(b)) })
	for _, r := range rules {
		f, fires := r.Check(s)
		if !fires {
			continue
		}
		f.Rule, f.Place = r.ID, s.Place
		if f.Severity == "" {
			f.Severity = r.Severity
		}
		findings = append(findings, f)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Compare(rank(a.Severity), rank(b.Severity))
	})
	return findings
}

func order(r Rule) int {
	if r.Measured {
		return 0
	}
	return 1
}

func rank(s Severity) int { return slices.Index([]Severity{Error, Warning, Info}, s) }
