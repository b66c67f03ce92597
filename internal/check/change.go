package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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
}

// ErrOverlap is of changes that want the same bytes.
var ErrOverlap = errors.New("two changes want the same bytes")

// Apply carries the splices out, all or none.
func Apply(text []byte, splices []Splice) ([]byte, error) {
	splices = slices.Clone(splices)
	slices.SortStableFunc(splices, func(a, b Splice) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	splices = slices.Compact(splices)
	out := make([]byte, 0, len(text)+64)
	at := 0
	for i, s := range splices {
		if s.From < 0 || s.To < s.From || s.To > len(text) {
			return nil, fmt.Errorf("bytes %d to %d are none of a text of %d", s.From, s.To, len(text))
		}
		if s.From < at || i > 0 && s.From == splices[i-1].From {
			return nil, ErrOverlap
		}
		out = append(append(out, text[at:s.From]...), s.New...)
		at = s.To
	}
	return append(out, text[at:]...), nil
}
