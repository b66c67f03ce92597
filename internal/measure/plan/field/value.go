package field

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Value is what a field holds.
type Value interface {
	// Set reads a text. The text of its error follows the field's name and a space in a
	// sentence: `"x": expected a whole number`. It may be a Mistake.
	Set(text string) error
	// String is the value as Set reads it; empty: nothing is set. What means the same has
	// the same text, as far as that can be known without the rest.
	String() string
}

// Mistake is what is wrong with a text, and a text that is right.
type Mistake struct{ Text, Reason, Example string }

func (m *Mistake) Error() string { return m.For("") }

// For is the error of a flag, whose name and a space come before the example.
func (m *Mistake) For(flag string) string {
	return fmt.Sprintf("%q: %s, for example %s%s", m.Text, m.Reason, flag, m.Example)
}

// Closed is a Value that is one of these words.
type Closed interface {
	Value
	Words() []string
}

// List is a Value that may be set several times, and then holds all of them.
type List interface {
	Value
	Texts() []string
}

type parsed[T any] struct {
	p     *T
	text  string
	parse func(text string) (T, error)
	show  func(T) string // nil: it is shown as it was given
}

// Parsed is a Value that parse reads; now is the text of what p holds already.
func Parsed[T any](p *T, now string, parse func(text string) (T, error)) Value {
	return &parsed[T]{p, now, parse, nil}
}

// Shown is Parsed with one text for what may be given in several ways.
func Shown[T any](p *T, now string, parse func(text string) (T, error), show func(T) string) Value {
	return &parsed[T]{p, now, parse, show}
}

func (v *parsed[T]) String() string { return v.text }
func (v *parsed[T]) Set(text string) error {
	read, err := v.parse(text)
	if err != nil {
		return err
	}
	if *v.p, v.text = read, text; v.show != nil {
		v.text = v.show(read)
	}
	return nil
}

// Maybe is a parser of what is nil where it is not given.
func Maybe[T any](parse func(text string) (T, error)) func(string) (*T, error) {
	return func(text string) (*T, error) {
		v, err := parse(text)
		return &v, err
	}
}

// Text is any text.
func Text(p *string) Value {
	return Parsed(p, *p, func(text string) (string, error) { return text, nil })
}

// Some reads any text but an empty one, which an unset variable of a shell leaves.
func Some(text string) (string, error) {
	if text == "" {
		return "", errors.New(`"": expected a value; is a shell variable empty?`)
	}
	return text, nil
}

type choice[T ~string] struct {
	Value
	words []string
}

func (c *choice[T]) Words() []string { return c.words }

// Choice is one of some words, or what p holds already.
func Choice[T ~string](p *T, words ...T) Value {
	now, known := *p, phrase.Each(words, func(w T) string { return string(w) })
	v := Parsed(p, string(now), func(text string) (T, error) {
		if !slices.Contains(known, text) && T(text) != now {
			return "", fmt.Errorf("%q: expected %s%s", text, phrase.Or(known), phrase.DidYouMean(text, known))
		}
		return T(text), nil
	})
	return &choice[T]{v, known}
}

// Switch is on or off.
func Switch(p *bool) Value {
	return Shown(p, strconv.FormatBool(*p), func(text string) (bool, error) {
		v, err := strconv.ParseBool(text)
		if err != nil {
			err = fmt.Errorf("%q: expected true or false, or the flag alone", text)
		}
		return v, err
	}, strconv.FormatBool)
}

// Number is a whole number within bounds.
func Number(p *int, least, most int) Value {
	return Shown(p, strconv.Itoa(*p), Whole(least, most), strconv.Itoa)
}

// Whole reads a whole number within bounds.
func Whole(least, most int) func(text string) (int, error) {
	return func(text string) (int, error) {
		v, err := strconv.Atoi(strings.TrimSpace(text))
		switch {
		case err != nil:
			return 0, fmt.Errorf("%q: expected a whole number", text)
		case most == math.MaxInt && v < least:
			return 0, fmt.Errorf("%d: expected at least %d", v, least)
		case v < least || v > most:
			return 0, fmt.Errorf("%d: expected %d to %d", v, least, most)
		}
		return v, nil
	}
}

// Time is a time of at least so long, as in the example.
func Time(p *time.Duration, least time.Duration, example string) Value {
	now := ""
	if *p != 0 {
		now = number.Typed(*p)
	}
	return Shown(p, now, func(text string) (time.Duration, error) { return Duration(text, least, example) }, number.Typed)
}

// Duration reads a time of at least so long, as in the example.
func Duration(text string, least time.Duration, example string) (time.Duration, error) {
	v, err := time.ParseDuration(text)
	_, plain := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && plain == nil:
		return 0, &Mistake{text, "add a unit", text + "s"}
	case err != nil:
		return 0, &Mistake{text, "expected a time", example}
	case v < least && least > 0:
		return 0, &Mistake{text, "expected a time above zero", example}
	case v < least:
		return 0, &Mistake{text, "expected a time of at least " + least.String(), example}
	}
	return v, nil
}

// Share is a share above zero, as 5% or 0.05, and below most. A number of 1 or more without % is hardly
// ever meant as one: 5 would be 500%.
func Share(p *float64, most float64) Value {
	now := ""
	if *p > 0 {
		now = shareText(*p)
	}
	return Shown(p, now, func(text string) (float64, error) {
		number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
		v, err := Above("")(number)
		if percent {
			v /= 100
		}
		switch {
		case err != nil:
			return 0, &Mistake{text, "expected a share above zero", "5%"}
		case !percent && v >= 1:
			return 0, &Mistake{text, "expected a percentage, or a share below 1", strings.TrimSpace(text) + "%"}
		case v >= most:
			return 0, &Mistake{text, fmt.Sprintf("expected less than %g%%", 100*most), "5%"}
		}
		return v, nil
	}, shareText)
}

// shareText has so many digits that a share is read back, and 0.07 is 7%.
func shareText(v float64) string { return strconv.FormatFloat(100*v, 'g', 14, 64) + "%" }

// Above reads a number above zero; form says what it is of.
func Above(form string) func(text string) (float64, error) {
	return func(text string) (float64, error) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("%q: expected %s", text, form)
		}
		return v, nil
	}
}

type several[T any] struct {
	p      *[]T
	now    string
	texts  []string
	parse  func(text string) ([]T, error)
	commas bool // its items are one text
}

func (s *several[T]) Texts() []string { return s.texts }

func (s *several[T]) String() string {
	if s.texts == nil {
		return s.now
	}
	return strings.Join(s.texts, ",")
}

func (s *several[T]) Set(text string) error {
	items, err := s.parse(text)
	if err != nil {
		return err
	}
	if s.texts == nil {
		*s.p = nil
	}
	*s.p, s.texts = append(*s.p, items...), append(s.texts, text)
	if s.commas {
		s.texts = []string{strings.Join(phrase.Each(*s.p, func(item T) string { return fmt.Sprint(item) }), ",")}
	}
	return nil
}

// Several is a field that may be repeated; each text is one item.
func Several[T any](p *[]T, parse func(text string) (T, error)) Value {
	return &several[T]{p: p, parse: func(text string) ([]T, error) {
		item, err := parse(text)
		return []T{item}, err
	}}
}

// Texts is Several of any texts.
func Texts(p *[]string) Value {
	return Several(p, func(text string) (string, error) { return text, nil })
}

// Commas is a list as in 1,2,4; where the field is repeated, the lists are one. Each item
// counts once. now is the text of what p holds already.
func Commas[T comparable](p *[]T, now string, parse func(text string) (T, error)) Value {
	seen := map[T]bool{}
	return &several[T]{p: p, now: now, commas: true, parse: func(text string) (list []T, err error) {
		for word := range strings.SplitSeq(text, ",") {
			item, err := parse(strings.TrimSpace(word))
			if err != nil {
				return nil, err
			}
			if !seen[item] {
				seen[item], list = true, append(list, item)
			}
		}
		return list, nil
	}}
}

// Part is one of several values that a field has by their names, such as ready=30s.
type Part struct {
	Name  string // empty: of the first part, which has no name, such as the 5% of 5%,p99=20%
	Value Value
	Alone bool   // its name without a value turns it on
	Many  bool   // its value may have commas: what follows them without a name belongs to it
	Help  string // what the value is, where the list's own help does not say so
}

// parts is a List of parts, which has at most one text.
type parts struct {
	all []Part
	set map[string]bool // by the names of those that were given
}

// Parts is a field of several values, NAME=VALUE with commas between them. The first may have no name.
func Parts(all ...Part) Value { return &parts{all, map[string]bool{}} }

func (p *parts) Texts() []string {
	if text := p.String(); text != "" {
		return []string{text}
	}
	return nil
}

func (p *parts) String() string {
	var words []string
	for _, one := range p.all {
		if p.set[one.Name] && one.Alone {
			words = append(words, one.Name)
		} else if p.set[one.Name] {
			words = append(words, one.label()+one.Value.String())
		}
	}
	return strings.Join(words, ",")
}

func (p Part) label() string {
	if p.Name == "" {
		return ""
	}
	return p.Name + "="
}

// Defaults are the values of parts before any is given.
func Defaults(all []Part) string {
	var words []string
	for _, one := range all {
		if now := one.Value.String(); now != "" && !one.Alone {
			words = append(words, one.label()+now)
		}
	}
	return strings.Join(words, ",")
}

func (p *parts) Words() (words []string) {
	for _, one := range p.all {
		closed, ok := one.Value.(Closed)
		switch {
		case one.Alone:
			words = append(words, one.Name)
		case one.Name != "":
			words = append(words, one.label())
		case ok:
			words = append(words, closed.Words()...)
		}
	}
	return words
}

// split is a text by its parts.
func (p *parts) split(text string) (words []string) {
	many := false // the last word may have commas
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if name, _, ok := strings.Cut(word, "="); ok {
			many = slices.ContainsFunc(p.all, func(one Part) bool { return one.Name == name && one.Many })
		} else if many {
			words[len(words)-1] += "," + word
			continue
		}
		words = append(words, word)
	}
	return words
}

// find is the part of a word, and its value; nil: there is none.
func (p *parts) find(word string) (of *Part, value string) {
	name, value, ok := strings.Cut(word, "=")
	for i := range p.all {
		one := &p.all[i]
		switch {
		case one.Name == "" && !ok && !slices.ContainsFunc(p.all, func(o Part) bool { return o.Alone && o.Name == word }):
			return one, word
		case one.Name == name && one.Alone && !ok:
			return one, "true"
		case one.Name == name && !one.Alone && ok:
			return one, value
		}
	}
	return nil, ""
}

func (p *parts) Set(text string) error {
	for _, word := range p.split(text) {
		one, value := p.find(word)
		if one == nil {
			words := p.Words()
			expected := strings.Join(words, ", ")
			if first, _ := p.find(words[0] + word); !strings.Contains(word, "=") && first != nil && first.Value.Set(word) == nil { // a value without its name
				expected += ", for example " + words[0] + word
			}
			return fmt.Errorf("%q: expected %s", word, expected)
		}
		err := one.Value.Set(value)
		if wrong, ok := errors.AsType[*Mistake](err); ok {
			return &Mistake{word, wrong.Reason, one.label() + wrong.Example}
		}
		if err != nil {
			return fmt.Errorf("%s%w", one.label(), err)
		}
		p.set[one.Name] = true
	}
	return nil
}
