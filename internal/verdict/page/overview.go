package page

import (
	"math"

	"github.com/procfit/procfit/internal/show/axis"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// overview is each group's answer over small curves. What a large quota carries would
// flatten the curves of a small one: throughput is shown as a share of the group's own
// peak. Latency has one scale, which is logarithmic where it has to be.
func overview(r *verdict.Result, groups []Group) document.Cards {
	var list document.Cards
	var made []*group
	low, high := math.Inf(1), 0.0
	p99 := []measure{{"p99", func(a *verdict.SettingResult) verdict.Interval { return a.P99 }, func(p *verdict.Point) *float64 { return p.P99 }}}
	for i := range groups {
		g := &group{Group: &r.Groups[i], r: r, index: i, rows: current(rowsOf(&r.Groups[i]))}
		g.throughput = number.PerSecond(throughputUnit(g.ThroughputUnit))
		made = append(made, g)
		l, h := g.extent(p99)
		low, high = min(low, l), max(high, h)
	}
	logarithmic := low > 0 && high/low > logFrom
	latency := axis.New(low, high, logarithmic)
	for i, g := range made {
		o := document.Card{ID: groups[i].ID, Title: phrase.Capital(key(r, i)), Tone: groups[i].Verdict.State, Answer: groups[i].Verdict.Answer.Text}
		if c := g.sharesChart(); c != nil {
			o.Charts = append(o.Charts, *c)
		}
		if groups[i].Latency != nil {
			c := g.chartOn(latency, "p99", number.Time(), p99, logarithmic)
			c.Title, c.Small = "p99", true
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
	c := g.chartOn(axis.New(0, 1, false), "throughput", number.Ratio(), []measure{{
		name: "throughput",
		value: func(a *verdict.SettingResult) verdict.Interval {
			i := a.Throughput
			return verdict.Interval{Median: scaled(i.Median, by), Low: scaled(i.Low, by), High: scaled(i.High, by), N: i.N}
		},
		point: func(p *verdict.Point) *float64 { return scaled(p.Throughput, by) },
	}}, false)
	c.Title, c.Unit, c.Small = titled(g.throughputTitle(), g.Origin), "% of "+g.throughput.Value(*peak.Throughput.Median), true
	return &c
}
