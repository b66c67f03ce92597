package page

import (
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
)

// Brief is what a terminal gets of a sweep: the answer, the curve and the table that it rests
// on, and what weakens it most. The rest is in the report.
func (v *View) Brief() *document.Document {
	d := &document.Document{Title: v.Of + " of " + v.Name, Date: v.Started, Closing: v.Verdict.closing()}
	add := func(list ...document.Block) { d.Blocks = append(d.Blocks, list...) }
	add(document.Text{Text: v.Verdict.Answer.Text, Style: document.Strong, Tone: v.Verdict.State},
		document.Text{Text: v.Verdict.Answer.Plain}, document.Text{Text: v.Verdict.Context, Style: document.Muted})
	if g := v.Gate; g != nil && g.Sentence != "" {
		add(document.Text{Text: g.Answer + ". " + g.Sentence, Tone: g.State})
	}
	for i := range v.Groups {
		if g := &v.Groups[i]; len(v.Groups) <= fewGroups {
			add(g.brief(len(v.Groups) > 1)...)
		}
	}
	if v.Gate != nil {
		add(v.Gate.Table)
	}
	if v.Summary != nil {
		add(*v.Summary)
	}
	if len(v.Groups) == 1 {
		add(v.Groups[0].figures(true)...)
	}
	add(v.Profiles...)
	if v.Progress != "" {
		add(document.Alert{Text: v.Progress})
	}
	add(v.heaviest())
	return d
}

// fewGroups have their curves on a terminal; more have a row of the summary each.
const fewGroups = 3

// brief is a group's curves.
func (g *Group) brief(titled bool) (list []document.Block) {
	if titled {
		list = append(list, document.Heading{Level: 2, Text: g.Title})
	}
	if c := g.curves(); len(c) > 0 {
		list = append(list, document.Charts{Layout: document.Lines, List: c})
	}
	if g.Throughput == nil { // what each value of an experiment came to
		list = append(list, itemized("", document.Items(g.Verdict.Reasons))...)
	}
	return list
}

// toSettle is the lead of what is to be done next.
func (v Verdict) toSettle() string {
	if v.State == document.OK { // it is decided
		return "Next:"
	}
	return "What would decide it:"
}

func itemized(lead string, items []document.Item) []document.Block {
	if len(items) == 0 {
		return nil
	}
	return []document.Block{document.List{Lead: lead, Items: items}}
}

// closing is one thing to do next, with the command for it where there is one.
func (v Verdict) closing() []document.Block {
	if len(v.Settle) == 0 {
		return nil
	}
	next := v.Settle[max(0, slices.IndexFunc(v.Settle, func(a document.Item) bool { return a.Command != "" }))]
	if next.Command == "" {
		return []document.Block{document.Text{Text: "Next: " + next.Text + "."}}
	}
	return []document.Block{document.Code{Title: "Next, " + next.Text, Text: next.Command}}
}

// Report is all that is known of a sweep, as its files show it.
func (v *View) Report() *document.Document {
	many := len(v.Groups) > 1
	d := &document.Document{Title: v.Of + " of " + v.Name, Date: v.Started, Parts: many}
	add := func(list ...document.Block) { d.Blocks = append(d.Blocks, list...) }
	warned := slices.IndexFunc(v.Groups, func(g Group) bool { return len(g.Warnings) > 0 })
	if many {
		add(document.Section{Class: document.Navigation, Name: "Contents", Blocks: []document.Block{v.contents()}})
	}
	if v.Progress != "" {
		add(document.Alert{Text: v.Progress})
	}
	answer := v.Verdict.answer(2)
	if v.Alert != "" {
		anchor := "#warnings"
		if warned < 0 {
			anchor = "#warnings-about-the-whole-run"
		}
		answer.Blocks = append(answer.Blocks, document.Alert{Text: v.Alert, To: anchor})
	}
	add(answer)
	if len(v.Overview) > 0 {
		add(v.Overview)
	}
	if v.Gate != nil {
		add(v.Gate.section())
	}
	if v.Summary != nil {
		add(document.Heading{Level: 2, Text: "Summary", ID: "summary"}, *v.Summary)
	}
	for i := range v.Groups {
		add(document.Section{Class: "group", ID: v.Groups[i].ID, Blocks: v.Groups[i].report(many, i == warned)})
	}
	add(v.Profiles...)
	if many || len(v.Warnings) > 0 {
		add(document.Heading{Level: 2, Text: "Warnings about the whole run", ID: "warnings-about-the-whole-run"})
		if len(v.Warnings) > 0 {
			add(v.Warnings)
		} else {
			add(document.Text{Text: "None."})
		}
	}
	add(document.Heading{Level: 2, Text: "Environment", ID: "environment"})
	for _, f := range v.Environment {
		add(document.Heading{Level: 3, Text: f.Title}, f.Pairs)
	}
	add(document.Heading{Level: 2, Text: "How to reproduce", ID: "how-to-reproduce"},
		document.Code{Title: "The program under test", Language: "sh", Text: v.Command})
	if v.Against != "" {
		add(document.Code{Title: "Compared with", Language: "sh", Text: v.Against})
	}
	repeats := "The sweep; reproduce.sh in this directory repeats it"
	if strings.Contains(v.Reproduce, " --seed ") || strings.Contains(v.Settings, "\n  seed: ") {
		repeats += " with the same seed"
	}
	add(document.Code{Title: repeats, Language: "sh", Text: v.Sweep},
		document.Folds{List: v.scripts()})
	return d
}

// scripts are the files that measure again.
func (v *View) scripts() []document.Fold {
	list := []document.Fold{{Summary: "Contents of reproduce.sh", Blocks: []document.Block{document.Code{Text: v.Reproduce}}}}
	if v.Settings != "" {
		list = append(list, document.Fold{Summary: "Contents of procfit.yaml", Blocks: []document.Block{document.Code{Text: v.Settings}}})
	}
	return list
}

// contents are the parts of a report on several groups.
func (v *View) contents() document.Links {
	list := document.Links{{Text: "Summary", To: "#summary"}}
	for i := range v.Overview {
		list = append(list, document.Link{Text: v.Overview[i].Title, To: "#" + v.Overview[i].ID})
	}
	if len(v.Profiles) > 0 {
		list = append(list, document.Link{Text: "Profiles", To: "#profiles1"})
	}
	return append(list, document.Link{Text: "Warnings", To: "#warnings-about-the-whole-run"}, document.Link{Text: "Environment", To: "#environment"}, document.Link{Text: "How to reproduce", To: "#how-to-reproduce"})
}

// answer is the first screen: what to do, why, what changes, what to type.
func (v Verdict) answer(level int) document.Panel {
	a := v.Answer
	p := document.Panel{Name: "Verdict", Tone: v.State, Label: v.Label, Level: level, Sentence: a.Text}
	p.Blocks = append(p.Blocks, document.Text{Text: a.Plain, Style: document.Plain})
	if len(a.Tiles) > 0 {
		p.Blocks = append(p.Blocks, a.Tiles)
	}
	if a.Apply != "" {
		p.Blocks = append(p.Blocks, document.Code{Language: "sh", Text: a.Apply})
	}
	p.Blocks = append(p.Blocks, itemized(v.toSettle(), v.Settle)...)
	if v.Context != "" {
		p.Blocks = append(p.Blocks, document.Text{Text: v.Context, Style: document.Muted})
	}
	return p
}

func (g *Gate) section() document.Section {
	s := document.Section{Class: "gate " + string(g.State), Blocks: []document.Block{document.Heading{Level: 2, Text: "New compared with old"}}}
	if g.Sentence != "" {
		s.Blocks = append(s.Blocks, document.Text{Lead: g.Answer, Text: g.Sentence, Tone: g.State})
	}
	s.Blocks = append(s.Blocks, g.Table)
	if g.Note != "" {
		s.Blocks = append(s.Blocks, document.Text{Text: g.Note, Style: document.Small})
	}
	return s
}

// report is all that is known of a group. Of several each has a title and its answer.
func (g *Group) report(titled, linked bool) (list []document.Block) {
	add := func(blocks ...document.Block) { list = append(list, blocks...) }
	head := func(text string) document.Heading { return document.Heading{Level: 3, Text: text} }
	if titled {
		add(document.Heading{Level: 2, Text: g.Title}, g.Verdict.answer(3))
	}
	b := g.Benchmarks
	if g.Throughput != nil {
		charts := document.Charts{Title: head("By " + g.By), Hidden: true, Layout: document.Curves, List: g.curves(), Table: &g.Curves, Note: "Throughput: " + g.Throughput.Note,
			Key: "A large dot is the level of a setting, estimated from all trials, and the bar is its 95% interval. Small dots are single trials, small rings are trials of a repeat of the same setting, and × marks trials that are not used; a × above a chart has no value or one beyond it. Point at a setting or tap it to see its values."}
		if slices.ContainsFunc(g.Throughput.Categories, func(k document.Category) bool { return k.Uncompared != "" }) {
			charts.Key += " A pale setting is not compared with the others; the word below it says why."
		}
		if g.Latency != nil {
			charts.Note += ". Latency: " + g.Latency.Note
		} else if b != nil && len(b.Charts) <= fewBenchmarks {
			charts.Beside = b.Charts
		}
		charts.Note += ". " + g.Levels
		add(charts)
	}
	if len(g.OverTime) > 0 {
		add(document.Charts{Title: head("Over time"), List: g.OverTime})
	}
	if b != nil {
		add(head("Benchmark by benchmark"))
		if len(b.Charts) > fewBenchmarks {
			add(document.Charts{Layout: document.Multiples, List: b.Charts})
		}
		add(b.Table, document.Text{Text: b.Note, Style: document.Small})
	}
	if len(g.Verdict.Reasons) > 0 {
		add(head("Why"))
		add(itemized("", document.Items(g.Verdict.Reasons))...)
	}
	add(head("All numbers"))
	add(g.figures(false)...)
	if g.Unjudged != nil {
		add(document.Folds{List: []document.Fold{{Summary: "Metrics that do not decide", Blocks: []document.Block{*g.Unjudged}}}})
	}
	add(g.set()...)
	if len(g.Warnings) > 0 {
		warnings := head("Warnings")
		if linked {
			warnings.ID = "warnings"
		}
		add(warnings, g.Warnings)
	}
	if len(g.Checklist) > 0 {
		add(document.Folds{Title: head("Checklist"), List: []document.Fold{
			{Summary: g.Checked, Blocks: []document.Block{g.Checklist}}, {Summary: g.Mistaken, Blocks: []document.Block{g.Mistakes}}}})
	}
	if len(g.Evidence) > 0 {
		add(document.Charts{Title: head("Kernel counters"), Layout: document.Evidence, List: g.Evidence})
	}
	return list
}

// set is what is known of the setting, and how it is set; nothing of a variable.
func (g *Group) set() (list []document.Block) {
	if len(g.Facts) > 0 {
		list = append(list, g.Facts)
	}
	if g.Paste.Lead != "" {
		list = append(list, document.Heading{Level: 3, Text: "How to set it"}, document.Text{Text: g.Paste.Lead})
	}
	if len(g.Paste.Snippets) > 0 {
		list = append(list, g.Paste.Snippets)
	}
	return list
}

// fewBenchmarks have their charts in place of a latency's.
const fewBenchmarks = 6

// curves are those that there are.
func (g *Group) curves() (list []document.Chart) {
	for _, c := range []*document.Chart{g.Throughput, g.Latency} {
		if c != nil {
			list = append(list, *c)
		}
	}
	return list
}

// figures are the tables, whole or with what explains the metrics folded away.
func (g *Group) figures(whole bool) []document.Block {
	list := []document.Block{g.Table}
	if main, aside := g.Table.Split(); aside != nil && !whole {
		list = []document.Block{main, document.Folds{List: []document.Fold{{Summary: "CPU, scheduling and memory by value", Blocks: []document.Block{*aside}}}}}
	}
	for _, t := range []*document.Table{g.Metrics, g.Requests} {
		if t != nil {
			list = append(list, *t)
		}
	}
	return list
}

// SoFar is the report of a sweep that continues.
func (v *View) SoFar() *document.Document {
	now := v.Ended()
	for i, b := range now.Blocks {
		if p, ok := b.(document.Panel); ok {
			p.Label = "So far: " + p.Label
			now.Blocks[i] = p
		}
	}
	return now
}

// Ended is that of one that has just ended: whoever watched it knows how far it came.
func (v *View) Ended() *document.Document {
	now := *v
	now.Progress = ""
	return now.Report()
}
