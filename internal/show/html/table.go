package html

import "github.com/procfit/procfit/internal/show/document"

func table(t document.Table) part {
	return el("div class=scroll tabindex=0 role=region", attrs{"aria-label", "Table, scrolls sideways"},
		el("table", class(when(t.Prose, "hypotheses")),
			el("thead", el("tr", titles(t))),
			el("tbody", each(t.Rows, func(r document.Row) part { return row(t, r) }))))
}

func titles(t document.Table) (list parts) {
	for i, c := range t.Columns {
		list = append(list, el("th scope=col", class(when(c.Left, "left")), text(c.Head)))
		if c.Bars {
			list = append(list, el("th scope=col class=wide"))
		}
		if i == t.StripAfter && i > 0 {
			list = append(list, el("th scope=col class=strip", text(t.StripHead)))
		}
	}
	return list
}

func row(t document.Table, r document.Row) part {
	look := string(r.Tone)
	if r.Mark != "" {
		look = "marked"
	}
	list := parts{class(look)}
	for i, c := range r.Cells {
		column := t.Columns[i]
		if i == 0 {
			list = append(list, el("th scope=row", class(when(r.Tone != "", "answer")), sign(when(r.Tone != "", icon(r.Tone))), link(r.Link, text(c.Value)), aside("tag", r.Mark)))
		} else {
			list = append(list, el("td", class(when(column.Left, "left")), tag(c.Tag), link(c.To, text(c.Value)), aside("detail", c.Detail)))
		}
		if column.Bars {
			list = append(list, el("td class=wide", el("svg class=amount width=100% height=10 aria-hidden=true",
				el("rect height=10", attrs{"width", percent(100 * c.Bar)}))))
		}
		if i == t.StripAfter && i > 0 {
			list = append(list, el("td class=strip", strip(r.Strip)))
		}
	}
	return el("tr", list)
}

func tag(of string) part {
	return where(of != "", el("span", class("machine", when(of == "laptop", "laptop")), text(of)), text(" "))
}

func strip(s *document.Strip) part {
	if s == nil {
		return nil
	}
	at := func(x float64) string { return percent(100 * x) }
	list := parts{
		attrs{"class", "strip", "width", "100%", "height", 24, "role", "img", "aria-label", s.Summary},
		el("title", text(s.Summary)),
		el("line class=grid x1=0 x2=100% y1=12 y2=12"),
		el("rect class=zone y=3 height=18", attrs{"x", at(s.Zone.From), "width", at(s.Zone.To - s.Zone.From)}),
	}
	for _, t := range s.Ticks {
		list = append(list, el("g class=also", el("title", text(t.Label)),
			el("line class=reference y1=1 y2=23", attrs{"x1", at(t.At), "x2", at(t.At)})))
	}
	if d := s.Document; d != nil {
		list = append(list, el("g class=side", el("title", text(d.Label)),
			el("svg overflow=visible", attrs{"x", at(d.At)}, el("path class=document", attrs{"d", "M0 6L6 12L0 18L-6 12Z"}))))
	}
	if s.Present {
		list = append(list, el("line class=interval y1=12 y2=12", attrs{"x1", at(s.Interval.From), "x2", at(s.Interval.To)}),
			el("circle class=median cy=12 r=4", attrs{"cx", at(s.At)}))
	}
	return el("svg", list)
}
