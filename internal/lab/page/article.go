package page

import (
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// quoted are the hypotheses that quote an article, of some of its experiments; nil: of all.
func quoted(o *lab.Outcome, article string, of []string) (list []quote) {
	for i := range o.Experiments {
		r := &o.Experiments[i]
		if of != nil && !slices.Contains(of, r.ID) {
			continue
		}
		for _, h := range r.Hypotheses {
			if r.Article(h) == article {
				list = append(list, quote{r.ID, h})
			}
		}
	}
	return list
}

type quote struct {
	experiment string
	lab.Answered
}

// String is what it says and what was measured, in one sentence.
func (q quote) String() string {
	s := q.experiment + ": " + q.Says
	if m := q.Measured.Value; m != nil {
		s += fmt.Sprintf(" (here %s, expected %s)", number.Figure(*m), wanted(q.Answered))
	}
	return s
}

// Article is one article on one screen: what it claims and how much of that holds here, what does not,
// what today's Go changed, and the command for a program of one's own.
func Article(o *lab.Outcome, a lab.Article) *document.Document {
	d := &document.Document{Title: "Article " + a.ID + ": " + a.Title, Date: document.Date(o.Started), Class: "lab"}
	claims := document.Table{Prose: true, Columns: []document.Column{{Head: "Holds here", Left: true}, {Head: "What it claims", Left: true}}}
	var all tallies
	for _, c := range a.Claims {
		t := tally{}
		for _, q := range quoted(o, a.ID, c.Of) {
			all.add(&q.Answered, true)
			if !q.Today {
				t.add(q.Answer)
			}
		}
		claims.Rows = append(claims.Rows, t.claim(c.Says))
	}
	var not, today []string
	for _, q := range quoted(o, a.ID, nil) {
		switch {
		case q.Answer == lab.NotAsked:
		case q.Today:
			today = append(today, label(q.Answer)+": "+q.String())
		case q.Answer == lab.DoesNotHold:
			not = append(not, q.String())
		}
	}
	d.Add(document.Text{Text: phrase.Capital(all.sentence())}, claims)
	for _, part := range []struct {
		title string
		items []string
	}{{"What does not hold", not}, {"With today's Go", today}} {
		if len(part.items) > 0 {
			d.Add(document.Heading{Level: 2, Text: part.title}, document.List{Items: document.Items(part.items)})
		}
	}
	var own document.List
	for _, o := range a.Own {
		own.Items = append(own.Items, document.Item{Text: o.Does, Command: o.Command})
	}
	d.Add(document.Heading{Level: 2, Text: "Your own program"}, own)
	return d
}

// claim is a claim with how many of its hypotheses hold, of those that are asked here.
func (t tally) claim(says string) document.Row {
	row := document.Row{Tone: document.Unknown, Cells: []document.Cell{{Value: "not asked"}, {Value: says}}}
	if asked := t.asked(); asked > 0 {
		row.Cells[0].Value = fmt.Sprintf("%d of %d", t[lab.Holds], asked)
	}
	switch {
	case t[lab.DoesNotHold] > 0:
		row.Tone = document.Attention
	case t[lab.Holds] > 0 && t[lab.Holds] == t.asked():
		row.Tone = document.OK
	}
	return row
}
