package page

import (
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// gateAlone reports whether the gate is all that was asked: one setting was measured
// of each program.
func gateAlone(r *verdict.Result) bool {
	if r.Gate == nil {
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
		name := gateMetric(&c) + " of " + phrase.Clip(phrase.Clean(gateSetting(c.Setting)), 2*nameRoom)
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
			{Value: phrase.Clip(phrase.Clean(gateSetting(c.Setting)), 2*nameRoom)}, {Value: gateMetric(c)}, difference(decided(c)),
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
		v.Reasons = append(v.Reasons, phrase.Clean(gateMetric(c)+" of "+gateSetting(c.Setting)+": "+gateNote(c, p)))
	}
	g.Sentence = ""
	return v
}

// answer is the gate in a few words: a gate that is not met names its first loss.
func (g *Gate) answer(of *verdict.Gate) Answer {
	a := Answer{Text: g.Label, Plain: g.Sentence}
	for i := range of.Checks {
		if c := &of.Checks[i]; c.Worse {
			a.Text = "Gate failed: " + gateMetric(c) + " at " + phrase.Clip(phrase.Clean(gateSetting(c.Setting)), nameRoom)
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
