package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/trace/exec"
)

// Options is what only the caller knows.
type Options struct {
	Width int // columns; 0 is 80
	Color bool
	Rows  int      // goroutines and Ps that are listed at most; 0 is 40
	Files []string // to end with
}

type writer struct {
	*terminal.Writer
	rows int
	t    *exec.Trace
	// listed are the goroutines of the table, and unlisted those that ran besides,
	// but for the runtime's own.
	listed   []exec.Goroutine
	unlisted exec.Tally
	signs
}

// Render writes the trace.
func Render(out io.Writer, t *exec.Trace, o Options) error {
	w := &writer{Writer: terminal.NewWriter(o.Width, o.Color), rows: o.Rows, t: t}
	if w.rows <= 0 {
		w.rows = 40
	}
	w.list()
	w.headline()
	if len(t.Procs) > 0 && t.Duration > 0 {
		w.Gap()
		w.timeline()
		w.Gap()
		w.procs()
	}
	if len(t.Flows) > 0 {
		w.Gap()
		w.flows()
	}
	if len(w.listed) > 0 {
		w.Gap()
		w.goroutines()
	}
	for _, f := range o.Files {
		w.Gap()
		w.Line(w.Style(terminal.Dim, "→ ") + f)
	}
	_, err := out.Write(w.Bytes())
	return err
}

func (w *writer) headline() {
	t, s := w.t, w.t.Starts
	label, sentence := "NO START", "No goroutine begins to run in this trace."
	switch {
	case s.Stolen > 0:
		label = "STOLEN"
		sentence = fmt.Sprintf("%s of %s were on another P than the one that the goroutine was made ready on: taken from its queue.", phrase.Count(s.Stolen, "start"), phrase.Count(s.All(), "start"))
		if s.All() > 1 && s.Stolen > 1 {
			sentence = fmt.Sprintf("%d of %d starts were on another P than the one that the goroutine was made ready on: taken from its queue.", s.Stolen, s.All())
		}
	case s.All() > 0:
		label = "NOTHING STOLEN"
		sentence = fmt.Sprintf("None of %s was proven to be stolen.", phrase.Count(s.All(), "start"))
	}
	w.Line(w.Style(terminal.Cyan+";"+terminal.Bold, label))
	w.Wrap("", "", sentence, terminal.Bold)
	var rest []string
	for _, x := range []struct {
		n    int64
		text string
	}{
		{s.Own, "on the P where it was made ready"}, {s.Global, "from the global queue, after a preemption, a yield or a system call"},
		{s.Unclear, "stolen or from the global queue, which the trace does not tell"}, {s.Unknown, "ready before the trace began"},
	} {
		if x.n > 0 {
			rest = append(rest, fmt.Sprintf("%d %s", x.n, x.text))
		}
	}
	if len(rest) > 0 {
		w.Paragraph("  ", "  ", "The others: "+strings.Join(rest, "; ")+".")
	}
	w.Wrap("  ", "  ", fmt.Sprintf("%s · %s · %s in %s. A trace has no event for a steal: that it was one is inferred from where the goroutine was made ready, where it began, and that no queue can have run over.",
		phrase.Count(int64(len(t.Procs)), "P"), phrase.Count(t.GoroutineCount, "goroutine"), phrase.Count(t.SpanCount, "span"), number.Duration(t.Duration)), terminal.Dim)
	if n := int64(len(t.Spans)); n < t.SpanCount {
		w.Paragraph(w.Style(terminal.Yellow, "! "), "  ", fmt.Sprintf("The timeline holds the first %d of %d spans and ends at %s; the sums are of the whole trace.", n, t.SpanCount, number.Duration(lastEnd(t))))
	}
}

// heading has a note where that fits.
func (w *writer) heading(title, note string) {
	line := w.Style(terminal.Bold, title)
	if note != "" && len(title)+2+len(note) <= w.Width {
		line += w.Style(terminal.Dim, "  "+note)
	}
	w.Line(line)
}

func lastEnd(t *exec.Trace) time.Duration {
	var end time.Duration
	for _, s := range t.Spans {
		end = max(end, s.End)
	}
	return end
}

// procs has a bar for how long each P ran goroutines.
func (w *writer) procs() {
	grid := [][]string{{"", "busy", "own", "stolen", "unclear", "global", "lost"}}
	list := w.t.Procs[:min(len(w.t.Procs), w.rows)]
	for _, p := range list {
		grid = append(grid, []string{"P " + strconv.Itoa(p.ID), number.Share(w.t.Busy(p)),
			tally(p.Starts.Own), tally(p.Starts.Stolen), tally(p.Starts.Unclear), tally(p.Starts.Global), tally(p.Lost)})
	}
	size := terminal.Widths(grid)
	bar := w.Width - 3 - 1
	for _, n := range size {
		bar -= n + 2
	}
	bar = max(0, min(bar, 30))
	w.heading("EACH P", "how long it ran goroutines, and where those that it began came from")
	for i, row := range grid {
		line := "  " + terminal.Pad(row[0], size[0], true) + " "
		if bar > 0 {
			filled := 0
			if i > 0 {
				filled = int(w.t.Busy(list[i-1])*float64(bar) + 0.5)
			}
			line += w.Style(terminal.Cyan, strings.Repeat("━", filled)) + strings.Repeat(" ", bar-filled)
		}
		rest := ""
		for j, cell := range row[1:] {
			rest += "  " + terminal.Pad(cell, size[1+j], false)
		}
		if i == 0 {
			rest = w.Style(terminal.Dim, rest)
		}
		w.Line(line + rest)
	}
	w.more(len(w.t.Procs)-len(list), "P")
}

// flows is who took from whom, as a table where that fits.
func (w *writer) flows() {
	w.heading("STOLEN FROM WHOM", "")
	list := w.t.Flows[:min(len(w.t.Flows), w.rows)]
	wide, most := 0, int64(0)
	for _, f := range list {
		wide = max(wide, len(fmt.Sprintf("P %d → P %d", f.From, f.To)))
		most = max(most, f.Stolen+f.Unclear)
	}
	for _, f := range list {
		text := tally(f.Stolen)
		if f.Unclear > 0 {
			text += fmt.Sprintf(" and %d unclear", f.Unclear)
		}
		room := max(3, min(30, w.Width-wide-5-24))
		filled := max(1, int(float64(f.Stolen+f.Unclear)/float64(most)*float64(room)+0.5))
		w.Line("  " + terminal.Pad(fmt.Sprintf("P %d → P %d", f.From, f.To), wide, true) + " " + w.Style(terminal.Cyan, strings.Repeat("━", filled)) + strings.Repeat(" ", room-filled) + "  " + text)
	}
	w.more(len(w.t.Flows)-len(list), "pair")
}

func (w *writer) more(n int, noun string) {
	if n > 0 {
		w.Line(w.Style(terminal.Dim, "  and "+phrase.Count(n, "more "+noun)))
	}
}

func tally(n int64) string { return strconv.FormatInt(n, 10) }
