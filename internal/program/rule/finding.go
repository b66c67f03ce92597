package rule

import (
	"cmp"
	"slices"
)

// Severity is how certain and how costly a finding is.
type Severity string

const (
	Error   Severity = "error"   // something does not work as somebody intended
	Warning Severity = "warning" // it has a cost now
	Info    Severity = "info"    // worth knowing; it can be intended
)

// Severities returns all of them, worst first.
func Severities() []Severity { return []Severity{Error, Warning, Info} }

// Rank is the index in Severities; -1 if it is not one of them.
func (s Severity) Rank() int { return slices.Index(Severities(), s) }

// Finding is a rule that matched a Subject.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`        // what is wrong, without a subject: "uses …"
	Fix      string   `json:"fix"`            // the one thing to do
	Edit     *Edit    `json:"edit,omitempty"` // the fix, if it changes only one line
	Place
}

// Edit is a change of one line of a file.
type Edit struct {
	Path string `json:"path"`
	Line int    `json:"line"` // from 1
	Old  string `json:"old"`  // a part of the line
	New  string `json:"new"`
}

// Worst is the severity of the worst finding; empty when there is none.
func Worst(findings []Finding) Severity {
	var worst Severity
	for _, f := range findings {
		if worst == "" || f.Severity.Rank() < worst.Rank() {
			worst = f.Severity
		}
	}
	return worst
}

// CompareWorst orders lists of findings by their worst finding; empty lists come last.
func CompareWorst(a, b []Finding) int {
	rank := func(findings []Finding) int {
		if len(findings) == 0 {
			return len(Severities())
		}
		return Worst(findings).Rank()
	}
	return cmp.Compare(rank(a), rank(b))
}

// IDs returns the rules that matched, each once.
func IDs(findings []Finding) []string {
	var ids []string
	for _, f := range findings {
		if !slices.Contains(ids, f.Rule) {
			ids = append(ids, f.Rule)
		}
	}
	return ids
}

// Judge applies all rules to a Subject, or none if it is not a Go program. The worst
// findings come first, and among equals those that were measured.
func Judge(s Subject) []Finding {
	findings := []Finding{}
	if s.NotGo {
		return findings
	}
	rules := All()
	slices.SortStableFunc(rules, func(a, b Rule) int { return cmp.Compare(order(a), order(b)) })
	for _, r := range rules {
		if r.Check == nil {
			continue
		}
		for _, f := range r.Check(s) {
			f.Rule, f.Place = r.ID, s.Place
			if f.Severity == "" {
				f.Severity = r.Severity
			}
			findings = append(findings, f)
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Severity.Rank(), b.Severity.Rank()) })
	return findings
}

func order(r Rule) int {
	if r.Measured {
		return 0
	}
	return 1
}
