package page

import (
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/trace/exec"
)

// The signs of what is not a letter.
const (
	anybody = '*'
	ofGo    = '#' // the runtime's own goroutines
)

// lanes has a row for each P, which the goroutines that it ran fill. describe puts words
// to a span; nil: nobody can ask for them.
func lanes(t *exec.Trace, procs []exec.Proc, k key, describe func(exec.Span, *document.Stretch)) *document.Lanes {
	out := &document.Lanes{}
	index := map[int64]int{}
	for i, g := range k.list {
		index[g.ID] = i
		out.Fillings = append(out.Fillings, document.Filling{Sign: rune(letters[i])})
	}
	others := len(out.Fillings)
	out.Fillings = append(out.Fillings, document.Filling{Name: "others", Sign: anybody, Aside: true}, document.Filling{Name: "the runtime's own", Sign: ofGo, Aside: true})
	row, length := map[int]int{}, end(t)
	for i, p := range procs {
		row[p.ID] = i
		out.List = append(out.List, document.Lane{Name: procName(p.ID), Note: number.Share(t.Busy(p))})
	}
	for _, s := range t.Spans {
		i, ok := row[s.Proc]
		if !ok {
			continue
		}
		of, known := index[s.Goroutine]
		switch {
		case s.Runtime:
			of = others + 1
		case !known:
			of = others
		}
		stretch := document.Stretch{Span: document.Span{From: part(s.Start, length), To: part(s.End, length)}, Weight: 1, Of: of}
		if describe != nil {
			describe(s, &stretch)
		}
		out.List[i].Stretches = append(out.List[i].Stretches, stretch)
	}
	return out
}

// part is where a time lies in a timeline of such a length.
func part(at, length time.Duration) float64 { return float64(at) / float64(length) }

// ticks are at round times since the trace started.
func ticks(t *exec.Trace) (list []document.Tick) {
	a := document.AxisBetween(0, end(t).Seconds())
	for _, s := range a.Ticks() {
		label := "0"
		if s > 0 {
			label = number.Short(number.Seconds(s))
		}
		list = append(list, document.Tick{At: a.At(s), Label: label})
	}
	return list
}
