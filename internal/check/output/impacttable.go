package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	page "github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// namespace is one as people read it.
func namespace(name string) string { return cmp.Or(phrase.Clean(name), "(none named)") }

func byNamespace(m check.Impact) page.Table {
	t := page.Table{}
	for i, head := range []string{"namespace", "workloads", "affected", "share", "containers", "affected", "share", "lower", "higher", "not known"} {
		t.Columns = append(t.Columns, page.Column{Head: head, Short: head, Left: i == 0})
	}
	add := func(name string, n check.Totals, mark string) {
		row := page.Row{Cells: []page.Cell{{Value: name}}, Mark: mark}
		for _, a := range []check.Affected{n.Workloads, n.Containers} {
			row.Cells = append(row.Cells, count(a.All), count(a.Affected), page.Cell{Value: number.Share(a.Share())})
		}
		for _, e := range check.Effects()[:3] {
			row.Cells = append(row.Cells, count(n.Effects[e]))
		}
		t.Rows = append(t.Rows, row)
	}
	for _, n := range m.Namespaces {
		add(namespace(n.Namespace), n, "")
	}
	if len(m.Namespaces) > 1 {
		add("all", m.Total, "all")
	}
	return t
}

func count(n int) page.Cell { return page.Cell{Value: number.Count(float64(n))} }

// affected are the containers that get another value, or all, with a table for each
// namespace: names need the room.
func affected(m check.Impact, all bool) (blocks []page.Block) {
	rows := map[string][]page.Row{}
	for _, v := range m.Values {
		if i := v.Injection; all || v.Effect().Affects() {
			rows[i.Namespace] = append(rows[i.Namespace], page.Row{Cells: []page.Cell{
				{Value: phrase.Clean(v.Object)}, {Value: phrase.Clean(v.Container)}, count(i.Copies),
				{Value: cpusOrNone(i.Request)}, {Value: nowOf(v)}, {Value: injectedOf(v)}, {Value: changeOf(v)}, {Value: goOf(v)},
			}})
		}
	}
	columns := []page.Column{
		{Head: "workload", Short: "workload", Left: true, Least: 20}, {Head: "container", Short: "container", Left: true, Least: 10}, {Head: "copies"},
		{Head: "request", Short: "request"}, {Head: "now", Short: "now"}, {Head: "injected", Short: "injected"}, {Head: "change", Short: "change"},
		{Head: "Go", Short: "Go", Left: true},
	}
	if slices.ContainsFunc(m.Values, func(v *check.Value) bool { return v.Injection.Copies > 1 }) {
		columns[2].Short = columns[2].Head
	}
	for _, n := range m.Namespaces {
		if list := rows[n.Namespace]; len(list) > 0 {
			note := fmt.Sprintf("%d of %s affected", n.Containers.Affected, phrase.Count(n.Containers.All, "container"))
			blocks = append(blocks, page.Heading{Level: 3, Text: namespace(n.Namespace), Note: note}, page.Table{Columns: columns, Rows: list})
		}
	}
	return blocks
}

func cpusOrNone(cpus float64) string {
	if cpus == 0 {
		return "none"
	}
	return number.BareCPUs(cpus)
}

// nowOf is the value without an injection.
func nowOf(v *check.Value) string {
	if v.Procs == nil && v.Text != "not known" && strings.HasPrefix(v.Text, "all CPUs") {
		return "its node's CPUs"
	}
	return phrase.Clean(v.Text)
}

func injectedOf(v *check.Value) string {
	if v.Injection.Kept != "" {
		return string(v.Injection.Kept)
	}
	return fmt.Sprint(v.Injection.Procs)
}

func changeOf(v *check.Value) string {
	switch v.Effect() {
	case check.EffectLower, check.EffectHigher:
		ratio := float64(v.Injection.Procs)/float64(*v.Procs) - 1
		if ratio > 0 {
			return "+" + number.Percent(ratio)
		}
		return number.Percent(ratio)
	case check.EffectUnknown:
		return "?"
	}
	return "0"
}

func goOf(v *check.Value) string {
	switch {
	case v.GoVersion != "":
		return phrase.Clean(strings.TrimPrefix(v.GoVersion, "go"))
	case v.Injection.Kept == check.KeptForeign:
		return "no"
	case v.Go:
		return "yes"
	}
	return "?"
}
