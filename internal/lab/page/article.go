package page

import (
	"fmt"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Article is one article on one screen: what it claims, what holds here, what does not, what today's
// Go changed, and the command for a program of one's own.
func (v *Lab) Article(o *lab.Outcome, a lab.Article) *document.Document {
	d := &document.Document{Title: "Article " + a.ID + ": " + a.Title, Date: v.Started, Class: "lab"}
	var all tallies
	var not, today []Hypothesis
	runs := document.Table{Columns: []document.Column{{Head: "Experiment"}, {Head: "What runs", Left: true}, {Head: "Hypotheses", Left: true}}}
	for i := range o.Experiments {
		r := &o.Experiments[i]
		mine := *r
		mine.Hypotheses = nil
		var t tally
		for _, s := range r.Hypotheses {
			if r.Article(s) != a.ID {
				continue
			}
			mine.Hypotheses = append(mine.Hypotheses, s)
			switch {
			case s.Answer == lab.NotAsked:
			case s.Today:
				today = append(today, of(r.ID, s))
			case s.Answer == lab.DoesNotHold:
				not = append(not, of(r.ID, s))
			}
			if !s.Today {
				t.add(s.Answer)
			}
		}
		all.add(&mine)
		if said := t.row(); said != "" {
			runs.Rows = append(runs.Rows, document.Row{Cells: []document.Cell{{Value: r.ID}, {Value: phrase.Clean(r.Title)}, {Value: said}}})
		}
	}
	d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: "What it claims"}, document.List{Items: document.Items(a.Claims)},
		document.Heading{Level: 2, Text: "What holds here"}, document.Text{Text: phrase.Capital(all.sentence()), Style: document.Strong}, runs)
	if len(not) > 0 {
		d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: "What does not hold"}, hypotheses(not))
	}
	if len(today) > 0 {
		d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: "With today's Go"}, hypotheses(today))
	}
	d.Blocks = append(d.Blocks, document.Heading{Level: 2, Text: "Your own program"})
	for _, command := range a.Own {
		d.Blocks = append(d.Blocks, document.Code{Language: "console", Text: "$ " + command})
	}
	return d
}

// row is what an experiment's answers come to, what is not asked among them.
func (t tally) row() string {
	s := t.words()
	if t.elsewhere == 0 {
		return s
	}
	if s != "" {
		s += ", "
	}
	return s + fmt.Sprintf("%d not asked", t.elsewhere)
}

// of is a hypothesis among those of several experiments.
func of(experiment string, s lab.Answered) Hypothesis {
	h := hypothesis(s)
	h.Says = experiment + ": " + h.Says
	return h
}
