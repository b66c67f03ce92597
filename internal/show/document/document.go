// Package document is what a page shows, before it is known where: a title and blocks, in
// the order in which they are read. Whoever has something to show makes one and knows no
// format; show/text, show/markdown and show/html each write any of them.
//
// Text is plain, and on one line but for code. What comes from outside is in it as it came: a
// renderer makes it printable, and escapes for its own syntax.
//
// What the same result shows on a terminal and in a file are two documents, a short one and
// a whole one: what is skipped is chosen where the result is known.
package document

import (
	"reflect"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/phrase"
)

// Document is a page.
type Document struct {
	Title  string
	Home   *Link  // the page to which this one belongs
	Date   string // of what it shows
	Parts  bool   // it is of several things, each under a title of its own
	Class  string // a hint for a style sheet, where its kind of page has rules of its own
	Blocks []Block
	// Closing follows the paths of the files at the end of a terminal's page: what to do next.
	Closing []Block
}

// Date is a time as a page's Date.
func Date(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// Add puts blocks at the end of a page, if they show something.
func (d *Document) Add(list ...Block) { d.Blocks = append(d.Blocks, Some(list...)...) }

// Some are the blocks that show something.
func Some(list ...Block) (some []Block) {
	for _, b := range list {
		if !empty(b) {
			some = append(some, b)
		}
	}
	return some
}

func empty(b Block) bool {
	switch b := b.(type) {
	case Text:
		return b.Text == ""
	case Alert:
		return b.Text == ""
	case Code:
		return b.Text == ""
	case List:
		return len(b.Items) == 0
	case Notes:
		return len(b) == 0
	case Tiles:
		return len(b) == 0
	case Cards:
		return len(b) == 0
	case Snippets:
		return len(b) == 0
	case Charts:
		return len(b.List) == 0
	case Table:
		return len(b.Columns) == 0
	}
	return false
}

// Block is a part of a document: one of the types below that renderers know.
type Block any

// Tone is how an answer is meant to be read.
type Tone string

const (
	OK        Tone = "ok"
	Act       Tone = "act"       // there is something to do
	Attention Tone = "attention" // something weakens the result
	Unknown   Tone = "unknown"
)

// Link is a text that leads to another place.
type Link struct{ Text, To string }

// Heading is the title of what follows it, up to the next heading of its level or above.
// Levels go from 2 to 4; the document's title is 1.
type Heading struct {
	Level int
	Text  string
	Note  string // less than the text
	ID    string // to be linked to; empty: it is not
	To    string // where it leads; empty: nowhere
}

// Panel is an answer, with what belongs to it.
type Panel struct {
	Name     string // what it is, for readers who cannot see it: "Verdict"
	Tone     Tone   // empty: it is no answer
	Label    string // the kind of answer, in two or three words
	Level    int    // of the sentence, as a heading
	Sentence string
	Blocks   []Block
}

// Text is a paragraph. Its lead is before it, and is louder; with a tone both
// are an outcome.
type Text struct {
	Lead  string
	Text  string
	Style Style
	Tone  Tone
}

// Style is how much weight a text has.
type Style string

// The styles. A text without one is as the text around it.
const (
	Strong Style = "strong"
	Plain  Style = "plain"   // an answer in one sentence
	Muted  Style = "context" // what it all holds for
	Small  Style = "key"     // how to read what is above it
	Advice Style = "advice"  // what to do; what is between two backquotes is code
)

// Alert is a warning about all that follows. With a target it leads to the warnings.
type Alert struct{ Text, To string }

// List is what belongs together, a line each.
type List struct {
	Lead  string
	Items []Item
}

// Item is a line of a list. A command is separate: it is there to be copied.
type Item struct {
	Text    string
	Command string
}

func (i Item) String() string { return phrase.Join(": ", i.Text, i.Command) }

// Line is a line of text, whose command is separate if it ends with one of procfit's after
// a colon.
func Line(text string) Item {
	const begin = ": procfit "
	i := strings.LastIndex(text, begin)
	if i < 0 {
		return Item{Text: text}
	}
	return Item{Text: text[:i], Command: text[i+len(": "):]}
}

func Items(lines []string) []Item { return phrase.Each(lines, Line) }

// Notes are what weakens or explains a result.
type Notes []Note

type Note struct {
	Quiet   bool   // it explains, and warns of nothing
	Subject string // what it is about; empty: all
	Message string
	Fix     string // what is between two backquotes is code
}

// Pairs are values by name.
type Pairs []Pair

type Pair struct{ Name, Value string }

// Tiles are the few numbers of an answer.
type Tiles []Tile

// Tile is one number, before and after where something is to change.
type Tile struct {
	Name          string
	Before, After string // without Before there is nothing to change
	Note          string
}

// Checks are questions with their answers.
type Checks []Check

// Check is a question of a checklist, answered from the data.
type Check struct {
	Number   int
	Question string
	State    Tone
	Answer   string // yes, no, undecided, or the value asked for
	Detail   string
}

// Cards are several answers next to each other, at a glance.
type Cards []Card

type Card struct {
	ID     string
	Title  string
	Tone   Tone
	Answer string
	Charts []Chart
}

// Code is text to copy.
type Code struct {
	Title    string
	Note     string
	Language string
	Text     string
}

// Snippets are several to choose one from.
type Snippets []Code

// Links lead to other places, of this page or next to it.
type Links []Link

// Section is blocks with a name of their own. Its class is a hint for a style sheet.
type Section struct {
	Class  string
	ID     string
	Name   string // for readers who cannot see it
	Blocks []Block
}

// Navigation is the class of a section that leads to the others.
const Navigation = "nav"

// Folds are what only some readers want, each closed behind a line that sums it up.
type Folds struct {
	Title Heading
	List  []Fold
}

type Fold struct {
	Summary string
	Blocks  []Block
}

// Part is a stretch of prose, or code.
type Part struct {
	Code bool
	Text string
}

// Prose splits advice with code between backquotes. A backquote without another is
// one.
func Prose(s string) []Part {
	var list []Part
	texts := strings.Split(s, "`")
	for i, text := range texts {
		code := i%2 == 1
		if code && i == len(texts)-1 {
			code, text = false, "`"+text
		}
		list = append(list, Part{code, text})
	}
	return list
}

// Table is rows of worded cells. Where its rows have strips, a wide renderer draws these
// after the column of that index, under their heading.
type Table struct {
	Columns    []Column
	Rows       []Row
	StripHead  string
	StripAfter int  // 0: the rows have none
	Prose      bool // its cells are sentences, which wrap
}

// Column is a heading. Short is for narrow renderers, which leave out a column
// without one, and the details of a column that is not Detailed.
type Column struct {
	Head     string
	Short    string
	Left     bool // text, not numbers
	Detailed bool
	Least    int  // where there is no room, its cells may lose their ends, down to N letters; 0: none
	Bars     bool // where there is room, its cells have bars as long as they say
}

// Row is a line of a Table; Mark is a word on its standing, if any.
type Row struct {
	Cells []Cell
	Mark  string
	Tone  Tone   // of its first cell; empty: none
	Link  string // where its first cell leads
	Strip *Strip
}

// Cell is a value with what belongs to it: an interval, a breakdown.
type Cell struct {
	Value, Detail string
	Tag           string  // where the value is from, in a word before it
	To            string  // where the value leads
	Bar           float64 // in a column with bars: the part of the longest
}

// Strip is one measured interval on a line of its own, against what is wanted. Positions
// are fractions of the line.
type Strip struct {
	Zone     Span // where it is as wanted
	Present  bool
	At       float64
	Interval Span   // from and to the same: none
	Ticks    []Tick // what else to compare with
	Document *Tick  // the value of a document that it is held against
	Summary  string // the strip in words
}

type Span struct{ From, To float64 }

// Printable is the document with every text of it fit to be shown: what a journal, a manifest or
// a program has is in it as it came, and moves no cursor. Renderers begin with it.
func (d *Document) Printable() *Document {
	shown := printable(reflect.ValueOf(*d)).Interface().(Document)
	return &shown
}

func printable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(phrase.Clean(v.String()))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			break
		}
		of := printable(v.Elem())
		if v.Kind() == reflect.Pointer {
			at := reflect.New(of.Type())
			at.Elem().Set(of)
			of = at
		}
		out.Set(of)
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(printable(v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(printable(v.Field(i)))
		}
		if c, is := v.Interface().(Code); is {
			out.FieldByName("Text").SetString(phrase.CleanLines(c.Text))
		}
	}
	return out
}
