package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// gateAlone reports whether the gate is all that was asked: one setting was measured
// of each program.
func gateAlone(r *verdict.Result) bool {
	if r.Gate == nil || len(r.Compared) > 0 {
		return false
	}
	for i := range r.Groups {
		settings := 0
		for _, a := range r.Groups[i].Settings {
			if a.Variant == "" {
				settings++
			}
		}
		if settings > 1 {
			return false
		}
	}
	return true
}

// gateOf words a gate. It is passed only where every check was judged.
func gateOf(g *verdict.Gate, p journal.Plan) *Gate {
	out := &Gate{}
	var worse, open []string
	judged := len(g.Checks) > 0
	for _, c := range g.Checks {
		name := gateMetric(c.Metric, c.Quantile) + " of " + phrase.Clip(phrase.Clean(gateSetting(c.Setting)), 2*nameRoom)
		judged = judged && c.Judged
		if c.Worse {
			worse = append(worse, name)
		} else if !c.Proven {
			open = append(open, name)
		}
	}
	switch {
	case len(worse) > 0:
		out.State, out.Label = document.Attention, "Gate failed"
		out.Sentence = "Proven worse by more than the margin: " + some(worse) + "."
	case g.Pass && judged:
		out.State, out.Label = document.OK, "Gate passed"
		out.Sentence = "No metric is proven worse by more than its margin."
		if len(open) > 0 {
			out.Sentence += " These are not proven to be within the margin either: " + some(open) + "."
		}
	default:
		out.State, out.Label = document.Unknown, "Gate cannot be judged"
		out.Sentence = "Too few valid trials of both programs."
		if why := phrase.Clean(Unjudged(g)); why != "" {
			out.Sentence = phrase.Capital(why) + "."
		}
	}
	if g.Kind == verdict.GateKindBaseline {
		out.Sentence += " Compared with the baseline by ratios within each run."
	}
	if judged && g.Kind != verdict.GateKindBaseline {
		out.Note = "The changes are between trials of the same block, and can differ from those between the levels, which are over the whole run."
	}
	out.Table = gateTable(g, p)
	return out
}

func gateTable(g *verdict.Gate, p journal.Plan) document.Table {
	t := document.Table{Columns: []document.Column{
		{Head: "GOMAXPROCS", Short: "procs", Left: true},
		{Head: "Metric", Short: "metric", Left: true},
		{Head: "New compared with old", Short: "new / old", Detailed: true},
		{Head: "Margin", Short: "margin"},
		{Head: "Outcome", Short: "outcome", Left: true},
		{Head: "Note", Left: true},
	}}
	line := gateLine(g)
	t.StripHead, t.StripAfter = "Within the margin?", 2
	for i := range g.Checks {
		c := &g.Checks[i]
		note := phrase.Clean(gateNote(c, p))
		outcome, mark := outcomeWords[c.Outcome], ""
		switch {
		case c.Worse:
			mark = outcome
		case !c.Judged:
			outcome = outcomeWords[verdict.OutcomeNotJudged]
		}
		t.Rows = append(t.Rows, document.Row{Mark: mark, Strip: line.strip(c, note), Cells: []document.Cell{
			{Value: phrase.Clip(phrase.Clean(gateSetting(c.Setting)), 2*nameRoom)}, {Value: gateMetric(c.Metric, c.Quantile)}, difference(decided(c)),
			{Value: number.Ratio().Number(c.Margin)}, {Value: outcome}, {Value: note},
		}})
	}
	return t
}

// outcomeWords are what a check of a gate, or a metric of a canary, came to.
var outcomeWords = map[verdict.Outcome]string{
	verdict.OutcomeWorse: "worse", verdict.OutcomeNotJudged: "not judged", verdict.OutcomeWithin: "no worse", verdict.OutcomeOpen: "undecided", verdict.OutcomeBetter: "better",
}

// decided is a check's ratio with the bounds that decided.
func decided(c *verdict.GateCheck) verdict.Interval {
	return verdict.Interval{Median: c.Ratio.Median, Low: c.Bounds.Low, High: c.Bounds.High, N: c.Ratio.N}
}

// headline makes the gate the answer of the whole View.
func (g *Gate) headline(of *verdict.Gate, p journal.Plan, context string) Verdict {
	v := Verdict{State: g.State, Label: g.Label, Sentence: g.Sentence, Context: context, Answer: g.answer(of)}
	for i := range of.Checks {
		c := &of.Checks[i]
		if !c.Judged || len(v.Reasons) == named {
			continue // the sentence says so; the table has them all
		}
		v.Reasons = append(v.Reasons, phrase.Clean(gateMetric(c.Metric, c.Quantile)+" of "+gateSetting(c.Setting)+": "+gateNote(c, p)))
	}
	g.Sentence = ""
	return v
}

// answer is the gate in a few words: a gate that is not met names its first loss.
func (g *Gate) answer(of *verdict.Gate) Answer {
	a := Answer{Text: g.Label, Plain: g.Sentence}
	for i := range of.Checks {
		if c := &of.Checks[i]; c.Worse {
			a.Text = "Gate failed: " + gateMetric(c.Metric, c.Quantile) + " at " + phrase.Clip(phrase.Clean(gateSetting(c.Setting)), nameRoom)
			break
		}
	}
	return a
}

// named is how many items a sentence names.
const named = 6

func some(names []string) string {
	if len(names) > named {
		names = append(names[:named-1:named-1], "and "+phrase.Count(len(names)-named+1, "more check"))
	}
	return strings.Join(names, ", ")
}

// gateSetting is a setting of a gate with what distinguishes its group.
func gateSetting(a journal.Setting) string {
	text, of := a.Label, a.Group()
	if of.Procs > 0 {
		text += ", GOMAXPROCS=" + strconv.Itoa(of.Procs)
	}
	if of.Variables != "" {
		text += ", " + strings.ReplaceAll(of.Variables, " ", ", ")
	}
	if a.QuotaCPUs != nil {
		text += ", limit " + number.CPUs(*a.QuotaCPUs)
	}
	if a.GoVersion != "" {
		text += ", Go " + a.GoVersion
	}
	return text
}

// more is the flag that measures more: a sweep that ends by itself takes no --repeats.
func more(p journal.Plan) string {
	switch {
	case !p.Racing():
		return "more --repeats"
	case p.MaxSeconds > 0:
		return "a longer --for or a higher --until trials=N"
	}
	return "a higher --until trials=N"
}

// gateNote is what a check came to.
func gateNote(c *verdict.GateCheck, p journal.Plan) string {
	if c.Outcome == verdict.OutcomeNotJudged || c.Ratio.Median == nil {
		return "cannot be judged: " + tooFew(c.Ratio.N)
	}
	word, least, most := slower, c.Bounds.High, c.Bounds.Low
	if c.Metric == verdict.MetricP99 {
		word, least, most = higher, c.Bounds.Low, c.Bounds.High
	}
	change, margin := word(*c.Ratio.Median-1), number.Percent(c.Margin)
	switch {
	case c.Outcome == verdict.OutcomeWorse:
		return lossNote(c.Metric, *c.Ratio.Median, least, c.Margin, c.Ratio.N)
	case c.Outcome == verdict.OutcomeWithin && most != nil:
		if bound := word(*most - 1); bound != change && bound != same && (*most > 1) == (c.Metric == verdict.MetricP99) {
			change += ", at most " + bound
		}
		return fmt.Sprintf("%s, proven within the margin of %s (n %d)", change, margin, c.Ratio.N)
	}
	return fmt.Sprintf("undecided: %s, which may be within the margin of %s or beyond it (n %d); %s would decide", change, margin, c.Ratio.N, more(p))
}

// gateMetric is what a check is of: of latency the quantile that is judged.
func gateMetric(metric string, quantile float64) string {
	if metric == verdict.MetricP99 && quantile > 0 {
		return contest.QuantileName(quantile)
	}
	return phrase.Clean(metric)
}

// lossNote is a ratio that is proven worse than the margin, by its bound.
func lossNote(metric string, ratio float64, bound *float64, margin float64, n int) string {
	word := slower
	if metric == verdict.MetricP99 {
		word = higher
	}
	text := word(ratio - 1)
	if bound != nil {
		text += ", at least " + amount(*bound-1)
	}
	return fmt.Sprintf("%s, proven worse than the margin of %s (n %d)", text, number.Percent(margin), n)
}

// tooFew says why N pairs judge nothing.
func tooFew(pairs int) string {
	if pairs == 0 {
		return "no block has a valid trial of both"
	}
	return fmt.Sprintf("only %s a valid trial of both, and %d are needed", phrase.CountOf(pairs, "block has", "blocks have"), verdict.FewestPairs)
}

// Unjudged says why a gate is neither passed nor failed; empty when it is.
func Unjudged(g *verdict.Gate) string {
	var why []string
	for i := range g.Unjudged {
		why = append(why, unjudged(&g.Unjudged[i]))
	}
	return strings.Join(why, "; ")
}

func unjudged(u *verdict.Unjudged) string {
	switch u.Code {
	case verdict.UnjudgedSpoiled:
		return fmt.Sprintf("with %s, %d of %s of the new program were invalid, and %d of %d of the old: %s",
			gateSetting(u.Setting), u.Bad, phrase.Count(u.Of, "trial"), u.OldBad, u.OldOf, u.Reason)
	case verdict.UnjudgedWithheld:
		return "other programs left " + gateSetting(u.Setting) + " too few CPUs to be compared"
	case verdict.UnjudgedNoSetting:
		return "no trial of both programs was measured; if the pilot trials failed, their reason is above"
	}
	var checks []string
	for _, c := range u.Checks {
		checks = append(checks, gateMetric(c.Metric, c.Quantile)+" of "+gateSetting(c.Setting))
	}
	switch u.Code {
	case verdict.UnjudgedOpen:
		return phrase.And(checks) + ": " + phrase.CountOf(u.Pairs, "pair does", "pairs do") + " not prove it worse, or within its margin"
	case verdict.UnjudgedLate:
		return phrase.And(checks) + ": the load generator sent requests late, so " + tooFew(u.Pairs)
	}
	return phrase.And(checks) + ": " + tooFew(u.Pairs)
}

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
