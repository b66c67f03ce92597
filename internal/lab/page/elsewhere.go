package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// elsewhere are sentences about an experiment's hypotheses that are not asked here: one about CPUs,
// and one for each other reason.
func elsewhere(r *lab.Ran) (list []string) {
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
		list = append(list, fmt.Sprintf("%s %s for the program, more than this machine has.", phrase.CountOf(short, "more hypothesis needs", "more hypotheses need"), needs))
	}
	for _, a := range r.Hypotheses {
		reason := a.Reason
		if n := others[reason]; n > 0 {
			list = append(list, phrase.CountOf(n, "more hypothesis is", "more hypotheses are")+" not asked: "+reason+".")
			delete(others, reason)
		}
	}
	return list
}

// Larger is a machine that answers hypotheses which this one cannot.
type Larger struct {
	CPUs       float64
	Hypotheses int
	IDs        []string // of the experiments
}

// larger are the machines that answer more, the smallest first.
func larger(o *lab.Outcome) (list []Larger) {
	for i := range o.Experiments {
		for _, a := range o.Experiments[i].Hypotheses {
			if a.Answer != lab.NotAsked || a.Lacks == 0 {
				continue
			}
			at := slices.IndexFunc(list, func(l Larger) bool { return l.CPUs == a.Needs })
			if at < 0 {
				at = len(list)
				list = append(list, Larger{CPUs: a.Needs})
			}
			list[at].Hypotheses++
			if id := o.Experiments[i].ID; !slices.Contains(list[at].IDs, id) {
				list[at].IDs = append(list[at].IDs, id)
			}
		}
	}
	sorting.Stable(list, func(a, b Larger) int { return cmp.Compare(a.CPUs, b.CPUs) })
	return list
}

// largerList lists them with the command that asks what they can answer.
func largerList(list []Larger) []document.Block {
	if len(list) == 0 {
		return nil
	}
	var items document.List
	for _, l := range list {
		items.Items = append(items.Items, document.Item{
			Text: fmt.Sprintf("%s more with %s", phrase.CountOf(l.Hypotheses, "hypothesis", "hypotheses"), number.CPUs(l.CPUs)), Command: "procfit lab run " + strings.Join(l.IDs, " "),
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
