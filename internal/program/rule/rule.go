// Package rule judges which GOMAXPROCS a Go program runs with.
//
// # Model
//
// A [Subject] is what is known of one program: the CPUs and limits it has, what
// its runtime and the policy fit decide from them, and what is seen of it from
// outside. A [Rule] has a page in pages, from which its description comes wherever
// procfit shows it, docs/RULES.md included: an ID that stays, a title, the reason and
// what to do. It may have a pure check, which looks at a Subject and may give a
// [Finding]. [All] lists the rules, [Judge] applies them. Whoever reads processes,
// recorded trees, manifests or binaries fills in Subjects; the rules are the same.
//
// A rule knows no release by heart where a policy does: it asks the policy what
// the runtime would do with a limit (see readLimits), and never repeats the
// answer.
//
// # Limits
//
//   - What is not known gives no finding, but for PF009, which says so. A value
//     that only might be in force, since the environment or the program could
//     not be read, is not judged.
//   - A value between the CPUs rounded down and rounded up is right to these
//     rules. Which one serves a program best is for a sweep to say.
//   - GOMAXPROCS that differs from what the runtime would choose was set by code
//     or comes from limits that changed: from outside the two look alike, and
//     SetBy is then unknown.
package rule

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Rule is one thing that can be wrong. All but Check is from its page.
type Rule struct {
	ID       string // PFnnn; never used again for another rule
	Title    string
	Why      string
	Fix      string
	Since    string // the version of procfit that brought it
	Severity Severity
	Measured bool // it rests on what happened, not on settings alone

	// By names who finds it where no Subject has it: "manifest", "source", "cluster" or
	// "check". Check is then nil.
	By string

	// Check returns what the rule finds, with Message and Fix. It may lower or
	// raise the Severity; Rule and Place are filled in by Judge.
	Check func(Subject) []Finding
}

// checks are those of the rules that judge a Subject.
var checks = map[string]func(Subject) []Finding{
	"PF001": checkTooMany,
	"PF002": checkTooFew,
	"PF003": checkIgnoredEnv,
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

// parsePage reads a page, of which the head is lines of the form "name: value".
func parsePage(text string) (r Rule, err error) {
	text, opened := strings.CutPrefix(text, "---\n")
	head, body, closed := strings.Cut(text, "\n---\n")
	why, fix, both := strings.Cut(body, "\n## What to do\n")
	if !opened || !closed || !both {
		return Rule{}, fmt.Errorf("expected a head between lines of ---, and the section %q", "## What to do")
	}
	r.Why, r.Fix = strings.TrimSpace(why), strings.TrimSpace(fix)
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "id":
			r.ID = value
		case "title":
			r.Title = value
		case "severity":
			r.Severity = Severity(value)
		case "since":
			r.Since = value
		case "by":
			r.By = value
		case "measured":
			r.Measured = value == "true"
		default:
			return Rule{}, fmt.Errorf("the head has the unknown line %q", line)
		}
	}
	return r, nil
}

// Find returns the rule of the ID.
func Find(id string) (Rule, bool) {
	for _, r := range readPages() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}
