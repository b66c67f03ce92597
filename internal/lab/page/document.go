package page

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
)

const title = "The articles' experiments, run here"

// Index is a lab run at a glance, which leads to the page of each experiment.
func Index(o *lab.Outcome) *document.Document {
	d := newDocument(title, o)
	if text := incomplete(o, thisRun); text != "" {
		d.Add(document.Alert{Text: text})
	}
	outcome := document.Panel{Name: "Outcome", Tone: document.Unknown, Level: 2, Sentence: concluded(o)}
	outcome.Blocks = append(outcome.Blocks, document.Text{Text: disturbed(o), Tone: document.Attention}, document.Text{Text: further(o, thisRun)}, document.Text{Style: document.Muted,
		Text: "A hypothesis holds if the whole 95% interval of the measured ratio is within its bounds, and does not hold if the whole interval is outside. It is undecided if the interval crosses a bound. The intervals hold however often one looks at them."})
	d.Add(outcome)
	if articles := articlesOf(o); len(articles) > 0 {
		var links document.Links
		for _, a := range articles {
			links = append(links, document.Link{Text: "article " + a.ID + ": " + a.Title, To: articlePage(a)})
		}
		d.Add(document.Heading{Level: 2, Text: "Articles"}, links)
	}
	all := document.Table{Columns: []document.Column{{Head: "Experiment"}, {Head: "What runs", Left: true}, {Head: "From", Left: true}, {Head: "Hypotheses", Left: true}}}
	var answers []document.Block
	for i := range o.Experiments {
		r := &o.Experiments[i]
		hypotheses, counts := asked(r)
		held := document.Cell{Value: "none"}
		switch {
		case r.NotRun != "":
			held = document.Cell{Value: "not run", Detail: lead(r.NotRun)}
		case counts != "":
			held = document.Cell{Value: counts, To: "#" + r.ID}
		}
		all.Rows = append(all.Rows, document.Row{Link: pageOf(r), Cells: []document.Cell{{Value: r.ID}, {Value: r.Title, Detail: noteOf(r).Text}, {Value: lab.DocumentName(r.Document)}, held}})
		if hypotheses != nil {
			answers = append(answers, document.Heading{Level: 3, Text: r.ID, Note: r.Title, ID: r.ID, To: pageOf(r)})
			answers = append(append(answers, hypotheses...), elsewhere(r)...)
		}
	}
	d.Add(document.Heading{Level: 2, Text: "Experiments"}, all, document.Heading{Level: 2, Text: "Hypotheses"})
	d.Add(answers...)
	d.Add(largerList(o)...)
	d.Add(environment(o)...)
	d.Add(commandOf(o))
	return d
}

// Results are a lab run whole, all experiments in one.
func Results(o *lab.Outcome) *document.Document {
	d := newDocument(title, o)
	d.Add(document.Text{Text: concluded(o), Style: document.Strong})
	for _, s := range alerts(o, thisRun) {
		d.Add(document.Alert{Text: s})
	}
	for i := range o.Experiments {
		r := &o.Experiments[i]
		from := "From " + lab.DocumentName(r.Document) + ": " + r.Title + "."
		if r.Claim != "" {
			from += " Its result: " + r.Claim + "."
		}
		d.Add(document.Heading{Level: 2, Text: r.ID}, document.Text{Text: from}, noteOf(r))
		if r.NotRun != "" {
			d.Add(document.Text{Text: "not run: " + lead(r.NotRun)})
			continue
		}
		d.Add(whatHolds(r)...)
		for _, s := range stagesOf(r) {
			d.Add(s.blocks(3, s.title, r.ID)...)
		}
	}
	d.Add(largerList(o)...)
	d.Add(environment(o)...)
	d.Add(commandOf(o))
	return d
}

func experimentPage(o *lab.Outcome, r *lab.Ran) *document.Document {
	d := newDocument(r.ID, o)
	d.Home = &document.Link{Text: "The lab", To: "../index.html"}
	about := document.Panel{Name: "Experiment", Label: lab.DocumentName(r.Document), Level: 2, Sentence: r.Title}
	if r.Claim != "" {
		about.Blocks = append(about.Blocks, document.Text{Text: "The article's result: " + r.Claim})
	}
	about.Blocks = append(about.Blocks, noteOf(r))
	d.Add(about)
	if hypotheses, _ := asked(r); hypotheses != nil {
		d.Add(document.Heading{Level: 2, Text: "Hypotheses"})
		d.Add(hypotheses...)
	}
	d.Add(elsewhere(r)...)
	if len(r.Files) > 0 {
		d.Add(document.Heading{Level: 2, Text: "To look at"})
		d.Add(filesOf(r, r.ID)...)
	}
	d.Add(gridOf(r, 2)...)
	for _, s := range stagesOf(r) {
		d.Add(s.blocks(2, cmp.Or(s.title, "Measured"), "")...)
	}
	d.Add(document.Text{Style: document.Small,
		Text: "The charts of an experiment share one scale. Large dots are medians with 95% intervals, small dots are single trials. A table shows median × (lowest ÷ median, highest ÷ median), as article 002 does."})
	d.Add(environment(o)...)
	return d
}

// Brief is what a terminal gets of a lab run. The figures of an experiment by Go version
// are in it always: they are in a document's own notation.
func Brief(o *lab.Outcome) *document.Document { return brief(o, thisRun) }

func brief(o *lab.Outcome, again string) *document.Document {
	d := newDocument(title, o)
	for i := range o.Experiments {
		r := &o.Experiments[i]
		d.Add(document.Heading{Level: 2, Text: r.ID, Note: r.Title + " (" + lab.DocumentName(r.Document) + ")"}, noteOf(r))
		if r.NotRun != "" {
			d.Add(document.List{Items: document.Items([]string{"not run: " + lead(r.NotRun)})})
			continue
		}
		d.Add(whatHolds(r)...)
		stages := stagesOf(r)
		versions := slices.ContainsFunc(stages, func(s stageWords) bool { return s.versions })
		for _, s := range stages {
			if !versions && len(o.Experiments) > mostWithTables {
				s.rows = nil
			}
			d.Add(s.brief()...)
		}
	}
	d.Add(largerList(o)...)
	d.Add(document.Text{Text: concluded(o), Style: document.Strong})
	var notes document.Notes
	for _, s := range alerts(o, again) {
		notes = append(notes, document.Note{Message: s})
	}
	d.Add(notes)
	return d
}

// mostWithTables is how many experiments a run has at most whose figures are all
// printed.
const mostWithTables = 2

func newDocument(title string, o *lab.Outcome) *document.Document {
	return &document.Document{Title: title, Date: document.Date(o.Started), Parts: true, Class: "lab"}
}

func alerts(o *lab.Outcome, again string) []string {
	return slices.DeleteFunc([]string{incomplete(o, again), disturbed(o), further(o, again)}, func(s string) bool { return s == "" })
}

func environment(o *lab.Outcome) []document.Block {
	return []document.Block{document.Heading{Level: 2, Text: "Environment", ID: "environment"}, document.Pairs{
		{Name: "CPU", Value: o.Host.CPUModel},
		{Name: "CPUs", Value: fmt.Sprintf("%d online, %s usable", o.Host.CPUs, number.Short(number.Significant(o.Host.EffectiveCPUs, number.Digits)))},
		{Name: "System", Value: o.Host.OS + "/" + o.Host.Arch + " " + o.Host.Kernel},
		{Name: "Cgroups", Value: o.Host.CgroupMode},
		{Name: "procfit", Value: o.Tool.Version + ", built with " + o.Tool.GoVersion},
	}}
}

func commandOf(o *lab.Outcome) document.Code {
	return document.Code{Title: "The command", Language: "sh", Text: o.Spec.Shell()}
}

// whatHolds is what is known of an experiment but its sweeps, as seen from the folder above it.
func whatHolds(r *lab.Ran) []document.Block {
	hypotheses, _ := asked(r)
	return slices.Concat(hypotheses, elsewhere(r), filesOf(r, ""), gridOf(r, 3))
}

// filesOf are an experiment's files to look at, from a folder: its own, or the one above it.
func filesOf(r *lab.Ran, folder string) []document.Block {
	if len(r.Files) == 0 {
		return nil
	}
	var list document.Links
	for _, f := range r.Files {
		to := f.Path
		if folder != "" {
			to = strings.TrimPrefix(to, folder+"/")
		}
		list = append(list, document.Link{Text: f.Title, To: to})
	}
	return []document.Block{list}
}

// blocks are a stage under its title, as seen from a folder above the experiment's or, without
// one, its own.
func (s stageWords) blocks(level int, title, folder string) (list []document.Block) {
	if title != "" {
		list = append(list, document.Heading{Level: level, Text: title})
		level++
	}
	if len(s.notes) > 0 {
		list = append(list, document.List{Items: document.Items(s.notes)})
	}
	if s.over && folder == "" {
		list = append(list, document.Text{Text: "Hollow dots are the article's numbers, scaled to equal ours at one P: dashed for its laptop, dotted for its server.", Style: document.Small})
	}
	if s.report != "" {
		list = append(list, document.Links{{Text: "The report of this sweep", To: path.Join(folder, s.report)}})
	}
	for _, f := range s.tables() {
		list = append(list, figures(f, level)...)
	}
	return list
}

// brief is a stage whose title is before its notes and metrics.
func (s stageWords) brief() (list []document.Block) {
	var notes []string
	for _, n := range s.notes {
		if s.title != "" {
			n = s.title + ": " + n
		}
		notes = append(notes, n)
	}
	if len(notes) > 0 {
		list = append(list, document.List{Items: document.Items(notes)})
	}
	for _, f := range s.tables() {
		title := f.Title
		if s.title != "" && !s.versions {
			title = s.title + ": " + title
		}
		list = append(list, document.Heading{Level: 3, Text: title}, f.Table)
	}
	return list
}
