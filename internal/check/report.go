package check

import (
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/program/rule"
)

// Report is all that a run tells, each list in the order of paths and lines. A nil
// list is empty.
type Report struct {
	Files    int      // that were checked
	Noun     string   // what these are, in the singular; "": files
	Others   []string // the paths of YAML and JSON files that hold no manifest
	Values   []Value
	Findings []Finding
	Ignored  []Ignored
	Problems []Problem
	Notes    []Note
	Fixed    []Fixed // what --fix has written
}

// Ignored is a finding that the user has answered.
type Ignored struct {
	Finding
	Reason string
}

// Fixed is a file that was, or would be, changed.
type Fixed struct {
	Path     string
	Findings []Finding // that are gone
	Before   []byte
	After    []byte
	Written  bool // false: only shown
}

// AtLeast is the Report without findings below a severity.
func (r Report) AtLeast(least rule.Severity) *Report {
	r.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Severity.Rank() > least.Rank() })
	return &r
}

// Suppress moves the findings of rules that the user suppresses everywhere to those that are
// ignored, with the reason of each rule.
func (r Report) Suppress(reasons map[string]string) *Report {
	var left []Finding
	for _, f := range r.Findings {
		if reason, ok := reasons[f.Rule]; ok {
			r.Ignored = append(r.Ignored[:len(r.Ignored):len(r.Ignored)], Ignored{f, reason})
		} else {
			left = append(left, f)
		}
	}
	r.Findings = left
	r.sort()
	return &r
}

// Count is the number of findings of a severity.
func (r *Report) Count(s rule.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// report sets ignores against findings and sorts everything.
func (c *collector) report() *Report {
	r := c.all
	r.Files = c.files
	r.Findings, r.Ignored = ignore(r.Findings, c.ignores)
	r.sort()
	return &r
}

// Merge is one Report of several runs.
func Merge(reports ...*Report) *Report {
	whole := &Report{}
	for _, r := range reports {
		whole.Files += r.Files
		whole.Others = append(whole.Others, r.Others...)
		whole.Values = append(whole.Values, r.Values...)
		whole.Findings = append(whole.Findings, r.Findings...)
		whole.Ignored = append(whole.Ignored, r.Ignored...)
		whole.Problems = append(whole.Problems, r.Problems...)
		whole.Notes = append(whole.Notes, r.Notes...)
		whole.Fixed = append(whole.Fixed, r.Fixed...)
	}
	whole.sort()
	return whole
}

func (r *Report) sort() {
	slices.Sort(r.Others)
	slices.SortStableFunc(r.Values, func(a, b Value) int { return comparePlaces(a.Place, b.Place) })
	slices.SortStableFunc(r.Findings, compareFindings)
	r.Findings = slices.CompactFunc(r.Findings, func(a, b Finding) bool {
		return a.Rule == b.Rule && a.Place == b.Place && a.Message == b.Message
	})
	slices.SortStableFunc(r.Ignored, func(a, b Ignored) int { return compareFindings(a.Finding, b.Finding) })
	slices.SortStableFunc(r.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	r.Problems = slices.Compact(r.Problems)
	slices.SortStableFunc(r.Notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	r.Notes = slices.Compact(r.Notes)
}

func comparePlaces(a, b rule.Place) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Object, b.Object), cmp.Compare(a.Container, b.Container))
}

func compareFindings(a, b Finding) int {
	return cmp.Or(comparePlaces(a.Place, b.Place), cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
}
