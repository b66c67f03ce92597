// Package field describes what a user may ask for: each field once, with its name, its
// place in the help, how its text is read and checked, and what of it is a credential. The
// flags, the help, the recorded Spec and its procfit.yaml come from it. It knows no library
// for flags.
package field

import (
	"cmp"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
)

// Field is one thing that a user may ask for. Its name is that of the flag.
type Field struct {
	Name  string
	Short string // the flag's one letter, if it has one
	Group Group
	Holds string // the placeholder of the value in the help; empty: a switch, on or off
	Bare  string // the value of the flag where it has none; empty: it needs one
	Often bool   // the short help has it
	Help  string // one line, which needs no other
	More  string // what the reference says besides
	Value Value
	File  string // its key in a file, where that is not Name in camel case
	Needs string // the field that it has no effect without
	Not   string // the fields that it cannot be combined with, in words
	// Secret takes the credential out of one of its texts; nil: what a URL, a command or JSON
	// has by the rules of package secret.
	Secret func(f *secret.Finder, text string) string
}

// Alone is the text of the flag without one; empty: it needs one.
func (f Field) Alone() string {
	if f.Holds == "" {
		return "true"
	}
	return f.Bare
}

// Group is a part of the help.
type Group string

const (
	Run      Group = "What to run"
	Compare  Group = "What to compare"
	Load     Group = "Load"
	Protocol Group = "Protocol"
	CPUs     Group = "CPUs and limits"
	Stop     Group = "When to stop"
	Kube     Group = "Cluster"
	Check    Group = "Check" // of files, which no sweep has
	Output   Group = "Output"
)

// Section is the part of a file that has the group's fields; empty: no file has them.
func (g Group) Section() string {
	return map[Group]string{Run: "target", Compare: "compare", Load: "load", Protocol: "protocol", CPUs: "cpus", Stop: "stop", Kube: "cluster", Check: "check"}[g]
}

// Key is the field's name in its section of a file: trialTime of trial-time.
func (f Field) Key() string {
	if f.File != "" {
		return f.File
	}
	words := strings.Split(f.Name, "-")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// Groups are all, in the order of the help.
func Groups() []Group { return []Group{Run, Compare, Load, Protocol, CPUs, Stop, Kube, Check, Output} }

// In puts fields into a group.
func In(g Group, list ...Field) []Field {
	for i := range list {
		list[i].Group = g
	}
	return list
}

// Take picks fields by their names. An item of the choice that has a help has it, what
// more there is to say and what it needs in place of the field's own. What it cannot be
// combined with, and that it is used often, it has on top.
func Take(list []Field, choice ...Field) (taken []Field) {
	for _, c := range choice {
		f := list[slices.IndexFunc(list, func(f Field) bool { return f.Name == c.Name })]
		if c.Help != "" {
			f.Help, f.More, f.Needs = c.Help, c.More, c.Needs
		}
		f.Often, f.Not = f.Often || c.Often, cmp.Or(c.Not, f.Not)
		taken = append(taken, f)
	}
	return taken
}

// Named are fields for Take that are taken unchanged.
func Named(names ...string) []Field {
	return phrase.Each(names, func(name string) Field { return Field{Name: name} })
}
