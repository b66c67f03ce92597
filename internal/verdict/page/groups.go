package page

import (
	"math"
	"strconv"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/stat"
)

func summaryTable(r *verdict.Result, parts []part) *document.Table {
	t := &document.Table{Columns: []document.Column{
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

// judgedMeasure is the latency by which values are compared; of none the p99.
func (g *group) judgedMeasure() rowMeasure {
	if g.other() {
		return measureJudged.as(g.quantile())
	}
	return measureP99
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
		point: func(p *verdict.Point) *float64 { return stat.Scaled(p.Throughput, by) },
	}})
	title := g.throughputTitle()
	if g.runs() { // of which these are shares: more is faster
		title = "Runs per second"
	}
	c.Title, c.Unit, c.Small = titleFrom(title, g.Origin), "% of "+number.PerSecond(throughputUnit(g.ThroughputUnit)).Value(*peak.Throughput.Median), true
	return &c
}
