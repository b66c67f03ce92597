package watch

import (
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/show/number"
)

// curveRow is one series of the history.
type curveRow struct {
	which int
	label string
	value func(float64) string
	none  string // why there can be no values
}

func (m *model) curveRows() []curveRow {
	return []curveRow{
		{ofProcs, "GOMAXPROCS", number.Exact, "not known"},
		{ofThrottled, "throttled", number.Share, "no limit, or it cannot be read"},
		{ofLatency, "latency p99", m.span, "not known, or nothing was scheduled"},
		{ofWait, "threads waiting", number.Hundredths, "not known"},
		{ofThrottledTime, "incl. throttled", number.Hundredths, "no limit, or it cannot be read"},
	}
}

// curves draw the history: each with its current, lowest and highest value.
func (m *model) curves(r *row) []string {
	const figures = 3 * (figureWidth + 1)
	width := max(4, m.width-labelWidth-figures-1)
	height := 1
	switch {
	case m.height >= 50:
		height = 3
	case m.height >= 36:
		height = 2
	}
	points := r.history.last()
	past, perCell := time.Duration(0), 1
	if len(points) > 0 {
		past = time.Duration(float64(points[len(points)-1].at-points[0].at) * float64(time.Second))
		perCell = newCurve(&r.history, ofProcs, width).perCell
	}
	title := "last " + number.Minutes(past)
	if perCell > 1 {
		title += fmt.Sprintf(", %d scans per cell", perCell)
	}
	lines := []string{m.paint(heading, m.pad(m.pad("HISTORY", labelWidth, false)+m.pad(title, width, false)+" "+
		m.figures("now", "min", "max"), m.width, false))}
	for _, c := range m.curveRows() {
		curve := newCurve(&r.history, c.which, width)
		label := m.pad(c.label, labelWidth, false)
		if !curve.known() {
			why := c.none
			if r.history.total <= 1 && c.which != ofProcs {
				why = "from the next scan on"
			}
			lines = append(lines, m.paint(faint, label+why))
			continue
		}
		for i, bars := range m.draw(curve, width, height) {
			line := m.pad("", labelWidth, false)
			figures := ""
			if i == height-1 {
				line = label
				figures = " " + m.figures(m.figure(curve.now, c.value), m.figure(curve.min, c.value), m.figure(curve.max, c.value))
			}
			lines = append(lines, line+m.paint(curveStyles[c.which], bars)+figures)
		}
	}
	return lines
}

// curveStyles gives throttling a color of its own.
var curveStyles = [series]style{ofProcs: cyan, ofThrottled: yellow, ofLatency: cyan, ofWait: cyan, ofThrottledTime: yellow}

const figureWidth = 7

func (m *model) figures(now, least, most string) string {
	return m.pad(now, figureWidth, true) + " " + m.pad(least, figureWidth, true) + " " + m.pad(most, figureWidth, true)
}

func (m *model) figure(v float64, text func(float64) string) string {
	if v != v { // NaN
		return inspect.Unknown
	}
	return text(v)
}
