package ps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// advice is the findings of one or several processes that share a fix.
type advice struct {
	findings []rule.Finding // the worst first
	who      []string
}

// maxNamed is how many processes of a group are named.
const maxNamed = 4

// advise prints the findings and what to do, worst first. Processes with the same
// findings share an entry.
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

// named lists processes, but not all if there are many.
func named(who []string) string {
	if len(who) > maxNamed {
		who = append(slices.Clone(who[:maxNamed]), fmt.Sprintf("%d more", len(who)-maxNamed))
	}
	return strings.Join(who, ", ")
}

func collectAdvice(all []observe.Process) []advice {
	var list []advice
	for _, p := range all {
		who := fmt.Sprintf("%d (%s)", p.PID, phrase.Clean(p.Name))
		for _, findings := range inspect.ByFix(p.Findings) {
			have := slices.IndexFunc(list, func(a advice) bool { return slices.EqualFunc(a.findings, findings, sameWords) })
			if have < 0 {
				have = len(list)
				list = append(list, advice{findings: findings})
			}
			list[have].who = append(list[have].who, who)
		}
	}
	slices.SortStableFunc(list, func(a, b advice) int {
		return rule.CompareWorst(a.findings, b.findings)
	})
	return list
}

func sameWords(a, b rule.Finding) bool {
	return a.Rule == b.Rule && a.Severity == b.Severity && a.Message == b.Message && a.Fix == b.Fix
}
