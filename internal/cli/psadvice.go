package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/rule"
)

// advice is one finding of one or many processes.
type advice struct {
	rule.Finding
	who []string
}

// maxNamed is how many processes of a finding are named.
const maxNamed = 4

// advise prints below the list what was found and what to do, the worst first.
// Processes of which the same is said share a line; of several findings of one
// process with the same way out the first is told.
func advise(b *strings.Builder, all []observe.Process, color bool) {
	for _, a := range advices(all) {
		who := a.who
		if len(who) > maxNamed {
			who = append(slices.Clone(who[:maxNamed]), fmt.Sprintf("%d more", len(a.who)-maxNamed))
		}
		fmt.Fprintf(b, "\n%s %s: %s %s\n  → %s\n", a.Rule, paint(color, severityColor(a.Severity), string(a.Severity)),
			strings.Join(who, ", "), printable(a.Message), printable(a.Fix))
	}
}

func advices(all []observe.Process) []advice {
	var told []advice
	for _, severity := range []rule.Severity{rule.Error, rule.Warning, rule.Info} {
		for _, p := range all {
			for i, f := range p.Findings {
				said := slices.ContainsFunc(p.Findings[:i], func(worse rule.Finding) bool { return worse.Fix == f.Fix })
				if f.Severity != severity || said {
					continue
				}
				who := fmt.Sprintf("%d (%s)", p.PID, printable(p.Name))
				have := slices.IndexFunc(told, func(a advice) bool {
					return a.Rule == f.Rule && a.Severity == f.Severity && a.Message == f.Message && a.Fix == f.Fix
				})
				if have < 0 {
					told = append(told, advice{Finding: f})
					have = len(told) - 1
				}
				told[have].who = append(told[have].who, who)
			}
		}
	}
	return told
}
