package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

const (
	ruleNoReason = "PF040"
	ruleUnused   = "PF041"
	ruleOpen     = "PF046"
)

// Ignore is a user's answer to a finding, as a comment or an annotation:
//
//	procfit:ignore PF004 the value is measured
//	procfit:ignore PF004,PF001 the value is measured
type Ignore struct {
	Place  rule.Place // where it is
	Rules  []string
	Reason string

	// What it covers: the lines From to To of its file, or, where Object is set, all
	// that is found of that object in the file, and of its Container where that is set.
	From, To          int
	Object, Container string
	Unsure            bool // not all of that was judged, so that it may suppress something
}

// IgnoreMarker begins the text of an ignore.
const IgnoreMarker = "procfit:ignore"

var ruleID = pattern.Of(`^PF[0-9]{3}$`)

// ParseIgnore reads the text of a comment, without its # or //, as an answer for its own line. A name that
// is not a rule is in Rules as it was written, and shows as a finding.
func ParseIgnore(at rule.Place, comment string) (i Ignore, ok bool) {
	i = Ignore{Place: at, From: at.Line, To: at.Line}
	_, rest, ok := strings.Cut(comment, IgnoreMarker)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' { // another word
		return i, false
	}
	i.Rules, i.Reason = ParseIgnoreList(rest)
	return i, true
}

// ParseIgnoreList reads rules, then the reason: the value of an annotation, without the marker.
func ParseIgnoreList(text string) (rules []string, reason string) {
	words := strings.Fields(text)
	for ; len(words) > 0 && strings.HasPrefix(words[0], "PF"); words = words[1:] {
		list := strings.TrimSuffix(words[0], ":")
		rules = append(rules, strings.FieldsFunc(list, func(r rune) bool { return r == ',' })...)
	}
	return rules, strings.Join(words, " ")
}

// Answers reports whether it is about the finding, and counts.
func (i Ignore) Answers(f Finding) bool {
	if i.Reason == "" || i.Place.Path != f.Path || !slices.Contains(i.Rules, f.Rule) {
		return false
	}
	if i.Object != "" {
		return i.Object == f.Object && (i.Container == "" || i.Container == f.Container)
	}
	return i.From <= f.Line && f.Line <= i.To
}

// ignore parts the findings that are answered, each by the first answer that covers it, from the
// others. An answer that answers nothing, or gives no reason, is a finding of its own.
func ignore(findings []Finding, ignores []Ignore) (left []Finding, ignored []Ignored) {
	byLine, byObject := map[about][]*covered{}, map[about][]*covered{}
	all := make([]covered, len(findings))
	for n, f := range findings {
		c := &all[n]
		c.Finding = f
		byLine[about{f.Path, f.Rule, ""}] = append(byLine[about{f.Path, f.Rule, ""}], c)
		if f.Object != "" {
			byObject[about{f.Path, f.Rule, f.Object}] = append(byObject[about{f.Path, f.Rule, f.Object}], c)
		}
	}
	for _, list := range byLine {
		sorting.Stable(list, func(a, b *covered) int { return cmp.Compare(a.Line, b.Line) })
		for n, c := range list {
			c.next = n
		}
	}
	var faults []Finding
	for _, i := range ignores {
		used := map[string]bool{}
		for _, id := range i.Rules {
			if i.Object != "" {
				used[id] = i.answerObject(byObject[about{i.Place.Path, id, i.Object}])
			} else {
				used[id] = i.answerLines(byLine[about{i.Place.Path, id, ""}])
			}
		}
		faults = append(faults, i.faults(used)...)
	}
	for _, c := range all {
		if c.by == nil {
			left = append(left, c.Finding)
		} else {
			ignored = append(ignored, Ignored{Finding: c.Finding, Reason: c.by.Reason})
		}
	}
	return append(left, faults...), ignored
}

type about struct{ path, rule, object string }

type covered struct {
	Finding
	by   *Ignore // the first that answers it; nil: none does
	next int     // of those of a file, in the order of their lines: the first from here on that may be unanswered
}

func (i *Ignore) answerLines(list []*covered) (some bool) {
	from, _ := slices.BinarySearchFunc(list, i.From, func(c *covered, line int) int { return cmp.Compare(c.Line, line) })
	to, _ := slices.BinarySearchFunc(list, i.To+1, func(c *covered, line int) int { return cmp.Compare(c.Line, line) })
	for n := unanswered(list, from); n < to && i.Reason != ""; n = unanswered(list, n+1) {
		list[n].by, list[n].next = i, n+1
	}
	return from < to
}

// unanswered is the first finding from n on that may be unanswered. It shortens the next way.
func unanswered(list []*covered, n int) int {
	end := n
	for end < len(list) && list[end].next != end {
		end = list[end].next
	}
	for n < end {
		list[n].next, n = end, list[n].next
	}
	return end
}

func (i *Ignore) answerObject(list []*covered) (some bool) {
	for _, c := range list {
		if i.Container != "" && i.Container != c.Container {
			continue
		}
		if some = true; c.by == nil && i.Reason != "" {
			c.by = i
		}
	}
	return some
}

func (i Ignore) faults(used map[string]bool) (all []Finding) {
	if len(i.Rules) == 0 {
		return append(all, NewFinding(ruleNoReason, i.Place, "an ignore comment without a rule has no effect",
			"write the rule and the reason: "+IgnoreMarker+" PF004 the value is measured"))
	}
	if i.Reason == "" {
		all = append(all, NewFinding(ruleNoReason, i.Place,
			fmt.Sprintf("an ignore comment for %s without a reason has no effect", phrase.And(i.Rules)),
			"add the reason: "+IgnoreMarker+" "+strings.Join(i.Rules, ",")+" the value is measured"))
	}
	for _, id := range i.Rules {
		_, known := rule.Find(id)
		switch {
		case !ruleID().MatchString(id) || !known:
			all = append(all, NewFinding(ruleUnused, i.Place, fmt.Sprintf("the ignore comment names %q, which is not a rule", phrase.Clip(id, 40)), "write a rule ID such as PF004, or remove it"))
		case !used[id] && i.Reason != "" && !i.Unsure && !ofRunning(id):
			all = append(all, NewFinding(ruleUnused, i.Place, fmt.Sprintf("%s does not match here, so the ignore comment has no effect", id), "remove it"))
		}
	}
	return all
}

// ofRunning: only running programs show the rule, or --strict, and no file shows whether it is
// needed.
func ofRunning(id string) bool {
	r, _ := rule.Find(id)
	return r.Measured || r.By == "cluster" || id == ruleOpen
}
