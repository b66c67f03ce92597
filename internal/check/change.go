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
	Becomes int // the GOMAXPROCS that comes of it; 0: it is not known

	// Together are the splices of several changes of the file that are made at once, where
	// these are more than those of each, as an import that all of them use; nil: they are not.
	Together func(all []*Change) []Splice
}

// errOverlap is of changes that want the same bytes.
var errOverlap = errors.New("two changes overlap")

// Apply carries the splices out, all or none.
func Apply(text []byte, splices []Splice) ([]byte, error) {
	splices = slices.Clone(splices)
	sorting.Stable(splices, func(a, b Splice) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	splices = slices.Compact(splices)
	out := make([]byte, 0, len(text)+64)
	at := 0
	for i, s := range splices {
		if s.From < 0 || s.To < s.From || s.To > len(text) {
			return nil, fmt.Errorf("bytes %d to %d are outside a text of %d bytes", s.From, s.To, len(text))
		}
		if s.From < at || i > 0 && s.From == splices[i-1].From {
			return nil, errOverlap
		}
		out = append(append(out, text[at:s.From]...), s.New...)
		at = s.To
	}
	return append(out, text[at:]...), nil
}

// splices are those of the changes of findings of one file.
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
