package page

import (
	"path"
	"slices"

	"github.com/procfit/procfit/internal/show/document"
)

const title = "The articles' experiments, run here"

// Index is a lab run at a glance, which leads to the page of each experiment.
func (v *Lab) Index() *document.Document {
	d := v.document(title)
	if v.Progress != "" {
		d.Blocks = append(d.Blocks, document.Alert{Text: v.Progress})
	}
	outcome := document.Panel{Name: "Outcome", Tone: document.Unknown, Level: 2, Sentence: v.Sentence}
	if v.Disturbed != "" {
		outcome.Blocks = append(outcome.Blocks, document.Text{Text: v.Disturbed, Tone: document.Attention})
	}
	if v.Further != "" {
		outcome.Blocks = append(outcome.Blocks, document.Text{Text: v.Further})
	}
	outcome.Blocks = append(outcome.Blocks, document.Text{Style: document.Muted,
		Text: "A hypothesis holds if the whole 95% interval of the measured ratio is within its bounds, and does not hold if the whole interval is outside. It is undecided if the interval crosses a bound. The intervals hold however often one looks at them."})
	all := document.Table{Columns: []document.Column{{Head: "Experiment"}, {Head: "What runs", Left: true}, {Head: "From", Left: true}, {Head: "Hypotheses", Left: true}}}
	var answers []document.Block
	for _, e := range v.Experiments {
		held := document.Cell{Value: "none"}
		switch {
		case e.NotRun != "":
			held = document.Cell{Value: "not run", Detail: e.NotRun}
		case e.Counts != "":
			held = document.Cell{Value: e.Counts, To: "#" + e.ID}
		}
		all.Rows = append(all.Rows, document.Row{Link: e.Page, Cells: []document.Cell{{Value: e.ID}, {Value: e.Title, Detail: e.Note}, {Value: e.Document}, held}})
		if len(e.Hypotheses) > 0 {
			answers = append(answers, document.Heading{Level: 3, Text: e.ID, Note: e.Title, ID: e.ID, To: e.Page}, hypotheses(e.Hypotheses))
			answers = append(answers, e.elsewhere()...)
		}
	}
	d.Blocks = append(d.Blocks, outcome)
	if len(v.articles) > 0 {
		var links document.Links
		for _, a := range v.articles {
			links = append(links, document.Link{Text: "article " + a.ID + ": " + a.Title, To: articlePage(a)})
		}
		d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: "Articles"}, links)
	}
	d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: "Experiments"}, all, document.Heading{Level: 2, Text: "Hypotheses"})
	d.Blocks = append(d.Blocks, answers...)
	d.Blocks = append(d.Blocks, largerList(v.Larger)...)
	v.end(d, true)
	return d
}

// Results are a lab run whole, all experiments in one.
func (v *Lab) Results() *document.Document {
	d := v.document(title)
	d.Blocks = append(d.Blocks, document.Text{Text: v.Sentence, Style: document.Strong})
	for _, s := range v.alerts() {
		d.Blocks = append(d.Blocks, document.Alert{Text: s})
	}
	for i := range v.Experiments {
		e := &v.Experiments[i]
		from := "From " + e.Document + ": " + e.Title + "."
		if e.Claim != "" {
			from += " Its result: " + e.Claim + "."
		}
		d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: e.ID}, document.Text{Text: from})
		if e.Note != "" {
			d.Blocks = append(d.Blocks, document.Text{Text: e.Note, Style: document.Muted})
		}
		if e.NotRun != "" {
			d.Blocks = append(d.Blocks, document.Text{Text: "not run: " + e.NotRun})
			continue
		}
		if len(e.Hypotheses) > 0 {
			d.Blocks = append(d.Blocks, hypotheses(e.Hypotheses))
		}
		d.Blocks = append(d.Blocks, e.elsewhere()...)
		d.Blocks = append(d.Blocks, e.links(e.ID)...)
		d.Blocks = append(d.Blocks, e.Grid.blocks(3)...)
		for _, s := range e.Stages {
			d.Blocks = append(d.Blocks, s.blocks(3, s.Title, e.ID)...)
		}
	}
	d.Blocks = append(d.Blocks, largerList(v.Larger)...)
	v.end(d, true)
	return d
}

// page is one experiment's.
func (v *Lab) page(e *Experiment) *document.Document {
	d := v.document(e.ID)
	d.Home = &document.Link{Text: "The lab", To: "../index.html"}
	about := document.Panel{Name: "Experiment", Label: e.Document, Level: 2, Sentence: e.Title}
	if e.Claim != "" {
		about.Blocks = append(about.Blocks, document.Text{Text: "The article's result: " + e.Claim})
	}
	if e.Note != "" {
		about.Blocks = append(about.Blocks, document.Text{Text: e.Note, Style: document.Muted})
	}
	d.Blocks = append(d.Blocks, about)
	if len(e.Hypotheses) > 0 {
		d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: "Hypotheses"}, hypotheses(e.Hypotheses))
	}
	d.Blocks = append(d.Blocks, e.elsewhere()...)
	if len(e.Files) > 0 {
		d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: "To look at"})
		d.Blocks = append(d.Blocks, e.links("")...)
	}
	d.Blocks = append(d.Blocks, e.Grid.blocks(2)...)
	for _, s := range e.Stages {
		title := s.Title
		if title == "" {
			title = "Measured"
		}
		d.Blocks = append(d.Blocks, s.blocks(2, title, "")...)
	}
	d.Blocks = append(d.Blocks, document.Text{Style: document.Small,
		Text: "The charts of an experiment share one scale. Large dots are medians with 95% intervals, small dots are single trials. A table shows median × (lowest ÷ median, highest ÷ median), as article 002 does."})
	v.end(d, false)
	return d
}

// Brief is what a terminal gets of a lab run. The figures of an experiment by Go version
// are in it always: they are in a document's own notation.
func (v *Lab) Brief() *document.Document {
	d := v.document(title)
	for i := range v.Experiments {
		e := &v.Experiments[i]
		d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: e.ID, Note: e.Title + " (" + e.Document + ")"})
		if e.Note != "" {
			d.Blocks = append(d.Blocks, document.Text{Text: e.Note, Style: document.Muted})
		}
		if e.NotRun != "" {
			d.Blocks = append(d.Blocks, document.List{Items: document.Items([]string{"not run: " + e.NotRun})})
			continue
		}
		if len(e.Hypotheses) > 0 {
			d.Blocks = append(d.Blocks, hypotheses(e.Hypotheses))
		}
		d.Blocks = append(d.Blocks, e.elsewhere()...)
		d.Blocks = append(d.Blocks, e.links(e.ID)...)
		d.Blocks = append(d.Blocks, e.Grid.blocks(3)...)
		for _, s := range e.Stages {
			if !e.Versions && len(v.Experiments) > mostWithTables {
				s.Rows = nil
			}
			d.Blocks = append(d.Blocks, s.brief()...)
		}
	}
	d.Blocks = append(d.Blocks, largerList(v.Larger)...)
	d.Blocks = append(d.Blocks, document.Text{Text: v.Sentence, Style: document.Strong})
	var notes document.Notes
	for _, s := range v.alerts() {
		notes = append(notes, document.Note{Message: s})
	}
	d.Blocks = append(d.Blocks, notes)
	return d
}

// mostWithTables is how many experiments a run has at most whose figures are all
// printed.
const mostWithTables = 2

func (v *Lab) document(title string) *document.Document {
	return &document.Document{Title: title, Date: v.Started, Parts: true, Class: "lab"}
}

// alerts are what weakens all of it.
func (v *Lab) alerts() []string {
	return slices.DeleteFunc([]string{v.Progress, v.Disturbed, v.Further}, func(s string) bool { return s == "" })
}

func (v *Lab) end(d *document.Document, command bool) {
	d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: "Environment", ID: "environment"}, v.Environment)
	if command {
		d.Blocks = append(d.Blocks, document.Code{Title: "The command", Language: "sh", Text: v.Command})
	}
}

// elsewhere are the sentences about what is not asked here.
func (e *Experiment) elsewhere() (list []document.Block) {
	for _, s := range e.Elsewhere {
		list = append(list, document.Text{Text: s, Style: document.Muted})
	}
	return list
}

// links are the experiment's files, from a folder above it or its own.
func (e *Experiment) links(folder string) []document.Block {
	if len(e.Files) == 0 {
		return nil
	}
	var list document.Links
	for _, f := range e.Files {
		list = append(list, document.Link{Text: f.Name, To: path.Join(folder, f.Value)})
	}
	return []document.Block{list}
}

// blocks are a stage under its title, as seen from a folder above the experiment's or, without
// one, its own.
func (s Stage) blocks(level int, title, folder string) (list []document.Block) {
	if title != "" {
		list = append(list, document.Heading{Level: level, Text: title})
		level++
	}
	if len(s.Notes) > 0 {
		list = append(list, document.List{Items: document.Items(s.Notes)})
	}
	if s.Over && folder == "" {
		list = append(list, document.Text{Text: "Hollow dots are the article's numbers, scaled to equal ours at one P: dashed for its laptop, dotted for its server.", Style: document.Small})
	}
	if s.Report != "" {
		list = append(list, document.Links{{Text: "The report of this sweep", To: path.Join(folder, s.Report)}})
	}
	for _, f := range s.tables() {
		list = append(list, f.blocks(level)...)
	}
	return list
}

// brief is a stage whose title is before its notes and metrics.
func (s Stage) brief() (list []document.Block) {
	var notes []string
	for _, n := range s.Notes {
		if s.Title != "" {
			n = s.Title + ": " + n
		}
		notes = append(notes, n)
	}
	if len(notes) > 0 {
		list = append(list, document.List{Items: document.Items(notes)})
	}
	for _, f := range s.tables() {
		title := f.Title
		if s.Title != "" && !s.Versions {
			title = s.Title + ": " + title
		}
		list = append(list, document.Heading{Level: 3, Text: title}, f.Table)
	}
	return list
}

// hypotheses are what a document says, each with what was measured.
func hypotheses(list []Hypothesis) document.Table {
	t := document.Table{Prose: true, StripHead: "▮ expected ● measured ◇ article", StripAfter: 2, Columns: []document.Column{
		{Head: "Answer", Left: true}, {Head: "What the article says", Left: true}, {Head: "Measured here", Short: "here", Left: true}, {Head: "The article's numbers", Short: "article:", Left: true},
	}}
	for _, h := range list {
		here := document.Cell{Value: h.Here}
		if h.Wanted != "" {
			here.Detail = "expected " + h.Wanted
		}
		t.Rows = append(t.Rows, document.Row{Tone: h.State, Strip: h.Strip, Cells: []document.Cell{{Value: h.Label}, {Value: h.Says, Detail: h.Reason}, here, {Value: h.Document, Tag: h.On}}})
	}
	return t
}
