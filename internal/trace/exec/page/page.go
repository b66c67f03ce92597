// Package page makes documents of an execution trace: what each P ran over time, who was
// stolen from whom, and the goroutines one by one. Text from outside is printable in an
// exec.Trace.
package page

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/trace/exec"
)

// briefRows is what a terminal can hold.
const briefRows = 40

// Brief is what a terminal gets of a trace, whose name is that of its file.
func Brief(name string, t *exec.Trace) *document.Document { return brief(name, t, briefRows) }

func brief(name string, t *exec.Trace, rows int) *document.Document {
	k := listed(t, min(rows, len(letters)))
	d := &document.Document{Title: "Execution trace of " + phrase.Clean(name), Blocks: []document.Block{headline(t)}}
	if n := int64(len(t.Spans)); n < t.SpanCount {
		d.Add(document.Notes{{Message: fmt.Sprintf("The timeline shows the first %d of %d spans and ends at %s; the sums are of the whole trace.", n, t.SpanCount, number.Duration(end(t)))}})
	}
	if len(t.Procs) > 0 && t.Duration > 0 {
		shown := t.Procs[:min(len(t.Procs), rows)]
		d.Add(heading("Each P over time"), small("the goroutine that ran longest in each column; letters: below"),
			timeline(t, shown, k), more(len(t.Procs)-len(shown), "P"))
		d.Add(heading("Each P"), small("how long it ran goroutines, also while its thread waited for a CPU, and where those that it started came from"), procs(t, shown), more(len(t.Procs)-len(shown), "P"))
	}
	if len(t.Flows) > 0 {
		shown := t.Flows[:min(len(t.Flows), rows)]
		d.Add(heading("Stolen from whom"), flows(shown), more(len(t.Flows)-len(shown), "pair"))
	}
	if len(k.list) > 0 {
		d.Add(heading("Goroutines"), small(k.selection()), goroutines(k), small(k.rest()))
	}
	if all := t.Fairness(); len(all) > 0 {
		shown := all[:min(len(all), rows)]
		d.Add(heading("Goroutines of one function"), small("fairness is Jain's index of how long each ran: 1 if all ran for the same time, 1/n if one of n ran alone; it says something if all had the same to do"),
			fairness(shown), more(len(all)-len(shown), "function"))
	}
	return d
}

func heading(s string) document.Heading { return document.Heading{Level: 3, Text: s} }

func small(s string) document.Text { return document.Text{Text: s, Style: document.Small} }

func more(n int, noun string) document.Text {
	if n <= 0 {
		return document.Text{}
	}
	return small("and " + phrase.Count(n, "more "+noun))
}

func headline(t *exec.Trace) document.Panel {
	s := t.Starts
	p := document.Panel{Name: "Starts", Tone: document.Act, Label: "No start", Level: 2, Sentence: "No goroutine starts to run in this trace."}
	switch {
	case s.Stolen > 0:
		p.Label = "Stolen"
		were := phrase.If(s.Stolen == 1, "was", "were")
		p.Sentence = fmt.Sprintf("%d of %s %s on a different P from the one on which the goroutine became ready: the P took it from that queue.", s.Stolen, phrase.Count(s.All(), "start"), were)
	case s.All() > 0:
		p.Label = "Nothing stolen"
		p.Sentence = fmt.Sprintf("None of %s was proven to be stolen.", phrase.Count(s.All(), "start"))
	}
	var rest []string
	for _, x := range []struct {
		n    int64
		text string
	}{
		{s.Own, "on the P where it became ready"}, {s.Global, "from the global queue, after a preemption, a yield or a system call"},
		{s.Unclear, "stolen or from the global queue; the trace does not show which"}, {s.Unknown, "ready before the trace began"},
	} {
		if x.n > 0 {
			rest = append(rest, fmt.Sprintf("%d %s", x.n, x.text))
		}
	}
	if len(rest) > 0 {
		which := phrase.If(s.Stolen == 0, "Of these: ", "The others: ")
		p.Blocks = append(p.Blocks, document.Text{Text: which + strings.Join(rest, "; ") + "."})
	}
	p.Blocks = append(p.Blocks, document.Text{Style: document.Muted, Text: fmt.Sprintf("%s · %s · %s in %s. A trace has no event for a steal: procfit infers it from where the goroutine became ready and where it started, if no queue can have overflowed.",
		phrase.Count(int64(len(t.Procs)), "P"), phrase.Count(t.GoroutineCount, "goroutine"), phrase.Count(t.SpanCount, "span"), number.Duration(t.Duration))})
	return p
}

// procs has a bar for how long each P ran goroutines.
func procs(t *exec.Trace, list []exec.Proc) document.Table {
	out := document.Table{Columns: columns("P", "busy", "own", "stolen", "unclear", "global", "lost")}
	out.Columns[1].Bars = true
	for _, p := range list {
		r := row(procName(p.ID), number.Share(t.Busy(p)), tally(p.Starts.Own), tally(p.Starts.Stolen), tally(p.Starts.Unclear), tally(p.Starts.Global), tally(p.Lost))
		r.Cells[1].Bar = t.Busy(p)
		out.Rows = append(out.Rows, r)
	}
	return out
}

func flows(list []exec.Flow) document.Table {
	out := document.Table{Columns: columns("from → to", "stolen", "unclear")}
	out.Columns[1].Bars = true
	most := int64(0)
	for _, f := range list {
		most = max(most, f.Stolen+f.Unclear)
	}
	for _, f := range list {
		r := row(procName(f.From)+" → "+procName(f.To), tally(f.Stolen), tally(f.Unclear))
		r.Cells[1].Bar = float64(f.Stolen+f.Unclear) / float64(most)
		out.Rows = append(out.Rows, r)
	}
	return out
}

// columns are of numbers, but for the first one.
func columns(heads ...string) []document.Column {
	list := make([]document.Column, len(heads))
	for i, h := range heads {
		list[i] = document.Column{Head: h, Short: h, Left: i == 0}
	}
	return list
}

func row(texts ...string) (r document.Row) {
	for _, s := range texts {
		r.Cells = append(r.Cells, document.Cell{Value: s})
	}
	return r
}

func procName(id int) string { return "P " + strconv.Itoa(id) }

func tally(n int64) string { return strconv.FormatInt(n, 10) }

// timeline has a row for each P, which the goroutines that it ran fill.
func timeline(t *exec.Trace, procs []exec.Proc, k key) document.Timeline {
	out := document.Timeline{}
	index := map[int64]int{}
	for i, g := range k.list {
		index[g.ID] = i
		out.Fillings = append(out.Fillings, document.Filling{Sign: rune(letters[i])})
	}
	others := len(out.Fillings)
	out.Fillings = append(out.Fillings, document.Filling{Name: "others", Sign: '*', Aside: true}, document.Filling{Name: "the runtime's own", Sign: '#', Aside: true})
	row, length := map[int]int{}, end(t)
	for i, p := range procs {
		row[p.ID] = i
		out.Lanes = append(out.Lanes, document.Lane{Name: procName(p.ID)})
	}
	part := func(at time.Duration) float64 { return float64(at) / float64(length) }
	for _, s := range t.Spans {
		i, ok := row[s.Proc]
		if !ok {
			continue
		}
		of, known := index[s.Goroutine]
		switch {
		case s.Runtime:
			of = others + 1
		case !known:
			of = others
		}
		out.Lanes[i].Stretches = append(out.Lanes[i].Stretches, document.Stretch{Span: document.Span{From: part(s.Start), To: part(s.End)}, Of: of})
	}
	a := document.AxisBetween(0, length.Seconds())
	for _, s := range a.Ticks() { // at round times since the trace started
		label := phrase.If(s > 0, number.Short(number.Seconds(s)), "0")
		out.Ticks = append(out.Ticks, document.Tick{At: a.At(s), Label: label})
	}
	return out
}

func end(t *exec.Trace) time.Duration {
	if int64(len(t.Spans)) == t.SpanCount {
		return max(1, t.Duration)
	}
	last := time.Duration(1)
	for _, s := range t.Spans {
		last = max(last, s.End)
	}
	return last
}
