package page

import (
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/trace/exec"
)

// timeline has a row for each P, which the goroutines that it ran fill.
func timeline(t *exec.Trace, procs []exec.Proc, k key) document.Timeline {
	out := document.Timeline{}
	index := map[int64]int{}
	for i, g := range k.list {
		index[g.ID] = i
		out.Fillings = append(out.Fillings, document.Filling{Sign: rune(letters[i])})
	}
	others := len(out.Fillings)
	out.Fillings = append(out.Fillings, document.Filling{Name: "others", Sign: '*', Aside: true}, document.Filling{Name: "the runtime's own", Sign: '#', Aside: true})
	row, length := map[int]int{}, end(t)
	for i, p := range procs {
		row[p.ID] = i
		out.Lanes = append(out.Lanes, document.Lane{Name: procName(p.ID)})
	}
	part := func(at time.Duration) float64 { return float64(at) / float64(length) }
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
		out.Lanes[i].Stretches = append(out.Lanes[i].Stretches, document.Stretch{Span: document.Span{From: part(s.Start), To: part(s.End)}, Of: of})
	}
	a := document.AxisBetween(0, length.Seconds())
	for _, s := range a.Ticks() { // at round times since the trace started
		label := "0"
		if s > 0 {
			label = number.Short(number.Seconds(s))
		}
		out.Ticks = append(out.Ticks, document.Tick{At: a.At(s), Label: label})
	}
	return out
}

func end(t *exec.Trace) time.Duration {
	if int64(len(t.Spans)) == t.SpanCount {
		return max(1, t.Duration)
	}
	last := time.Duration(1)
	for _, s := range t.Spans {
		last = max(last, s.End)
	}
	return last
}
