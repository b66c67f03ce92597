// Package ps shows which GOMAXPROCS each running Go program really uses: as a table with
// the findings below it, as procfit.ps/v1, and with notes on what could not be read. It
// reads nothing itself: its input is an observe.Snapshot.
package ps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/show/table"
	"github.com/procfit/procfit/internal/show/terminal"
)

// Wide is a width for all columns.
const Wide = math.MaxInt16

// mostAsked is the highest rank of the columns that are printed where there is no terminal, as
// kubectl prints some and -o wide all.
const mostAsked = 8

// WriteText prints the list, and then what to do. With a width above 0, it drops columns
// and folds lines until they fit; 0 is of a pipe, where nothing is cut.
func WriteText(w io.Writer, snap observe.Snapshot, color bool, width int) error {
	if len(snap.Processes) == 0 {
		text := "no Go process"
		if n := snap.Others + len(snap.Unreadable); n > 0 {
			text += "; " + phrase.Count(n, "other")
		}
		_, err := fmt.Fprintln(w, text)
		return err
	}
	b := &terminal.Writer{Width: width, Color: color}
	list(snap.Processes, width).Write(b)
	advise(b, snap.Processes)
	_, err := w.Write(b.Bytes())
	return err
}

// Shows reports whether WriteText with that width has room for the column, if the rest fits.
func Shows(c inspect.Column, width int) bool { return width > 0 || c.Rare || c.Rank <= mostAsked }

func list(all []observe.Process, width int) *table.Table {
	t := &table.Table{Rows: make([]table.Row, 1+len(all))}
	t.Rows[0].Style = terminal.Bold
	for _, c := range inspect.Columns() {
		if !Shows(c, width) || c.Rare && !known(c, all) {
			continue
		}
		t.Columns = append(t.Columns, table.Column{Right: c.Right(), Steps: steps(c)})
		t.Rows[0].Cells = append(t.Rows[0].Cells, table.Cell{Text: c.Heading()})
		for i := range all {
			cell := table.Cell{Text: c.Text(&all[i]), Short: c.Short(&all[i])}
			if c.Name == inspect.Findings {
				cell.Style = grade(rule.Worst(all[i].Findings))
			}
			t.Rows[1+i].Cells = append(t.Rows[1+i].Cells, cell)
		}
	}
	return t
}

func known(c inspect.Column, all []observe.Process) bool {
	return slices.ContainsFunc(all, func(p observe.Process) bool { return c.Text(&p) != inspect.Unknown })
}

// needed is the highest rank of the columns that are dropped only after cells were
// shortened: those of names and findings first, then the reason of a recommendation.
const needed = 3

func steps(c inspect.Column) (list []table.Step) {
	switch {
	case c.Rank > needed:
		list = append(list, table.Step{Rank: c.Rank + 2, To: table.Gone})
	case c.Rank > 0:
		list = append(list, table.Step{Rank: c.Rank, To: table.Gone})
	}
	switch c.Name {
	case inspect.Name, inspect.Findings:
		list = append(list, table.Step{Rank: needed + 2, To: table.Short})
	case inspect.Recommended:
		list = append(list, table.Step{Rank: needed + 1, To: table.Short})
	}
	return list
}

func grade(s rule.Severity) string { return terminal.Grade(s.Rank()) }

// advice is the findings of one or several processes that share a fix.
type advice struct {
	findings []rule.Finding // the worst first
	shared   []rule.Finding // the same in words for several processes
	who      []string
}

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
		for _, line := range inspect.Remedies(a.findings) {
			b.Folded("  → "+phrase.Clean(line), "    ")
		}
	}
}

func named(who []string) string {
	if len(who) > maxNamed {
		who = append(slices.Clone(who[:maxNamed]), fmt.Sprintf("%d more", len(who)-maxNamed))
	}
	return strings.Join(who, ", ")
}

func collectAdvice(all []observe.Process) []advice {
	var list []advice
	for i := range all {
		p := &all[i]
		who := fmt.Sprintf("%d (%s)", p.PID, phrase.Clean(p.Name))
		for _, findings := range inspect.ByFix(p.Findings) {
			words := phrase.Each(findings, rule.Finding.Shared)
			have := slices.IndexFunc(list, func(a advice) bool { return slices.Equal(a.shared, words) })
			if have < 0 {
				have = len(list)
				list = append(list, advice{findings: findings, shared: words})
			} else {
				list[have].findings = words
			}
			list[have].who = append(list[have].who, who)
		}
	}
	sorting.Stable(list, func(a, b advice) int {
		return rule.CompareWorst(a.findings, b.findings)
	})
	return list
}

// document is procfit.ps/v1. Unknown values are null.
type document struct {
	Schema          string           `json:"schema"`
	Time            time.Time        `json:"time"`
	IntervalSeconds *float64         `json:"interval_seconds"` // null: counted since the start of each process
	Counters        string           `json:"counters"`         // the source of switches and waiting
	Processes       []process        `json:"processes"`
	Unreadable      []unreadableJSON `json:"unreadable"`
}

// process has the values of all columns, by their names.
type process struct{ *observe.Process }

func (p process) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, c := range inspect.All() {
		b.WriteByte("{,"[min(i, 1)])
		fmt.Fprintf(&b, "%q:", c.Name)
		if err := enc.Encode(c.Value(p.Process)); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

type unreadableJSON struct {
	PID    int    `json:"pid"`
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason"`
}

func WriteJSON(w io.Writer, snap observe.Snapshot, indent bool) error {
	out := document{
		Schema: "procfit.ps/v1", Time: snap.At, Counters: string(snap.Counters),
		Processes: []process{}, Unreadable: []unreadableJSON{},
	}
	if snap.Interval > 0 {
		out.IntervalSeconds = new(snap.Interval.Seconds())
	}
	for i := range snap.Processes {
		out.Processes = append(out.Processes, process{&snap.Processes[i]})
	}
	for _, u := range snap.Unreadable {
		out.Unreadable = append(out.Unreadable, unreadableJSON{u.PID, u.Name, u.Reason})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(out)
}
