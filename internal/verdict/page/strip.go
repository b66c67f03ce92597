package page

import (
	"math"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/verdict"
)

// widestStrip bounds a strip's half, as a ratio: beyond it the margins of 5% cannot be
// seen.
const widestStrip = 3

// ratioLine is a line of ratios that has no change in its middle, in logarithms.
type ratioLine struct{ edge float64 }

func (l ratioLine) at(ratio float64) float64 {
	if !(ratio > 0) || l.edge <= 0 {
		return 0
	}
	return min(1, max(0, 0.5+math.Log(ratio)/l.edge/2))
}

// gateLine is the one line of all checks of a gate, so that they can be compared.
func gateLine(g *verdict.Gate) ratioLine {
	edge := 0.0
	see := func(ratio *float64) {
		if ratio != nil && *ratio > 0 {
			edge = max(edge, math.Abs(math.Log(*ratio)))
		}
	}
	for i := range g.Checks {
		c := &g.Checks[i]
		for _, x := range []*float64{new(1 + c.Margin), new(1 - c.Margin), c.Ratio.Median, c.Bounds.Low, c.Bounds.High} {
			see(x)
		}
	}
	return ratioLine{min(1.15*edge, math.Log(widestStrip))}
}

// strip draws a check: what the margin allows, and new against old.
func (l ratioLine) strip(c *verdict.GateCheck, note string) *document.Strip {
	s := &document.Strip{Summary: note, Ticks: []document.Tick{{At: 0.5, Label: "no change"}}, Zone: document.Span{From: l.at(1 - c.Margin), To: 1}}
	if c.Metric == verdict.MetricP99 {
		s.Zone = document.Span{From: 0, To: l.at(1 + c.Margin)}
	}
	if c.Ratio.Median != nil {
		s.Present, s.At = true, l.at(*c.Ratio.Median)
		s.Interval = document.Span{From: s.At, To: s.At}
		if c.Bounds.Low != nil && c.Bounds.High != nil {
			s.Interval = document.Span{From: l.at(*c.Bounds.Low), To: l.at(*c.Bounds.High)}
		}
	}
	return s
}
