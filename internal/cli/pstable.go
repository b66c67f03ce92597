package cli

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/rule"
	"github.com/procfit/procfit/internal/tui"
)

// psColumn is a column of the list.
type psColumn struct {
	head  string
	right bool
	drop  int // on a narrow terminal the highest goes first; 0 stays
	cell  func(observe.Process) string
}

const unknownCell = "-"

func psColumns() []psColumn {
	return []psColumn{
		{"PID", true, 0, func(p observe.Process) string { return strconv.Itoa(p.PID) }},
		{"NAME", false, 0, func(p observe.Process) string { return clip(printable(p.Name), 24) }},
		{"GO", false, 1, func(p observe.Process) string { return goRelease(p) }},
		{"PROCS", true, 0, procsCell},
		{"READ", false, 5, func(p observe.Process) string { return orUnknown(p.ProcsSource()) }},
		{"SET BY", false, 2, setByCell},
		{"CPUS", true, 6, func(p observe.Process) string { return number(float64(p.NumCPU), p.NumCPU > 0) }},
		{"LIMIT", false, 1, limitCell},
		{"P50", true, 8, func(p observe.Process) string { return latencyCell(p, 0.5) }},
		{"P99", true, 4, func(p observe.Process) string { return latencyCell(p, 0.99) }},
		{"WAIT", true, 7, waitCell},
		{"THROTTLED", true, 3, throttledCell},
		{"SWITCHES", true, 9, func(p observe.Process) string { return number(p.Last().Switches()) }},
		{"THREADS", true, 10, func(p observe.Process) string { return strconv.Itoa(p.Threads) }},
		{"FINDINGS", false, 0, func(p observe.Process) string { return ids(p.Findings) }},
	}
}

// writePSText prints the list, then what to do.
func writePSText(w io.Writer, snap observe.Snapshot, color bool, width int) error {
	if len(snap.Processes) == 0 {
		_, err := fmt.Fprintf(w, "no Go process; %s\n", phrase.Count(snap.Others+len(snap.Unreadable), "other"))
		return err
	}
	var b strings.Builder
	table(&b, snap.Processes, color, width)
	advise(&b, snap.Processes, color, width)
	_, err := io.WriteString(w, b.String())
	return err
}

func table(b *strings.Builder, all []observe.Process, color bool, width int) {
	columns := psColumns()
	cells := make([][]string, len(all)+1)
	for _, c := range columns {
		cells[0] = append(cells[0], c.head)
	}
	for i, p := range all {
		for _, c := range columns {
			cells[i+1] = append(cells[i+1], c.cell(p))
		}
	}
	widths := make([]int, len(columns))
	for _, row := range cells {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	shown := fitColumns(columns, widths, width)
	for r, row := range cells {
		var line strings.Builder
		for i, c := range columns {
			if !shown[i] {
				continue
			}
			if line.Len() > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-ansi.StringWidth(row[i]))
			text := row[i]
			if r > 0 && c.head == "FINDINGS" && len(all[r-1].Findings) > 0 {
				text = paint(color, severityColor(all[r-1].Findings[0].Severity), text)
			}
			if c.right {
				line.WriteString(pad + text)
			} else {
				line.WriteString(text + pad)
			}
		}
		text := strings.TrimRight(line.String(), " ")
		if r == 0 {
			text = paint(color, bold, text)
		}
		b.WriteString(text + "\n")
	}
}

// fitColumns drops columns until the rest fits the width; 0 is endless.
func fitColumns(columns []psColumn, widths []int, width int) []bool {
	shown := make([]bool, len(columns))
	total := -2
	for i := range columns {
		shown[i] = true
		total += widths[i] + 2
	}
	for width > 0 && total > width {
		first := -1
		for i, c := range columns {
			if shown[i] && c.drop > 0 && (first < 0 || c.drop > columns[first].drop) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		shown[first] = false
		total -= widths[first] + 2
	}
	return shown
}

func procsCell(p observe.Process) string {
	n, known := p.Procs()
	return number(float64(n), known)
}

func setByCell(p observe.Process) string {
	if p.SetBy == rule.SetByUnknown {
		return "?"
	}
	return string(p.SetBy)
}

// limitCell is the tightest limit and the last name of the group that has it.
func limitCell(p observe.Process) string {
	l, ok := p.Facts.Tightest()
	switch {
	case ok:
		return fmt.Sprintf("%s %s", strings.Fields(rule.CPUs(l.CPUs))[0], clipStart(printable(path.Base(l.Dir)), 20))
	case len(p.Facts.Unknown()) > 0:
		return "?"
	}
	return unknownCell
}

func throttledCell(p observe.Process) string {
	if p.Throttling == nil || p.Throttling.Periods == 0 {
		return unknownCell
	}
	cell := fmt.Sprintf("%.0f %%", 100*p.Throttling.Ratio())
	if t := p.Throttling; t.Span > 0 && t.Throttled > 0 {
		cell = perSecond(t.Throttled, t.Span) + ", " + cell
	}
	return cell
}

// perSecond is a time a second of time.
func perSecond(d, span time.Duration) string {
	return tui.Seconds(d.Seconds()/span.Seconds()) + "/s"
}

func latencyCell(p observe.Process, q float64) string {
	v, known := p.Last().LatencyAt(q)
	if !known {
		return unknownCell
	}
	return tui.Seconds(v)
}

// waitCell is the waiting of all threads a second of time.
func waitCell(p observe.Process) string {
	c := p.Last()
	if !c.Counted || c.Span <= 0 {
		return unknownCell
	}
	if c.RunQueueWait == 0 {
		return "0"
	}
	return perSecond(c.RunQueueWait, c.Span)
}

func orUnknown(s string) string {
	if s == "" {
		return unknownCell
	}
	return s
}

// number has three significant digits below 100 and none after the point above.
func number(v float64, known bool) string {
	switch {
	case !known:
		return unknownCell
	case v >= 100 || v == float64(int64(v)):
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

func ids(findings []rule.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, f.Rule)
	}
	return strings.Join(all, " ")
}

func goRelease(p observe.Process) string {
	return orUnknown(clip(printable(strings.TrimPrefix(release(p), "go")), 16))
}

// clipStart shortens by the beginning, where names of groups are alike.
func clipStart(s string, n int) string {
	if w := ansi.StringWidth(s); w > n {
		return ansi.TruncateLeft(s, w-n+1, "…")
	}
	return s
}

// clip shortens by the end, and shows that it did.
func clip(s string, n int) string { return ansi.Truncate(s, n, "…") }
