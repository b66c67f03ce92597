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
	"github.com/procfit/procfit/internal/verdict/page"
)

// Lab is a lab run's outcome, ready to be laid out.
type Lab struct {
	Started     string
	Progress    string // "2 of 5 experiments …"; empty when all is done
	Sentence    string // how many hypotheses hold
	Disturbed   string // that other programs took CPUs; empty when they did not
	Further     string // what more time would decide; empty: nothing is open
	Experiments []Experiment
	Larger      []Larger // machines that answer more
	Environment document.Pairs
	Command     string

	articles []lab.Article // whose hypotheses are in it
}

func articlePage(a lab.Article) string { return "article-" + a.ID + ".html" }

// Experiment is what one of them came to.
type Experiment struct {
	ID         string
	Title      string
	Document   string
	Claim      string // the document's own result, in its words
	Note       string // that it ran at small sizes, or is not complete
	NotRun     string // why nothing of it was run
	Page       string // its own page, relative to the index; empty: none
	Counts     string
	Hypotheses []Hypothesis // those that are asked here
	Elsewhere  []string     // sentences about the others
	Grid       figures      // without charts; no title: it has none
	Stages     []Stage
	Files      document.Pairs // to be looked at: what it is, and where, relative to the experiment's page
	Versions   bool           // it compares Go versions
}

// Hypothesis is what a document says, with what was measured.
type Hypothesis struct {
	State    document.Tone
	Label    string // holds, does not hold, undecided here
	Says     string
	Document string          // its own numbers
	On       string          // its machine that they are of, where it has several
	Here     string          // the measured ratio, with its interval
	Wanted   string          // from what to what the hypothesis holds
	Reason   string          // why it is undecided
	Strip    *document.Strip // what is wanted, what was measured, and the document's value; nil: nothing to draw
}

// Stage is one of an experiment's sweeps.
type Stage struct {
	Title  string
	Notes  []string
	Report string // the sweep's own report, relative to the experiment's page; empty: none
	Rows   []page.Multiples
	Over   bool // the document's curves lie over ours

	Versions bool // it compares Go versions, which are the titles of its tables
}

// New words an Outcome.
func New(o *lab.Outcome) *Lab {
	v := &Lab{Started: o.Started.UTC().Format("2 January 2006, 15:04 UTC"), Command: o.Spec.Shell()}
	var all tallies
	open := 0
	for i := range o.Experiments {
		r := &o.Experiments[i]
		e := newExperiment(r)
		v.Experiments = append(v.Experiments, e)
		for j := range r.Hypotheses {
			all.add(&r.Hypotheses[j], r.OfArticle())
		}
		if !r.Complete {
			open++
		}
	}
	for _, a := range lab.Articles() {
		of := func(r lab.Ran) bool {
			return slices.ContainsFunc(r.Hypotheses, func(s lab.Answered) bool { return r.Article(s) == a.ID })
		}
		if slices.ContainsFunc(o.Experiments, of) {
			v.articles = append(v.articles, a)
		}
	}
	if open > 0 {
		v.Progress = fmt.Sprintf("%s of %d not complete. Run the same command with this directory as --out to run the rest.", phrase.Count(open, "experiment"), len(o.Experiments))
	}
	v.Disturbed, v.Further, v.Larger = disturbed(o), further(o), larger(o)
	v.Sentence = phrase.Capital(all.sentence())
	v.Environment = document.Pairs{
		{Name: "CPU", Value: o.Host.CPUModel},
		{Name: "CPUs", Value: fmt.Sprintf("%d online, %s usable", o.Host.CPUs, number.Short(number.Significant(o.Host.EffectiveCPUs, number.Digits)))},
		{Name: "System", Value: o.Host.OS + "/" + o.Host.Arch + " " + o.Host.Kernel},
		{Name: "Cgroups", Value: o.Host.CgroupMode},
		{Name: "procfit", Value: o.Tool.Version + ", built with " + o.Tool.GoVersion},
	}
	return v
}

// Several is what a terminal gets of the runs of several machines that lab.Join made one.
func Several(machines []*lab.Machine) *document.Document {
	v := New(lab.Join(machines))
	d := v.Brief()
	d.Title = fmt.Sprintf("The articles' experiments, run on %s", phrase.Count(len(machines), "machine"))
	var list document.Pairs
	for _, m := range machines {
		about := fmt.Sprintf("%s, %s, %s, %s", number.CPUs(m.Host.EffectiveCPUs), m.Host.CPUModel, m.Started.UTC().Format("2 January 2006"), m.Tool.GoVersion)
		if m.Skipped > 0 {
			about += "; skipped: " + phrase.CountOf(m.Skipped, "hypothesis that the newest run asks", "hypotheses that the newest run asks") + " in another way"
		}
		list = append(list, document.Pair{Name: m.Name, Value: about})
	}
	d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: "Machines"}, list)
	return d
}

// tally counts answers.
type tally struct{ holds, not, bound, open, elsewhere int }

func (t *tally) add(a lab.Answer) {
	switch a {
	case lab.Holds:
		t.holds++
	case lab.DoesNotHold:
		t.not++
	case lab.AtBound:
		t.bound++
	case lab.NotAsked:
		t.elsewhere++
	default:
		t.open++
	}
}

// tallies are those of the articles' questions, of what they say with today's Go, and of questions that
// are of no article.
type tallies struct{ article, today, other tally }

func (t *tallies) add(a *lab.Answered, ofArticle bool) {
	switch {
	case !ofArticle:
		t.other.add(a.Answer)
	case a.Today:
		t.today.add(a.Answer)
	default:
		t.article.add(a.Answer)
	}
}

// sentence is what they come to. What is not asked is counted once, at its end.
func (t *tallies) sentence() string {
	var parts []string
	for _, p := range []struct {
		tally
		of string
	}{{t.article, "of the articles"}, {t.today, "about the same with today's Go"}, {t.other, "of other sources"}} {
		if asked := p.holds + p.not + p.bound + p.open; asked > 0 {
			parts = append(parts, phrase.CountOf(asked, "hypothesis ", "hypotheses ")+p.of+": "+p.words())
		}
	}
	if n := t.article.elsewhere + t.today.elsewhere + t.other.elsewhere; n > 0 {
		parts = append(parts, phrase.CountOf(n, "hypothesis is not asked here", "hypotheses are not asked here"))
	}
	if parts == nil {
		return "no hypothesis."
	}
	return strings.Join(parts, ". ") + "."
}

func (t tally) words() string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{{t.holds, "holds", "hold"}, {t.not, "does not hold", "do not hold"}, {t.bound, "is at its bound", "are at their bounds"}, {t.open, "is undecided", "are undecided"}} {
		if p.n > 0 {
			parts = append(parts, phrase.CountOf(p.n, p.one, p.many))
		}
	}
	return strings.Join(parts, ", ")
}

func newExperiment(r *lab.Ran) Experiment {
	e := Experiment{
		ID: r.ID, Title: r.Title, Document: documentName(r.Document), Claim: r.Claim, NotRun: lead(r.NotRun),
	}
	var notes []string
	if r.Quick {
		notes = append(notes, "small sizes (--quick)")
	}
	if !r.Complete && r.NotRun == "" {
		notes = append(notes, "not complete")
	}
	e.Note = strings.Join(notes, ", ")
	var t tally
	for _, s := range r.Hypotheses {
		if t.add(s.Answer); s.Answer != lab.NotAsked {
			e.Hypotheses = append(e.Hypotheses, hypothesis(s))
		}
	}
	e.Counts, e.Elsewhere = t.words(), elsewhere(r)
	if known, err := lab.Find(r.ID); err == nil {
		e.Grid = grid(known.Grid(r.Measured))
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		e.Versions = e.Versions || len(s.Versions) > 0
		e.Stages = append(e.Stages, stage(r.ID, s, r.Measured[s.ID]))
	}
	for _, f := range r.Files {
		e.Files = append(e.Files, document.Pair{Name: f.Title, Value: strings.TrimPrefix(f.Path, r.ID+"/")})
	}
	if slices.ContainsFunc(e.Stages, func(s Stage) bool { return s.Report != "" }) {
		e.Page = path.Join(r.ID, "index.html")
	}
	return e
}

func documentName(s string) string {
	if s != "" && s[0] >= '0' && s[0] <= '9' {
		if strings.Contains(s, ",") {
			return "articles " + s
		}
		return "article " + s
	}
	return s
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
	v := New(o)
	index, err := html.Render(v.Index())
	if err != nil {
		return err
	}
	list := []folder.File{
		{Name: "index.html", Mode: folder.Shared, Content: index},
		{Name: "RESULTS.md", Mode: folder.Shared, Content: markdown.Render(v.Results())},
	}
	for i := range v.Experiments {
		e := &v.Experiments[i]
		if e.Page == "" {
			continue
		}
		content, err := html.Render(v.page(e))
		if err != nil {
			return err
		}
		list = append(list, folder.File{Name: e.Page, Mode: folder.Shared, Content: content})
	}
	for _, a := range v.articles {
		content, err := html.Render(Article(o, a))
		if err != nil {
			return err
		}
		list = append(list, folder.File{Name: articlePage(a), Mode: folder.Shared, Content: content})
	}
	_, err = folder.Write(dir, list...)
	return err
}
