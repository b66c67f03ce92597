package field

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
)

// Given is which of some fields a user gave, whatever reads the command line.
type Given struct {
	Fields []Field
	Names  []string // of those that were given, in the order in which they were given first
}

// Set reads the text of a field. Its error names the flag.
func (g *Given) Set(name, text string) error {
	err := g.Named(name).Value.Set(text)
	if wrong, ok := errors.AsType[*Mistake](err); ok {
		return fmt.Errorf("--%s %s", name, wrong.For("--"+name+" "))
	}
	if err != nil {
		return fmt.Errorf("--%s %w", name, err)
	}
	if !g.Has(name) {
		g.Names = append(g.Names, name)
	}
	return nil
}

// Has reports whether the user gave a field.
func (g *Given) Has(name string) bool { return slices.Contains(g.Names, name) }

// Takes reports whether the user may give a field this text, as far as its parts tell: what procfit
// proposes must be there.
func (g *Given) Takes(name, text string) bool {
	return slices.ContainsFunc(g.Fields, func(f Field) bool {
		p, ok := f.Value.(*parts)
		if !ok || f.Name != name {
			return f.Name == name
		}
		of, _ := p.find(text)
		return of != nil
	})
}

// HasPart reports whether the user gave a part of a field.
func (g *Given) HasPart(name, part string) bool {
	return slices.ContainsFunc(g.Fields, func(f Field) bool {
		p, ok := f.Value.(*parts)
		return ok && f.Name == name && p.set[part]
	})
}

// Named is a field by its name, which is known.
func (g *Given) Named(name string) Field {
	return g.Fields[slices.IndexFunc(g.Fields, func(f Field) bool { return f.Name == name })]
}

// Spec is what the user asked for, without its credentials, which found has. A command line
// has operands and the words of a program in addition to the fields.
func (g *Given) Spec(command string, operands, program []string) (s spec.Spec, found secret.Finder) {
	s = spec.Spec{Command: command, Operands: operands, Program: program}
	for _, f := range g.Fields {
		if g.Has(f.Name) {
			s.Set = append(s.Set, spec.Value{Name: f.Name, Texts: textsOf(f.Value), Bare: f.Alone()})
		}
	}
	s = s.Discreet(func(name string, texts []string) (hidden []string) {
		if name == "" {
			return found.Words(texts)
		}
		for _, text := range texts {
			if hide := g.Named(name).Secret; hide != nil {
				hidden = append(hidden, hide(&found, text))
			} else {
				hidden = append(hidden, found.Words([]string{text})...)
			}
		}
		return hidden
	})
	return s, found
}

func textsOf(v Value) []string {
	if list, ok := v.(List); ok {
		return list.Texts()
	}
	return []string{v.String()}
}

// why are the reasons why a field has no effect with another one.
var why = map[string]string{
	"kube": "a pod is as its object describes it, and the load comes from another pod",
	"load": "it is for procfit's own load generator; write it into the --load command",
}

// Check refuses what has no effect without a field that is not given, or with one that is.
func (g *Given) Check() error {
	for _, name := range g.Names {
		f := g.Named(name)
		if f.Needs != "" && !g.Has(f.Needs) {
			needs := "--" + f.Needs
			if of := g.Named(f.Needs); of.Holds != "" && of.Bare == "" { // a word after one that needs no value is none
				needs += " " + of.Holds
			}
			return fmt.Errorf("--%s needs %s", name, needs)
		}
		for _, other := range strings.Fields(f.Not) {
			switch reason := why[other]; {
			case !g.Has(other):
			case reason == "":
				return fmt.Errorf("use only one of --%s and --%s", name, other)
			default:
				return fmt.Errorf("--%s has no effect with --%s: %s; remove --%[1]s", name, other, reason)
			}
		}
	}
	return nil
}

// What is wrong with the flags of a command line before one is read; see is the command
// whose help has them.

// NoValue is a flag at the end of the line.
func (f Field) NoValue() error { return fmt.Errorf("--%s needs a value: --%[1]s %s", f.Name, f.Holds) }

// NotAFlag is a word such as --=x.
func NotAFlag(word, see string) error {
	return fmt.Errorf("%q is not a flag; see %s --help", word, see)
}

// UnknownShort is one letter.
func UnknownShort(letter, see string) error {
	return fmt.Errorf("unknown flag -%s; see %s --help", letter, see)
}

// Unknown is a name, and the nearest known one, if there is one.
func Unknown(name, nearest, see string) error {
	if nearest != "" {
		return fmt.Errorf("unknown flag --%s. Did you mean --%s?", name, nearest)
	}
	return fmt.Errorf("unknown flag --%s; see %s --help", name, see)
}
