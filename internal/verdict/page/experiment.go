package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// experiment are the words of what was measured under a program's own traffic, in values next
// to a control: of a canary, and of a live experiment, whose control is the value at start.
type experiment struct {
	*verdict.Canary               // of a live experiment its settings and its end
	live            *verdict.Live // nil: a canary
	r               *verdict.Result
}

func (w experiment) kind() string { return phrase.If(w.live != nil, "experiment", "canary") }

func (w experiment) control() string {
	return phrase.If(w.live != nil, "the value at start", "the control")
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

// outcomes are those of judged metrics, in the order in which sentences have them.
var outcomes = []verdict.Outcome{verdict.OutcomeBetter, verdict.OutcomeWorse, verdict.OutcomeWithin, verdict.OutcomeUndecided}

func (w experiment) proven(v verdict.Verdict) (list []string) {
	for _, a := range w.Settings {
		if a.Verdict == v {
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
		if a.Verdict != of {
			continue
		}
		for _, o := range outcomes {
			for _, f := range a.Figures {
				switch {
				case f.Outcome != o:
				case fromZero(f):
					list = append(list, w.figureName(f.Name)+" is "+w.changes(f))
				case f.Ratio.Median == nil && (o == verdict.OutcomeWorse || o == verdict.OutcomeBetter): // nobody knows by how much
					list = append(list, w.figureName(f.Name)+" is "+outcomeWords[o])
				default:
					list = append(list, changedFrom(w.figureName(f.Name), f.Ratio, w.marginOf(f.Name)))
				}
			}
		}
	}
	return strings.Join(list, "; ")
}

func (w experiment) marginOf(figure string) float64 {
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

func (w experiment) underThis() string {
	return "Under this traffic GOMAXPROCS " + phrase.And(w.proven(w.r.Recommendation.Verdict))
}

func (w experiment) betterIn() (list []string) {
	for _, a := range w.Settings {
		for _, f := range a.In(verdict.OutcomeBetter) {
			if name := w.figureName(f); a.Verdict == verdict.Undecided && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

// byLimit is that the CPU limit recommends an undecided value, if the one at start is above it
// and nothing is worse; empty: it does not.
func (w experiment) byLimit() string {
	if w.live == nil || w.live.LimitCPUs <= 0 {
		return ""
	}
	n := int(math.Ceil(w.live.LimitCPUs))
	for _, a := range w.Settings {
		if a.Procs != nil && *a.Procs == n && n < w.live.Start && a.Verdict == verdict.Undecided && a.In(verdict.OutcomeWorse) == nil {
			return fmt.Sprintf(" By its CPU limit of %s, %d is the recommended value, and no metric is proven worse with it.", number.CPUs(w.live.LimitCPUs), n)
		}
	}
	return ""
}

// others is what other programs used meanwhile; empty: little, or it is not known.
func (w experiment) others() string {
	most, of := 0.0, w.r.Host.EffectiveCPUs
	for _, a := range w.Settings {
		if f := a.Of(live.FigureOthers); w.live != nil && f != nil && f.Value.Median != nil {
			most = max(most, *f.Value.Median)
		}
	}
	if of <= 0 || most < contest.OthersMatter*of {
		return ""
	}
	return fmt.Sprintf("other programs used %.2g of %s", most, number.CPUs(of))
}

// stillOpen is that no value is better: of one that is so in a metric, where it is undecided.
func (w experiment) stillOpen(more string) string {
	var list []string
	for _, a := range w.Settings {
		if better, open := a.In(verdict.OutcomeBetter), a.In(verdict.OutcomeUndecided); a.Verdict == verdict.Undecided && better != nil && open != nil {
			list = append(list, fmt.Sprintf("GOMAXPROCS %s is better than %s in %s, and undecided in %s", a.Label, w.start(), w.measured(a, better), w.measured(a, open)))
		}
	}
	if list == nil {
		list = []string{"no value is proven better than " + w.start()}
	}
	return "Under this traffic " + phrase.Semicolons(list) + ": " + more + "."
}

// reason is in which metrics a setting is better, worse, or neither. The table has by how much.
func (w experiment) reason(a verdict.CanarySetting) string {
	if a.Void != nil {
		return "GOMAXPROCS " + a.Label + ": not judged, because " + w.words().say(a.Void).text
	}
	var parts []string
	for _, o := range outcomes {
		if list := a.In(o); list != nil {
			parts = append(parts, outcomeWords[o]+" in "+w.figureNames(list))
		}
	}
	switch {
	case a.Same && (len(parts) != 1 || a.In(verdict.OutcomeWithin) == nil):
		parts = []string{"the value of the default here, so any difference is chance"}
	case a.Verdict == verdict.NoDifference:
		parts = []string{"the same within the margins in " + phrase.And(w.judged())}
	}
	if parts == nil {
		parts = []string{"no metric was compared"}
	}
	if higher := worseUnjudged(a); higher != nil {
		parts = append(parts, "higher, but not judged: "+w.differences(a, higher))
	}
	return "GOMAXPROCS " + a.Label + ": " + phrase.Semicolons(parts)
}

// worseUnjudged are the metrics that do not decide, and in which a setting is worse all the
// same: a table that shows it must not be under a sentence that is silent on it.
func worseUnjudged(a verdict.CanarySetting) (list []string) {
	for _, m := range a.Figures {
		if low := m.Ratio.Low; m.Outcome == verdict.OutcomeNotJudged && m.Name != paired.FigureRequests && m.Name != live.FigureOthers && low != nil && *low > 1 {
			list = append(list, m.Name)
		}
	}
	return list
}

// measured are metrics with what was measured of them: "latency p99 (−12.0%)".
func (w experiment) measured(a verdict.CanarySetting, figures []string) string {
	return phrase.And(phrase.Each(figures, func(f string) string {
		switch m := a.Of(f); {
		case m == nil || m.Ratio.Median == nil:
			return w.figureName(f)
		case fromZero(*m):
			return w.figureName(f) + " (" + w.changes(*m) + ")"
		default:
			return w.figureName(f) + " (" + change(*m.Ratio.Median) + ")"
		}
	}))
}

func (w experiment) figureNames(figures []string) string {
	return phrase.And(phrase.Each(figures, w.figureName))
}

func (w experiment) judged() (list []string) {
	for _, a := range w.Settings {
		for _, m := range a.Figures {
			if name := w.figureName(m.Name); a.Procs != nil && m.Outcome != verdict.OutcomeNotJudged && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

func (w experiment) figureName(figure string) string { return w.figure(figure).name }

// figure has the words and the unit of a metric. What a query's value is in, its author knows.
func (w experiment) figure(name string) figureWords {
	of := phrase.If(w.live != nil, "per second", "per pod")
	each, cpu, wait := of, number.Plain("CPUs"), number.Plain("s/s")
	if w.PerRequest {
		each, cpu, wait = "per request", number.Time(), number.Time()
	}
	own := map[string]figureWords{
		paired.FigureCPU:      {name: "CPU time " + each, unit: cpu},
		canary.FigureWait:     {name: "run-queue wait " + each, unit: wait},
		paired.FigureRequests: {name: "requests " + of, unit: number.PerSecond("req/s")},
		paired.FigureP50:      {name: "latency p50", unit: number.Time()},
		paired.FigureP99:      {name: "latency p99", unit: number.Time()},
		paired.FigureFailed:   {name: "failed requests", unit: number.Ratio()},
	}
	if f, known := own[name]; known {
		return f
	}
	if f, seen := seenFigures[name]; seen && (w.live != nil || name == canary.FigureSched || name == canary.FigureThrottled) {
		return f
	}
	return figureWords{name: name, unit: number.Plain("")}
}

// differences are what is proven of some metrics: "CPU time a request −12.0% [−15.0%, −9.0%]".
func (w experiment) differences(a verdict.CanarySetting, figures []string) string {
	return phrase.And(phrase.Each(figures, func(f string) string {
		if m := a.Of(f); m != nil {
			return w.figureName(f) + " " + w.changes(*m)
		}
		return w.figureName(f) + " (unknown)"
	}))
}

// fromZero reports whether the control has none of what a value has: no percentage tells that.
func fromZero(f verdict.CanaryFigure) bool {
	return f.Control.Median != nil && *f.Control.Median == 0 && f.Value.Median != nil && *f.Value.Median > 0
}

func (w experiment) changes(f verdict.CanaryFigure) string {
	if fromZero(f) {
		return maybe(f.Value.Median, w.figure(f.Name).unit.Value) + " instead of 0"
	}
	c := difference(f.Ratio)
	return phrase.Join(" ", c.Value, c.Detail)
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

type figureWords struct {
	name string
	unit number.Unit
	what string // that there are so many of, if it is seen of a program from outside
}

// seenFigures are those that are.
var seenFigures = map[string]figureWords{
	live.FigureMean:       {"latency mean", number.Time(), ""},
	live.FigureLatencyP99: {"latency p99", number.Time(), ""},
	live.FigureUnread:     {"connections with unread requests", number.Plain(""), "connections with unread requests"},
	live.FigureSched:      {"scheduling latency p99", number.Time(), ""},
	live.FigureRunnable:   {"goroutines waiting for a CPU", number.Plain(""), "goroutines waiting for a CPU"},
	live.FigureThrottled:  {"throttled periods", number.Ratio(), "of the CPU limit's periods throttled"},
	live.FigureSwitches:   {"context switches per second", number.Plain(""), ""},
	live.FigureOthers:     {"CPUs used by other programs", number.Plain(""), ""},
}

func (f figureWords) count(x float64) string {
	if f.unit == number.Ratio() {
		return number.Share(x)
	}
	return number.Count(math.Round(x))
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
	return document.Some(document.List{Items: document.Items(w.concluded().Reasons)})
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
	if _, others := w.tables(); len(others.Rows) > 0 {
		list = append(list, document.Folds{List: []document.Fold{{Summary: "Metrics that do not decide", Blocks: []document.Block{others}}}})
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
			prove := "allow procfit to watch the pods (patch pods/ephemeralcontainers), so that it can read their GOMAXPROCS"
			switch {
			case w.r.Recommendation.Verdict == verdict.KeepDefault && w.came(paired.Left) != nil:
				prove = "if the traffic or the machine has bursts, try again with a longer --baseline"
				v.Answer.Plain += " It is not proven that a value that was left does harm: bursts that the baseline did not have look the same."
			case w.live != nil:
				prove = "name a metric of the program that has the status of its answers: --metrics"
				v.Answer.Plain += " Which requests failed is not known: answers that fail cost less, and come sooner."
			}
			v.Next = document.Items([]string{prove})
		}
	}
	return v
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

// charts are of the user's own metric where there is one, else of CPU time.
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
		Title: "GOMAXPROCS " + name + ": " + w.figureName(m.Name), Unit: u.Name(), Axis: "slice", Note: "by slices of " + number.Short(number.Seconds(w.SliceSeconds)),
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

// tables are the metrics that decide, and the others; if none decides, all of them.
func (w experiment) tables() (decide, others document.Table) {
	decide.Columns = []document.Column{
		{Head: "GOMAXPROCS", Short: "procs"}, {Head: "Metric", Short: "metric", Left: true}, {Head: "Outcome", Short: "outcome", Left: true},
		{Head: "Compared with " + w.control(), Short: "change", Detailed: true}, {Head: "Median", Short: "median"}, {Head: phrase.Capital(strings.TrimPrefix(w.control(), "the ")), Short: "control"}, {Head: "Slices"},
	}
	others.Columns = decide.Columns
	recommended := w.proven(verdict.Recommended) // a value that is better in one metric alone is not marked
	for _, a := range w.Settings {
		if a.Procs == nil {
			continue
		}
		for _, m := range a.Figures {
			u, change := w.figure(m.Name).unit, difference(m.Ratio)
			if fromZero(m) {
				change = document.Cell{Value: "from 0"}
			}
			row := document.Row{Cells: []document.Cell{
				{Value: a.Label}, {Value: w.figureName(m.Name)}, {Value: outcomeWords[m.Outcome]},
				change, {Value: maybe(m.Value.Median, u.Value)}, {Value: maybe(m.Control.Median, u.Value)}, {Value: strconv.Itoa(m.Ratio.N)},
			}}
			if m.Outcome == verdict.OutcomeWorse || m.Outcome == verdict.OutcomeBetter && slices.Contains(recommended, row.Cells[0].Value) {
				row.Mark = outcomeWords[m.Outcome]
			}
			if m.Outcome == verdict.OutcomeNotJudged {
				others.Rows = append(others.Rows, row)
			} else {
				decide.Rows = append(decide.Rows, row)
			}
		}
	}
	if len(decide.Rows) == 0 {
		return others, document.Table{}
	}
	return decide, others
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
	return phrase.Clean(w.figureName(figure) + " of " + phrase.And(list))
}

func (w experiment) setValue(v *Verdict) {
	rec := w.r.Recommendation
	v.Answer.Text = "Set GOMAXPROCS=" + strings.Join(w.proven(verdict.Recommended), " or ")
	proven := phrase.If(rec.Confidence == verdict.Likely, "", "proven ")
	v.Answer.Plain = fmt.Sprintf("%s is better than %s, and %sno worse in the judged metrics: %s.", w.underThis(), w.start(), proven, phrase.And(w.judged()))
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

func (w experiment) keepValue(v *Verdict) {
	v.Answer.Text = "Keep " + w.start()
	v.Answer.Plain = "Nothing we tried is better than " + w.start() + " under this traffic."
}

func (w experiment) noDifference(v *Verdict) {
	v.Answer.Text, v.Answer.Plain = makesNoDifference, "All values perform the same under this traffic, within the margins."
}

func (w experiment) tradeOff(v *Verdict) {
	v.Answer.Text, v.Answer.Plain = v.Label, w.underThis()+" is better than "+w.start()+" in one metric and worse in another."
	for _, a := range w.Settings {
		if better, worse := a.In(verdict.OutcomeBetter), a.In(verdict.OutcomeWorse); a.Verdict == verdict.TradeOff && better != nil && worse != nil {
			v.Answer.Text = v.Label + ": choose " + w.figureName(better[0]) + " or " + w.figureName(worse[0])
			break
		}
	}
	if text := w.against(verdict.TradeOff); text != "" {
		v.Answer.Plain = fmt.Sprintf("GOMAXPROCS=%s compared with %s: %s.", w.proven(verdict.TradeOff)[0], w.start(), text)
	}
}

func (w experiment) undecided(v *Verdict) {
	more, instead := "more slices may decide it", "measure for twice as long"
	if others := w.others(); others != "" {
		more, instead = "more slices, or a quieter machine, may decide it, since "+others, "stop the other programs, or "+instead
	}
	void, open := w.void()
	v.Answer.Text, v.Answer.Plain = changeNothing, w.stillOpen(more)+w.byLimit()
	if void != nil && !open {
		v.Answer.Plain = "Under this traffic no value is proven better than " + w.start() + "."
	}
	for _, a := range w.Settings {
		if better := a.In(verdict.OutcomeBetter); a.Verdict == verdict.Undecided && better != nil {
			v.Answer.Text = fmt.Sprintf("%s so far: GOMAXPROCS %s is better in %s", labelUndecided, a.Label, w.figureNames(better))
			break
		}
	}
	if list := w.came(paired.Cheaper); list != nil {
		more = w.cheaper(v, list, more)
	}
	if more != "" && (open || void == nil) {
		v.Next = []document.Item{{Text: instead, Command: w.r.Spec.With(spec.Part("for", "", doubled(w.r.Load.DurationSeconds)), newFolder).Shell()}}
	}
	for _, why := range void {
		v.Answer.Plain += " " + phrase.Capital(why.text) + "."
		v.Next = append(v.Next, document.Item{Text: why.fix})
	}
}

// void are why values prove nothing, and open reports whether more slices may decide another one.
func (w experiment) void() (list []wording, open bool) {
	for _, a := range w.Settings {
		open = open || a.Verdict == verdict.Undecided && a.Void == nil
		if a.Void == nil || a.Verdict == "" {
			continue
		}
		if why := w.words().say(a.Void); !slices.Contains(list, why) {
			list = append(list, why)
		}
	}
	return list, open
}

func (w experiment) words() words { return words{&verdict.Group{}, w.r} }

// chooseOne is of several values that are better; empty: there is one.
func (w experiment) chooseOne() string {
	if w.r.Recommendation.Procs != nil {
		return ""
	}
	if w.r.Recommendation.Confidence == verdict.Likely {
		return cmp.Or(w.keepsStart(), untilMore)
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

func (w experiment) unreached(v *Verdict) {
	over := ""
	if e := w.End; e != nil && e.Code == journal.EndUnreached {
		over = ", so the canary ended"
	}
	next := []string{
		"let clients open new connections: restart them, or limit how long a connection lives (gRPC: MaxConnectionAge)",
		"use a proxy or a service mesh that distributes requests instead of connections",
		"use a headless Service whose clients distribute their requests over all its addresses",
		"if clients reconnect from time to time, use a longer --slice and --for: a canary ends when half of a round had too few requests",
	}
	lasted, service := phrase.Count(w.Canary.Slices, "slice"), serviceWords(w.Services)
	if w.Canary.PerRequest {
		v.Label, v.Answer.Text = "Too few requests", "Too few requests"
		v.Answer.Plain = fmt.Sprintf("Fewer than 1 req/s per canary pod arrived in %s%s: nothing was compared, because procfit cannot distinguish them from probes. Either clients keep their connections open and seldom reach new pods, or %s gets few requests.",
			lasted, over, service)
		next = slices.Insert(next, 0, "run the canary when "+service+" gets more requests: at least 1 req/s per pod")
		next = append(next, "measure copies under a load of procfit's own: procfit kube sweep")
	} else {
		v.Label, v.Answer.Text = "No requests", "No requests"
		v.Answer.Plain = fmt.Sprintf("No request reached the canary pods in %s%s: nothing was compared. Either clients keep their connections open and do not reach new pods, or %s gets no requests at all.",
			lasted, over, service)
	}
	v.Next = document.Items(next)
}

func serviceWords(list []journal.Service) string {
	if len(list) == 1 {
		return "Service " + list[0].Name
	}
	return phrase.Count(len(list), "Service")
}

func (w experiment) harm(h *journal.Harm) string {
	who, why := "GOMAXPROCS "+h.Setting, ""
	if h.Setting == canary.Control {
		who, why = "The control", " The control runs like the service, so a setting is not the cause."
	}
	switch h.Code {
	case journal.HarmEnded:
		return fmt.Sprintf("%s did not keep running, so the canary ended: %s.%s", who, h.Detail, why)
	case journal.HarmUnready:
		s := fmt.Sprintf("%s was not ready for %s, so the canary ended", who, number.Short(number.Seconds(canary.UnreadyMost.Seconds())))
		return phrase.Join(": ", s, h.Detail) + "." + why
	}
	return fmt.Sprintf("%s did harm, so the canary ended: %s. By chance alone, fewer than 1 canary in 100 ends like this.", who, w.above(h))
}

func (w experiment) above(h *journal.Harm) string {
	by := "above that of " + w.control() + ", which was 0,"
	if h.Ratio != nil {
		by = shortNumber(*h.Ratio, number.Digits) + " times that of " + w.control()
	}
	return fmt.Sprintf("%s was %s over %s. The margin is %s", w.figureName(h.Query), by, phrase.Count(h.Slices, "slice"), number.Percent(w.r.Plan.MarginP99))
}

var outcomeWords = map[verdict.Outcome]string{
	verdict.OutcomeWorse: "worse", verdict.OutcomeNotJudged: "not judged", verdict.OutcomeWithin: "no worse", verdict.OutcomeUndecided: "undecided", verdict.OutcomeBetter: "better",
}
