package svg

import (
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/axis"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/trace/exec"
)

// Measures in pixels, of a drawing that scales.
const (
	width     = 1200
	left      = 64 // of the plot
	right     = 16
	top       = 64
	rowRoom   = 44
	barHeight = 26
	keyRoom   = 20
	keyWide   = 220

	maxRows   = 64
	maxArrows = 400
	plotWide  = width - left - right
	thin      = 0.6 // the width below which a span is a line among others
	leastBar  = 0.2
	// characterWide is about what a letter takes.
	characterWide = 6.4
)

const style = `
svg { background: #fcfcfb; }
text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #1c2126; }
.title { font-size: 15px; font-weight: 650; } .muted { fill: #5a636d; } .tick { fill: #5a636d; font-size: 11px; }
.in { fill: #fff; pointer-events: none; font-size: 11px; }
.row { fill: #f3f4f2; } .grid { stroke: #d9dddf; }
.arrow { stroke: #1c2126; stroke-width: 1.25; fill: none; } .head { fill: #1c2126; } .unclear { stroke-dasharray: 3 3; }
.span rect, .key rect { fill: currentColor; } .thin { fill: none; stroke: currentColor; stroke-width: 26; }
.others { color: #b4bbc1; } .others .in { fill: #101418; } .own { color: #69727b; }
g.span:hover rect { stroke: #1c2126; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
svg { background: #14181d; } text { fill: #e7eaed; } .muted, .tick { fill: #a0a9b3; }
.row { fill: #1d2329; } .grid { stroke: #343c45; } .arrow { stroke: #e7eaed; } .head { fill: #e7eaed; }
.others { color: #4d565f; } .others .in { fill: #fff; } .own { color: #8d97a1; } .own .in { fill: #101418; } g.span:hover rect { stroke: #e7eaed; }
}
`

type drawing struct {
	strings.Builder
	t     *exec.Trace
	end   time.Duration
	rows  map[int]int // by P
	named map[int64]string
	key   key
}

// Render draws the trace.
func Render(out io.Writer, t *exec.Trace) error {
	d := &drawing{t: t, end: max(1, t.Duration), rows: map[int]int{}, named: map[int64]string{}}
	if int64(len(t.Spans)) < t.SpanCount {
		d.end = 1
		for _, s := range t.Spans {
			d.end = max(d.end, s.End)
		}
	}
	for i, p := range t.Procs[:min(len(t.Procs), maxRows)] {
		d.rows[p.ID] = i
	}
	for _, g := range t.Goroutines {
		d.named[g.ID] = g.Name
	}
	d.key = newKey(t, d.end)
	entries := d.entries()
	keyRows := (len(entries) + keyColumns - 1) / keyColumns
	foot := top + rowRoom*len(d.rows)
	height := foot + 34 + keyRoom*keyRows + 30
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="What each P ran over time">`+"\n", width, height, width, height)
	fmt.Fprintf(d, "<style>%s</style>\n", style+colorStyle())
	d.text(left, 22, "title", "", "What each P ran")
	d.text(left, 42, "muted", "", d.subtitle())
	d.frame(foot)
	d.spans()
	d.arrows()
	d.drawKey(entries, foot+34)
	d.text(left, height-12, "muted", "", d.note())
	d.WriteString("</svg>\n")
	_, err := io.WriteString(out, d.String())
	return err
}

const keyColumns = (width - left) / keyWide

func (d *drawing) subtitle() string {
	s := d.t.Starts
	text := fmt.Sprintf("%d of %d starts were stolen from the queue of another P (arrows, inferred)", s.Stolen, s.All())
	if s.Unclear > 0 {
		text += fmt.Sprintf("; %d more may have been (dashed)", s.Unclear)
	}
	return text
}

func (d *drawing) note() string {
	text := "Point at a bar for its goroutine"
	if d.key.others.Goroutines > 0 {
		text += ". In colour are those that ran longest here"
	}
	if n := len(d.t.Spans); int64(n) < d.t.SpanCount {
		text += fmt.Sprintf(". Drawn are the first %d of %d spans", n, d.t.SpanCount)
	}
	if n := len(d.t.Procs); n > maxRows {
		text += fmt.Sprintf(". Drawn are the first %d of %d Ps", maxRows, n)
	}
	if d.t.StealCount > maxArrows {
		text += fmt.Sprintf(". Drawn are the first %d of %d arrows", maxArrows, d.t.StealCount)
	}
	return text + "."
}

func (d *drawing) x(t time.Duration) float64 {
	return left + float64(t)/float64(d.end)*plotWide
}

func (d *drawing) text(x float64, y int, class, anchor, s string) {
	if anchor != "" {
		anchor = ` text-anchor="` + anchor + `"`
	}
	fmt.Fprintf(d, `<text x="%s" y="%d" class="%s"%s>%s</text>`+"\n", px(x), y, class, anchor, html.EscapeString(s))
}

func (d *drawing) frame(foot int) {
	for i, p := range d.t.Procs[:len(d.rows)] {
		y := top + rowRoom*i
		fmt.Fprintf(d, `<rect class="row" x="%d" y="%d" width="%d" height="%d"/>`+"\n", left, y, plotWide, barHeight)
		d.text(left-10, y+12, "", "end", "P "+strconv.Itoa(p.ID))
		d.text(left-10, y+25, "tick", "end", number.Share(d.t.Busy(p)))
	}
	scale := axis.New(0, d.end.Seconds(), false)
	for _, s := range scale.Ticks() {
		at := time.Duration(s * float64(time.Second))
		label := number.Short(number.Duration(at))
		if at == 0 {
			label = "0"
		}
		if at > d.end {
			break
		}
		fmt.Fprintf(d, `<line class="grid" x1="%s" x2="%s" y1="%d" y2="%d"/>`+"\n", px(d.x(at)), px(d.x(at)), top, foot)
		d.text(d.x(at), foot+12, "tick", "middle", label)
	}
}

func (d *drawing) name(id int64) string {
	if n := d.named[id]; n != "" {
		return n + " (G " + strconv.FormatInt(id, 10) + ")"
	}
	return "G " + strconv.FormatInt(id, 10)
}

// arrows go from the row of the P that lost the goroutine to that of the one
// which began it, at that time.
func (d *drawing) arrows() {
	for _, s := range d.t.Steals[:min(len(d.t.Steals), maxArrows)] {
		from, ok := d.rows[s.From]
		to, ok2 := d.rows[s.To]
		if !ok || !ok2 || s.Start > d.end {
			continue
		}
		x := d.x(s.Start)
		y1, y2, tip := top+rowRoom*from+barHeight, top+rowRoom*to, -5
		if to < from {
			y1, y2, tip = top+rowRoom*from, top+rowRoom*to+barHeight, 5
		}
		class, said := "arrow", "stolen"
		if s.Unclear {
			class, said = "arrow unclear", "stolen, or from the global queue"
		}
		fmt.Fprintf(d, `<g><title>%s</title><path class="%s" d="M%s %dV%d"/><path class="head" d="M%s %dl-3.5 %dh7z"/></g>`+"\n",
			html.EscapeString(fmt.Sprintf("%s: ready on P %d at %s, began on P %d at %s: %s", d.name(s.Goroutine), s.From, number.Duration(s.Ready), s.To, number.Duration(s.Start), said)),
			class, px(x), y1, y2, px(x), y2, tip)
	}
}

func px(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}
