// Package page makes documents of a verdict.Result: sentences, tables and charts that know no
// format. Brief is the document for a terminal, and Report that of the files; show/text,
// show/markdown and show/html write them. The package decides
// nothing: it has the words for the codes of package verdict, by noun (sentence, reason,
// next, warning, gate), in the documents and in result.json.
//
// Every string is plain text on one line, except scripts and snippets. What came from outside is
// in it as it came: renderers make it printable.
//
// Charts hold positions as fractions of their axis. Numbers carry three
// significant digits (two for percentages): trials of a few per cent spread do
// not support more.
//
// Where numbers come from (measured here, in Kubernetes) is with the
// verdict, with each metric and in the environment.
//
// A page is a function of its Result alone: no clock, no environment, no random
// numbers. What only the user can know (is this load like production's?) is
// answered with "for you to judge", never guessed.
package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Verdict is a recommendation in words.
type Verdict struct {
	State    document.Tone
	Label    string // the kind of verdict, two or three words
	Answer   Answer
	Sentence string
	Reasons  []string
	Next     []document.Item // what would decide an "unknown"
	Context  string          // how sure it is, and on what: CPUs, limit, Go version, trials
}

// Paste is what to put where.
type Paste struct {
	Lead     string // "nothing: …", or what the snippets do
	Snippets document.Snippets
}

// part is one thing that was compared, which has a section of a page: a group, or the values
// of an experiment.
type part interface {
	anchorID() string // unique in the page, fit for an anchor
	sectionTitle() string
	concluded() Verdict
	onTerminal() []document.Block                        // its curves, for a terminal
	numberTables(whole bool) []document.Block            // the tables, whole or with what explains the metrics folded away
	inReport(warnings []document.Block) []document.Block // all that is known, with the warnings where they belong
}

// partsOf are those of a Result.
func partsOf(r *verdict.Result) (list []part) {
	if r.Canary != nil || r.Live != nil {
		return []part{experimentOf(r)}
	}
	for i := range r.Groups {
		list = append(list, groupOf(r, &r.Groups[i], "g"+strconv.Itoa(i+1)))
	}
	if len(r.Best) > 0 {
		for i := range r.Compared {
			list = append(list, groupOf(r, &r.Compared[i], "v"+strconv.Itoa(i+1)))
		}
	}
	return list
}

// VerdictOf is what a Result came to, in words.
func VerdictOf(r *verdict.Result) Verdict { return headline(r, partsOf(r)) }

func headline(r *verdict.Result, parts []part) Verdict {
	switch c := r.Cheapest; {
	case gateLeads(r):
		return gateOf(r.Gate).headline(r)
	case c != nil && len(c.Settings) > 0: // without a valid trial the groups say why
		return cheapestVerdict(r, measuredOn(r))
	case len(parts) == 0:
		return Verdict{State: document.Unknown, Label: "No result", Answer: Answer{Text: "Nothing measured yet"}, Sentence: "No trial has run."}
	case len(r.Best) > 0:
		return bestVerdict(r)
	case len(parts) == 1:
		return parts[0].concluded()
	}
	return acrossGroups(r, parts)
}

// group is a verdict.Group with what is needed to word it.
type group struct {
	words
	anchor     string
	throughput number.Unit
	gateAlone  bool
	rows       []verdict.Row // what tables and charts show
}

func groupOf(r *verdict.Result, of *verdict.Group, anchor string) *group {
	g := &group{words: words{of, r}, anchor: anchor, gateAlone: gateAlone(r), rows: rowsOf(of)}
	g.throughput = g.throughputShown()
	if g.gateAlone {
		g.versions()
	}
	return g
}

// rowsOf are the settings that were compared; of a result that was not analysed its
// settings.
func rowsOf(g *verdict.Group) []verdict.Row {
	if len(g.Rows) == 0 {
		return g.Settings
	}
	return g.Rows
}

func (g *group) anchorID() string { return g.anchor }

func (g *group) sectionTitle() string {
	if g.Compares != "" {
		return g.comparedTitle()
	}
	return g.title()
}

// title is what distinguishes this group from others.
func (w words) title() string {
	t := "No CPU limit"
	if w.QuotaCPUs != nil {
		t = "Limit " + number.Limit(*w.QuotaCPUs, w.r.Target.BurstCPUs)
		if w.Replicas > 1 {
			t += " each"
		}
	}
	if w.Replicas > 1 {
		t += ", " + phrase.Count(w.Replicas, "replica")
	}
	if w.GoVersion != "" {
		t += ", Go " + goVersion(w.GoVersion)
	}
	if names := variablesOf(w.Group); names != "" && w.Compares == "" {
		t = strings.TrimSuffix("GOMAXPROCS with "+names+" · "+t, " · No CPU limit")
	}
	if s := setOf(w.Group); s != "" && slices.ContainsFunc(w.r.Groups, func(other verdict.Group) bool { return other.SetLive }) {
		t += ", " + s
	}
	return t
}

func (g *group) concluded() Verdict {
	rec := g.Recommendation
	if g.Compares != "" {
		return g.comparedVerdict()
	}
	if g.gateAlone {
		return Verdict{State: document.Unknown, Label: "Not asked", Sentence: "The gate compares two programs with one value of GOMAXPROCS.", Context: g.context(nothingProven)}
	}
	row := called(&rec)
	return Verdict{
		State:    row.tone,
		Label:    row.label,
		Answer:   g.answer(),
		Sentence: phrase.Capital(g.sentence()),
		Reasons:  g.reasons(),
		Next:     g.next(),
		Context:  g.context(g.sure()),
	}
}

// context is how sure the result is, and what it was measured on: it is worth nothing elsewhere.
func (w words) context(sure string) string {
	parts := []string{sure}
	if p := w.Part; p != nil {
		parts = append(parts, fmt.Sprintf("%d of %s", p.CPUs, number.CPUs(float64(p.Of))))
	} else if w.QuotaCPUs == nil || *w.QuotaCPUs != w.EffectiveCPUs {
		parts = append(parts, number.CPUs(w.EffectiveCPUs))
	}
	if w.QuotaCPUs != nil {
		parts = append(parts, "limit "+number.Limit(*w.QuotaCPUs, w.r.Target.BurstCPUs))
	} else if l := w.LimitAround; l != nil {
		parts = append(parts, "limit of "+number.CPUs(l.CPUs)+" on the parent cgroup "+groupName(l.Group))
	} else {
		parts = append(parts, "no CPU limit")
	}
	if w.Replicas > 1 {
		parts = append(parts, phrase.Count(w.Replicas, "replica"))
	}
	if v := w.goVersion(); v != "" {
		parts = append(parts, "Go "+v)
	}
	if w.Race != nil {
		parts = append(parts, phrase.Count(w.Race.Trials, "trial"))
	} else {
		trials := 0
		for i := range w.Settings {
			trials += w.Settings[i].Trials
		}
		parts = append(parts, phrase.Count(trials, "trial"))
	}
	if o := originWords(w.Origin); o != "" && w.Origin != journal.OriginLocal {
		parts = append(parts, o)
	}
	return strings.Join(parts, " · ")
}

// How sure an answer is, next to notProven.
const (
	provenSure    = "Proven at 95%"
	nothingProven = "Nothing proven"
)

// sure is how sure the verdict is.
func (g *group) sure() string {
	switch rec := &g.Recommendation; {
	case rec.Verdict == verdict.Measured:
		return "Measured"
	case rec.Confidence == verdict.Likely:
		return notProven
	case rec.Verdict == verdict.Undecided || rec.Verdict == "":
		return nothingProven
	}
	return provenSure
}

func (w words) goVersion() string {
	if w.GoVersion != "" {
		return goVersion(w.GoVersion)
	}
	return goVersion(w.r.Target.GoVersion)
}

// goVersion is a version without the "go" before it.
func goVersion(s string) string { return strings.TrimPrefix(s, "go") }
