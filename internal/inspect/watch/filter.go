package watch

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/inspect"
)

// filter is words that a process must all match: by its name, PID, Go version or a rule
// ID, or, as column=word, by that column. A word after ! must not match.
type filter struct {
	text  string
	words []string
}

func newFilter(text string) filter {
	return filter{text: text, words: strings.Fields(strings.ToLower(text))}
}

func (f filter) matches(r *row) bool {
	for _, word := range f.words {
		bare, not := strings.CutPrefix(word, "!")
		if bare != "" && r.has(bare) == not {
			return false
		}
	}
	return true
}

// has reports whether the process matches the word, in lower case. A number matches the
// beginning of a PID.
func (r *row) has(word string) bool {
	p := &r.process
	if name, text, of := strings.Cut(word, "="); of && inspect.Index(name) >= 0 {
		return columns[inspect.Index(name)].Matches(p, text)
	}
	return strings.HasPrefix(strconv.Itoa(p.PID), word) || strings.Contains(strings.ToLower(r.name), word) ||
		strings.Contains(strings.ToLower(p.Facts.GoVersion), word) || columns[findingsColumn].Matches(p, word)
}

// edit is a line of input; typing is always at its end.
type edit struct{ text string }

const maxEdit = 200 // bytes

// key handles a key that changes the text; false if it does not.
func (e *edit) key(name, typed string) bool {
	switch {
	case name == "backspace" || name == "ctrl+h":
		_, size := utf8.DecodeLastRuneInString(e.text)
		e.text = e.text[:len(e.text)-size]
	case name == "ctrl+u":
		e.text = ""
	case name == "ctrl+w":
		e.text = strings.TrimRight(e.text, " ")
		e.text = e.text[:strings.LastIndexByte(e.text, ' ')+1]
	case typed != "":
		e.insert(typed)
	default:
		return false
	}
	return true
}

func (e *edit) insert(typed string) {
	if len(e.text)+len(typed) <= maxEdit {
		e.text += typed
	}
}
