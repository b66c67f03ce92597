package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
)

// subject is what was compared: GOMAXPROCS, and the variables of --vary.
func subject(r *verdict.Result) string {
	if gateLeads(r) {
		return "New and old version"
	}
	if len(r.Best) == 0 {
		return "GOMAXPROCS"
	}
	var names []string
	if len(r.Groups) > 0 {
		names = append(names, "GOMAXPROCS")
	}
	for _, axis := range r.Plan.Vary {
		names = append(names, axis.Name)
	}
	return phrase.And(names)
}

// comparedTitle is what was compared, at which values of the others: "GOGC with
// GOMAXPROCS=2, GOMEMLIMIT=off".
func (g *group) comparedTitle() string {
	var with []string
	if g.Procs != nil {
		with = append(with, "GOMAXPROCS="+strconv.Itoa(*g.Procs))
	}
	for _, one := range g.Variables {
		with = append(with, one.String())
	}
	t := g.Compares
	if with != nil {
		t += " with " + strings.Join(with, ", ")
	}
	if len(g.r.Best) > 1 {
		t += " · " + g.title()
	}
	return t
}

// start is the value that the variable started with, as a label.
func (g *group) start() string {
	axis := g.r.Plan.Axis(g.Compares)
	return axis.Name + "=" + axis.Start
}

// comparedVerdict is what a variable's values came to.
func (g *group) comparedVerdict() Verdict {
	rec := &g.Recommendation
	var v Verdict
	called(rec).compared(g, &v)
	if rec.Confidence == verdict.Likely {
		v.State, v.Label = document.Attention, "Likely "+rec.Setting
		v.Sentence += " This is likely, but not proven."
	}
	v.Answer = Answer{Text: v.Label, Brief: v.Label, Plain: v.Sentence}
	if list := g.tooLarge(); len(list) > 0 && len(list) < len(g.rows) {
		v.Reasons = append(v.Reasons, fmt.Sprintf("more memory than %s, and not measured again: %s", mostMemory(g.r), phrase.And(list)))
	}
	v.Context = g.context(g.sure())
	return v
}

// comparedChange is what the best value changes against the first.
func (g *group) comparedChange() string {
	rec := &g.Recommendation
	v := rec.Versus
	if v == nil || v.Throughput.Median == nil {
		return rec.Setting + " is as good as any."
	}
	text := fmt.Sprintf("Compared with %s: %s", g.start(), changed("throughput", v.Throughput, g.r.Plan.Margin, "higher", "lower"))
	if v.Latency.Median != nil {
		text += "; " + changed(g.words.quantile(), v.Latency, g.r.Plan.MarginP99, "higher", "lower")
	}
	if now, then := g.setting(rec.Setting), g.setting(g.start()); now != nil && then != nil && now.Evidence.PeakRSSBytes != nil && then.Evidence.PeakRSSBytes != nil {
		text += fmt.Sprintf("; peak memory is %s instead of %s", size(now.Evidence.PeakRSSBytes), size(then.Evidence.PeakRSSBytes))
	}
	return text + "."
}

// named are the values that have no part in what is judged for that reason.
func (g *group) named(code contest.Excluded) (list []string) {
	for i := range g.rows {
		if a := &g.rows[i]; a.Excluded != nil && *a.Excluded == code {
			list = append(list, a.Label)
		}
	}
	return list
}

// tooLarge are the values that used too much memory, with how much.
func (g *group) tooLarge() (list []string) {
	for i := range g.rows {
		if a := &g.rows[i]; a.Excluded != nil && *a.Excluded == contest.ExcludedMemory {
			list = append(list, fmt.Sprintf("%s (%s)", a.Label, size(a.Evidence.PeakRSSBytes)))
		}
	}
	return list
}

func mostMemory(r *verdict.Result) string {
	return "--max-memory " + number.Short(number.Bytes(float64(r.Plan.MaxMemoryBytes)))
}

// valueColumn is what the settings differ in.
func (g *group) valueColumn() document.Column {
	if name := phrase.Clip(g.Compares, nameRoom); name != "" {
		return document.Column{Head: name, Short: name, Left: true}
	}
	if g.gateAlone {
		return document.Column{Head: "Version", Short: "version", Left: true}
	}
	return document.Column{Head: "GOMAXPROCS", Short: "procs", Left: true}
}

// comparedTable has a row for each comparison.
func comparedTable(parts []part) *document.Table {
	t := &document.Table{Columns: []document.Column{{Head: "Compared", Short: "compared", Left: true}, {Head: "Answer", Short: "answer", Left: true}}}
	for _, p := range parts {
		t.Rows = append(t.Rows, document.Row{Link: "#" + p.anchorID(), Cells: []document.Cell{{Value: p.sectionTitle()}, p.concluded().cell()}})
	}
	return t
}
