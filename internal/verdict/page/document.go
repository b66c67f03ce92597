package page

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/bench"
)

// Brief is what a terminal gets of a sweep: the answer, the curve and the table that it rests
// on, and what weakens it most. The rest is in the report.
func Brief(r *verdict.Result) *document.Document {
	parts := partsOf(r)
	v, warnings := pageHeadline(r, parts), warningsOf(r, len(parts))
	d := newDocument(r)
	d.Closing = v.closing()
	d.Add(document.Text{Text: v.Answer.Text, Style: document.Strong, Tone: v.State},
		document.Text{Text: v.Answer.Plain}, document.Text{Text: v.Context, Style: document.Muted})
	if r.Gate != nil {
		if g, _ := gateOf(r.Gate); g.Answer.Plain != "" && !gateLeads(r) {
			d.Add(document.Text{Text: g.Answer.Sentence(), Tone: g.State})
		}
	}
	for _, p := range parts {
		if len(parts) > 1 && len(parts) <= fewGroups {
			d.Add(document.Heading{Level: 2, Text: p.sectionTitle()})
		}
		if len(parts) <= fewGroups {
			d.Add(p.onTerminal()...)
		}
	}
	if r.Gate != nil {
		_, note := gateOf(r.Gate)
		d.Add(gateTable(r.Gate, r.Plan), document.Text{Text: note, Style: document.Muted})
	}
	d.Add(summaryOf(r, parts))
	if len(parts) == 1 {
		d.Add(parts[0].numberTables(true)...)
	}
	d.Add(profileOf(r)...)
	if text := incompleteText(r); text != "" {
		d.Add(document.Alert{Text: text})
		if document.Line(text).Command != "" {
			d.Closing = nil // which would be another thing to do next
		}
	}
	d.Add(heaviest(r, warnings, len(parts)))
	return d
}

func newDocument(r *verdict.Result) *document.Document {
	name := r.Name
	if r.Canary != nil || r.Live != nil {
		name += " under its own traffic"
	}
	return &document.Document{Title: comparedSubject(r) + " of " + name, Date: document.Date(r.Started)}
}

// summaryOf has a row a part, or a setting by its cost; none: neither is asked.
func summaryOf(r *verdict.Result, parts []part) document.Table {
	switch c := r.Cheapest; {
	case c != nil && len(c.Settings) > 0:
		return pricedTable(c)
	case len(parts) < 2 || gateAlone(r):
		return document.Table{}
	case len(r.Best) > 0:
		return comparedTable(parts)
	}
	return summaryTable(r, parts)
}

// fewGroups have their curves on a terminal; more have a row of the summary each.
const fewGroups = 3

// onTerminal is a group's curves, or where it has none, what each of its values came to.
func (g *group) onTerminal() (list []document.Block) {
	throughput := g.throughputChart()
	list = document.Some(document.Charts{Layout: document.Lines, List: chartsOf(throughput, g.latencyChart())})
	if throughput == nil {
		v := g.concluded()
		if len(g.r.Groups) > 1 { // else it is the headline
			list = append(list, document.Text{Text: v.Answer.Plain})
		}
		list = append(list, document.Some(document.List{Items: document.Items(v.Reasons)})...)
	} else if text := g.ended(); text != "" && g.Recommendation.Confidence != verdict.Proven && g.r.Gate == nil {
		list = append(list, document.Text{Text: phrase.Capital(text) + ".", Style: document.Muted})
	}
	return list
}

// Report is all that is known of a sweep, as its files show it.
func Report(r *verdict.Result) *document.Document { return wholeReport(r, incompleteText(r)) }

// Ended is that of a sweep that has just ended: whoever watched it knows how far it came.
func Ended(r *verdict.Result) *document.Document { return wholeReport(r, "") }

// SoFar is that of a sweep that continues.
func SoFar(r *verdict.Result) *document.Document {
	now := Ended(r)
	for i, b := range now.Blocks {
		if p, ok := b.(document.Panel); ok {
			p.Label = "So far: " + p.Label
			now.Blocks[i] = p
		}
	}
	return now
}

func wholeReport(r *verdict.Result, progress string) *document.Document {
	parts := partsOf(r)
	v, warnings, profiles := pageHeadline(r, parts), warningsOf(r, len(parts)), profileOf(r)
	var glance document.Cards
	if len(parts) > 1 && len(r.Best) == 0 {
		glance = overviewCards(r, parts)
	}
	d := newDocument(r)
	d.Parts = len(parts) > 1
	if d.Parts {
		d.Add(document.Section{Class: document.Navigation, Name: "Contents", Blocks: []document.Block{tableOfContents(glance, len(profiles) > 0)}})
	}
	d.Add(document.Alert{Text: progress})
	anchor, about := "#warnings-about-the-whole-run", notesOf(warnings, -1)
	alerts, sections := about, make([]document.Block, len(parts))
	for i, p := range parts {
		notes, id := notesOf(warnings, i), ""
		if len(notes) > 0 && len(alerts) == len(about) { // the first part that has some
			anchor, id = "#warnings", "warnings"
		}
		alerts = append(notes[:len(notes):len(notes)], alerts...)
		sections[i] = sectionOf(p, d.Parts, notes, id)
	}
	answer := v.panel(2)
	answer.Blocks = append(answer.Blocks, document.Some(document.Alert{Text: alertText(alerts), To: anchor})...)
	d.Add(answer, glance)
	if r.Gate != nil {
		if s := gateSection(r); len(s.Blocks) > 1 {
			d.Add(s)
		}
	}
	if t := summaryOf(r, parts); len(t.Rows) > 0 {
		d.Add(document.Heading{Level: 2, Text: "Summary", ID: "summary"}, t)
	}
	d.Add(sections...)
	d.Add(profiles...)
	if d.Parts || len(about) > 0 {
		none := phrase.If(len(about) == 0, "None.", "")
		d.Add(document.Heading{Level: 2, Text: "Warnings about the whole run", ID: "warnings-about-the-whole-run"}, about, document.Text{Text: none})
	}
	d.Add(document.Heading{Level: 2, Text: "Environment", ID: "environment"})
	d.Add(environmentBlocks(r)...)
	d.Add(howToReproduce(r)...)
	return d
}

// sectionOf is a part with its warnings, below a heading of that ID. Of several parts each has a title
// and its answer.
func sectionOf(p part, titled bool, notes document.Notes, id string) document.Section {
	s := document.Section{Class: "group", ID: p.anchorID()}
	if titled {
		s.Blocks = []document.Block{document.Heading{Level: 2, Text: p.sectionTitle()}, p.concluded().panel(3)}
	}
	var warnings []document.Block
	if len(notes) > 0 {
		warnings = []document.Block{document.Heading{Level: 3, Text: "Warnings", ID: id}, notes}
	}
	s.Blocks = append(s.Blocks, p.inReport(warnings)...)
	return s
}

func howToReproduce(r *verdict.Result) []document.Block {
	script, settings := reproduce(r), ""
	if r.Settings != nil {
		settings = string(r.Settings.Text) // in which YAML escapes what is not printable
	}
	repeats := "The command; reproduce.sh in this directory repeats it"
	if strings.Contains(script, " --seed ") || strings.Contains(settings, "\n  seed: ") {
		repeats += " with the same seed"
	}
	files := []document.Fold{{Summary: "Contents of reproduce.sh", Blocks: []document.Block{document.Code{Text: script}}}}
	if settings != "" {
		files = append(files, document.Fold{Summary: "Contents of procfit.yaml", Blocks: []document.Block{document.Code{Text: settings}}})
	}
	return document.Some(document.Heading{Level: 2, Text: "How to reproduce", ID: "how-to-reproduce"},
		document.Code{Title: "The program under test", Language: "sh", Text: phrase.Shell(r.Target.Command)},
		document.Code{Title: "Compared with", Language: "sh", Text: phrase.Shell(r.Target.Against)},
		document.Code{Title: repeats, Language: "sh", Text: r.Spec.Shell()}, document.Folds{List: files})
}

func tableOfContents(glance document.Cards, profiled bool) document.Links {
	cards := phrase.Each(glance, func(c document.Card) document.Link { return document.Link{Text: c.Title, To: "#" + c.ID} })
	list := append(document.Links{{Text: "Summary", To: "#summary"}}, cards...)
	if profiled {
		list = append(list, document.Link{Text: "Profiles", To: "#profiles"})
	}
	return append(list, document.Link{Text: "Warnings", To: "#warnings-about-the-whole-run"}, document.Link{Text: "Environment", To: "#environment"}, document.Link{Text: "How to reproduce", To: "#how-to-reproduce"})
}

func gateSection(r *verdict.Result) document.Section {
	g, note := gateOf(r.Gate)
	s := document.Section{Class: "gate " + string(g.State), Blocks: []document.Block{document.Heading{Level: 2, Text: "New compared with old"}}}
	if !gateLeads(r) {
		s.Blocks = append(s.Blocks, document.Text{Lead: g.Answer.Text, Text: g.Answer.Plain, Tone: g.State})
	}
	s.Blocks = document.Some(append(s.Blocks, gateTable(r.Gate, r.Plan), document.Text{Text: note, Style: document.Small})...)
	return s
}

func (g *group) inReport(warnings []document.Block) (list []document.Block) {
	add := func(blocks ...document.Block) { list = append(list, document.Some(blocks...)...) }
	each, benchmarks := []document.Chart(nil), []document.Block(nil)
	if g.Compares == "" {
		each, benchmarks = g.benchmarks()
	}
	add(g.curveCharts(each))
	if benchmarks != nil {
		add(document.Heading{Level: 3, Text: "Benchmark by benchmark"})
		if len(each) > fewBenchmarks {
			add(document.Charts{Layout: document.Multiples, List: each})
		}
		add(benchmarks...)
	}
	add(whyAndNumbers(g)...)
	if g.Compares != "" { // of a variable nothing more is known
		return append(list, warnings...)
	}
	add(g.paste().blocks(g.facts())...)
	add(warnings...)
	checklist, mistakes := g.checklist(), g.mistakes()
	add(document.Folds{Title: document.Heading{Level: 3, Text: "Checklist"}, List: []document.Fold{
		{Summary: foldedTitle("Before you change it", checklist, "unknown"), Blocks: []document.Block{checklist}},
		{Summary: foldedTitle("Common mistakes", mistakes, "open"), Blocks: []document.Block{mistakes}}}})
	add(document.Charts{Title: document.Heading{Level: 3, Text: "Kernel counters"}, Layout: document.Evidence, List: g.withTrials().evidenceCharts()})
	return list
}

// curveCharts are those of a group, with how they are read, and its benchmarks' where there is no latency;
// none: it has no throughput.
func (g *group) curveCharts(benchmarks []document.Chart) (charts document.Charts) {
	throughput, latency := g.throughputChart(), g.latencyChart()
	if throughput == nil {
		return charts
	}
	charts = document.Charts{Title: document.Heading{Level: 3, Text: "By " + cmp.Or(g.axis(), "GOMAXPROCS")}, Hidden: true, Layout: document.Curves, List: chartsOf(throughput, latency),
		Key: "A large dot is the level of a setting, estimated from all trials, and the bar is its 95% interval. Small dots are single trials, small rings are trials of a repeat of the same setting, and × marks trials that are not used; a × above a chart has no value or one beyond it. Point at a setting or tap it to see its values."}
	if slices.ContainsFunc(throughput.Categories, func(k document.Category) bool { return k.Uncompared != "" }) {
		charts.Key += " A pale setting is not compared with the others."
	}
	if latency == nil && len(benchmarks) <= fewBenchmarks {
		charts.Beside = benchmarks
	}
	charts.Key += g.estimates(" A hollow dot of the throughput and ~ mark")
	return charts
}

// fewBenchmarks have their charts in place of a latency's.
const fewBenchmarks = 6

func chartsOf(charts ...*document.Chart) (list []document.Chart) {
	for _, c := range charts {
		if c != nil {
			list = append(list, *c)
		}
	}
	return list
}

func (g *group) numberTables(whole bool) []document.Block {
	main, aside := g.figureColumns(), g.kernelColumns() // what explains the metrics that decide is folded away
	if g.memoryDecides() {
		main = append(main, g.memoryColumns()...)
	} else {
		aside = append(aside, g.memoryColumns()...)
	}
	if whole {
		main = append(main, aside...)
	}
	list, note := []document.Block{g.table(main)}, g.estimates("~ marks")
	if !whole && g.Peak != "" {
		note = g.levels() + g.estimates(" ~ marks")
	}
	list = append(list, document.Text{Text: note, Style: document.Small})
	if folded := g.table(append(main[:1:1], aside...)); !whole && len(folded.Columns) > 1 {
		list = append(list, document.Folds{List: []document.Fold{{Summary: "CPU, scheduling and memory by value", Blocks: []document.Block{folded}}}})
	}
	return document.Some(append(list, g.withTrials().metricsTable(), g.withTrials().requestsTable())...)
}

// comparedSubject is what was compared: GOMAXPROCS, and the variables of --vary.
func comparedSubject(r *verdict.Result) string {
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

func comparedTable(parts []part) document.Table {
	t := document.Table{Columns: []document.Column{{Head: "Compared", Short: "compared", Left: true}, {Head: "Answer", Short: "answer", Left: true}}}
	for _, p := range parts {
		t.Rows = append(t.Rows, document.Row{Link: "#" + p.anchorID(), Cells: []document.Cell{{Value: p.sectionTitle()}, p.concluded().cell()}})
	}
	return t
}

// Write renders the Result into a directory that exists and returns the paths, the one to
// open first at the head. All of them are there afterwards, or none is changed.
func Write(dir string, r *verdict.Result) ([]string, error) {
	result, err := JSON(r)
	if err != nil {
		return nil, err
	}
	whole := Report(r)
	report, err := html.Render(whole)
	if err != nil {
		return nil, err
	}
	list := []folder.File{
		{Name: "report.html", Mode: folder.Shared, Content: report},
		{Name: "RESULTS.md", Mode: folder.Shared, Content: markdown.Render(whole)},
		{Name: "result.json", Mode: folder.Shared, Content: result},
		{Name: "reproduce.sh", Mode: folder.Script, Content: []byte(reproduce(r))},
	}
	if s := r.Settings; s != nil {
		list = append(list, folder.File{Name: s.Name, Mode: folder.Shared, Content: s.Text})
	}
	if r.Canary == nil && r.Live == nil { // whose slices are no benchmarks
		var trials bytes.Buffer
		if err := bench.Write(&trials, r); err != nil {
			return nil, err
		}
		list = append(list, folder.File{Name: "bench.txt", Mode: folder.Shared, Content: trials.Bytes()})
	}
	return folder.Write(dir, list...)
}
