package lab

import (
	"fmt"
	"slices"
	"strings"
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
		// One slip in three letters, two in five, still looks like the word; so does a part of it.
		lower := strings.ToLower(id)
		if distance(lower, x.ID) <= (len(x.ID)+1)/3 || len(id) >= 3 && strings.Contains(x.ID, lower) {
			e.Near, e.near = append(e.Near, x.ID), true
		}
	}
	if !e.near || e.Kind != "" {
		e.Near, e.near = all, false
	}
	return e
}

// distance is the Levenshtein distance in bytes: insertions, deletions and
// substitutions that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
