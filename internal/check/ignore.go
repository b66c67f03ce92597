package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// The rules of ignoring itself.
const (
	ruleNoReason = "PF040"
	ruleUnused   = "PF041"
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

	// Unsure is set if not all of what it covers was judged: it may be one that suppresses
	// something.
	Unsure bool
}

// IgnoreMarker begins the text of an ignore.
const IgnoreMarker = "procfit:ignore"

var ruleID = regexp.MustCompile(`^PF[0-9]{3}$`)

// ParseIgnore reads the text of a comment, without its # or //. It is none where ok
// is false. What is wrong with one shows as a finding: a name that is not a rule is
// in Rules as it was written.
func ParseIgnore(comment string) (rules []string, reason string, ok bool) {
	_, rest, ok := strings.Cut(comment, IgnoreMarker)
	if !ok {
		return nil, "", false
	}
	if rest != "" && !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "\t") {
		return nil, "", false // another word
	}
	return ParseIgnoreList(rest)
}

// ParseIgnoreList reads what follows the marker: rules, then the reason. The value of
// an annotation is that alone.
func ParseIgnoreList(text string) (rules []string, reason string, ok bool) {
	words := strings.Fields(text)
	for len(words) > 0 {
		list := strings.TrimSuffix(words[0], ":")
		if !strings.HasPrefix(list, "PF") {
			break
		}
		for id := range strings.SplitSeq(list, ",") {
			if id != "" {
				rules = append(rules, id)
			}
		}
		words = words[1:]
	}
	return rules, strings.Join(words, " "), true
}

// Answers reports whether it is about the finding, and counts.
func (i Ignore) Answers(f Finding) bool { return i.Reason != "" && i.covers(f) }

func (i Ignore) covers(f Finding) bool {
	if i.Place.Path != f.Path || !slices.Contains(i.Rules, f.Rule) {
		return false
	}
	if i.Object != "" {
		return i.Object == f.Object && (i.Container == "" || i.Container == f.Container)
	}
	return i.From <= f.Line && f.Line <= i.To
}

// ignore parts the findings that are answered from those that are not. An answer
// that answers nothing, or gives no reason, is a finding of its own.
func ignore(findings []Finding, ignores []Ignore) (left []Finding, ignored []Ignored) {
	used := make([]map[string]bool, len(ignores))
	byPath := map[string][]int{}
	for n, i := range ignores {
		used[n] = map[string]bool{}
		byPath[i.Place.Path] = append(byPath[i.Place.Path], n)
	}
	for _, f := range findings {
		answered := -1
		for _, n := range byPath[f.Path] {
			if ignores[n].covers(f) {
				used[n][f.Rule] = true
				if ignores[n].Reason != "" && answered < 0 {
					answered = n
				}
			}
		}
		if answered < 0 {
			left = append(left, f)
			continue
		}
		ignored = append(ignored, Ignored{Finding: f, Reason: ignores[answered].Reason})
	}
	for n, i := range ignores {
		left = append(left, i.faults(used[n])...)
	}
	return left, ignored
}

// faults are what is wrong with an ignore, given the rules that it has answered.
func (i Ignore) faults(used map[string]bool) []Finding {
	var all []Finding
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
		case !ruleID.MatchString(id) || !known:
			all = append(all, NewFinding(ruleUnused, i.Place, fmt.Sprintf("the ignore comment names %q, which is not a rule", phrase.Clip(id, 40)), "write a rule ID such as PF004, or remove it"))
		case !used[id] && i.Reason != "" && !i.Unsure && !ofRunning(id):
			all = append(all, NewFinding(ruleUnused, i.Place, fmt.Sprintf("%s does not match here, so the ignore comment has no effect", id), "remove it"))
		}
	}
	return all
}

// ofRunning reports whether a rule is one that only running programs show. A manifest has the
// annotation for it, and no file shows whether it is needed.
func ofRunning(id string) bool {
	r, _ := rule.Find(id)
	return r.Measured || r.By == "cluster"
}
