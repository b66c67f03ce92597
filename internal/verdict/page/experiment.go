package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/paired"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// experiment are the words of what was measured under a program's own traffic, in values next
// to a control: of a canary, and of a live experiment, whose control is the value at start.
type experiment struct {
	*verdict.Canary               // of a live experiment its settings and its end
	live            *verdict.Live // nil: a canary
	r               *verdict.Result
}

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

// kind is what it is called in a sentence.
func (w experiment) kind() string {
	if w.live != nil {
		return "experiment"
	}
	return "canary"
}

// control is what settings are compared with.
func (w experiment) control() string {
	if w.live != nil {
		return "the value at start"
	}
	return "the control"
}

// start is the control by its value.
func (w experiment) start() string {
	if w.live != nil {
		return "GOMAXPROCS=" + strconv.Itoa(w.live.Start)
	}
	for _, s := range w.Settings {
		if s.Procs == nil && len(s.Observed) == 1 {
			return fmt.Sprintf("the default (%d)", s.Observed[0])
		}
	}
	return "the default"
}

// concluded is how it ended, and where it came to its end, what is proven.
func (w experiment) concluded() Verdict {
	v := Verdict{State: document.Unknown, Label: "Not finished", Answer: Answer{Text: "Not finished"}}
	sure := nothingProven
	switch e := w.End; {
	case e == nil:
		v.Sentence = w.unfinished("its journal has no end: procfit was killed, or is still running")
	case e.Code == journal.EndHarm:
		v, sure = w.harmed(e.Harm), "Ended early"
	case e.Code == journal.EndComplete || e.Code == journal.EndDecided || e.Code == journal.EndUnreached:
		if v = w.compared(); w.r.Recommendation.Confidence == verdict.Proven {
			sure = provenSure
		}
	case e.Code == journal.EndInterrupted:
		v.Sentence = w.unfinished("it was interrupted")
	default:
		v.Sentence = w.unfinished(e.Reason)
	}
	if v.Answer.Plain == "" {
		v.Answer.Plain = v.Sentence
	}
	v.Context, v.Reasons = sure+" · "+strings.Join(w.on(), " · "), w.reasons()
	return v
}

func (w experiment) unfinished(why string) string {
	return "The " + w.kind() + " did not finish: " + why + "."
}

// harmed is that it ended before its time.
func (w experiment) harmed(h *journal.Harm) Verdict {
	v := Verdict{State: document.Attention, Label: "Harm", Sentence: "The " + w.kind() + " ended because of harm.", Answer: Answer{Text: "Harm"}}
	if h == nil {
		return v
	}
	v.Answer.Text = "Harm at GOMAXPROCS " + phrase.Clip(h.Setting, nameRoom)
	if w.live != nil {
		if v.Sentence = w.liveHarm(h); h.Code == journal.HarmBudget {
			v.Label, v.Answer.Text = "Ended by its budget", "Ended by its budget"
		}
		return v
	}
	if v.Sentence = w.harm(h); h.Setting == canary.Control {
		v.State, v.Label, v.Answer.Text = document.Unknown, "Harm to the control", "Harm to the control"
	}
	return v
}

// compared is what the slices show.
func (w experiment) compared() Verdict {
	row := called(w.r.Recommendation)
	v := Verdict{State: row.tone, Label: row.label}
	switch {
	case w.live != nil && w.live.Same && (w.live.Settings[1].Slices > 0 || w.live.Settings[1].Came != string(paired.Undecided)):
		return w.checked()
	case w.live == nil && w.Slices == 0:
		v.Answer.Text, v.Sentence = "Nothing was counted", "The canary has no complete slice."
	case w.Unreached:
		w.unreached(&v)
	default:
		row.experiment(w, &v)
	}
	return v
}

// on is what it was compared on.
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
		phrase.Count(replicas, "canary pod") + " for each value", services(w.Services),
	}
}

// proven are the settings of a verdict.
func (w experiment) proven(v verdict.Verdict) (list []string) {
	for _, a := range w.Settings {
		if a.Procs != nil && a.Verdict == v {
			list = append(list, a.Label)
		}
	}
	return list
}

// against is how the only value of a verdict compares with the control: what is better first.
// Empty: there are several, or nothing is known.
func (w experiment) against(of verdict.Verdict) string {
	if len(w.proven(of)) != 1 {
		return ""
	}
	var list []string
	for _, a := range w.Settings {
		if a.Procs == nil || a.Verdict != of {
			continue
		}
		for _, o := range []verdict.Outcome{verdict.OutcomeBetter, verdict.OutcomeWorse, verdict.OutcomeWithin, verdict.OutcomeUndecided} {
			for _, f := range a.Figures {
				if f.Outcome == o {
					list = append(list, changed(w.name(f.Name), f.Ratio, w.margin(f.Name), "higher", "lower"))
				}
			}
		}
	}
	return strings.Join(list, "; ")
}

// margin is how much worse a metric may be.
func (w experiment) margin(figure string) float64 {
	switch {
	case figure == paired.FigureCPU && w.live != nil:
		return w.r.Plan.Margin
	case figure == paired.FigureCPU:
		return canary.MarginCPU
	case figure == paired.FigureP50 && w.live != nil:
		return live.MarginP50
	}
	return w.r.Plan.MarginP99
}

// underThis begins a sentence on the settings of a verdict.
func (w experiment) underThis() string {
	return "Under this traffic GOMAXPROCS " + phrase.And(w.proven(w.r.Recommendation.Verdict))
}

func (w experiment) set(v *Verdict) {
	rec := w.r.Recommendation
	v.Answer.Text = "Set GOMAXPROCS=" + strings.Join(w.proven(verdict.Recommended), " or ")
	v.Sentence = fmt.Sprintf("%s is better than %s, and proven no worse in the judged metrics: %s.", w.underThis(), w.start(), phrase.And(w.judged()))
	if text := w.against(verdict.Recommended); text != "" {
		v.Answer.Plain = "Compared with " + w.start() + ": " + text + "."
	}
	if rec.Procs != nil {
		v.Answer.Apply = "export GOMAXPROCS=" + strconv.Itoa(*rec.Procs)
		if w.live != nil {
			v.Next = w.confirm(*rec.Procs)
		}
	}
}

func (w experiment) keep(v *Verdict) {
	v.Answer.Text = "Keep " + w.start()
	v.Sentence = "Nothing we tried is better than " + w.start() + " under this traffic."
}

func (w experiment) noDifference(v *Verdict) {
	v.Answer.Text, v.Sentence = makesNoDifference, "All values perform the same under this traffic, within the margins."
}

func (w experiment) tradeOff(v *Verdict) {
	v.Answer.Text, v.Sentence = v.Label, w.underThis()+" is better than "+w.start()+" in one metric and worse in another."
	for _, a := range w.Settings {
		if better, worse := a.In(verdict.OutcomeBetter), a.In(verdict.OutcomeWorse); a.Verdict == verdict.TradeOff && better != nil && worse != nil {
			v.Answer.Text = v.Label + ": choose " + w.name(better[0]) + " or " + w.name(worse[0])
			break
		}
	}
	if text := w.against(verdict.TradeOff); text != "" {
		v.Answer.Plain = fmt.Sprintf("GOMAXPROCS=%s compared with %s: %s.", w.proven(verdict.TradeOff)[0], w.start(), text)
	}
}

func (w experiment) undecided(v *Verdict) {
	more := "more slices may decide it"
	v.Answer.Text, v.Sentence = changeNothing, w.open(more)
	if list := w.came(paired.Cheaper); list != nil {
		more = w.cheaper(v, list, more)
	}
	if more != "" {
		v.Next = []document.Item{{Text: "measure for twice as long", Command: w.r.Spec.With(spec.Part("for", "", doubled(w.r.Load.DurationSeconds)), fresh).Shell()}}
	}
}

// open is that no value is better: of one that is so in a metric, where it may be worse.
func (w experiment) open(more string) string {
	var list []string
	for _, a := range w.Settings {
		if better, open := a.In(verdict.OutcomeBetter), a.In(verdict.OutcomeUndecided); a.Verdict == verdict.Undecided && better != nil && open != nil {
			list = append(list, fmt.Sprintf("GOMAXPROCS %s is better than %s in %s, but may be worse in %s", a.Label, w.start(), w.names(better), w.names(open)))
		}
	}
	if list == nil {
		list = []string{"no value is proven better than " + w.start()}
	}
	return "Under this traffic " + phrase.Semicolons(list) + ": " + more + "."
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

// chooseOne is of several values that are better; empty: there is one.
func (w experiment) chooseOne() string {
	if w.r.Recommendation.Procs != nil {
		return ""
	}
	return "Choose one of " + phrase.And(w.proven(verdict.Recommended)) + "; each is proven better than " + w.start() + "."
}

// keepsStart is of a value at start, which may have been set; empty: it is the default.
func (w experiment) keepsStart() string {
	if w.live == nil || w.r.Recommendation.Procs != nil {
		return ""
	}
	return "Nothing to set: keep " + w.start() + ", the value at start."
}

// reasons are what each value came to.
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

// reason is in which metrics a setting is better, worse, or neither. The table has by how much.
func (w experiment) reason(a verdict.CanarySetting) string {
	var parts []string
	for _, o := range []struct {
		outcome verdict.Outcome
		text    string
	}{{verdict.OutcomeBetter, "better in "}, {verdict.OutcomeWorse, "worse in "}, {verdict.OutcomeWithin, "no worse in "}, {verdict.OutcomeUndecided, "undecided in "}} {
		if list := a.In(o.outcome); list != nil {
			parts = append(parts, o.text+w.names(list))
		}
	}
	if a.Verdict == verdict.NoDifference {
		parts = []string{"the same within the margins in " + phrase.And(w.judged())}
	}
	if parts == nil {
		parts = []string{"no metric was compared"}
	}
	if higher := worseUnjudged(a); higher != nil {
		parts = append(parts, "higher, but not judged, because "+phrase.And(w.judged())+" decide: "+w.differences(a, higher))
	}
	return "GOMAXPROCS " + a.Label + ": " + phrase.Semicolons(parts)
}

// worseUnjudged are the metrics that do not decide, and in which a setting is worse all the
// same: a table that shows it must not be under a sentence that is silent on it.
func worseUnjudged(a verdict.CanarySetting) (list []string) {
	for _, m := range a.Figures {
		if low := m.Ratio.Low; m.Outcome == verdict.OutcomeNotJudged && m.Name != paired.FigureRequests && low != nil && *low > 1 {
			list = append(list, m.Name)
		}
	}
	return list
}

func (w experiment) names(figures []string) string {
	var list []string
	for _, f := range figures {
		list = append(list, w.name(f))
	}
	return phrase.And(list)
}

// judged are the metrics that decide.
func (w experiment) judged() (list []string) {
	for _, a := range w.Settings {
		for _, m := range a.Figures {
			if name := w.name(m.Name); a.Procs != nil && m.Outcome != verdict.OutcomeNotJudged && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// name is a metric's, in a sentence.
func (w experiment) name(figure string) string {
	switch figure {
	case paired.FigureCPU:
		return "CPU time " + w.each()
	case canary.FigureWait:
		return "run-queue wait " + w.each()
	case canary.FigureSched:
		return "scheduling latency p99"
	case canary.FigureThrottled:
		return "throttled periods"
	case paired.FigureRequests:
		if w.live != nil {
			return "requests per second"
		}
		return "requests per pod"
	case paired.FigureP50:
		return "latency p50"
	case paired.FigureP99:
		return "latency p99"
	case paired.FigureFailed:
		return "failed requests"
	}
	if f, seen := seenFigures[figure]; seen && w.live != nil {
		return f.name
	}
	return figure
}

func (w experiment) each() string {
	switch {
	case w.PerRequest:
		return "per request"
	case w.live != nil:
		return "per second"
	}
	return "per pod"
}

// unit is that of a metric. What a query's value is in, its author knows.
func (w experiment) unit(figure string) number.Unit {
	if f, seen := seenFigures[figure]; seen && w.live != nil {
		return f.unit
	}
	switch figure {
	case canary.FigureSched, paired.FigureP50, paired.FigureP99:
		return number.Time()
	case canary.FigureThrottled, paired.FigureFailed:
		return number.Ratio()
	case paired.FigureRequests:
		return number.PerSecond("req/s")
	case paired.FigureCPU, canary.FigureWait:
		switch {
		case w.PerRequest:
			return number.Time()
		case figure == paired.FigureCPU:
			return number.Plain("CPUs")
		}
		return number.Plain("s/s")
	}
	return number.Plain("")
}

// differences are what is proven of some metrics: "CPU time a request −12.0% [−15.0%, −9.0%]".
func (w experiment) differences(a verdict.CanarySetting, figures []string) string {
	var list []string
	for _, f := range figures {
		text := w.name(f) + " (unknown)"
		if m := a.Of(f); m != nil {
			text = w.name(f) + " " + changes(m.Ratio)
		}
		list = append(list, text)
	}
	return phrase.And(list)
}

// changes is a difference in a sentence.
func changes(i stat.Interval) string {
	c := difference(i)
	return c.Value + " " + c.Detail
}

// tables are the metrics that decide, and the others; nil: there are none.
func (w experiment) tables() (decide document.Table, others *document.Table) {
	decide.Columns = []document.Column{
		{Head: "GOMAXPROCS", Short: "procs"}, {Head: "Metric", Short: "metric", Left: true}, {Head: "Outcome", Short: "outcome", Left: true},
		{Head: "Compared with " + w.control(), Short: "change", Detailed: true}, {Head: "Median", Short: "median"}, {Head: phrase.Capital(strings.TrimPrefix(w.control(), "the ")), Short: "control"}, {Head: "Slices", Short: "n"},
	}
	rest := document.Table{Columns: decide.Columns}
	recommended := w.proven(verdict.Recommended) // a value that is better in one metric alone is not marked
	for _, a := range w.Settings {
		if a.Procs == nil {
			continue
		}
		for _, m := range a.Figures {
			u := w.unit(m.Name)
			row := document.Row{Cells: []document.Cell{
				{Value: a.Label}, {Value: w.name(m.Name)}, {Value: outcomeWords[m.Outcome]},
				difference(m.Ratio), {Value: valueOf(u, m.Value)}, {Value: valueOf(u, m.Control)}, {Value: strconv.Itoa(m.Ratio.N)},
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

func valueOf(u number.Unit, i stat.Interval) string {
	if i.Median == nil {
		return absent
	}
	return u.Value(*i.Median)
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

// first is the first metric that any setting has, with its highest value.
func (w experiment) first() (figure string, high float64) {
	for _, a := range w.Settings {
		for _, m := range a.Figures {
			if m.Value.Median == nil || figure != "" && m.Name != figure {
				continue
			}
			figure = m.Name
			for _, p := range m.Points {
				for _, x := range p {
					if x != nil {
						high = max(high, *x)
					}
				}
			}
		}
	}
	return figure, high
}

func (w experiment) chart(a verdict.CanarySetting, m *verdict.CanaryFigure, ax document.Axis) document.Chart {
	u := w.unit(m.Name)
	name := a.Label
	c := document.Chart{
		Title: "GOMAXPROCS " + name + ": " + w.name(m.Name), Unit: u.Name(), Axis: "slice", Note: "by slices of " + number.Short(number.Seconds(w.SliceSeconds)),
		Ticks: ticks(u, ax), Series: []document.Series{{Name: w.control() + ", " + w.Settings[0].Label}, {Name: name}},
	}
	for n, p := range m.Points {
		k := document.Category{Label: strconv.Itoa(n + 1)}
		for i, x := range []*float64{p[1], p[0]} {
			series := &c.Series[i]
			mark, text := document.Mark{}, "unknown"
			if x != nil {
				mark = document.Mark{Present: true, At: ax.At(*x), Value: u.Value(*x), Joined: n > 0 && series.Marks[n-1].Present}
				text = mark.Value
			}
			series.Marks = append(series.Marks, mark)
			if i > 0 {
				k.Value += ", "
			}
			k.Value += series.Name + " " + text
		}
		c.Categories = append(c.Categories, k)
	}
	c.Summary = c.Title + " over " + phrase.Count(len(c.Categories), "slice") + ": " + changes(m.Ratio) + " compared with " + w.control()
	return c
}
