package lab

import (
	"fmt"
	"strings"
)

// UnknownError is the answer to an id that no experiment has.
type UnknownError struct {
	ID   string
	Near []string // ids that it may be a slip of; none is near: all of them
	near bool
}

func (e *UnknownError) Error() string {
	hint := "there are"
	if e.near {
		hint = "did you mean"
	}
	return fmt.Sprintf("no practice program %q: %s %s", e.ID, hint, strings.Join(e.Near, ", "))
}

func unknown(id string) *UnknownError {
	e := &UnknownError{ID: id}
	var all []string
	for _, x := range List() {
		all = append(all, x.ID)
		// One slip in three letters still looks like the word; so does a part of it.
		lower := strings.ToLower(id)
		if distance(lower, x.ID) <= len(x.ID)/3 || len(id) >= 3 && strings.Contains(x.ID, lower) {
			e.Near, e.near = append(e.Near, x.ID), true
		}
	}
	if !e.near {
		e.Near = all
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
