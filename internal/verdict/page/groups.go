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
	"github.com/procfit/procfit/internal/verdict/stat"
)

// acrossGroups is the verdict of a run with several groups, which are never
// compared with each other.
func acrossGroups(r *verdict.Result, parts []part) Verdict {
	all := make([]Verdict, len(parts))
	for i, p := range parts {
		all[i] = p.concluded()
	}
	v := Verdict{State: all[0].State, Label: all[0].Label}
	same := true
	for _, one := range all[1:] {
		same = same && one.Sentence == all[0].Sentence
		if one.Label != v.Label {
			v.State, v.Label = document.Attention, "It depends"
		}
	}
	if same {
		in := "In all " + phrase.Count(len(all), "group")
		if len(all) == 2 {
			in = "In both groups"
		}
		v.Sentence = in + ": " + all[0].Sentence
		v.Answer = all[0].Answer
		v.Answer.Tiles = nil
	} else {
		v.Sentence = phrase.Count(len(all), "group") + ", each with its own answer; numbers of different groups are not compared."
	}
	if v.Answer.Text == "" {
		v.Answer = differing(r, all)
		if v.Answer.Plain == "" {
			v.Answer.Plain = v.Sentence
		}
	}
	return v
}

// listRoom is how long the answers of all groups may be, in characters, to be the
// headline: two lines of it on a desktop.
const listRoom = 84

// differing is the answer of groups that have no common sentence: what they agree on, or
// each one's, by what distinguishes the groups.
func differing(r *verdict.Result, each []Verdict) Answer {
	var answers []string
	at := map[string][]string{} // the groups that have an answer
	for i := range each {
		text := each[i].Answer.Brief
		if _, ok := at[text]; !ok {
			answers = append(answers, text)
		}
		at[text] = append(at[text], key(r, i))
	}
	if len(answers) == 1 {
		return Answer{Text: each[0].Answer.Text}
	}
	var list []string
	for _, text := range answers {
		list = append(list, someNamed(at[text])+": "+text)
	}
	all := phrase.Capital(strings.Join(list, "; "))
	if utf8.RuneCountInString(all) <= listRoom {
		return Answer{Text: all}
	}
	for i := range list {
		list[i] = phrase.Capital(list[i]) + "."
	}
	return Answer{Text: "It depends on " + phrase.And(apartBy(r)), Plain: strings.Join(list, " ")}
}

// apartBy is what differs between a run's groups.
func apartBy(r *verdict.Result) []string {
	var list []string
	for _, x := range []struct {
		name string
		of   func(*verdict.Group) string
	}{{"when the value is set", setOf}, {"the Go version", languageOf}, {"the CPU limit", quotaOf}, {"the number of replicas", replicasOf}} {
		if slices.ContainsFunc(r.Groups, func(g verdict.Group) bool { return x.of(&g) != x.of(&r.Groups[0]) }) {
			list = append(list, x.name)
		}
	}
	return list
}

func setOf(g *verdict.Group) string {
	if g.SetLive {
		return "set live"
	}
	return "set at start"
}

func languageOf(g *verdict.Group) string {
	if g.GoVersion == "" {
		return ""
	}
	return "Go " + goVersion(g.GoVersion)
}

func quotaOf(g *verdict.Group) string {
	if g.QuotaCPUs == nil {
		return "no limit"
	}
	return number.CPUs(*g.QuotaCPUs)
}

func replicasOf(g *verdict.Group) string { return phrase.Count(max(1, g.Replicas), "replica") }

// key is what distinguishes a group from the others, and no more: "0.5 CPUs".
func key(r *verdict.Result, i int) string {
	var parts []string
	for _, of := range []func(*verdict.Group) string{setOf, languageOf, quotaOf, replicasOf} {
		if slices.ContainsFunc(r.Groups, func(g verdict.Group) bool { return of(&g) != of(&r.Groups[0]) }) {
			if text := of(&r.Groups[i]); text != "" {
				parts = append(parts, text)
			}
		}
	}
	if len(parts) == 0 {
		return "group " + strconv.Itoa(i+1)
	}
	return strings.Join(parts, ", ")
}

func summary(r *verdict.Result, parts []part) *document.Table {
	t := &document.Table{Columns: []document.Column{
		{Head: "Group", Short: "group", Left: true},
		{Head: "Verdict", Short: "verdict", Left: true},
		{Head: "Default", Short: "default"},
		{Head: "Peak"},
		{Head: phrase.Capital((&group{words: words{Group: &r.Groups[0]}}).throughputName()) + " at the peak"},
	}}
	for i, p := range parts {
		g := &group{words: words{&r.Groups[i], r}, rows: rowsOf(&r.Groups[i])}
		g.throughput = g.throughputShown()
		unset, peak, best := absent, absent, document.Cell{Value: absent}
		if n, ok := ps(g.unset()); ok {
			unset = strconv.Itoa(n)
		}
		if a := g.row(g.Peak); a != nil {
			peak = settingName(a)
			best = cell(g.throughput, g.asShown(a.Throughput))
		}
		t.Rows = append(t.Rows, document.Row{Link: "#" + p.anchorID(), Cells: []document.Cell{
			{Value: p.sectionTitle()}, p.concluded().cell(), {Value: unset}, {Value: peak}, best,
		}})
	}
	return t
}

// cell is the answer in a table of several.
func (v Verdict) cell() document.Cell {
	if v.Answer.Brief == "" {
		return document.Cell{Value: v.Label, Detail: v.Sentence}
	}
	return document.Cell{Value: phrase.Capital(v.Answer.Brief), Detail: v.Answer.Plain}
}

// overview is each group's answer over small curves. What a large quota carries would
// flatten the curves of a small one: throughput is shown as a share of the group's own
// peak. Latency has one scale, which is logarithmic where it has to be.
func overview(r *verdict.Result, parts []part) document.Cards {
	var list document.Cards
	var made []*group
	low, high := math.Inf(1), 0.0
	for i := range parts {
		g := &group{words: words{&r.Groups[i], r}, rows: current(rowsOf(&r.Groups[i]))}
		g.throughput = number.PerSecond(throughputUnit(g.ThroughputUnit))
		made = append(made, g)
		l, h := g.extent([]measure{p99})
		low, high = min(low, l), max(high, h)
	}
	logarithmic := low > 0 && high/low > logFrom
	latency := document.NewAxis(low, high, logarithmic)
	for i, g := range made {
		v := parts[i].concluded()
		o := document.Card{ID: parts[i].anchorID(), Title: phrase.Capital(key(r, i)), Tone: v.State, Answer: v.Answer.Text}
		if c := g.sharesChart(); c != nil {
			o.Charts = append(o.Charts, *c)
		}
		if _, top := g.extent([]measure{p50, p99}); top > 0 {
			c := g.chartOn(latency, "p99", number.Time(), []measure{p99}, logarithmic)
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
	c := g.chartOn(document.NewAxis(0, 1, false), "throughput", number.Ratio(), []measure{{
		name:  "throughput",
		value: func(a *verdict.Row) stat.Interval { return a.Throughput.Scaled(by) },
		point: func(p *verdict.Point) *float64 { return stat.Scaled(p.Throughput, by) },
	}}, false)
	title := g.throughputTitle()
	if g.runs() { // of which these are shares: more is faster
		title = "Runs per second"
	}
	c.Title, c.Unit, c.Small = titled(title, g.Origin), "% of "+g.throughput.Value(*peak.Throughput.Median), true
	return &c
}
