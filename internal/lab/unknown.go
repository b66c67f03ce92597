package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
)

// UnknownError is the answer to an id that no experiment has, or none of the
// kind that was asked for.
type UnknownError struct {
	ID   string
	Kind Kind     // what it is instead; empty: it is nothing
	Near []string // ids that it may be a slip of; none is near: all of them
	near bool
	want string
}

func (e *UnknownError) Error() string {
	hint := "there are"
	if e.near {
		hint = "did you mean"
	}
	is := ""
	if e.Kind != "" {
		is = fmt.Sprintf(", which is a %s", e.Kind)
	}
	return fmt.Sprintf("no practice %s %q%s: %s %s", e.want, e.ID, is, hint, strings.Join(e.Near, ", "))
}

func unknown(id string, kinds []Kind) *UnknownError {
	e := &UnknownError{ID: id, want: "program"}
	if len(kinds) == 1 && kinds[0] == Server {
		e.want = "server"
	}
	var all []string
	for _, x := range List() {
		if x.ID == id {
			e.Kind = x.Kind
		}
		if !slices.Contains(kinds, x.Kind) {
			continue
		}
		all = append(all, x.ID)
	}
	e.Near = phrase.Near(id, all)
	e.near = len(e.Near) > 0
	if !e.near || e.Kind != "" {
		e.Near, e.near = all, false
	}
	return e
}
