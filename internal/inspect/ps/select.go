package ps

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Selection selects processes: those with one of the PIDs, and those whose name matches
// one of the expressions. An empty Selection selects all.
type Selection struct {
	PIDs  []int
	Names []*regexp.Regexp
}

// Select reads words as a user types them: a number is a PID, anything else a
// regular expression.
func Select(words []string) (Selection, error) {
	var s Selection
	for _, word := range words {
		pid, err := strconv.Atoi(word)
		switch {
		case word == "": // as an expression it matches every name
			return Selection{}, errors.New(`"" names no process: expected a process ID, a name, or a port as in :8080`)
		case err == nil && pid <= 0:
			return Selection{}, fmt.Errorf("%q is not a process ID: expected 1 or more, or a name", word)
		case err == nil:
			if !slices.Contains(s.PIDs, pid) {
				s.PIDs = append(s.PIDs, pid)
			}
			continue
		}
		name, err := Name(word)
		if err != nil {
			return Selection{}, err
		}
		s.Names = append(s.Names, name)
	}
	return s, nil
}

// Name reads a regular expression of process names.
func Name(text string) (*regexp.Regexp, error) {
	name, err := regexp.Compile(text)
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) {
		return nil, fmt.Errorf("%q: invalid regular expression: %s: %s", text, bad.Code, bad.Expr)
	}
	return name, err
}

func (s Selection) All() bool { return len(s.PIDs) == 0 && len(s.Names) == 0 }

func (s Selection) Named(name string) bool {
	return slices.ContainsFunc(s.Names, func(r *regexp.Regexp) bool { return r.MatchString(name) })
}

// Missing returns the expressions that match no process of the list.
func (s Selection) Missing(snap observe.Snapshot) []*regexp.Regexp {
	return slices.DeleteFunc(slices.Clone(s.Names), func(r *regexp.Regexp) bool {
		return slices.ContainsFunc(snap.Processes, func(p observe.Process) bool { return r.MatchString(p.Name) })
	})
}

// Unread reports how many processes could not be read, or not completely, what is missing for that in
// the list, and why: one line per reason. Below a list of Go programs, a process that no permission
// makes readable has no line.
func Unread(snap observe.Snapshot) []string {
	type kind struct {
		reason string
		listed bool // with what is known, as it was named
	}
	all := map[kind][]string{}
	for _, u := range snap.Unreadable {
		listed := slices.ContainsFunc(snap.Processes, func(p observe.Process) bool { return p.PID == u.PID })
		if u.Cause == observe.Refused && !listed && len(snap.Processes) > 0 {
			continue
		}
		k := kind{u.Summary(), listed}
		all[k] = append(all[k], fmt.Sprintf("%d (%s)", u.PID, phrase.Clean(u.Name)))
	}
	var lines []string
	for k, who := range all {
		missing := phrase.If(k.listed, "GOMAXPROCS is missing", "not in the list, since not known to be Go")
		lines = append(lines, fmt.Sprintf("%s: %s could not be read (%s): %s", missing, phrase.Count(len(who), "process"), phrase.Clean(k.reason), named(who)))
	}
	slices.Sort(lines)
	for _, of := range []struct{ source, words string }{{observe.Inferred, "inferred, not read"}, {"", "not known"}} {
		n, reason := 0, ""
		for _, p := range snap.Processes {
			if p.ProcsSource() == of.source && p.ProgramUnknown == "" { // else it has a line already
				n++
				reason = p.LiveUnknown
			}
		}
		if n > 0 {
			lines = append(lines, fmt.Sprintf("the GOMAXPROCS of %s is %s; for one: %s", phrase.Count(n, "process"), of.words, phrase.Clean(reason)))
		}
	}
	return lines
}

// Denied reports whether more permissions would let more be read.
func Denied(snap observe.Snapshot) bool {
	return slices.ContainsFunc(snap.Unreadable, func(u observe.Unreadable) bool { return u.Cause.Permission() }) ||
		slices.ContainsFunc(snap.Processes, func(p observe.Process) bool { return p.LiveCause.Permission() })
}
