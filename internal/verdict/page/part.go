package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Verdict is a recommendation in words.
type Verdict struct {
	State   document.Tone
	Label   string // the kind of verdict, two or three words
	Answer  Answer
	Reasons []string
	Next    []document.Item // what to do; of an "unknown": what would decide it
	Context string          // how sure it is, and on what: CPUs, limit, Go version, trials
}

// Paste is what to put where.
type Paste struct {
	Lead     string // "nothing: …", or what the snippets do
	Snippets document.Snippets
}

// Answer is a verdict for who has ten seconds: what to do in about four words, why in
// one sentence, what changes, and what to type.
type Answer struct {
	Text  string
	Brief string // the same next to other groups' answers: "set 2"
	Plain string
	Tiles document.Tiles
	Apply string // a line to paste; empty where there is nothing to set
}

// Sentence is what to do, and why.
func (a Answer) Sentence() string { return strings.TrimSpace(a.Text + ". " + a.Plain) }

// part has a section of a page: it is a group, or the values of an experiment.
type part interface {
	anchorID() string // unique in the page, fit for an anchor
	sectionTitle() string
	concluded() Verdict
	onTerminal() []document.Block                        // its curves, for a terminal
	numberTables(whole bool) []document.Block            // the tables, whole or with what explains the metrics folded away
	inReport(warnings []document.Block) []document.Block // all that is known, with the warnings where they belong
}

// whyAndNumbers are why a part has its verdict, and the tables that it rests on.
func whyAndNumbers(p part) (list []document.Block) {
	if reasons := p.concluded().Reasons; len(reasons) > 0 {
		list = append(list, document.Heading{Level: 3, Text: "Why"}, document.List{Items: document.Items(reasons)})
	}
	return append(append(list, document.Heading{Level: 3, Text: "All numbers"}), p.numberTables(false)...)
}

// closing is one thing to do next, with the command for it where there is one.
func (v Verdict) closing() []document.Block {
	if len(v.Next) == 0 {
		return nil
	}
	next := v.Next[max(0, slices.IndexFunc(v.Next, func(a document.Item) bool { return a.Command != "" }))]
	if next.Command == "" {
		return []document.Block{document.Text{Text: "Next: " + next.Text + "."}}
	}
	return []document.Block{document.Code{Title: "Next, " + next.Text, Text: next.Command}}
}

// panel is the first screen: what to do, why, what changes, what to type.
func (v Verdict) panel(level int) document.Panel {
	a := v.Answer
	blocks := document.Some(document.Text{Text: a.Plain, Style: document.Plain}, a.Tiles, document.Code{Language: "sh", Text: a.Apply},
		document.List{Lead: "Next:", Items: v.Next}, document.Text{Text: v.Context, Style: document.Muted})
	return document.Panel{Name: "Verdict", Tone: v.State, Label: v.Label, Level: level, Sentence: a.Text, Blocks: blocks}
}

func (v Verdict) cell() document.Cell {
	if v.Answer.Brief == "" {
		return document.Cell{Value: v.Label, Detail: v.Answer.Plain}
	}
	return document.Cell{Value: phrase.Capital(v.Answer.Brief), Detail: v.Answer.Plain}
}

// blocks are how a setting is set, after what is known of it.
func (p Paste) blocks(facts document.Pairs) []document.Block {
	return document.Some(facts, document.Heading{Level: 3, Text: "How to set it"}, document.Text{Text: p.Lead}, p.Snippets)
}

const (
	labelKeepDefault = "Keep the default"
	labelNotProven   = "Likely, but not proven"
	labelUndecided   = "Undecided"
	labelNotEnough   = "No measured value is enough"
	// What a verdict asks for is called the same under every load.
	changeNothing     = labelUndecided + ": change nothing yet"
	makesNoDifference = "GOMAXPROCS makes no difference"
	untilMore         = "Nothing to set: keep the default until more is known."
)

// alertText is the first warning and the number of the others, to which it leads.
func alertText(all []document.Note) string {
	if len(all) == 0 {
		return ""
	}
	s := phrase.Count(len(all), "warning") + ": " + all[0].Message
	if n := len(all) - 1; n > 0 {
		s += fmt.Sprintf("; %d more", n)
	}
	return s
}

func foldedTitle(title string, checks []document.Check, open string) string {
	count := map[document.Tone]int{}
	for _, c := range checks {
		count[c.State]++
	}
	some := func(n int, what string) string { return phrase.If(n > 0, strconv.Itoa(n)+" "+what, "") }
	text := phrase.Join(" and ", some(count[document.Attention], "to look at"), some(count[document.Unknown], open))
	return title + ": " + cmp.Or(text, "none")
}
