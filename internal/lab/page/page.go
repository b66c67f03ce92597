// Package page makes documents of a lab run: its index, a page for each experiment, all in
// one, and a short one for a terminal. What a single sweep came to is shown as verdict/page
// shows it.
package page

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

func articlePage(a lab.Article) string { return "article-" + a.ID + ".html" }

func articlesOf(o *lab.Outcome) (list []lab.Article) {
	for _, a := range lab.Articles() {
		if quoted(o, a.ID, nil) != nil {
			list = append(list, a)
		}
	}
	return list
}

// concluded is how many hypotheses hold.
func concluded(o *lab.Outcome) string {
	var all tallies
	for i := range o.Experiments {
		r := &o.Experiments[i]
		for j := range r.Hypotheses {
			all.add(&r.Hypotheses[j], r.OfArticle())
		}
	}
	return phrase.Capital(all.sentence())
}

// How a run continues, of one and of those that lab.Join made one.
const (
	thisRun  = "run the same command with this directory as --out"
	theirRun = "on their machine, run the same command with its directory as --out"
)

// incomplete is "2 experiments of 5 not complete …"; empty: all is done.
func incomplete(o *lab.Outcome, again string) string {
	open := 0
	for i := range o.Experiments {
		if !o.Experiments[i].Complete {
			open++
		}
	}
	if open == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %d not complete. %s to run the rest.", phrase.Count(open, "experiment"), len(o.Experiments), phrase.Capital(again))
}

// Several is what a terminal gets of the runs of several machines that lab.Join made one.
func Several(machines []*lab.Machine) *document.Document {
	d := brief(lab.Join(machines), theirRun)
	d.Title = fmt.Sprintf("The articles' experiments, run on %s", phrase.Count(len(machines), "machine"))
	var list document.Pairs
	for _, m := range machines {
		about := fmt.Sprintf("%s, %s, %s, %s", number.CPUs(m.Host.EffectiveCPUs), m.Host.CPUModel, m.Started.UTC().Format("2 January 2006"), m.Tool.GoVersion)
		if m.Skipped > 0 {
			about += "; skipped: " + phrase.CountOf(m.Skipped, "hypothesis that the newest run asks", "hypotheses that the newest run asks") + " in another way"
		}
		list = append(list, document.Pair{Name: m.Name, Value: about})
	}
	d.Add(document.Heading{Level: 2, Text: "Machines"}, list)
	return d
}

type tally map[lab.Answer]int

// add counts an answer. One that is not known is undecided.
func (t tally) add(a lab.Answer) {
	switch a {
	case lab.Holds, lab.DoesNotHold, lab.AtBound, lab.NotAsked:
	default:
		a = lab.Undecided
	}
	t[a]++
}

func (t tally) asked() int {
	return t[lab.Holds] + t[lab.DoesNotHold] + t[lab.AtBound] + t[lab.Undecided]
}

func (t tally) words() string {
	var parts []string
	for _, p := range []struct {
		answer    lab.Answer
		one, many string
	}{{lab.Holds, "holds", "hold"}, {lab.DoesNotHold, "does not hold", "do not hold"}, {lab.AtBound, "is at its bound", "are at their bounds"}, {lab.Undecided, "is undecided", "are undecided"}} {
		if n := t[p.answer]; n > 0 {
			parts = append(parts, phrase.CountOf(n, p.one, p.many))
		}
	}
	return strings.Join(parts, ", ")
}

// tallies are those of the articles' questions, of what they say with today's Go, and of questions that
// are of no article.
type tallies [len(whose)]tally

var whose = [...]string{"of the articles", "about the same with today's Go", "of other sources"}

func (t *tallies) add(a *lab.Answered, ofArticle bool) {
	of := 0
	switch {
	case !ofArticle:
		of = 2
	case a.Today:
		of = 1
	}
	if t[of] == nil {
		t[of] = tally{}
	}
	t[of].add(a.Answer)
}

// sentence is what they come to. What is not asked is counted once, at its end.
func (t *tallies) sentence() string {
	var parts []string
	elsewhere := 0
	for i, p := range t {
		elsewhere += p[lab.NotAsked]
		if asked := p.asked(); asked > 0 {
			parts = append(parts, phrase.CountOf(asked, "hypothesis ", "hypotheses ")+whose[i]+": "+p.words())
		}
	}
	if elsewhere > 0 {
		parts = append(parts, phrase.CountOf(elsewhere, "hypothesis is not asked here", "hypotheses are not asked here"))
	}
	if parts == nil {
		return "no hypothesis."
	}
	return strings.Join(parts, ". ") + "."
}

// noteOf is that an experiment ran at small sizes, or is not complete.
func noteOf(r *lab.Ran) document.Text {
	var notes []string
	if r.Quick {
		notes = append(notes, "small sizes (--quick)")
	}
	if !r.Complete && r.NotRun == "" {
		notes = append(notes, "not complete")
	}
	return document.Text{Text: strings.Join(notes, ", "), Style: document.Muted}
}

// asked are the hypotheses that are asked here, each with what was measured, and what they come to;
// nil: none is.
func asked(r *lab.Ran) (list []document.Block, counts string) {
	t := tally{}
	var rows []document.Row
	for _, s := range r.Hypotheses {
		if t.add(s.Answer); s.Answer != lab.NotAsked {
			rows = append(rows, hypothesis(s))
		}
	}
	if rows != nil {
		list = []document.Block{document.Table{Prose: true, StripHead: "▮ expected ● measured ◇ article", StripAfter: 2, Rows: rows, Columns: []document.Column{
			{Head: "Answer", Left: true}, {Head: "What the article says", Left: true}, {Head: "Measured here", Short: "here", Left: true}, {Head: "The article's numbers", Short: "article:", Left: true},
		}}}
	}
	return list, t.words()
}

// gridOf is the figure by two numbers that an experiment has.
func gridOf(r *lab.Ran, level int) []document.Block {
	e, _ := lab.Find(r.ID) // one that is not known has none
	return figures(grid(e.Grid(r.Measured)), level)
}

func stagesOf(r *lab.Ran) (list []stageWords) {
	for i := range r.Stages {
		list = append(list, stage(r.ID, &r.Stages[i], r.Measured[r.Stages[i].ID]))
	}
	return list
}

// pageOf is an experiment's own page, relative to the index; empty: it has none.
func pageOf(r *lab.Ran) string {
	if slices.ContainsFunc(r.Stages, func(s lab.RanStage) bool { return reportOf(r.ID, &s, r.Measured[s.ID]) != "" }) {
		return path.Join(r.ID, "index.html")
	}
	return ""
}

func disturbed(o *lab.Outcome) string {
	sweeps, ran, most, of := 0, 0, 0.0, o.Host.EffectiveCPUs
	for _, e := range o.Experiments {
		for _, s := range e.Stages {
			if s.Run == 0 {
				continue
			}
			ran++
			if !s.Disturbed(o.Host.EffectiveCPUs) || s.OtherCPUs == nil {
				continue
			}
			if sweeps++; *s.OtherCPUs > most {
				most, of = *s.OtherCPUs, s.Of(o.Host.EffectiveCPUs)
			}
		}
	}
	if sweeps == 0 {
		return ""
	}
	return fmt.Sprintf("Other programs used up to %s of the %s CPUs during %d of %s, so hypotheses about times are undecided there: stop the other programs and run it again.",
		number.Short(number.Significant(most, 2)), number.Count(of), sweeps, phrase.Count(ran, "sweep"))
}

// Write renders a lab run into its directory: index.html, RESULTS.md, and a page for
// each experiment, in a directory that exists where it was run.
func Write(dir string, o *lab.Outcome) error {
	list := []folder.File{{Name: "RESULTS.md", Mode: folder.Shared, Content: markdown.Render(Results(o))}}
	add := func(name string, d *document.Document) error {
		content, err := html.Render(d)
		list = append(list, folder.File{Name: name, Mode: folder.Shared, Content: content})
		return err
	}
	if err := add("index.html", Index(o)); err != nil {
		return err
	}
	for i := range o.Experiments {
		if name := pageOf(&o.Experiments[i]); name != "" {
			if err := add(name, experimentPage(o, &o.Experiments[i])); err != nil {
				return err
			}
		}
	}
	for _, a := range articlesOf(o) {
		if err := add(articlePage(a), Article(o, a)); err != nil {
			return err
		}
	}
	_, err := folder.Write(dir, list...)
	return err
}
