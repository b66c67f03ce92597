package page

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/stat"
)

func partsOf(r *verdict.Result) (list []part) {
	if r.Canary != nil || r.Live != nil {
		return []part{experimentOf(r)}
	}
	for i := range r.Groups {
		list = append(list, groupOf(r, &r.Groups[i], "g"+strconv.Itoa(i+1)))
	}
	if len(r.Best) > 0 {
		for i := range r.Compared {
			list = append(list, groupOf(r, &r.Compared[i], "v"+strconv.Itoa(i+1)))
		}
	}
	return list
}

// VerdictOf is what a Result came to, in words.
func VerdictOf(r *verdict.Result) Verdict { return pageHeadline(r, partsOf(r)) }

// ReasonsOf is why a Result came to its verdict. A verdict of several settings has no reasons of its
// own: then they are those of the first group.
func ReasonsOf(r *verdict.Result) []string {
	parts := partsOf(r)
	reasons := pageHeadline(r, parts).Reasons
	if len(reasons) == 0 && len(parts) > 0 {
		return parts[0].concluded().Reasons
	}
	return reasons
}

// pageHeadline is the verdict of all parts. What its time ended has a command that continues it.
func pageHeadline(r *verdict.Result, parts []part) Verdict {
	v := wholeVerdict(r, parts)
	commanded := slices.ContainsFunc(v.Next, func(i document.Item) bool { return i.Command != "" })
	if len(v.Next) > 0 && !commanded && swept(r) && stoppedBy(r, string(contest.StopTime)) {
		v.Next = append([]document.Item{{Text: "continue it", Command: continued(r)}}, v.Next...)
	}
	return v
}

func wholeVerdict(r *verdict.Result, parts []part) Verdict {
	switch c := r.Cheapest; {
	case gateLeads(r):
		return gateHeadline(r)
	case c != nil && len(c.Settings) > 0: // without a valid trial the groups say why
		return cheapestVerdict(r)
	case len(parts) == 0:
		return Verdict{State: document.Unknown, Label: "No result", Answer: Answer{Text: "Nothing measured yet", Plain: "No trial has run."}}
	case len(r.Best) > 0:
		return bestVerdict(r)
	case len(parts) == 1:
		return parts[0].concluded()
	}
	return acrossGroups(r, parts)
}

// acrossGroups compares no group with another.
func acrossGroups(r *verdict.Result, parts []part) Verdict {
	all := phrase.Each(parts, part.concluded)
	v := Verdict{State: all[0].State, Label: all[0].Label, Next: nextAcross(r, all)}
	same := true
	for _, one := range all[1:] {
		same = same && one.Answer.Sentence() == all[0].Answer.Sentence()
		if one.Label != v.Label {
			v.State, v.Label = document.Attention, "It depends"
		}
	}
	if same {
		in := phrase.If(len(all) == 2, "In both groups", "In all "+phrase.Count(len(all), "group"))
		v.Answer = all[0].Answer
		v.Answer.Tiles, v.Answer.Plain = nil, in+": "+lowerFirst(v.Answer.Plain)
		return v
	}
	v.Answer = differingAnswer(r, all)
	if v.Answer.Plain == "" {
		v.Answer.Plain = phrase.Count(len(all), "group") + ", each with its own answer; numbers of different groups are not compared."
	}
	return v
}

// nextAcross is what the groups without a proven answer lack: the trials of all of them or, of a grid,
// which measures all, of the one that lacks most; else what helps the first.
func nextAcross(r *verdict.Result, all []Verdict) []document.Item {
	var lack verdict.Step
	for _, g := range r.Groups {
		for _, s := range g.Recommendation.Next {
			if s.Code == verdict.StepGoOn && r.Plan.Racing() {
				s.More += lack.More
			}
			if s.Code == verdict.StepGoOn && s.More > lack.More {
				lack = s
			}
		}
	}
	if lack.More > 0 {
		lack.List = nil
		return []document.Item{words{&r.Groups[0], r}.goOn(lack)}
	}
	for i, v := range all {
		if v.State != document.OK && v.State != document.Act && len(v.Next) > 0 {
			item := v.Next[0]
			item.Text = groupKey(r, i) + ": " + item.Text
			return []document.Item{item}
		}
	}
	return nil
}

// differingAnswer is what the groups agree on, or each one's answer.
func differingAnswer(r *verdict.Result, each []Verdict) Answer {
	var answers []string
	at := map[string][]string{} // the groups that have an answer
	for i := range each {
		text := each[i].Answer.Brief
		if _, ok := at[text]; !ok {
			answers = append(answers, text)
		}
		at[text] = append(at[text], groupKey(r, i))
	}
	if len(answers) == 1 {
		return Answer{Text: each[0].Answer.Text}
	}
	var list []string
	for _, text := range answers {
		list = append(list, phrase.And(at[text])+": "+text)
	}
	const listRoom = 84 // characters: two lines of a headline on a desktop
	all := phrase.Capital(strings.Join(list, "; "))
	if utf8.RuneCountInString(all) <= listRoom {
		return Answer{Text: all}
	}
	for i := range list {
		list[i] = phrase.Capital(list[i]) + "."
	}
	return Answer{Text: "It depends on " + phrase.And(phrase.Each(apartBy(r), func(a groupAxis) string { return a.name })), Plain: strings.Join(list, " ")}
}

func summaryTable(r *verdict.Result, parts []part) document.Table {
	t := document.Table{Columns: []document.Column{
		{Head: "Group", Short: "group", Left: true},
		{Head: "Verdict", Short: "verdict", Left: true},
		{Head: "Default", Short: "default"},
		{Head: "Peak"},
		{Head: phrase.Capital((&group{words: words{Group: &r.Groups[0]}}).throughputName()) + " at the peak"},
	}}
	for i, p := range parts {
		g := &group{words: words{&r.Groups[i], r}, rows: rowsOf(&r.Groups[i])}
		unset, peak, best := absent, absent, document.Cell{Value: absent}
		if n, ok := ps(g.unset()); ok {
			unset = strconv.Itoa(n)
		}
		if a := g.row(g.Peak); a != nil {
			peak = settingName(a)
			best = cell(g.unit(), g.asShown(a.Throughput))
		}
		t.Rows = append(t.Rows, document.Row{Link: "#" + p.anchorID(), Cells: []document.Cell{
			{Value: p.sectionTitle()}, p.concluded().cell(), {Value: unset}, {Value: peak}, best,
		}})
	}
	return t
}

// overviewCards is each group's answer over small curves. What a large quota carries would
// flatten the curves of a small one: throughput is shown as a share of the group's own
// peak. Latency has one scale, which is logarithmic where it has to be.
func overviewCards(r *verdict.Result, parts []part) document.Cards {
	var list document.Cards
	var made []*group
	low, high := math.Inf(1), 0.0
	for i := range parts {
		g := &group{words: words{&r.Groups[i], r}, rows: currentRows(rowsOf(&r.Groups[i]))}
		made = append(made, g)
		l, h := g.extent([]rowMeasure{g.judgedMeasure()})
		low, high = min(low, l), max(high, h)
	}
	latency := spreadAxis(low, high)
	for i, g := range made {
		v := parts[i].concluded()
		o := document.Card{ID: parts[i].anchorID(), Title: phrase.Capital(groupKey(r, i)), Tone: v.State, Answer: v.Answer.Text}
		if c := g.sharesChart(); c != nil {
			o.Charts = append(o.Charts, *c)
		}
		if _, top := g.extent([]rowMeasure{measureP50, measureP99}); top > 0 {
			judged := g.judgedMeasure()
			c := g.chartOn(latency, "p99", number.Time(), []rowMeasure{judged})
			c.Title, c.Small = judged.name, true
			o.Charts = append(o.Charts, c)
		}
		for _, c := range o.Charts { // trials are for the large ones
			for _, s := range c.Series {
				for k := range s.Marks {
					s.Marks[k].Dots = nil
				}
			}
		}
		list = append(list, o)
	}
	return list
}

// sharesChart is the throughput as a share of the peak; nil where none is known.
func (g *group) sharesChart() *document.Chart {
	peak := g.row(g.Peak)
	if peak == nil || peak.Throughput.Median == nil || *peak.Throughput.Median <= 0 {
		return nil
	}
	by := 1 / *peak.Throughput.Median
	c := g.chartOn(document.NewAxis(0, 1, false), "throughput", number.Ratio(), []rowMeasure{{
		name:  "throughput",
		value: func(a *verdict.Row) stat.Interval { return a.Throughput.Scaled(by) },
		point: func(p *verdict.Point) *float64 { return stat.Scaled(p.ThroughputPerSecond, by) },
	}})
	title := g.throughputTitle()
	if g.runs() { // of which these are shares: more is faster
		title = "Runs per second"
	}
	c.Title, c.Unit, c.Small = titleFrom(title, g.Origin), "% of "+number.PerSecond(throughputUnit(g.ThroughputUnit)).Value(*peak.Throughput.Median), true
	return &c
}
