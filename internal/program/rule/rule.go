// Package rule judges which GOMAXPROCS a Go program runs with.
//
// # Model
//
// A [Subject] is what is known about one program: its CPUs and limits, what its runtime
// and the policy fit decide from them, and what can be seen of it from outside.
// A [Rule] has a page in pages, which is the source of its description everywhere,
// docs/reference/rules.md included: an ID that never changes, a title, the reason and what to do.
// It may have a pure check, which reads a Subject and may return a [Finding]. [All] lists
// the rules, [Judge] applies them. The readers of processes, recorded trees, manifests
// and binaries fill in Subjects; the rules are the same for all.
//
// A rule does not know what each Go release does; the policies do. It asks a policy what
// the runtime would do with a limit (see NewSubject).
//
// # Limits
//
//   - What is not known gives no finding, except PF009, which reports it. If the
//     environment or the program could not be read, the value is not judged.
//   - To these rules, both the CPUs rounded down and rounded up are good values. A sweep
//     shows which one is better for a program.
//   - If GOMAXPROCS differs from what the runtime would choose, either code set it or the
//     limits changed. From outside the two look the same, and SetBy is then unknown.
package rule

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/procfit/procfit/internal/show/sorting"
)

// Rule is one thing that can be wrong. Everything but Check comes from its page.
type Rule struct {
	ID       string // PFnnn; never reused for another rule
	Title    string
	Why      string
	Fix      string
	Since    string // the version of procfit that added it
	Severity Severity
	Measured bool // it needs measurements, not only settings

	// By names what finds it, if it is not found in a Subject: "manifest", "source", "cluster" or
	// "check". Check is then nil.
	By string

	// Check returns the findings, with Message and Fix. It may lower or raise the
	// Severity. Judge fills in Rule and Place.
	Check func(Subject) []Finding
}

var checks = map[string]func(Subject) []Finding{
	"PF001": checkTooMany,
	"PF002": checkTooFew,
	"PF003": checkVariable,
	"PF004": checkFrozen,
	"PF005": checkLimitsOff,
	"PF006": checkOldGo,
	"PF007": checkAutomaxprocs,
	"PF008": checkUnseenAncestor,
	"PF009": checkUnread,
	"PF010": checkMissedMount,
	"PF011": checkThrottledTooMany,
	"PF012": checkThrottledFitting,
	"PF013": checkOverridden,
	"PF014": checkDeadlyLimit,
	"PF015": checkDivisor,
	"PF016": checkRefused,
	"PF017": checkNoLimitToRefer,
	"PF018": checkNoLimit,
	"PF019": checkTwice,
	"PF020": checkFixedInImage,
	"PF021": checkThousandths,
	"PF022": checkTooOldForLimits,
	"PF023": checkHeld,
	"PF045": checkTogether,
	"PF060": checkExpected,
	"PF061": checkOutdated,
}

// pages has a page for each rule: a head, why the rule exists, and what to do.
//
//go:embed pages/*.md
var pages embed.FS

// All returns the rules, by ID.
func All() []Rule { return slices.Clone(readPages()) }

var readPages = sync.OnceValue(func() (all []Rule) {
	files, err := pages.ReadDir("pages")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		text, err := pages.ReadFile("pages/" + file.Name())
		if err != nil {
			panic(err)
		}
		r, err := parsePage(string(text))
		if err != nil {
			panic(fmt.Errorf("%s: %w", file.Name(), err))
		}
		r.Check = checks[r.ID]
		all = append(all, r)
	}
	return all
})

// parsePage reads a page. Its head consists of lines of the form "name: value".
func parsePage(text string) (r Rule, err error) {
	text, opened := strings.CutPrefix(text, "---\n")
	head, body, closed := strings.Cut(text, "\n---\n")
	why, fix, both := strings.Cut(body, "\n## What to do\n")
	if !opened || !closed || !both {
		return Rule{}, fmt.Errorf("expected a head between lines of ---, and the section %q", "## What to do")
	}
	r.Why, r.Fix = strings.TrimSpace(why), strings.TrimSpace(fix)
	texts := map[string]*string{"id": &r.ID, "title": &r.Title, "severity": (*string)(&r.Severity), "since": &r.Since, "by": &r.By}
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch text := texts[name]; {
		case text != nil:
			*text = value
		case name == "measured":
			r.Measured = value == "true"
		default:
			return Rule{}, fmt.Errorf("the head has the unknown line %q", line)
		}
	}
	return r, nil
}

func Find(id string) (Rule, bool) {
	all := readPages()
	if i := slices.IndexFunc(all, func(r Rule) bool { return r.ID == id }); i >= 0 {
		return all[i], true
	}
	return Rule{}, false
}

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
	Now      string   `json:"now,omitempty"`  // the command that helps a running program until then
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

// Hurts reports whether it was measured that a program is slower now, as where it is throttled.
func (f Finding) Hurts() bool {
	r, known := Find(f.Rule)
	return known && r.Measured && f.Severity != Info
}

// CompareWorst orders lists of findings: what hurts now comes first, then by the worst finding;
// empty lists come last.
func CompareWorst(a, b []Finding) int {
	rank := func(findings []Finding) int {
		switch {
		case len(findings) == 0:
			return len(Severities())
		case slices.ContainsFunc(findings, Finding.Hurts):
			return -1
		}
		return Worst(findings).Rank()
	}
	return cmp.Compare(rank(a), rank(b))
}

// Shared is the finding in words for several processes: its commands have PID instead of an ID, and
// it is at no place.
func (f Finding) Shared() Finding {
	if f.PID != 0 {
		for _, command := range []string{"procfit set ", "procfit live "} {
			own, shared := command+strconv.Itoa(f.PID)+" ", command+"PID "
			f.Fix, f.Now = strings.ReplaceAll(f.Fix, own, shared), strings.ReplaceAll(f.Now, own, shared)
		}
	}
	f.Place, f.Edit = Place{}, nil
	return f
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
	for _, r := range ofSubjects() {
		for _, f := range r.Check(s) {
			f.Rule, f.Place = r.ID, s.Place
			if f.Severity == "" {
				f.Severity = r.Severity
			}
			findings = append(findings, f)
		}
	}
	s.oneFix(findings)
	sorting.Stable(findings, func(a, b Finding) int { return cmp.Compare(a.Severity.Rank(), b.Severity.Rank()) })
	return findings
}

// oneFix gives findings about the runtime's own value, which is used because the variable is
// ignored, the fix of the variable: another one, such as a sweep, would contradict it.
func (s Subject) oneFix(all []Finding) {
	variable := slices.IndexFunc(all, func(f Finding) bool { return f.Rule == "PF003" && f.Severity != Info })
	if variable < 0 || s.SetBy != SetByAuto {
		return
	}
	for i := range all {
		if all[i].Rule == "PF001" || all[i].Rule == "PF002" {
			all[i].Fix = all[variable].Fix
		}
	}
}

// ofSubjects are the rules that judge a Subject, those that were measured first.
var ofSubjects = sync.OnceValue(func() []Rule {
	list := slices.DeleteFunc(All(), func(r Rule) bool { return r.Check == nil })
	order := func(r Rule) int {
		if r.Measured {
			return 0
		}
		return 1
	}
	sorting.Stable(list, func(a, b Rule) int { return cmp.Compare(order(a), order(b)) })
	return list
})
