package ps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// advice is what was found of one or of many processes with one way out.
type advice struct {
	findings []rule.Finding // the worst first; all have the same fix
	who      []string
}

// maxNamed is how many processes are named where they have something in common.
const maxNamed = 4

// advise prints below the list what was found and what to do, the worst first.
// Processes of which the same is said share it.
func advise(b *terminal.Writer, all []observe.Process) {
	for _, a := range collectAdvice(all) {
		who := named(a.who)
		b.WriteString("\n")
		for _, f := range a.findings {
			severity := b.Style(grade(f.Severity), string(f.Severity))
			b.Folded(fmt.Sprintf("%s %s: %s: %s", f.Rule, severity, who, phrase.Clean(f.Message)), "  ")
		}
		b.Folded("  → "+phrase.Clean(a.findings[0].Fix), "    ")
	}
}

// named lists processes, not all of very many.
func named(who []string) string {
	if len(who) > maxNamed {
		who = append(slices.Clone(who[:maxNamed]), fmt.Sprintf("%d more", len(who)-maxNamed))
	}
	return strings.Join(who, ", ")
}

func collectAdvice(all []observe.Process) []advice {
	var told []advice
	for _, p := range all {
		who := fmt.Sprintf("%d (%s)", p.PID, phrase.Clean(p.Name))
		for _, a := range byFix(p.Findings) {
			have := slices.IndexFunc(told, func(t advice) bool { return slices.EqualFunc(t.findings, a.findings, sameWords) })
			if have < 0 {
				told = append(told, a)
				have = len(told) - 1
			}
			told[have].who = append(told[have].who, who)
		}
	}
	slices.SortStableFunc(told, func(a, b advice) int {
		return rule.CompareWorst(a.findings, b.findings)
	})
	return told
}

// byFix puts together the findings that have the same way out.
func byFix(findings []rule.Finding) []advice {
	var all []advice
	for _, f := range findings {
		i := slices.IndexFunc(all, func(a advice) bool { return a.findings[0].Fix == f.Fix })
		if i < 0 {
			all = append(all, advice{findings: []rule.Finding{f}})
			continue
		}
		all[i].findings = append(all[i].findings, f)
	}
	return all
}

func sameWords(a, b rule.Finding) bool {
	return a.Rule == b.Rule && a.Severity == b.Severity && a.Message == b.Message && a.Fix == b.Fix
}
