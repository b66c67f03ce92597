package watch

import (
	"math"
	"slices"
	"strings"
)

// curve is one series of a history, fitted to a number of columns.
type curve struct {
	cells         []float64 // the highest value of each cell; NaN: not known
	now, min, max float64   // NaN: none
	perCell       int       // points
}

// perCells are the possible numbers of points per cell. There are few, so that the curve
// rarely jumps.
var perCells = []int{1, 2, 3, 5, 10, 20, 50, 100, mostPoints}

// newCurve puts the newest point at the right. Cells begin at multiples of their
// size in the whole history, so that a peak does not change its shape as it moves.
func newCurve(h *history, which, width int) curve {
	points := h.last()
	c := curve{now: math.NaN(), min: math.NaN(), max: math.NaN(), perCell: 1}
	if width <= 0 || len(points) == 0 {
		return c
	}
	first := h.total - len(points)
	for _, n := range perCells {
		c.perCell = n
		if (h.total-1)/n-first/n+1 <= width {
			break
		}
	}
	cell := func(i int) int { return (first + i) / c.perCell }
	from := max(cell(0), cell(len(points)-1)-width+1)
	c.cells = slices.Repeat([]float64{math.NaN()}, cell(len(points)-1)-from+1)
	for i, p := range points {
		v := float64(p.values[which])
		if cell(i) < from || math.IsNaN(v) {
			continue
		}
		c.cells[cell(i)-from] = larger(c.cells[cell(i)-from], v)
		c.max, c.min = larger(c.max, v), -larger(-c.min, -v)
	}
	c.now = float64(points[len(points)-1].values[which])
	return c
}

// larger ignores NaN.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// known reports whether there is anything to draw.
func (c curve) known() bool { return !math.IsNaN(c.max) }

// draw returns the lines of a curve from 0 to its maximum, the top line first. 0 is the
// lowest bar, and anything above 0 is higher.
func (l look) draw(c curve, width, height int) []string {
	bars := l.bars()
	lines := make([]string, height)
	for r := range height {
		below := len(bars) * (height - 1 - r)
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", max(0, width-len(c.cells))))
		for _, v := range c.cells {
			switch n := level(v, c.max, len(bars)*height) - below; {
			case n <= 0:
				b.WriteByte(' ')
			default:
				b.WriteRune(bars[min(n, len(bars))-1])
			}
		}
		lines[r] = b.String()
	}
	return lines
}

func level(v, most float64, steps int) int {
	switch {
	case math.IsNaN(v):
		return 0
	case v <= 0 || most <= 0:
		return 1
	}
	return max(min(2, steps), 1+int(math.Round(v/most*float64(steps-1))))
}
