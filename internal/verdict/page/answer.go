package page

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// Answer is a verdict for who has ten seconds: what to do in about four words, why in
// one sentence, what changes, and what to type.
type Answer struct {
	Text  string
	Brief string // the same next to other groups' answers: "set 2"
	Plain string
	Tiles document.Tiles
	Apply string // a line to paste; empty where there is nothing to set
}

func (g *group) answer() Answer {
	rec := &g.Recommendation
	a := Answer{Text: called(rec).answer(g), Brief: g.brief(), Plain: g.plain(), Tiles: g.tiles()}
	if n := advised(rec); n != nil && rec.Confidence != verdict.Likely && g.unclear() == nil {
		a.Apply = "export GOMAXPROCS=" + strconv.Itoa(*n)
	}
	return a
}

// brief is the answer where others are next to it.
func (g *group) brief() string {
	rec := &g.Recommendation
	text := lowered(verdicts[cmp.Or(rec.Verdict, verdict.Undecided)].label)
	switch n := advised(rec); {
	case n != nil && g.unclear() != nil:
		text = "recommended " + strconv.Itoa(*n)
	case n != nil:
		text = "set " + strconv.Itoa(*n)
	case called(rec).sets:
		text = lowered(keepDefault)
	}
	if rec.Confidence == verdict.Likely {
		text = "likely " + text
	}
	return text
}

// plain is why, in one or two sentences that need no table.
func (g *group) plain() string {
	w := g.words
	text := called(&g.Recommendation).plain(g, w)
	if text == "" {
		return phrase.Capital(w.sentence())
	}
	if w.likely() {
		text += " This is likely, but not proven."
	}
	return w.butFor(text + w.elsewhere())
}

// changed words a ratio to the default: as a factor from 2 on, and with the end of its
// interval that is nearer to no change. Within the margin nothing has changed.
func changed(name string, i stat.Interval, margin float64, more, less string) string {
	if i.Median == nil || i.Low == nil || i.High == nil {
		return name + " was not compared often enough to decide"
	}
	switch x := *i.Median; {
	case *i.Low > 1:
		return fmt.Sprintf("%s is %s %s (at least %s)", name, factor(x), more, factor(*i.Low))
	case *i.High < 1:
		return fmt.Sprintf("%s is %s %s (at least %s)", name, factor(x), less, factor(*i.High))
	case *i.Low > 1-margin && *i.High < 1+margin:
		return name + " is the same within " + number.Percent(margin)
	default:
		return fmt.Sprintf("%s is between %s lower and %s higher", name, factor(*i.Low), factor(*i.High))
	}
}

// factor is how far a ratio is from 1: "12%", and "4.4×" where one is twice the other
// or more.
func factor(ratio float64) string {
	if ratio <= 0 {
		return "all"
	}
	if x := max(ratio, 1/ratio); x >= 2 {
		return number.Significant(x, 2) + "×"
	}
	return number.Percent(math.Abs(ratio - 1))
}

// tiles are what an engineer asks of a change: latency, throughput, CPU. Where nothing is
// to change they are the default's.
func (g *group) tiles() (list []document.Tile) {
	before, after := g.rowOfUnset(), g.chosen()
	whose := ""
	if after == nil {
		after = before
		if g.Recommendation.Verdict == verdict.Undecided {
			whose = "default"
		}
	}
	if after == nil || g.uncompared(after) != "" { // large numbers look like results
		return nil
	}
	add := func(name string, u number.Unit, of func(*verdict.Row) stat.Interval) {
		i := of(after)
		if i.Median == nil {
			return
		}
		t := document.Tile{Name: name, After: u.Value(*i.Median), Note: whose}
		if i.Low != nil && i.High != nil {
			t.Note = strings.TrimPrefix(whose+": "+u.Number(*i.Low)+" to "+u.Number(*i.High), ": ")
		}
		if before != nil && before != after {
			if b := of(before).Median; b != nil {
				t.Before = u.Value(*b)
			}
		}
		list = append(list, t)
	}
	latency := g.Latency.Name()
	if after.Judged.Median == nil {
		latency = "p99" // of no trial may be compared, but it was measured
	}
	if r := g.RatePerSecond; r != nil {
		latency += " at " + number.PerSecond("req/s").Value(*r)
	}
	add(latency, number.Time(), func(a *verdict.Row) stat.Interval {
		if a.Judged.Median != nil {
			return a.Judged
		}
		return a.P99
	})
	add(g.throughputName(), g.throughput, func(a *verdict.Row) stat.Interval { return g.asShown(a.Throughput) })
	add(g.cpuName(), number.Time(), func(a *verdict.Row) stat.Interval {
		return stat.Interval{Median: a.Evidence.CPUSecondsEach}
	})
	return list
}

// cpuName is what CPU time is counted by.
func (g *group) cpuName() string {
	if g.r.Target.URL != "" {
		return "CPU per request"
	}
	return "CPU per run"
}

// rowOfUnset is the row that holds the program's own default.
func (g *group) rowOfUnset() *verdict.Row {
	if g.Compares != "" {
		return g.row(g.start())
	}
	if a := g.unset(); a != nil {
		return g.row(a.Label)
	}
	return nil
}

// folded says in one line what a folded list of checks holds.
func folded(title string, checks []document.Check, bad, open string) string {
	count := map[document.Tone]int{}
	for _, c := range checks {
		count[c.State]++
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{count[document.Attention] + count[document.Act], bad}, {count[document.Unknown], open}} {
		if p.n > 0 {
			parts = append(parts, strconv.Itoa(p.n)+" "+p.word)
		}
	}
	if len(parts) == 0 {
		return title + ": none"
	}
	return title + ": " + phrase.And(parts)
}

// alert is the first warning and the number of the others, to which it leads.
func alert(all []document.Note) string {
	if len(all) == 0 {
		return ""
	}
	s := phrase.Count(len(all), "warning") + ": " + all[0].Message
	if n := len(all) - 1; n > 0 {
		s += fmt.Sprintf("; %d more", n)
	}
	return s
}
