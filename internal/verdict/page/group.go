// Package page makes documents of a verdict.Result: sentences, tables and charts that know no
// format. Brief is the document for a terminal, and Report that of the files; show/text,
// show/markdown and show/html write them. The package decides
// nothing: it has the words for the codes of package verdict, by noun (sentence, reason,
// next, warning, gate), in the documents and in result.json.
//
// Every string is plain text on one line, except scripts and snippets. What came from outside is
// in it as it came: renderers make it printable.
//
// A page is a function of its Result alone: no clock, no environment, no random
// numbers. What only the user can know (is this load like production's?) is
// answered with "for you to judge", never guessed.
package page

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

func groupOf(r *verdict.Result, of *verdict.Group, anchor string) *group {
	g := &group{words: words{of, r}, anchor: anchor, gateAlone: gateAlone(r), rows: rowsOf(of)}
	if g.gateAlone {
		g.versions()
	}
	return g
}

func (g *group) anchorID() string { return g.anchor }

func (g *group) sectionTitle() string {
	return phrase.If(g.Compares != "", g.comparedTitle(), g.title())
}

func (g *group) concluded() Verdict {
	rec := g.Recommendation
	if g.Compares != "" {
		return g.comparedVerdict()
	}
	if g.gateAlone {
		return Verdict{State: document.Unknown, Label: "Not asked", Answer: Answer{Text: "Not asked", Plain: "The gate compares two programs with one value of GOMAXPROCS."}, Context: g.context(nothingProven)}
	}
	row := called(&rec)
	return Verdict{State: row.tone, Label: row.label, Answer: g.answer(), Reasons: g.reasons(), Next: append(g.measureDefault(), g.next()...), Context: g.context(g.sure())}
}

// measureDefault is what a value lacks that nobody can compare with what the program runs with now.
func (g *group) measureDefault() []document.Item {
	if advised(&g.Recommendation) == nil || g.unclear() == nil || g.unset() != nil {
		return nil
	}
	item := document.Item{Text: "measure the default too, which the program uses where GOMAXPROCS is not set"}
	if procs := g.r.Spec.Text("procs"); swept(g.r) && procs != "" {
		item.Command = g.r.Spec.With(spec.Set("procs", journal.Default+","+procs), newFolder).Shell()
	}
	return []document.Item{item}
}

func (g *group) sure() string {
	switch rec := &g.Recommendation; {
	case called(rec).label == labelNotEnough:
		return provenSure
	case rec.Verdict == verdict.Measured:
		return "Measured"
	case rec.Confidence == verdict.Likely:
		return labelNotProven
	case rec.Verdict == verdict.Undecided || rec.Verdict == "":
		return nothingProven
	}
	return provenSure
}

// comparedTitle is what was compared, at which values of the others: "GOGC with
// GOMAXPROCS=2, GOMEMLIMIT=off".
func (g *group) comparedTitle() string {
	var with []string
	if g.Procs != nil {
		with = append(with, "GOMAXPROCS="+strconv.Itoa(*g.Procs))
	}
	t := g.Compares
	if with = append(with, phrase.Each(g.Variables, journal.Variable.String)...); with != nil {
		t += " with " + strings.Join(with, ", ")
	}
	if len(g.r.Best) > 1 {
		t += " · " + g.title()
	}
	return t
}

func (g *group) comparedVerdict() Verdict {
	rec := &g.Recommendation
	var v Verdict
	called(rec).compared(g, &v)
	if rec.Confidence == verdict.Likely {
		v.State, v.Label = document.Attention, "Likely "+rec.Setting
		v.Answer.Plain += " This is likely, but not proven."
	}
	v.Answer.Text, v.Answer.Brief = v.Label, v.Label
	if list := g.tooLarge(); len(list) > 0 && len(list) < len(g.rows) {
		v.Reasons = append(v.Reasons, fmt.Sprintf("more memory than %s, and not measured again: %s", mostMemory(g.r), phrase.And(list)))
	}
	if list := g.named(contest.ExcludedUnweighed); list != nil {
		v.Reasons = append(v.Reasons, "not compared, because the memory could not be read: "+phrase.And(list))
	}
	v.Context = g.context(g.sure())
	return v
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
	text := lowerFirst(verdicts[cmp.Or(rec.Verdict, verdict.Undecided)].label)
	switch n := advised(rec); {
	case called(rec).label == labelNotEnough:
		text = lowerFirst(labelNotEnough)
	case n != nil && g.unclear() != nil:
		text = "recommended " + strconv.Itoa(*n)
	case n != nil:
		text = "set " + strconv.Itoa(*n)
	case called(rec).sets:
		text = lowerFirst(labelKeepDefault)
	}
	if rec.Confidence == verdict.Likely {
		text = "likely " + text
	}
	return text
}

// plain is why, in one or two sentences that need no table.
func (g *group) plain() string {
	text := g.say(g.Recommendation.Claim).text
	if g.likely() {
		text += " This is likely, but not proven."
	}
	if advised(&g.Recommendation) != nil && g.unclear() != nil {
		text += " It is unknown how that compares with what the program runs with now."
	}
	if v := g.Recommendation.Verdict; g.Part != nil && v != verdict.Undecided && v != "" {
		text += fmt.Sprintf(" For all %d CPUs keep the default, or measure with the load generator on another machine.", g.Part.Of)
	}
	return phrase.Capital(g.butFor(text)) + g.overMemory()
}

func (g *group) paste() Paste {
	if g.gateAlone {
		return Paste{Lead: "Nothing to set: the gate compares two programs, not values of GOMAXPROCS."}
	}
	return called(&g.Recommendation).paste(g)
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
	add(g.throughputName(), g.unit(), func(a *verdict.Row) stat.Interval { return g.asShown(a.Throughput) })
	cpu := phrase.If(g.r.Target.URL != "", "CPU per request", "CPU per run")
	add(cpu, number.Time(), func(a *verdict.Row) stat.Interval {
		return stat.Interval{Median: a.Evidence.CPUSecondsEach}
	})
	return list
}
