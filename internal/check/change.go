package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
)

// Splice replaces the bytes From to To of a file.
type Splice struct {
	From, To int
	New      string
}

// Change is a fix of one file, in as few bytes as it takes.
type Change struct {
	Path    string
	Splices []Splice

	// Together gives the splices of several changes that are made at once, if those are more than
	// the splices of each, as an import that all of them use. nil: they are not.
	Together func(all []*Change) []Splice
}

var errOverlap = errors.New("two changes overlap")

// Apply carries the splices out, all or none.
func Apply(text []byte, splices []Splice) ([]byte, error) {
	splices, err := inOrder(splices)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(text)+64)
	at := 0
	for _, s := range splices {
		if s.From < 0 || s.To < s.From || s.To > len(text) {
			return nil, fmt.Errorf("bytes %d to %d are outside a text of %d bytes", s.From, s.To, len(text))
		}
		out = append(append(out, text[at:s.From]...), s.New...)
		at = s.To
	}
	return append(out, text[at:]...), nil
}

// inOrder are splices in the order of the text, each once; errOverlap where two overlap.
func inOrder(splices []Splice) ([]Splice, error) {
	splices = slices.Clone(splices)
	sorting.Stable(splices, func(a, b Splice) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	splices = slices.Compact(splices)
	for i := 1; i < len(splices); i++ {
		if before, s := splices[i-1], splices[i]; s.From < before.To || s.From == before.From {
			return nil, errOverlap
		}
	}
	return splices, nil
}

// apart are the findings, in their order, whose changes do not overlap that of an earlier one.
func apart(findings []Finding) (some []Finding) {
	var taken []Splice // in the order of the text
	place := func(s Splice) (at int, there, free bool) {
		at, same := slices.BinarySearchFunc(taken, s, func(a, b Splice) int { return cmp.Compare(a.From, b.From) })
		there = same && taken[at] == s
		free = !same && (at == 0 || taken[at-1].To <= s.From) && (at == len(taken) || s.To <= taken[at].From)
		return at, there, free
	}
	for _, f := range findings {
		own, err := inOrder(f.Change.Splices)
		if err != nil || slices.ContainsFunc(own, func(s Splice) bool { _, there, free := place(s); return !there && !free }) {
			continue
		}
		for _, s := range own {
			if at, there, _ := place(s); !there {
				taken = slices.Insert(taken, at, s)
			}
		}
		some = append(some, f)
	}
	return some
}

func splices(findings []Finding) []Splice {
	var all []*Change
	var each []Splice
	for _, f := range findings {
		all = append(all, f.Change)
		each = append(each, f.Change.Splices...)
	}
	if together := all[0].Together; together != nil {
		return together(all)
	}
	return each
}
