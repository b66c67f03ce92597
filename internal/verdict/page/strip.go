package page

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// widestStrip bounds a strip's half, as a ratio: beyond it the margins of 5 % cannot be
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
func (l ratioLine) strip(c *verdict.GateCheck) *Strip {
	s := &Strip{Summary: phrase.Clean(gateNote(c)), Ticks: []Tick{{At: 0.5, Label: "no change"}}, Zone: Span{l.at(1 - c.Margin), 1}}
	if c.Metric == verdict.MetricP99 {
		s.Zone = Span{0, l.at(1 + c.Margin)}
	}
	if c.Ratio.Median != nil {
		s.Present, s.At = true, l.at(*c.Ratio.Median)
		s.Interval = Span{s.At, s.At}
		if c.Bounds.Low != nil && c.Bounds.High != nil {
			s.Interval = Span{l.at(*c.Bounds.Low), l.at(*c.Bounds.High)}
		}
	}
	return s
}

// hypothesisStrip draws what a hypothesis wants, what was measured, and the document's own
// value, each on a line of its own: ratios of different things have no scale in common.
// It is logarithmic where all are above zero, as ratios are.
func hypothesisStrip(s *lab.Answered, wanted string) *Strip {
	var values []float64
	see := func(list ...*float64) {
		for _, x := range list {
			if x != nil && !math.IsNaN(*x) && !math.IsInf(*x, 0) {
				values = append(values, *x)
			}
		}
	}
	m := s.Measured
	see(s.AtLeast, s.AtMost, s.Value, m.Median, m.Low, m.High)
	if len(values) == 0 || s.AtLeast == nil && s.AtMost == nil {
		return nil
	}
	scale := func(x float64) float64 { return x }
	if slices.Min(values) > 0 {
		scale = math.Log
	}
	low, high := scale(slices.Min(values)), scale(slices.Max(values))
	pad := max(0.25*(high-low), 0.05*math.Abs(high), 0.05)
	at := func(x float64) float64 { return min(1, max(0, (scale(x)-low+pad)/(high-low+2*pad))) }
	out := &Strip{Zone: Span{0, 1}, Summary: "wanted " + wanted}
	if s.AtLeast != nil {
		out.Zone.From = at(*s.AtLeast)
	}
	if s.AtMost != nil {
		out.Zone.To = at(*s.AtMost)
	}
	if m.Median != nil {
		out.Present, out.At = true, at(*m.Median)
		out.Interval = Span{out.At, out.At}
		if m.Low != nil && m.High != nil {
			out.Interval = Span{at(*m.Low), at(*m.High)}
		}
		out.Summary += ", measured " + number.Figure(*m.Median)
	}
	if s.Value != nil {
		text := "the document has " + number.Figure(*s.Value)
		out.Document = &Tick{At: at(*s.Value), Label: text}
		out.Summary += ", " + text
	}
	return out
}
