package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// elsewhere are sentences about an experiment's hypotheses that are not asked here: one about CPUs,
// and one for each other reason.
func elsewhere(r *lab.Ran) (list []document.Block) {
	add := func(text string) { list = append(list, document.Text{Text: text, Style: document.Muted}) }
	var least, most float64
	short, others := 0, map[string]int{}
	for _, a := range r.Hypotheses {
		switch {
		case a.Answer != lab.NotAsked:
		case a.Lacks > 0:
			if short++; least == 0 || a.Lacks < least {
				least = a.Lacks
			}
			most = max(most, a.Lacks)
		default:
			others[a.Reason]++
		}
	}
	if short > 0 {
		needs := number.CPUs(most)
		if least < most {
			needs = number.Count(least) + " to " + needs
		}
		add(fmt.Sprintf("%s %s for the program, more than this machine has.", phrase.CountOf(short, "more hypothesis needs", "more hypotheses need"), needs))
	}
	for _, a := range r.Hypotheses {
		reason := a.Reason
		if n := others[reason]; n > 0 {
			add(phrase.CountOf(n, "more hypothesis is", "more hypotheses are") + " not asked: " + reason + ".")
			delete(others, reason)
		}
	}
	return list
}

// largerList has the machines that answer hypotheses which this one cannot, the smallest first, with
// the command that asks them.
func largerList(o *lab.Outcome) []document.Block {
	asks, ids := map[float64]int{}, map[float64][]string{} // by CPUs
	for i := range o.Experiments {
		r := &o.Experiments[i]
		for _, a := range r.Hypotheses {
			if a.Answer != lab.NotAsked || a.Lacks == 0 {
				continue
			}
			if asks[a.Needs]++; !slices.Contains(ids[a.Needs], r.ID) {
				ids[a.Needs] = append(ids[a.Needs], r.ID)
			}
		}
	}
	if len(asks) == 0 {
		return nil
	}
	var items document.List
	for _, cpus := range slices.Sorted(maps.Keys(asks)) {
		items.Items = append(items.Items, document.Item{
			Text: fmt.Sprintf("%s more with %s", phrase.CountOf(asks[cpus], "hypothesis", "hypotheses"), number.CPUs(cpus)), Command: "procfit lab run " + strings.Join(ids[cpus], " "),
		})
	}
	return []document.Block{document.Heading{Level: 2, Text: "What needs more CPUs"}, items}
}

// further is what more time would decide.
func further(o *lab.Outcome) string {
	open, near := 0, 0
	seconds := 0.0
	for _, e := range o.Experiments {
		for _, a := range e.Hypotheses {
			if !a.Open {
				continue
			}
			if open++; a.MoreBlocks > 0 {
				near++
				seconds += a.MoreSeconds
			}
		}
	}
	if open == 0 {
		return ""
	}
	said := phrase.CountOf(open, "hypothesis is open.", "hypotheses are open.")
	if near > 0 {
		d := time.Duration(seconds * float64(time.Second))
		said += fmt.Sprintf(" About %s more decide %d of them: run the same command with this directory as --out.", number.Minutes(max(d, time.Second)), near)
	}
	if far := open - near; far > 0 {
		said += " " + phrase.CountOf(far, "scatters so much that no run is long enough", "scatter so much that no run is long enough") + "."
	}
	return said
}
