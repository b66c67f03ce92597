package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

func experimentOf(r *verdict.Result) experiment {
	l := r.Live
	if l == nil {
		return experiment{r.Canary, nil, r}
	}
	c := &verdict.Canary{Canary: journal.Canary{SliceSeconds: l.SliceSeconds}, End: l.End, PerRequest: !l.Uncounted}
	for i, s := range l.Settings {
		if i == 0 {
			s.Procs = nil
		}
		c.Settings = append(c.Settings, s.CanarySetting)
	}
	return experiment{c, l, r}
}

func (w experiment) anchorID() string { return "g1" }

func (w experiment) sectionTitle() string { return "" } // it is alone

// onTerminal is what each value came to: it has no curves over GOMAXPROCS.
func (w experiment) onTerminal() []document.Block {
	return itemized("", document.Items(w.concluded().Reasons))
}

func (w experiment) numberTables(bool) []document.Block {
	decide, _ := w.tables()
	return []document.Block{decide}
}

func (w experiment) inReport(warnings []document.Block) (list []document.Block) {
	if charts := w.charts(); len(charts) > 0 && !w.Unreached { // else of zeros
		list = append(list, document.Charts{Title: document.Heading{Level: 3, Text: "Over time"}, List: charts})
	}
	list = append(list, whyAndNumbers(w)...)
	if _, others := w.tables(); others != nil {
		list = append(list, document.Folds{List: []document.Fold{{Summary: "Metrics that do not decide", Blocks: []document.Block{*others}}}})
	}
	return slices.Concat(list, w.paste().blocks(w.facts()), warnings)
}

// concluded is how it ended, and where it came to its end, what is proven.
func (w experiment) concluded() Verdict {
	v := Verdict{State: document.Unknown, Label: "Not finished", Answer: Answer{Text: "Not finished"}}
	sure := nothingProven
	switch e := w.End; {
	case e == nil:
		v.Answer.Plain = w.unfinished("its journal has no end: procfit was killed, or is still running")
	case e.Code == journal.EndHarm:
		v, sure = w.harmed(e.Harm), "Ended early"
	case e.Code == journal.EndComplete || e.Code == journal.EndDecided || e.Code == journal.EndUnreached:
		v = w.compared()
		switch better := w.betterIn(); {
		case w.r.Recommendation.Confidence == verdict.Proven:
			sure = provenSure
		case w.r.Recommendation.Confidence == verdict.Likely:
			sure = labelNotProven
		case better != nil:
			sure = provenSure + " in " + phrase.And(better) + " only"
		}
	case e.Code == journal.EndInterrupted:
		v.Answer.Plain = w.unfinished("it was interrupted")
	default:
		v.Answer.Plain = w.unfinished(e.Reason)
	}
	v.Context, v.Reasons = sure+" · "+strings.Join(w.on(), " · "), w.reasons()
	return v
}

func (w experiment) unfinished(why string) string {
	return "The " + w.kind() + " did not finish: " + why + "."
}

func (w experiment) harmed(h *journal.Harm) Verdict {
	v := Verdict{State: document.Attention, Label: "Harm", Answer: Answer{Text: "Harm", Plain: "The " + w.kind() + " ended because of harm."}}
	if h == nil {
		return v
	}
	v.Answer.Text = "Harm at GOMAXPROCS " + phrase.Clip(h.Setting, nameRoom)
	if w.live != nil {
		if v.Answer.Plain = w.liveHarm(h); h.Code == journal.HarmBudget {
			v.Label, v.Answer.Text = "Ended by its budget", "Ended by its budget"
		}
		return v
	}
	if v.Answer.Plain = w.harm(h); h.Setting == canary.Control {
		v.State, v.Label, v.Answer.Text = document.Unknown, "Harm to the control", "Harm to the control"
	}
	return v
}

func (w experiment) compared() Verdict {
	row := called(w.r.Recommendation)
	v := Verdict{State: row.tone, Label: row.label}
	switch {
	case w.live != nil && w.live.Same && (w.live.Settings[1].Slices > 0 || w.live.Settings[1].Came != string(paired.Undecided)):
		return w.checked()
	case w.live == nil && w.Slices == 0:
		v.Answer.Text, v.Answer.Plain = "Nothing was counted", "The canary has no complete slice."
	case w.Unreached:
		w.unreached(&v)
	default:
		row.experiment(w, &v)
		if w.r.Recommendation.Confidence == verdict.Likely {
			v.Answer.Text, v.Answer.Apply = "Likely: "+lowerFirst(v.Answer.Text), ""
			v.Next = document.Items([]string{w.howToProve()})
			if w.live != nil {
				v.Answer.Plain += " Which requests failed is not known: answers that fail cost less, and come sooner."
			}
		}
	}
	return v
}

// howToProve is what makes proven what is likely: of a canary that nothing watched its pods, of a live
// experiment that nobody counted the requests that fail.
func (w experiment) howToProve() string {
	if w.live != nil {
		return "name a metric of the program that has the status of its answers: --metrics"
	}
	return "allow procfit to watch the pods (patch pods/ephemeralcontainers), so that it can read their GOMAXPROCS"
}

func (w experiment) on() []string {
	if w.live != nil {
		return w.liveOn()
	}
	replicas := 0
	for _, a := range w.Settings {
		replicas = a.Replicas // as each has
	}
	return []string{
		phrase.Count(w.Slices, "slice") + " of " + number.Short(number.Seconds(w.SliceSeconds)),
		phrase.Count(replicas, "canary pod") + " for each value", serviceWords(w.Services),
	}
}

func (w experiment) facts() document.Pairs {
	if w.live != nil {
		return w.liveFacts()
	}
	share := number.Ratio()
	pairs := document.Pairs{
		{Name: "Margins", Value: "CPU time " + share.Number(canary.MarginCPU) + ", the others " + share.Number(w.r.Plan.MarginP99) + " (a value that is worse by less is equally good)"},
		{Name: "Compared", Value: "with control pods of the same age, in the same slices"},
	}
	if w.Comparisons > 1 {
		pairs = append(pairs, document.Pair{Name: "Intervals", Value: fmt.Sprintf("of 95%%, which hold for all %d comparisons together", w.Comparisons)})
	}
	return pairs
}

// paste names a value where one alone is better.
func (w experiment) paste() Paste {
	if !w.r.Complete {
		return Paste{Lead: "Nothing to set yet: the comparison did not come to its end."}
	}
	if lead := called(w.r.Recommendation).after(w); lead != "" {
		return Paste{Lead: lead}
	}
	g := &group{words: words{&verdict.Group{Recommendation: *w.r.Recommendation}, w.r}}
	for _, a := range w.Settings {
		g.QuotaCPUs = a.QuotaCPUs // which all have
	}
	return g.paste()
}

func (w experiment) reasons() (list []string) {
	for i, a := range w.Settings {
		switch {
		case a.Procs == nil || w.Unreached:
		case w.live != nil:
			list = append(list, w.liveReason(w.live.Settings[i]))
		case a.Slices > 0:
			list = append(list, w.reason(a))
		}
	}
	if w.live != nil {
		list = append(list, "set in the running program, with "+strconv.Itoa(w.live.Start)+" at start: what sized itself at start has kept its size")
	}
	return list
}

// charts show one metric over time, of each setting next to its control: the user's own
// where there is one, else CPU time.
func (w experiment) charts() (list []document.Chart) {
	figure, high := w.first()
	ax := document.NewAxis(0, high, false)
	for _, a := range w.Settings {
		if m := a.Of(figure); m != nil && a.Procs != nil {
			list = append(list, w.chart(a, m, ax))
		}
	}
	return list
}

func (w experiment) chart(a verdict.CanarySetting, m *verdict.CanaryFigure, ax document.Axis) document.Chart {
	u := w.figure(m.Name).unit
	name := a.Label
	c := document.Chart{
		Title: "GOMAXPROCS " + name + ": " + w.name(m.Name), Unit: u.Name(), Axis: "slice", Note: "by slices of " + number.Short(number.Seconds(w.SliceSeconds)),
		Ticks: axisTicks(u, ax), Series: []document.Series{{Name: w.control() + ", " + w.Settings[0].Label}, {Name: name}},
	}
	for n, p := range m.Points {
		c.Categories = append(c.Categories, document.Category{Label: strconv.Itoa(n + 1)})
		for i, x := range []*float64{p[1], p[0]} {
			series, mark := &c.Series[i], document.Mark{}
			if x != nil {
				mark = document.Mark{Present: true, At: ax.At(*x), Value: u.Value(*x), Joined: n > 0 && series.Marks[n-1].Present}
			}
			series.Marks = append(series.Marks, mark)
		}
	}
	c.Describe(m.Name)
	c.Summary = c.Title + " over " + phrase.Count(len(c.Categories), "slice") + ": " + w.changes(*m) + " compared with " + w.control()
	return c
}

func differenceOf(f verdict.CanaryFigure) document.Cell {
	if fromZero(f) {
		return document.Cell{Value: "from 0"}
	}
	return difference(f.Ratio)
}

// tables are the metrics that decide, and the others; nil: there are none.
func (w experiment) tables() (decide document.Table, others *document.Table) {
	decide.Columns = []document.Column{
		{Head: "GOMAXPROCS", Short: "procs"}, {Head: "Metric", Short: "metric", Left: true}, {Head: "Outcome", Short: "outcome", Left: true},
		{Head: "Compared with " + w.control(), Short: "change", Detailed: true}, {Head: "Median", Short: "median"}, {Head: phrase.Capital(strings.TrimPrefix(w.control(), "the ")), Short: "control"}, {Head: "Slices"},
	}
	rest := document.Table{Columns: decide.Columns}
	recommended := w.proven(verdict.Recommended) // a value that is better in one metric alone is not marked
	for _, a := range w.Settings {
		if a.Procs == nil {
			continue
		}
		for _, m := range a.Figures {
			u := w.figure(m.Name).unit
			row := document.Row{Cells: []document.Cell{
				{Value: a.Label}, {Value: w.name(m.Name)}, {Value: outcomeWords[m.Outcome]},
				differenceOf(m), {Value: valueOf(u, m.Value)}, {Value: valueOf(u, m.Control)}, {Value: strconv.Itoa(m.Ratio.N)},
			}}
			if m.Outcome == verdict.OutcomeWorse || m.Outcome == verdict.OutcomeBetter && slices.Contains(recommended, row.Cells[0].Value) {
				row.Mark = outcomeWords[m.Outcome]
			}
			if m.Outcome == verdict.OutcomeNotJudged {
				rest.Rows = append(rest.Rows, row)
			} else {
				decide.Rows = append(decide.Rows, row)
			}
		}
	}
	switch {
	case len(decide.Rows) == 0:
		return rest, nil
	case len(rest.Rows) == 0:
		return decide, nil
	}
	return decide, &rest
}

// CanarySlice is what a canary of one slice shows of its settings, in a line.
func CanarySlice(r *verdict.Result) string {
	w := experimentOf(r)
	figure, _ := w.first()
	var list []string
	for _, a := range w.Settings {
		if m := a.Of(figure); m != nil {
			list = append(list, a.Label+" "+w.figure(figure).unit.Value(*m.Value.Median))
		}
	}
	if list == nil {
		return "this slice has no values"
	}
	return phrase.Clean(w.name(figure) + " of " + phrase.And(list))
}
