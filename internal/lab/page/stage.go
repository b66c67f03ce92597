package page

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/page"
)

func stage(id string, s *lab.RanStage, m lab.Measured) Stage {
	v := Stage{Title: phrase.Clean(s.Title)}
	if v.Title == "" {
		v.Title = phrase.Clean(s.ID)
	}
	note := func(format string, args ...any) {
		v.Notes = append(v.Notes, phrase.Clean(fmt.Sprintf(format, args...)))
	}
	if s.Scaled != "" {
		note("%s", s.Scaled)
	}
	if s.NotRun != "" {
		note("not run: %s", lead(s.NotRun))
	}
	if s.Stopped != "" {
		note("stopped early: %s", lead(s.Stopped))
	}
	for _, x := range s.Versions {
		if x.Fault != "" {
			note("Go %s: invalid: %s", x.Asked, lead(x.Fault))
		}
	}
	if m.Result == nil {
		return v
	}
	if s.Invalid > 0 {
		note("%d of %s invalid, most often: %s", s.Invalid, phrase.Count(s.Run, "trial"), lead(page.MostInvalid(m.Result)))
	}
	if s.Disturbed(m.Result.Host.EffectiveCPUs) {
		note("other programs took %s meanwhile: quiet the machine and run it again", number.CPUs(number.Round(*s.OtherCPUs, number.Digits)))
	}
	below, err := relative(id, s.Directory)
	if err == nil {
		v.Report = path.Join(below, "report.html")
	}
	v.Rows, v.Over = page.MultiplesOf(m.Result, documentCurves()[id])
	return v
}

// relative is a stage's directory as seen from its experiment's.
func relative(id, directory string) (string, error) {
	if directory == id {
		return ".", nil
	}
	below, ok := strings.CutPrefix(directory, id+"/")
	if !ok {
		return "", fmt.Errorf("%s is not in %s", directory, id)
	}
	return below, nil
}

// lead is the first line of a reason, which may lead to more.
func lead(s string) string { return strings.TrimSuffix(phrase.FirstLine(s), ":") }

// Figures are a table under its title, and the charts of the same.
type Figures struct {
	Title  string
	Charts []document.Chart
	Table  document.Table
}

// Tables are the stage's figures. Of one group they stand side by side in one table,
// each with a chart; of several in one table for each figure, a column and a chart
// for each group.
func (s Stage) Tables() []Figures {
	if one, ok := sideBySide(s.Rows); ok {
		return []Figures{one}
	}
	var list []Figures
	for _, m := range s.Rows {
		list = append(list, Figures{m.Title, m.Charts, m.Table})
	}
	return list
}

func sideBySide(rows []page.Multiples) (Figures, bool) {
	if len(rows) < 2 {
		return Figures{}, false
	}
	first := rows[0].Table
	joined := document.Table{Columns: slices.Clone(first.Columns[:1]), Rows: make([]document.Row, len(first.Rows))}
	for i, label := range rows[0].Labels {
		joined.Rows[i].Cells = []document.Cell{{Value: phrase.Clean(label)}}
	}
	var charts []document.Chart
	for _, m := range rows {
		if len(m.Table.Columns) != 2 || !slices.Equal(m.Labels, rows[0].Labels) {
			return Figures{}, false
		}
		joined.Columns = append(joined.Columns, document.Column{Head: m.Title, Short: m.Title})
		for _, c := range m.Charts {
			c.Title = m.Title
			charts = append(charts, c)
		}
		for i, r := range m.Table.Rows {
			joined.Rows[i].Cells = append(joined.Rows[i].Cells, r.Cells[1])
		}
	}
	return Figures{first.Columns[1].Head, charts, joined}, true
}
