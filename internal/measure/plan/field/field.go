// Package field describes what a user may ask for: each field once, with its name, its
// place in the help, how its text is read and checked, and which keys of a journal's
// header it decides. The flags, the help, what a resumed run compares and the command
// that measures again come from it. It knows no library for flags.
package field

import "slices"

// Field is one thing that a user may ask for. Its name is that of the flag.
type Field struct {
	Name  string
	Short string // the flag's one letter, if it has one
	Group Group
	Holds string // stands for the value in the help; empty: a switch, on or off
	Bare  string // the value of the flag where it has none; empty: it needs one
	Help  string
	Value Value
	Needs string // the field without which it says nothing
	Not   string // the fields with which it says nothing, in words
	// Header are the keys of the journal's header that it decides, in words such as
	// load.pace; empty: Aside says why there are none.
	Header string
	Aside  string
}

// Group is a part of the help.
type Group string

const (
	Run     Group = "What to run"
	Compare Group = "What to compare"
	Load    Group = "Load"
	CPUs    Group = "CPUs and limits"
	Stop    Group = "When to stop"
	Output  Group = "Output"
	Kube    Group = "Kubernetes"
)

// Groups are all, in the order of the help.
func Groups() []Group { return []Group{Run, Compare, Load, CPUs, Stop, Output, Kube} }

// Reasons of several fields that no header has them.
const (
	OfWaiting = "it bounds how long something is waited for, which no figure of a trial holds"
	OfOutput  = "it is where results go, and not what is measured"
	OfAsking  = "it decides what procfit does before the first trial"
)

// In puts fields into a group.
func In(g Group, list ...Field) []Field {
	for i := range list {
		list[i].Group = g
	}
	return list
}

// Take picks fields by their names. What else an item of the choice has, its help and
// what it needs, it has in place of the field's own.
func Take(list []Field, choice ...Field) (taken []Field) {
	for _, c := range choice {
		f := list[slices.IndexFunc(list, func(f Field) bool { return f.Name == c.Name })]
		if c.Help != "" {
			f.Help, f.Needs = c.Help, c.Needs
		}
		taken = append(taken, f)
	}
	return taken
}

// Named are fields for Take, of which nothing is changed.
func Named(names ...string) (choice []Field) {
	for _, name := range names {
		choice = append(choice, Field{Name: name})
	}
	return choice
}
