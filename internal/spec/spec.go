// Package spec is what is to be measured, as somebody asked for it: a command, its words and
// the values of its fields. The header of a journal holds it, a procfit.yaml is it, and every
// command that procfit proposes is made of it.
//
// It does not know which fields there are. Package plan describes them, and gives each value
// in one spelling, so that equal values have equal texts.
//
// In place of a credential a Spec has the variable of the environment that holds it:
// {env:NAME}. Fill has its value in whatever goes to a program or a server: a command with
// a variable in a name of its own, such as a title or the path of a file, keeps the variable
// there.
package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
)

// Spec is a command of procfit with its words and the values of its flags.
type Spec struct {
	Command  string   `json:"command"`            // of procfit, such as kube sweep
	Operands []string `json:"operands,omitempty"` // its words that are not flags: OLD, PID, OBJECT
	Set      []Value  `json:"set,omitempty"`      // in the order of the fields' table
	Program  []string `json:"program,omitempty"`  // the words after --
}

// Value is a field that is set.
type Value struct {
	Name  string   `json:"name"`
	Texts []string `json:"texts"`          // several where the flag is repeated; of a switch true or false
	Bare  string   `json:"bare,omitempty"` // the text of the flag without one; empty: it needs one
}

// Change is another value of one field, or none.
type Change struct {
	Value
	part *string // of the value, which alone changes; nil: all of it
}

// Set gives a field these texts.
func Set(name string, texts ...string) Change { return Change{Value: Value{Name: name, Texts: texts}} }

// Alone gives a flag without a text, which is then bare.
func Alone(name, bare string) Change { return Change{Value: Value{name, []string{bare}, bare}} }

// Unset takes a field out.
func Unset(name string) Change { return Change{Value: Value{Name: name}} }

// Part gives one part of a field another text, or with an empty one takes it out: ready=2m of
// --timeout, or 10s of --trial-time, whose part has no name. The others stay.
func Part(name, part, text string) Change {
	c := Change{Value{Name: name}, &part}
	if text != "" {
		c.Texts = []string{labelled(part, text)}
	}
	return c
}

func labelled(part, text string) string {
	if part == "" {
		return text
	}
	return part + "=" + text
}

// parts are those of a text, each with what follows it without a name: target=0,1 and load=2
// of target=0,1,load=2. A part without a name is the first.
func parts(text string) (list []string) {
	for word := range strings.SplitSeq(text, ",") {
		if len(list) > 0 && !strings.Contains(word, "=") {
			list[len(list)-1] += "," + word
		} else if word != "" {
			list = append(list, word)
		}
	}
	return list
}

// isPart reports whether a text is that of a part.
func isPart(text, part string) bool {
	name, _, named := strings.Cut(text, "=")
	return part == "" && !named || named && name == part
}

// TextOf is what a part of a field is set to; empty: it is not set.
func (s Spec) TextOf(name, part string) string {
	for _, one := range parts(s.Text(name)) {
		if isPart(one, part) {
			return strings.TrimPrefix(one, labelled(part, ""))
		}
	}
	return ""
}

// altered is a text with one of its parts changed.
func (c Change) altered(text string) []string {
	list := slices.DeleteFunc(parts(text), func(one string) bool { return isPart(one, *c.part) })
	if *c.part == "" {
		list = append(slices.Clone(c.Texts), list...)
	} else {
		list = append(list, c.Texts...)
	}
	if len(list) == 0 {
		return nil
	}
	return []string{strings.Join(list, ",")}
}

// With is the Spec with some changes. A field that was not set comes last.
func (s Spec) With(changes ...Change) Spec {
	s.Set = slices.Clone(s.Set)
	for _, c := range changes {
		i := s.index(c.Name)
		if i >= 0 && c.part != nil {
			c.Texts = c.altered(s.Text(c.Name))
		}
		switch {
		case i < 0 && c.Texts != nil:
			s.Set = append(s.Set, c.Value)
		case i >= 0 && c.Texts == nil:
			s.Set = slices.Delete(s.Set, i, i+1)
		case i >= 0:
			s.Set[i].Texts = c.Texts
		}
	}
	return s
}

// Only has the fields that keep names.
func (s Spec) Only(keep func(name string) bool) Spec {
	s.Set = slices.DeleteFunc(slices.Clone(s.Set), func(v Value) bool { return !keep(v.Name) })
	return s
}

func (s Spec) index(name string) int {
	return slices.IndexFunc(s.Set, func(v Value) bool { return v.Name == name })
}

// Get are the texts of a field; nil: it is not set.
func (s Spec) Get(name string) []string {
	if i := s.index(name); i >= 0 {
		return s.Set[i].Texts
	}
	return nil
}

// Has reports whether a field is set.
func (s Spec) Has(name string) bool { return s.index(name) >= 0 }

// Text is what a field is set to; empty: it is not set, or empty.
func (s Spec) Text(name string) string { return strings.Join(s.Get(name), ",") }

// Diff are the changes that make the fields of b of those of a.
func Diff(a, b Spec) (list []Change) {
	for _, v := range a.Set {
		if !b.Has(v.Name) {
			list = append(list, Unset(v.Name))
		}
	}
	for _, v := range b.Set {
		if !a.Has(v.Name) || !slices.Equal(a.Get(v.Name), v.Texts) {
			list = append(list, Change{Value: v})
		}
	}
	return list
}

// Args are the words of the command line after procfit's own name: each text in a word of its
// own, unless it could be taken for a flag or for a word of the command.
func (s Spec) Args() []string {
	words := append(strings.Fields(s.Command), s.Operands...)
	for _, v := range s.Set {
		for _, text := range v.Texts {
			switch {
			case v.Bare != "" && text == v.Bare:
				words = append(words, "--"+v.Name)
			case v.Bare != "", text == "", strings.HasPrefix(text, "-"):
				words = append(words, "--"+v.Name+"="+text)
			default:
				words = append(words, "--"+v.Name, text)
			}
		}
	}
	if len(s.Program) > 0 {
		words = append(append(words, "--"), s.Program...)
	}
	return words
}

// Shell is the command as a shell reads it.
func (s Spec) Shell() string { return "procfit " + phrase.Shell(s.Args()) }

// variable is one of procfit's own environment in a text.
var variable = pattern.Of(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

// Variable is the form in which a text names a variable.
func Variable(name string) string { return "{env:" + name + "}" }

// Variables are the names in some texts, each once, in their order.
func Variables(texts ...string) (names []string) {
	for _, text := range texts {
		for _, m := range variable().FindAllStringSubmatch(text, -1) {
			if !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// Replace has what value gives for each variable of a text.
func Replace(text string, value func(name string) string) string {
	return variable().ReplaceAllStringFunc(text, func(found string) string { return value(variable().FindStringSubmatch(found)[1]) })
}

// UnsetError is that some texts name a variable that the environment does not have.
type UnsetError struct{ Name string }

func (e *UnsetError) Error() string {
	return fmt.Sprintf("the environment variable %s is not set, and the settings name it; try: export %[1]s=…", e.Name)
}

// Fill has the values of variables in texts that go to a program or a server. One that is not
// set stays as it is, and is an *UnsetError.
func Fill(lookup func(name string) (value string, ok bool), texts ...*string) (err error) {
	for _, text := range texts {
		*text = Replace(*text, func(name string) string {
			value, ok := lookup(name)
			if !ok {
				err = cmp.Or(err, error(&UnsetError{name}))
				return Variable(name)
			}
			return value
		})
	}
	return err
}

// Variables are the names in the Spec.
func (s Spec) Variables() []string {
	texts := slices.Clone(s.Operands)
	for _, v := range s.Set {
		texts = append(texts, v.Texts...)
	}
	return Variables(append(texts, s.Program...)...)
}

// Discreet is the Spec with a variable in place of each credential. hide has
// secret.Redacted in place of those of a field, or with an empty name of other words.
func (s Spec) Discreet(hide func(field string, texts []string) []string) Spec {
	taken := append(s.Variables(), ofSessions...)
	named := func(field string, texts []string) (shown []string) {
		before := field
		for _, text := range hide(field, texts) {
			parts := strings.Split(text, secret.Redacted)
			text = parts[0]
			for _, part := range parts[1:] {
				taken = append(taken, nameOf(before, text, taken))
				text += Variable(taken[len(taken)-1]) + part
			}
			if shown = append(shown, text); field == "" {
				before = strings.Join(parts, "") // without its own credentials
			}
		}
		return shown
	}
	s.Program, s.Operands = named("", s.Program), named("", s.Operands)
	s.Set = slices.Clone(s.Set)
	for i, v := range s.Set {
		s.Set[i].Texts = named(v.Name, v.Texts)
	}
	return s
}

// ofSessions are variables that a shell has anyway: a command with one of them would take its value
// in place of the credential, and ask for nothing.
var ofSessions = strings.Fields("DISPLAY EDITOR HOME HOSTNAME LANG LANGUAGE LC_ALL LOGNAME MAIL OLDPWD PATH PWD SHELL TERM TMPDIR TZ USER")

// word is what a credential may be called by.
var word = pattern.Of(`[A-Za-z][A-Za-z0-9_-]*`)

// nameOf is a new name for a credential: the last word before it.
func nameOf(before, head string, taken []string) string {
	name := "SECRET"
	for _, from := range []string{before, head} {
		if words := word().FindAllString(from, -1); words != nil {
			name = strings.ToUpper(strings.ReplaceAll(words[len(words)-1], "-", "_"))
		}
	}
	first := name
	for i := 2; slices.Contains(taken, name); i++ {
		name = fmt.Sprintf("%s_%d", first, i)
	}
	return name
}
