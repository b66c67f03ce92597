package ps

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/program/observe"
)

// Selection is which processes a list is of: those with these PIDs, and those in
// whose name one of the expressions finds a match. Without any it is of all.
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
		case err == nil && pid <= 0:
			return Selection{}, fmt.Errorf("%q is not a process ID: want 1 or more, or a name", word)
		case err == nil:
			if !slices.Contains(s.PIDs, pid) {
				s.PIDs = append(s.PIDs, pid)
			}
			continue
		}
		name, err := regexp.Compile(word)
		if err != nil {
			return Selection{}, fmt.Errorf("%q is neither a process ID nor a regular expression: %w", word, err)
		}
		s.Names = append(s.Names, name)
	}
	return s, nil
}

// All tells that nothing was selected.
func (s Selection) All() bool { return len(s.PIDs) == 0 && len(s.Names) == 0 }

// Named tells that one of the expressions finds a match in the name.
func (s Selection) Named(name string) bool {
	return slices.ContainsFunc(s.Names, func(r *regexp.Regexp) bool { return r.MatchString(name) })
}

// Missing are the expressions that no process of the list is there for.
func (s Selection) Missing(snap observe.Snapshot) []*regexp.Regexp {
	return slices.DeleteFunc(slices.Clone(s.Names), func(r *regexp.Regexp) bool {
		return slices.ContainsFunc(snap.Processes, func(p observe.Process) bool { return r.MatchString(p.Name) })
	})
}
