package svg

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/trace/exec"
)

// spans draws the bars, and those too thin to be pointed at over them: one path for
// a row and a colour.
func (d *drawing) spans() {
	type place struct {
		row   int
		class string
	}
	slivers := map[place]*sliver{}
	list := slices.Clone(d.t.Spans)
	slices.SortStableFunc(list, func(a, b exec.Span) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range list {
		i, ok := d.rows[s.Proc]
		if !ok {
			continue
		}
		from, to, class := d.x(s.Start), d.x(s.End), d.key.of(s)
		if to-from >= thin {
			d.bar(s, i, class, from, to)
			continue
		}
		at := place{i, class}
		if slivers[at] == nil {
			slivers[at] = &sliver{goroutine: s.Goroutine}
		}
		slivers[at].add(from, to)
	}
	for i := range len(d.rows) {
		for _, class := range d.key.classes() {
			if s := slivers[place{i, class}]; s != nil {
				d.sliver(s, i, class)
			}
		}
	}
}

// sliver is the spans of a colour in a row that are too short for bars.
type sliver struct {
	strings.Builder
	from, to  float64 // of the last one, which may grow
	n         int
	goroutine int64 // that of the colour
}

func (s *sliver) add(from, to float64) {
	s.n++
	if from-s.to > leastBar/2 {
		s.flush()
		s.from = from
	}
	s.to = max(to, from+leastBar)
}

func (s *sliver) flush() {
	if s.to > s.from {
		s.WriteString("M" + px(s.from) + " 0h" + strconv.FormatFloat(max(leastBar, s.to-s.from), 'f', 2, 64))
	}
}

func (d *drawing) sliver(s *sliver, row int, class string) {
	s.flush()
	who := "others"
	switch class {
	case others:
	case ofGo:
		who = "the runtime's own"
	default:
		who = d.name(s.goroutine)
	}
	fmt.Fprintf(d, `<g class="span %s"><title>%s: %d spans too short to be drawn apart</title><path class="thin" transform="translate(0 %d)" d="%s"/></g>`+"\n",
		class, html.EscapeString(who), s.n, top+rowRoom*row+barHeight/2, s.String())
}

func (d *drawing) bar(s exec.Span, row int, class string, from, to float64) {
	name := d.name(s.Goroutine)
	title := fmt.Sprintf("%s on P %d, %s to %s (%s)", name, s.Proc, number.Duration(s.Start), number.Duration(s.End), number.Duration(s.End-s.Start))
	if why := origin(s.Origin); why != "" {
		title += "; " + why
	}
	if s.Stop != "" {
		title += "; stopped: " + s.Stop
	}
	y := top + rowRoom*row
	fmt.Fprintf(d, `<g class="span %s"><title>%s</title><rect x="%s" y="%d" width="%s" height="%d" rx="2"/>`,
		class, html.EscapeString(title), px(from), y, px(to-from-0.4), barHeight)
	if short := d.named[s.Goroutine]; short != "" && float64(len([]rune(short)))*characterWide+8 < to-from {
		fmt.Fprintf(d, `<text class="in" x="%s" y="%d">%s</text>`, px(from+5), y+17, html.EscapeString(short))
	}
	d.WriteString("</g>\n")
}

func origin(o exec.Origin) string {
	switch o {
	case exec.Own:
		return "made ready on this P"
	case exec.Stolen:
		return "stolen"
	case exec.Unclear:
		return "stolen, or from the global queue"
	case exec.Global:
		return "from the global queue"
	}
	return ""
}
