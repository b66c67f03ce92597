package page

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// hypothesis is what a document says, next to its own numbers and what was measured.
func hypothesis(s lab.Answered) document.Row {
	here, reason, tone := document.Cell{Value: "not measured"}, s.Reason, document.Unknown
	switch s.Answer {
	case lab.Holds:
		tone = document.OK
	case lab.DoesNotHold:
		tone = document.Attention
	}
	if s.MoreBlocks > 0 {
		reason += "; about " + phrase.Count(s.MoreBlocks, "more block") + " would decide it"
	}
	if m := s.Measured; m.Value != nil {
		here.Value = number.Figure(*m.Value)
		if m.Low != nil && m.High != nil {
			here.Value += " [" + number.Figure(*m.Low) + ", " + number.Figure(*m.High) + "]"
		}
		here.Value += fmt.Sprintf(", n %d", m.N)
		if s.From != "" {
			here.Value += " (" + s.From + ")"
		}
	}
	expected := wanted(s)
	if expected != "" {
		here.Detail = "expected " + expected
	}
	return document.Row{Tone: tone, Strip: hypothesisStrip(&s, expected), Cells: []document.Cell{{Value: label(s.Answer)}, {Value: s.Says, Detail: reason}, here, {Value: s.Document, Tag: s.On}}}
}

func label(a lab.Answer) string {
	switch a {
	case lab.Holds:
		return "holds"
	case lab.DoesNotHold:
		return "does not hold"
	case lab.AtBound:
		return "at its bound"
	}
	return "undecided"
}

func wanted(s lab.Answered) string {
	bound := func(x float64) string { return number.Short(number.Significant(x, number.Digits)) }
	switch {
	case s.AtLeast != 0 && s.AtMost != 0:
		return bound(s.AtLeast) + " to " + bound(s.AtMost)
	case s.AtLeast != 0:
		return bound(s.AtLeast) + " or more"
	case s.AtMost != 0:
		return bound(s.AtMost) + " or less"
	}
	return ""
}

// hypothesisStrip draws what a hypothesis wants, what was measured, and the document's own
// value, each on a line of its own: ratios of different things have no scale in common.
// It is logarithmic where all are above zero, as ratios are.
func hypothesisStrip(s *lab.Answered, wanted string) *document.Strip {
	if s.AtLeast == 0 && s.AtMost == 0 {
		return nil
	}
	m := s.Measured
	values := slices.DeleteFunc([]float64{s.AtLeast, s.AtMost, s.Value}, func(x float64) bool { return x == 0 })
	for _, x := range []*float64{m.Value, m.Low, m.High} {
		if x != nil {
			values = append(values, *x)
		}
	}
	scale := func(x float64) float64 { return x }
	if slices.Min(values) > 0 {
		scale = math.Log
	}
	low, high := scale(slices.Min(values)), scale(slices.Max(values))
	pad := max(0.25*(high-low), 0.05*math.Abs(high), 0.05)
	at := func(x float64) float64 { return min(1, max(0, (scale(x)-low+pad)/(high-low+2*pad))) }
	out := &document.Strip{Zone: document.Span{From: 0, To: 1}, Summary: "expected " + wanted}
	if s.AtLeast != 0 {
		out.Zone.From = at(s.AtLeast)
	}
	if s.AtMost != 0 {
		out.Zone.To = at(s.AtMost)
	}
	if m.Value != nil {
		out.Present, out.At = true, at(*m.Value)
		out.Interval = document.Span{From: out.At, To: out.At}
		if m.Low != nil && m.High != nil {
			out.Interval = document.Span{From: at(*m.Low), To: at(*m.High)}
		}
		out.Summary += ", measured " + number.Figure(*m.Value)
	}
	if s.Value != 0 {
		text := "the article has " + number.Figure(s.Value)
		out.Document = &document.Tick{At: at(s.Value), Label: text}
		out.Summary += ", " + text
	}
	return out
}

// elsewhere are sentences about an experiment's hypotheses that are not asked here: one about CPUs,
// and one for each other reason.
func elsewhere(r *lab.Ran) (list []document.Block) {
	add := func(text string) { list = append(list, document.Text{Text: text, Style: document.Muted}) }
	var least, most float64
	short, others := 0, map[string]int{}
	for _, a := range r.Hypotheses {
		switch {
		case a.Answer != lab.NotAsked:
		case a.Lacks > 0:
			if short++; least == 0 || a.Lacks < least {
				least = a.Lacks
			}
			most = max(most, a.Lacks)
		default:
			others[a.Reason]++
		}
	}
	if short > 0 {
		needs := number.CPUs(most)
		if least < most {
			needs = number.Count(least) + " to " + needs
		}
		add(fmt.Sprintf("%s %s for the program, more than this machine has.", phrase.CountOf(short, "more hypothesis needs", "more hypotheses need"), needs))
	}
	for _, a := range r.Hypotheses {
		reason := a.Reason
		if n := others[reason]; n > 0 {
			add(phrase.CountOf(n, "more hypothesis is", "more hypotheses are") + " not asked: " + reason + ".")
			delete(others, reason)
		}
	}
	return list
}

// largerList has the machines that answer hypotheses which this one cannot, the smallest first, with
// the command that asks them.
func largerList(o *lab.Outcome) []document.Block {
	asks, ids := map[float64]int{}, map[float64][]string{} // by CPUs
	for i := range o.Experiments {
		r := &o.Experiments[i]
		for _, a := range r.Hypotheses {
			if a.Answer != lab.NotAsked || a.Lacks == 0 {
				continue
			}
			if asks[a.Needs]++; !slices.Contains(ids[a.Needs], r.ID) {
				ids[a.Needs] = append(ids[a.Needs], r.ID)
			}
		}
	}
	if len(asks) == 0 {
		return nil
	}
	var items document.List
	for _, cpus := range slices.Sorted(maps.Keys(asks)) {
		items.Items = append(items.Items, document.Item{
			Text: fmt.Sprintf("%s more with %s", phrase.CountOf(asks[cpus], "hypothesis", "hypotheses"), number.CPUs(cpus)), Command: "procfit lab run " + strings.Join(ids[cpus], " "),
		})
	}
	return []document.Block{document.Heading{Level: 2, Text: "What needs more CPUs"}, items}
}

// further is what more time would decide.
func further(o *lab.Outcome, again string) string {
	open, near := 0, 0
	seconds := 0.0
	for _, e := range o.Experiments {
		for _, a := range e.Hypotheses {
			if !a.Open {
				continue
			}
			if open++; a.MoreBlocks > 0 {
				near++
				seconds += a.MoreSeconds
			}
		}
	}
	if open == 0 {
		return ""
	}
	said := phrase.CountOf(open, "hypothesis is open.", "hypotheses are open.")
	if near > 0 {
		d := time.Duration(seconds * float64(time.Second))
		said += fmt.Sprintf(" About %s more decide %d of them: %s.", number.Minutes(max(d, time.Second)), near, again)
	}
	if far := open - near; far > 0 {
		said += " " + phrase.CountOf(far, "scatters so much that no run is long enough", "scatter so much that no run is long enough") + "."
	}
	return said
}
