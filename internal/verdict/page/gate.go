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
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// gateLeads reports whether the gate is the answer of the page.
func gateLeads(r *verdict.Result) bool {
	return r.Gate != nil && (gateAlone(r) || r.Gate.Kind == verdict.GateKindAgainst)
}

// gateAlone reports whether one setting was measured of each program, and nothing else asked.
func gateAlone(r *verdict.Result) bool {
	return r.Gate != nil && len(r.Compared) == 0 && !slices.ContainsFunc(r.Groups, func(g verdict.Group) bool {
		return len(currentRows(rowsFrom(g.Settings))) > 1
	})
}

// gateSays has the words of each kind of gate. Of runs of two days only what each value gains over the
// default is compared: what all values lost together is in no such ratio.
var gateSays = map[string]struct{ subject, worse, isWorse, fine, isFine, isOpen string }{
	verdict.GateKindAgainst: {"New version", "Slower", "New version is slower", "Not slower", "New version is not slower", "New version is not proven slower"},
	verdict.GateKindBaseline: {
		"New run", "Gains less", "New run gains less over the default", "Gains no less", "New run gains no less over the default",
		"New run is not proven to gain less over the default",
	},
}

// gateOf words a gate: in a line, and as a sentence the other checks, or why nothing is decided. It is
// passed only where every check was judged. note is what its changes are; empty: of a baseline, or there
// are none.
func gateOf(g *verdict.Gate) (v Verdict, note string) {
	var worse, better, open, others []*verdict.GateCheck
	judged := len(g.Checks) > 0
	for i := range g.Checks {
		c := &g.Checks[i]
		judged = judged && c.Judged
		switch {
		case c.Worse:
			worse = append(worse, c)
		case !c.Proven:
			open = append(open, c)
		case c.Outcome == verdict.OutcomeBetter && c.Behind == "":
			better = append(better, c)
		}
	}
	say := gateSays[g.Kind]
	var named *verdict.GateCheck // in the answer
	v.Context = provenSure
	switch {
	case len(worse) > 0:
		v.State, v.Label, named = document.Attention, say.worse, worse[0]
		v.Answer.Text = say.isWorse + gateWith(g, named) + ": " + allowedText(named)
	case g.Pass && judged && len(open) > 0:
		v.State, v.Label, v.Answer.Text, v.Context = document.OK, say.fine, say.isOpen, "Not proven either way"
	case g.Pass && judged && len(better) > 0:
		v.State, v.Label, named = document.OK, "Faster", better[0]
		v.Answer.Text = say.subject + " is faster" + gateWith(g, named) + ": " + measuredText(named)
	case g.Pass && judged:
		v.State, v.Label, v.Answer.Text = document.OK, say.fine, say.isFine
	default:
		v.State, v.Label, v.Answer.Text, v.Context = document.Unknown, labelUndecided, "Undecided: "+mayBe(g, lowerFirst(say.subject)), nothingProven
	}
	for i := range g.Checks {
		if c := &g.Checks[i]; c != named {
			others = append(others, c)
		}
	}
	sentence := ""
	if v.State == document.Unknown {
		sentence = phrase.Capital(cmp.Or(Unjudged(g), "too few valid trials of both programs")) + "."
	} else if len(others) > 0 {
		sentence = eachAllowed(g, others) + "."
		if named != nil {
			sentence = "Also " + sentence
		} else if others[0].Metric == verdict.MetricThroughput { // a p99 stays as it is
			sentence = phrase.Capital(sentence)
		}
	}
	if g.Kind == verdict.GateKindBaseline {
		sentence = strings.TrimSpace(sentence + " Compared with the earlier run by what each value gains over the default: what all values lost together is not seen.")
	} else if slices.ContainsFunc(g.Checks, func(c verdict.GateCheck) bool { return c.Ratio.Median != nil && c.Behind == "" }) {
		note = "Changes are between neighbouring trials, levels over the whole run."
	}
	v.Answer.Plain = sentence
	return v, note
}

// mayBe is what an undecided gate leaves open: one metric, where all checks of the other are proven.
func mayBe(g *verdict.Gate, subject string) string {
	open, proven := map[bool]string{}, map[bool]string{} // of latency and of throughput, a name
	for i := range g.Checks {
		c, of := &g.Checks[i], open
		if c.Judged && c.Proven && c.Behind == "" {
			of = proven
		}
		of[c.Metric == verdict.MetricP99] = gateMetric(c.Metric, c.Quantile)
	}
	spoiled := slices.ContainsFunc(g.Unjudged, func(u verdict.Unjudged) bool { return len(u.Checks) == 0 })
	switch tail, rate := open[true], open[false]; {
	case g.Kind == verdict.GateKindBaseline:
		return "the " + subject + " may gain less over the default"
	case spoiled:
	case tail != "" && rate == "" && proven[false] != "":
		return fmt.Sprintf("the %s of the %s may be higher; its %s is not lower", tail, subject, proven[false])
	case rate != "" && tail == "" && proven[true] != "":
		return fmt.Sprintf("the %s of the %s may be lower; its %s is not higher", rate, subject, proven[true])
	}
	return "the " + subject + " may be slower"
}

// GateAnswer is a gate in a line.
func GateAnswer(g *verdict.Gate) string {
	v, _ := gateOf(g)
	return lowerFirst(v.Answer.Text)
}

// eachAllowed are checks with what was allowed, as many as two lines have room for.
func eachAllowed(g *verdict.Gate, list []*verdict.GateCheck) string {
	const most = 3
	parts := phrase.Each(list[:min(most, len(list))], func(c *verdict.GateCheck) string { return allowedText(c) + gateWith(g, c) })
	if n := len(list) - most; n > 0 {
		parts = append(parts, phrase.Count(n, "more check"))
	}
	return phrase.Semicolons(parts)
}

// allowedText is a check with its margin: "throughput −51% [−73%, −11%], allowed −5%".
func allowedText(c *verdict.GateCheck) string {
	margin := 1 - c.Margin
	if c.Metric == verdict.MetricP99 {
		margin = 1 + c.Margin
	}
	if c.Behind != "" || c.Ratio.Median == nil {
		return measuredText(c)
	}
	return measuredText(c) + ", allowed " + signedChange(margin)
}

func measuredText(c *verdict.GateCheck) string {
	name, b := gateMetric(c.Metric, c.Quantile), decidedBounds(c)
	switch {
	case b.Median == nil:
		return name + " not judged"
	case c.Behind != "":
		return name + " not compared: " + fellBehind(c)
	}
	middle, bounds := asChange(b, signedChange)
	return strings.TrimSpace(name + " " + middle + " " + bounds)
}

func atRate(c *verdict.GateCheck) string {
	if c.RatePerSecond == nil {
		return ""
	}
	return " at " + number.Count(*c.RatePerSecond) + " req/s"
}

// fellBehind is which of the two programs did not carry the rate.
func fellBehind(c *verdict.GateCheck) string {
	return "the " + c.Behind + " version could not keep up with " + cmp.Or(strings.TrimPrefix(atRate(c), " at "), "the rate")
}

// gateWith is at which setting a check is, where not all are at the same.
func gateWith(g *verdict.Gate, c *verdict.GateCheck) string {
	return phrase.If(severalSettings(g), " with "+phrase.Clip(gateSetting(c.Setting), 2*nameRoom), "")
}

func severalSettings(g *verdict.Gate) bool {
	return slices.ContainsFunc(g.Checks, func(c verdict.GateCheck) bool { return c.Setting.Key() != g.Checks[0].Setting.Key() })
}

// signedChange is a ratio as a change, in two digits: "−51%", "2.3×".
func signedChange(ratio float64) string { return signed(ratio, number.Percent) }

// versions names the rows of a gate of one setting by what they differ in.
func (g *group) versions() {
	for i, a := range g.rows {
		version := *a
		version.Variable = phrase.If(a.Variant == journal.VariantAgainst, "old", "new")
		g.rows[i] = &version
	}
}

func gateTable(g *verdict.Gate, p journal.Plan) document.Table {
	if len(g.Checks) == 0 {
		return document.Table{}
	}
	t := document.Table{Columns: []document.Column{
		{Head: "Setting", Short: "setting", Left: true},
		{Head: "Metric", Short: "metric", Left: true},
		{Head: "New compared with old", Short: "new / old", Detailed: true},
		{Head: "Margin", Short: "margin"},
		{Head: "Outcome", Short: "outcome", Left: true},
		{Head: "Note", Left: true},
	}}
	line := gateLine(g)
	t.StripHead, t.StripAfter = "Within the margin?", 2
	if !severalSettings(g) {
		t.Columns, t.StripAfter = t.Columns[1:], 1
	}
	for i := range g.Checks {
		c := &g.Checks[i]
		note := gateNote(c, p)
		outcome, mark := outcomeWords[c.Outcome], ""
		switch {
		case c.Worse:
			mark = outcome
		case !c.Judged:
			outcome = outcomeWords[verdict.OutcomeNotJudged]
		}
		change := document.Cell{Value: absent} // where it is the length of a queue
		if c.Behind == "" {
			change = difference(decidedBounds(c))
		}
		cells := []document.Cell{
			{Value: phrase.Clip(gateSetting(c.Setting), 2*nameRoom)}, {Value: gateMetric(c.Metric, c.Quantile) + atRate(c)}, change,
			{Value: number.Ratio().Number(c.Margin)}, {Value: outcome}, {Value: note},
		}
		t.Rows = append(t.Rows, document.Row{Mark: mark, Strip: line.strip(c, note), Cells: cells[len(cells)-len(t.Columns):]})
	}
	return t
}

func decidedBounds(c *verdict.GateCheck) stat.Interval {
	return stat.Interval{Median: c.Ratio.Median, Low: c.Bounds.Low, High: c.Bounds.High, N: c.Ratio.N}
}

func gateHeadline(r *verdict.Result) Verdict {
	v, _ := gateOf(r.Gate)
	if v.State == document.Unknown {
		v.Next = morePairs(r)
	}
	v.Answer.Plain = strings.TrimSpace(v.Answer.Plain + " " + otherDefaults(r))
	if n := len(r.Groups); n == 1 {
		v.Context = words{&r.Groups[0], r}.context(v.Context)
	} else {
		v.Context += " · " + phrase.Count(n, "group")
	}
	return v
}

// otherDefaults is that the two programs, each by its own default, ran with different values; empty: as far
// as is known they did not.
func otherDefaults(r *verdict.Result) string {
	ran := func(g *verdict.Group, variant string) *int {
		a := firstOf(rowsFrom(g.Settings), func(a *verdict.Row) bool { return a.Procs == nil && a.Variant == variant })
		if a == nil {
			return nil
		}
		return a.ResolvedProcs
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		if now, then := ran(g, ""), ran(g, journal.VariantAgainst); now != nil && then != nil && *now != *then {
			return fmt.Sprintf("The new version ran with GOMAXPROCS %d, the old one with %d, each by its default.", *now, *then)
		}
	}
	return ""
}

// morePairs is how an undecided gate is decided, where nothing but pairs is lacking.
func morePairs(r *verdict.Result) []document.Item {
	lacking := func(u verdict.Unjudged) bool {
		return u.Code == verdict.UnjudgedUndecided || u.Code == verdict.UnjudgedTooFew
	}
	if !swept(r) || !r.Complete || r.TrialsInvalid > 0 || slices.ContainsFunc(r.Gate.Unjudged, func(u verdict.Unjudged) bool { return !lacking(u) }) {
		return nil
	}
	command := repeatCommand(r, 2*max(1, r.Plan.Blocks))
	if r.Plan.Racing() {
		command = furthered(r, r.TrialsRun+r.PilotsRun)
	}
	return []document.Item{{Text: "measure twice as many pairs", Command: command}}
}

// gateSetting is a setting of a gate with what distinguishes its group.
func gateSetting(a journal.Setting) string {
	text, of := "the default GOMAXPROCS", a.Group()
	switch {
	case a.Compares != "":
		text = a.Label
	case a.Procs != nil:
		text = "GOMAXPROCS=" + strconv.Itoa(*a.Procs)
	}
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

func gateNote(c *verdict.GateCheck, p journal.Plan) string {
	switch {
	case c.NoQuantile() && c.Ratio.Median == nil:
		return "cannot be judged: " + noQuantile
	case c.Itself != nil:
		return "cannot be judged: " + unlikeItself + ", by " + signedChange(*c.Itself)
	case c.Outcome == verdict.OutcomeNotJudged && c.LagUnknown() && c.Ratio.N >= stat.FewestPairs:
		return "cannot be judged: " + lagUnknown
	case c.Outcome == verdict.OutcomeNotJudged && c.LoadLimited() && c.Ratio.N >= stat.FewestPairs:
		return "cannot be judged: " + loadLimited
	case c.Outcome == verdict.OutcomeNotJudged && c.Ratio.N >= stat.FewestPairs:
		return "cannot be judged: in some trials no rate met --slo"
	case c.Outcome == verdict.OutcomeNotJudged || c.Ratio.Median == nil:
		return "cannot be judged: " + tooFew(c.Ratio.N)
	}
	word, least, most := slower, c.Bounds.High, c.Bounds.Low
	if c.Metric == verdict.MetricP99 {
		word, least, most = higher, c.Bounds.Low, c.Bounds.High
	}
	if c.Behind != "" {
		return fellBehind(c) + ", so that its latency is mostly that of a queue"
	}
	change, margin := word(*c.Ratio.Median-1), number.Percent(c.Margin)
	switch {
	case c.Outcome == verdict.OutcomeBetter && most != nil:
		return fmt.Sprintf("%s, at least %s, proven better than the margin of %s (n %d)", change, amount(*most-1), margin, c.Ratio.N)
	case c.Outcome == verdict.OutcomeWorse:
		return lossNote(c.Metric, *c.Ratio.Median, least, c.Margin, c.Ratio.N)
	case c.Outcome == verdict.OutcomeWithin && most != nil:
		if bound := word(*most - 1); bound != change && bound != theSame && (*most > 1) == (c.Metric == verdict.MetricP99) {
			change += ", at most " + bound
		}
		return fmt.Sprintf("%s, proven within the margin of %s (n %d)", change, margin, c.Ratio.N)
	}
	return fmt.Sprintf("undecided: %s, which may be within the margin of %s or beyond it (n %d); %s would decide", change, margin, c.Ratio.N, moreFlag(p))
}

// noQuantile is why a latency is not compared, and what helps.
const noQuantile = "no percentile of the latency is judged in both; use a longer --trial-time"

const unlikeItself = "the new program differs from itself by more than the margin, between its two trials in a block"

const lagUnknown = "the load generator does not report how late it sent, so the latency may be its own; measure with the load generator of procfit, or without {rate} in --load"

const loadLimited = "the load generator was at its limit, so the program may be faster than was measured"

// gateMetric is what a check is of: of latency the quantile that is judged.
func gateMetric(metric string, quantile float64) string {
	switch {
	case metric == verdict.MetricP99 && quantile > 0:
		return contest.QuantileName(quantile)
	case metric == verdict.MetricP99 || metric == verdict.MetricThroughput:
		return metric
	}
	return "speed of " + phrase.Clip(metric, 2*nameRoom) // of a Go benchmark
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

// Unjudged says why a gate is neither passed nor failed; empty when it is.
func Unjudged(g *verdict.Gate) string {
	return strings.Join(phrase.Each(g.Unjudged, unjudgedReason), "; ")
}

func unjudgedReason(u verdict.Unjudged) string {
	switch u.Code {
	case verdict.UnjudgedSpoiled:
		return fmt.Sprintf("with %s, %d of %s of the new program were invalid, and %d of %d of the old: %s",
			gateSetting(u.Setting), u.Bad, phrase.Count(u.Of, "trial"), u.OldBad, u.OldOf, u.Reason)
	case verdict.UnjudgedTooFewCPUs:
		return "other programs left " + gateSetting(u.Setting) + " too few CPUs to be compared"
	case verdict.UnjudgedRedirects:
		return fmt.Sprintf("with %s, most responses of the %s program were redirects (3xx), and those of the other one were not", gateSetting(u.Setting), u.Reason)
	case verdict.UnjudgedNoSetting:
		return "no trial of both programs was measured"
	}
	checks := phrase.And(phrase.Each(u.Checks, func(c verdict.GateCheck) string {
		return gateMetric(c.Metric, c.Quantile) + " with " + gateSetting(c.Setting)
	}))
	switch u.Code {
	case verdict.UnjudgedUndecided:
		return checks + ": " + phrase.CountOf(u.Pairs, "pair does", "pairs do") + " not prove it worse, or within its margin"
	case verdict.UnjudgedNoQuantile:
		return checks + ": " + noQuantile
	case verdict.UnjudgedLag:
		return checks + ": " + lagUnknown
	case verdict.UnjudgedLimited:
		return checks + ": " + loadLimited
	case verdict.UnjudgedMissed:
		why := checks + ": in some trials no rate met --slo, so "
		if u.Pairs >= stat.FewestPairs {
			return why + fmt.Sprintf("%d pairs do not prove it worse, or within its margin", u.Pairs)
		}
		return why + tooFew(u.Pairs)
	case verdict.UnjudgedItself:
		return checks + ": " + unlikeItself
	case verdict.UnjudgedLate:
		return checks + ": the load generator sent requests late, so " + tooFew(u.Pairs)
	}
	return checks + ": " + tooFew(u.Pairs)
}

// ratioLine is a line of ratios that has no change in its middle, in logarithms.
type ratioLine struct{ edge float64 }

func (l ratioLine) position(ratio float64) float64 {
	if !(ratio > 0) || l.edge <= 0 {
		return 0
	}
	return min(1, max(0, 0.5+math.Log(ratio)/l.edge/2))
}

// gateLine is one for all checks of a gate, so that they can be compared.
func gateLine(g *verdict.Gate) ratioLine {
	edge := 0.0
	see := func(ratio *float64) {
		if ratio != nil && *ratio > 0 {
			edge = max(edge, math.Abs(math.Log(*ratio)))
		}
	}
	for i := range g.Checks {
		c := &g.Checks[i]
		see(new(1 + c.Margin))
		see(new(1 - c.Margin))
		if c.Behind == "" {
			see(c.Ratio.Median)
			see(c.Bounds.Low)
			see(c.Bounds.High)
		}
	}
	const widestStrip = 3 // the ratio of its half: beyond it margins of 5% cannot be seen
	return ratioLine{min(1.15*edge, math.Log(widestStrip))}
}

func (l ratioLine) strip(c *verdict.GateCheck, note string) *document.Strip {
	s := &document.Strip{Summary: note, Ticks: []document.Tick{{At: 0.5, Label: "no change"}}, Zone: document.Span{From: l.position(1 - c.Margin), To: 1}}
	if c.Metric == verdict.MetricP99 {
		s.Zone = document.Span{From: 0, To: l.position(1 + c.Margin)}
	}
	if c.Ratio.Median != nil && c.Behind == "" {
		s.Present, s.At = true, l.position(*c.Ratio.Median)
		s.Interval = document.Span{From: s.At, To: s.At}
		if c.Bounds.Low != nil && c.Bounds.High != nil {
			s.Interval = document.Span{From: l.position(*c.Bounds.Low), To: l.position(*c.Bounds.High)}
		}
	}
	return s
}
