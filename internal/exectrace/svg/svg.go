package svg

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/axis"
	"github.com/procfit/procfit/internal/exectrace"
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
	keyWide   = 190

	maxRows   = 64
	maxArrows = 400
	maxKeys   = 24
	colors    = 10
	thin      = 0.6 // the width below which a span is a grey line
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
.own { fill: #8a929b; } .many { fill: #a9b0b6; } .thin { stroke: #8a929b; stroke-width: 26; }
.c0 { fill: #0067a5; } .c1 { fill: #b84a00; } .c2 { fill: #1a6b3c; } .c3 { fill: #7d3c98; } .c4 { fill: #8a6d00; }
.c5 { fill: #00727a; } .c6 { fill: #a4245e; } .c7 { fill: #4d5bb0; } .c8 { fill: #5f6f2a; } .c9 { fill: #8c5a3c; }
g.span:hover rect { stroke: #1c2126; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
svg { background: #14181d; } text { fill: #e7eaed; } .muted, .tick { fill: #a0a9b3; } .in { fill: #fff; }
.row { fill: #1d2329; } .grid { stroke: #343c45; } .arrow { stroke: #e7eaed; } .head { fill: #e7eaed; } g.span:hover rect { stroke: #e7eaed; }
}
`

type drawing struct {
	strings.Builder
	t     *exectrace.Trace
	end   time.Duration
	rows  map[int]int // by P
	color map[int64]int
	named map[int64]string
	key   []exectrace.Goroutine
	own   map[int64]bool
}

// Render draws the trace.
func Render(out io.Writer, t *exectrace.Trace) error {
	d := &drawing{t: t, end: max(1, t.Duration), rows: map[int]int{}, color: map[int64]int{}, named: map[int64]string{}, own: map[int64]bool{}}
	if int64(len(t.Spans)) < t.SpanCount {
		d.end = 1
		for _, s := range t.Spans {
			d.end = max(d.end, s.End)
		}
	}
	for i, p := range t.Procs[:min(len(t.Procs), maxRows)] {
		d.rows[p.ID] = i
	}
	d.colors()
	keyRows := (len(d.key) + keyColumns - 1) / keyColumns
	foot := top + rowRoom*len(d.rows)
	height := foot + 34 + keyRoom*keyRows + 30
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="What each P ran over time">`+"\n", width, height, width, height)
	fmt.Fprintf(d, "<style>%s</style>\n", style)
	d.text(left, 22, "title", "", "What each P ran")
	d.text(left, 42, "muted", "", d.subtitle())
	d.frame(foot)
	d.spans()
	d.arrows()
	d.keys(foot + 34)
	d.text(left, height-12, "muted", "", d.note())
	d.WriteString("</svg>\n")
	_, err := io.WriteString(out, d.String())
	return err
}

const keyColumns = (width - left) / keyWide

// colors are given in the order of appearance to all that ran, and the key names
// those that ran longest.
func (d *drawing) colors() {
	var list []exectrace.Goroutine
	for _, g := range d.t.Goroutines {
		if g.Runtime {
			d.own[g.ID] = true
		}
		d.named[g.ID] = g.Name
		if !g.Runtime && g.Spans > 0 {
			d.color[g.ID] = len(d.color) % colors
			list = append(list, g)
		}
	}
	if len(list) > maxKeys {
		longest := slices.Clone(list)
		slices.SortStableFunc(longest, func(a, b exectrace.Goroutine) int { return int(min(1, max(-1, b.Running-a.Running))) })
		least := longest[maxKeys-1].Running
		list = slices.DeleteFunc(list, func(g exectrace.Goroutine) bool { return g.Running < least })
		list = list[:min(len(list), maxKeys)]
	}
	d.key = list
}

func (d *drawing) subtitle() string {
	s := d.t.Starts
	text := fmt.Sprintf("%d of %d starts were stolen from the queue of another P (arrows, inferred)", s.Stolen, s.All())
	if s.Unclear > 0 {
		text += fmt.Sprintf("; %d more may have been (dashed)", s.Unclear)
	}
	return text
}

func (d *drawing) note() string {
	text := "Point at a bar for its goroutine. Grey: the runtime's own goroutines"
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
	return left + float64(t)/float64(d.end)*(width-left-right)
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
		fmt.Fprintf(d, `<rect class="row" x="%d" y="%d" width="%d" height="%d"/>`+"\n", left, y, width-left-right, barHeight)
		d.text(left-10, y+12, "", "end", "P "+strconv.Itoa(p.ID))
		d.text(left-10, y+25, "tick", "end", fmt.Sprintf("%.0f %%", 100*d.t.Busy(p)))
	}
	scale := axis.New(0, d.end.Seconds(), false)
	for _, s := range scale.Ticks() {
		at := time.Duration(s * float64(time.Second))
		if at > d.end {
			break
		}
		fmt.Fprintf(d, `<line class="grid" x1="%s" x2="%s" y1="%d" y2="%d"/>`+"\n", px(d.x(at)), px(d.x(at)), top, foot)
		d.text(d.x(at), foot+12, "tick", "middle", duration(at))
	}
}

// spans draws the bars. Those too thin to be pointed at are one path a row.
func (d *drawing) spans() {
	type thinBars struct {
		strings.Builder
		from, to float64 // of the last one, which may grow
		n        int
	}
	rows := make([]thinBars, len(d.rows))
	flush := func(r *thinBars) {
		if r.to > r.from {
			r.WriteString("M" + px(r.from) + " 0h" + strconv.FormatFloat(max(leastBar, r.to-r.from), 'f', 2, 64))
		}
	}
	list := slices.Clone(d.t.Spans)
	slices.SortStableFunc(list, func(a, b exectrace.Span) int { return int(min(1, max(-1, a.Start-b.Start))) })
	for _, s := range list {
		i, ok := d.rows[s.Proc]
		if !ok {
			continue
		}
		from, to := d.x(s.Start), d.x(s.End)
		if to-from >= thin {
			d.bar(s, i, from, to)
			continue
		}
		r := &rows[i]
		r.n++
		if from-r.to > leastBar/2 {
			flush(r)
			r.from = from
		}
		r.to = max(to, from+leastBar)
	}
	for i := range rows {
		r := &rows[i]
		flush(r)
		if r.n > 0 {
			fmt.Fprintf(d, `<g class="span"><title>%d spans too short to be drawn apart</title><path class="thin" transform="translate(0 %d)" d="%s"/></g>`+"\n",
				r.n, top+rowRoom*i+barHeight/2, r.String())
		}
	}
}

func (d *drawing) bar(s exectrace.Span, row int, from, to float64) {
	class := "many"
	if c, ok := d.color[s.Goroutine]; ok {
		class = "c" + strconv.Itoa(c)
	} else if d.own[s.Goroutine] {
		class = "own"
	}
	name := d.name(s.Goroutine)
	title := fmt.Sprintf("%s on P %d, %s to %s (%s)", name, s.Proc, duration(s.Start), duration(s.End), duration(s.End-s.Start))
	if why := origin(s.Origin); why != "" {
		title += "; " + why
	}
	if s.Stop != "" {
		title += "; stopped: " + s.Stop
	}
	y := top + rowRoom*row
	fmt.Fprintf(d, `<g class="span"><title>%s</title><rect class="%s" x="%s" y="%d" width="%s" height="%d" rx="2"/>`,
		html.EscapeString(title), class, px(from), y, px(to-from-0.4), barHeight)
	if short := d.named[s.Goroutine]; short != "" && float64(len([]rune(short)))*characterWide+8 < to-from {
		fmt.Fprintf(d, `<text class="in" x="%s" y="%d">%s</text>`, px(from+5), y+17, html.EscapeString(short))
	}
	d.WriteString("</g>\n")
}

func (d *drawing) name(id int64) string {
	if n := d.named[id]; n != "" {
		return n + " (G " + strconv.FormatInt(id, 10) + ")"
	}
	return "G " + strconv.FormatInt(id, 10)
}

func origin(o exectrace.Origin) string {
	switch o {
	case exectrace.Own:
		return "made ready on this P"
	case exectrace.Stolen:
		return "stolen"
	case exectrace.Unclear:
		return "stolen, or from the global queue"
	case exectrace.Global:
		return "from the global queue"
	}
	return ""
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
			html.EscapeString(fmt.Sprintf("%s: ready on P %d at %s, began on P %d at %s: %s", d.name(s.Goroutine), s.From, duration(s.Ready), s.To, duration(s.Start), said)),
			class, px(x), y1, y2, px(x), y2, tip)
	}
}

func (d *drawing) keys(y int) {
	for i, g := range d.key {
		x, y := float64(left+i%keyColumns*keyWide), y+i/keyColumns*keyRoom
		fmt.Fprintf(d, `<rect class="c%d" x="%s" y="%d" width="11" height="11" rx="2"/>`, d.color[g.ID], px(x), y)
		d.text(x+17, y+10, "", "", clip(d.name(g.ID), keyWide/7))
	}
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func duration(t time.Duration) string {
	switch {
	case t >= time.Second:
		return strconv.FormatFloat(t.Seconds(), 'g', 4, 64) + " s"
	case t >= time.Millisecond:
		return strconv.FormatFloat(float64(t)/1e6, 'g', 4, 64) + " ms"
	case t >= time.Microsecond:
		return strconv.FormatFloat(float64(t)/1e3, 'g', 4, 64) + " µs"
	}
	if t == 0 {
		return "0"
	}
	return strconv.FormatInt(int64(t), 10) + " ns"
}

func px(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}
