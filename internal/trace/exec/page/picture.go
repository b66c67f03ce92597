package page

import (
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/trace/exec"
)

const (
	maxRows   = 64
	maxArrows = 400
	// leastSeen is the part of the timeline below which nobody would find a colour or a bar.
	leastSeen = 1.0 / 2000
)

// Picture is a row for each P, and an arrow from the P that a goroutine was stolen from at
// the time when it started elsewhere. Each goroutine of the key, those that it shows longest,
// has a colour that no other has.
func Picture(t *exec.Trace) document.Timeline {
	k := drawn(t)
	names := map[int64]string{}
	for _, g := range t.Goroutines {
		names[g.ID] = g.Name
	}
	procs := t.Procs[:min(len(t.Procs), maxRows)]
	used := map[int]bool{}
	l := lanes(t, procs, k, func(s exec.Span, to *document.Stretch) {
		used[to.Of] = true
		if to.To-to.From < leastSeen {
			return // nobody can point at it
		}
		to.Label = names[s.Goroutine]
		to.Value = fmt.Sprintf("%s on %s, %s to %s (%s)", fullName(names, s.Goroutine), procName(s.Proc), number.Duration(s.Start), number.Duration(s.End), number.Duration(s.End-s.Start))
		if why := origins[s.Origin]; why != "" {
			to.Value += "; " + why
		}
		if s.Stop != "" {
			to.Value += "; stopped: " + s.Stop
		}
	})
	for i := range l.Fillings {
		f := &l.Fillings[i]
		switch {
		case i < len(k.list):
			f.Name = keyName(k.list[i])
		case !used[i]:
			f.Name = ""
		case f.Sign == anybody && k.others.Goroutines > 0:
			f.Name += ": " + tally(k.others.Goroutines)
		}
	}
	l.Title, l.Summary = "What each P ran", "What each P ran over time"
	l.Note = fmt.Sprintf("%d of %d starts were stolen from the queue of another P (arrows, inferred)", t.Starts.Stolen, t.Starts.All())
	if n := t.Starts.Unclear; n > 0 {
		l.Note += fmt.Sprintf("; %d more may have been (dashed)", n)
	}
	l.Arrows = arrows(t, procs, names)
	return document.Timeline{Ticks: ticks(t), Lanes: l, Key: note(t, k)}
}

// drawn has the goroutines that the timeline shows longest.
func drawn(t *exec.Trace) key {
	shown, length := map[int64]time.Duration{}, end(t)
	for _, s := range t.Spans {
		shown[s.Goroutine] += s.End - s.Start
	}
	others := t.Dropped
	var seen []exec.Goroutine
	for _, g := range t.Goroutines {
		switch {
		case g.Runtime:
		case part(shown[g.ID], length) >= leastSeen:
			seen = append(seen, g)
		default:
			others.Add(g)
		}
	}
	return newKey(others, seen, document.Distinct, func(g exec.Goroutine) time.Duration { return shown[g.ID] })
}

func note(t *exec.Trace, k key) string {
	text := "Point at a bar for its goroutine"
	if k.others.Goroutines > 0 {
		text += ". In colour are those that ran longest here"
	}
	for _, of := range []struct {
		n    int
		all  int64
		noun string
	}{{len(t.Spans), t.SpanCount, "spans"}, {maxRows, int64(len(t.Procs)), "Ps"}, {maxArrows, t.StealCount, "arrows"}} {
		if int64(of.n) < of.all {
			text += fmt.Sprintf(". The picture shows the first %d of %d %s", of.n, of.all, of.noun)
		}
	}
	return text + "."
}

var origins = map[exec.Origin]string{
	exec.Own: "became ready on this P", exec.Stolen: "stolen",
	exec.Unclear: "stolen, or from the global queue", exec.Global: "from the global queue",
}

func arrows(t *exec.Trace, procs []exec.Proc, names map[int64]string) (list []document.Arrow) {
	row, length := map[int]int{}, end(t)
	for i, p := range procs {
		row[p.ID] = i
	}
	for _, s := range t.Steals[:min(len(t.Steals), maxArrows)] {
		from, ok := row[s.From]
		to, ok2 := row[s.To]
		if !ok || !ok2 || s.Start > length {
			continue
		}
		why := origins[exec.Stolen]
		if s.Unclear {
			why = origins[exec.Unclear]
		}
		list = append(list, document.Arrow{From: from, To: to, At: part(s.Start, length), Doubtful: s.Unclear, Value: fmt.Sprintf("%s: ready on %s at %s, started on %s at %s: %s",
			fullName(names, s.Goroutine), procName(s.From), number.Duration(s.Ready), procName(s.To), number.Duration(s.Start), why)})
	}
	return list
}

func fullName(names map[int64]string, id int64) string {
	if n := names[id]; n != "" {
		return n + " (G " + tally(id) + ")"
	}
	return "G " + tally(id)
}

// keyLetters is how many have room in an entry of the key.
const keyLetters = 26

// keyName shortens the name and not the number, by which it is found elsewhere.
func keyName(g exec.Goroutine) string {
	id := "G " + tally(g.ID)
	if g.Name == "" {
		return id
	}
	id = " (" + id + ")"
	return phrase.Clip(g.Name, max(1, keyLetters-len(id))) + id
}

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
		stretch := document.Stretch{Span: document.Span{From: part(s.Start, length), To: part(s.End, length)}, Of: of}
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
