package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// settings are what a plan compares: values of GOMAXPROCS, as --procs takes them, and those
// of variables.
func settings(p journal.Plan) string {
	text := "GOMAXPROCS " + procsOf(p)
	for _, axis := range p.Vary {
		text += ", then " + axis.Name + " " + strings.Join(axis.Values, ", ")
	}
	if first := p.Settings[0]; first.Compares != "" { // a grid of one variable
		_, variable, _ := strings.Cut(text, ", then ")
		return variable + " and GOMAXPROCS " + journal.LabelOf(first.Procs)
	}
	return text
}

// procsOf are a plan's values of GOMAXPROCS.
func procsOf(p journal.Plan) string {
	list := labels(p)
	if p.Racing() && !p.Listed && len(list) > 2 {
		most := 0 // of the group that has the most
		for _, a := range p.Settings {
			if a.Procs != nil {
				most = max(most, *a.Procs)
			}
		}
		return fmt.Sprintf("%s, 1..%d", journal.Default, most)
	}
	return strings.Join(list, ", ")
}

// labels are those of a plan's settings, each once.
func labels(p journal.Plan) (list []string) {
	for _, a := range p.Settings {
		if !slices.Contains(list, a.Label) {
			list = append(list, a.Label)
		}
	}
	return list
}

// open is what the trials have still to tell, the first of it in words.
func open(list []plan.Question) string {
	if len(list) == 0 {
		return ""
	}
	q := list[0]
	s := ": " + q.A
	if q.B != "" {
		s += " or " + q.B
	}
	if q.Latency {
		s += ", by p99"
	}
	if name := group(q.Group); name != "" {
		s = " (" + name[1:] + ")" + s
	}
	if n := len(list) - 1; n > 0 {
		s += " and " + phrase.Count(n, "more question")
	}
	return ", open" + s
}

// group is what distinguishes settings of one group from those of another.
func group(g journal.GroupKey) (s string) {
	if g.Limited {
		s += fmt.Sprintf(" limit %g", g.QuotaCPUs)
	}
	if g.GoVersion != "" {
		s += " go" + g.GoVersion
	}
	if g.SetLive {
		s += " set live"
	}
	if g.Procs > 0 {
		s += fmt.Sprintf(" GOMAXPROCS %d", g.Procs)
	}
	if g.Variables != "" {
		s += " " + g.Variables
	}
	if g.Replicas > 1 {
		s += fmt.Sprintf(" × %d", g.Replicas)
	}
	return s
}

// compared is the value that a setting's group compares: "GOMAXPROCS 2", or "GOGC=50".
func compared(a journal.Setting) string {
	if a.Compares == "" {
		return "GOMAXPROCS " + a.Label
	}
	return a.Label
}
