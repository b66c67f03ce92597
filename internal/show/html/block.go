package html

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
)

func show(list []document.Block) parts { return each(list, block) }

func block(b document.Block) part {
	switch b := b.(type) {
	case document.Heading:
		return heading(b)
	case document.Panel:
		return panel(b)
	case document.Text:
		return prose(b)
	case document.Alert:
		return alert(b)
	case document.List:
		return list(b)
	case document.Notes:
		return el("ul class=warnings", each(b, note))
	case document.Pairs:
		return el("dl class=pairs", each(b, func(p document.Pair) part {
			return el("div", el("dt", text(p.Name)), el("dd", text(p.Value)))
		}))
	case document.Tiles:
		return el("dl class=tiles", each(b, tile))
	case document.Checks:
		return el("ol class=checks", each(b, check))
	case document.Cards:
		return el("section class=overview", attrs{"aria-label", "Each group's answer"}, each(b, card))
	case document.Code:
		return code(b)
	case document.Snippets:
		return el("div class=snippets", each(b, snippet))
	case document.Links:
		return el("p class=contents", each(b, func(l document.Link) part { return parts{link(l.To, text(l.Text)), text(" ")} }))
	case document.Section:
		return section(b)
	case document.Folds:
		return parts{heading(b.Title), each(b.List, func(f document.Fold) part {
			return el("details", el("summary", text(f.Summary)), show(f.Blocks))
		})}
	case document.Table:
		return table(b)
	case document.Charts:
		return charts(b)
	case document.Timeline:
		return nil // only a terminal has it
	}
	panic(fmt.Sprintf("no element for a %T", b))
}

func heading(h document.Heading) part {
	if h.Text == "" {
		return nil
	}
	return el("h"+strconv.Itoa(h.Level), attrs{"id", h.ID}, link(h.To, text(h.Text)), aside("unit", h.Note))
}

func panel(p document.Panel) part {
	const longSentence = 52 // letters that have no room in one line of a desk's screen
	size := when(utf8.RuneCountInString(p.Sentence) > longSentence, "long")
	return el("section", class("verdict", string(cmp.Or(p.Tone, document.Unknown))), attrs{"aria-label", p.Name},
		where(p.Label != "", el("p class=kind", sign(when(p.Tone != "", icon(p.Tone))), text(p.Label))),
		el("h"+strconv.Itoa(p.Level), class("sentence", size), text(p.Sentence)), show(p.Blocks))
}

func prose(t document.Text) part {
	words := part(text(t.Text))
	switch {
	case t.Text == "":
		return nil
	case t.Tone != "":
		return el("p", class("outcome", string(t.Tone)), sign(icon(t.Tone)), text(phrase.Join(". ", t.Lead, t.Text)))
	case t.Style == document.Advice:
		words = advice(t.Text)
	}
	return el("p", class(string(t.Style)), where(t.Lead != "", el("b", text(t.Lead)), text(". ")), words)
}

func advice(s string) parts {
	return each(document.Prose(s), func(p document.Part) part {
		if p.Code {
			return el("code", text(p.Text))
		}
		return text(p.Text)
	})
}

func alert(a document.Alert) part {
	if a.To == "" {
		return el("p class=progress role=note", item(document.Line(a.Text)))
	}
	return el("p class=alert", link(a.To, sign("!"), text(a.Text)))
}

func list(l document.List) part {
	return parts{paragraph("next", l.Lead), el("ul class=reasons", each(l.Items, func(i document.Item) part { return el("li", item(i)) }))}
}

func item(i document.Item) part {
	if i.Command == "" {
		return text(i.Text)
	}
	return parts{text(i.Text + ": "), command(i.Command)}
}

var flag = pattern.Of(`^--?[a-zA-Z][\w-]*$`)

// command keeps each flag in one line: browsers break a line after any of its hyphens.
func command(s string) part {
	var list parts
	for i, word := range strings.Split(s, " ") {
		shown := part(text(word))
		if flag().MatchString(word) {
			shown = el("span class=flag", shown)
		}
		list = append(list, text(when(i > 0, " ")), shown)
	}
	return el("code", list)
}

func note(n document.Note) part {
	return el("li", class(when(n.Quiet, "unknown")), sign(cmp.Or(when(n.Quiet, "·"), "!")), el("span",
		where(n.Subject != "", el("b", text(n.Subject)), text(": ")), text(n.Message),
		where(n.Fix != "", text(" "), el("span class=fix", advice(n.Fix)))))
}

func tile(t document.Tile) part {
	before := el("span class=before", text(t.Before+" "), el("span aria-hidden=true", text("→")), el("span class=hidden", text(" to ")))
	return el("div", el("dt", text(t.Name)), el("dd", where(t.Before != "", before, text(" ")), el("b", text(t.After)), aside("range", t.Note)))
}

func check(c document.Check) part {
	return el("li", class(string(c.State)), el("span class=question", text(c.Question)), text("\n"),
		el("span class=answer", sign(icon(c.State)), text(c.Answer)), text("\n"), el("span class=detail", text(c.Detail)))
}

func card(c document.Card) part {
	return el("div", class(string(c.Tone)), el("h3", link((&url.URL{Fragment: c.ID}).String(), text(c.Title))),
		el("p class=kind", sign(icon(c.Tone)), text(c.Answer)), el("div class=pair", each(c.Charts, chart)))
}

func code(c document.Code) part {
	switch {
	case c.Title != "":
		return parts{el("p", text(c.Title+":")), el("pre", text(c.Text))}
	case c.Language != "":
		return el("p class=apply", command(c.Text))
	}
	return el("pre", text(c.Text))
}

func snippet(c document.Code) part {
	return el("div class=snippet", el("p", el("b", text(c.Title)), aside("note", c.Note)), where(c.Text != "", el("pre", text(c.Text))))
}

func section(s document.Section) part {
	if s.Class == document.Navigation {
		return el("nav", attrs{"aria-label", s.Name}, show(s.Blocks))
	}
	return el("section", class(s.Class), attrs{"id", s.ID, "aria-label", s.Name}, show(s.Blocks))
}

func charts(c document.Charts) part {
	title := heading(c.Title)
	if c.Hidden && title != nil {
		title = el("div class=hidden", title)
	}
	many := where(len(c.Beside) > 0, el("div class=multiples", each(c.Beside, chart)))
	return parts{title, el("div", class(string(c.Layout), when(len(c.List) == 1, "one")), each(c.List, chart), many), paragraph("key", c.Key)}
}

func paragraph(of, words string) part {
	return where(words != "", el("p", class(of), text(words)))
}

func aside(of, words string) part {
	return where(words != "", text(" "), el("span", class(of), text(words)))
}

// icon is a sign next to an answer, so that colour is never the only one.
func icon(t document.Tone) string {
	return cmp.Or(map[document.Tone]string{document.OK: "✓", document.Act: "→", document.Attention: "!"}[t], "?")
}

func sign(s string) part {
	return where(s != "", el("span class=icon aria-hidden=true", text(s)))
}
