// Package page makes documents of a verdict.Result: sentences, tables and charts that know no
// format. New makes a View of a Result, Brief is the document for a terminal, and Report that
// of the files; show/text, show/markdown and show/html write them. The package decides
// nothing: it has the words for the codes of package verdict, by noun (sentence, reason,
// settle, warning, gate), in the documents and in result.json.
//
// Every string is plain text on one line, except scripts and snippets; control and formatting
// characters that came from outside are written as escapes, so that no command line can move
// a terminal's cursor.
//
// Charts hold positions as fractions of their axis. Numbers carry three
// significant digits (two for percentages): trials of a few per cent spread do
// not support more.
//
// Where numbers come from (measured here, in Kubernetes) is with the
// verdict, with each metric and in the environment.
//
// A View is a function of its Result alone: no clock, no environment, no random
// numbers. What only the user can know (is this load like production's?) is
// answered with "for you to judge", never guessed.
package page

import (
	"cmp"
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

// View is a Result in words, tables and charts: what Brief and Report make documents of.
type View struct {
	Name     string
	Started  string
	Alert    string // the warnings in one line; empty without
	heavy    []weight
	Of       string // what was compared: GOMAXPROCS, and the variables of --vary
	Progress string // "31 of 48 trials ran …"; empty when all did
	Verdict  Verdict
	Gate     *Gate
	Summary  *document.Table // one row a group; nil with a single group
	Overview document.Cards  // the same in small curves, on scales that all of them share
	Groups   []Group
	Profiles []document.Block // of --profile
	Warnings document.Notes   // of the run as a whole

	Environment []Facts
	Command     string // the program under test, quoted for a shell
	Against     string // the old command of a gate
	Sweep       string // the procfit command line
	Reproduce   string // reproduce.sh
	Settings    string // procfit.yaml; empty: there is none
}

// Verdict is a recommendation in words.
type Verdict struct {
	State    document.Tone
	Label    string // the kind of verdict, two or three words
	Answer   Answer
	Sentence string
	Reasons  []string
	Settle   []document.Item // what would settle a "unknown"
	Context  string          // how sure it is, and on what: CPUs, limit, Go version, trials
}

// Group is one set of comparable settings.
type Group struct {
	ID         string // unique in the View, fit for an anchor
	Title      string
	By         string // what its settings differ in
	Verdict    Verdict
	Checklist  document.Checks
	Mistakes   document.Checks
	Checked    string           // the checklist in one line
	Mistaken   string           // the mistakes in one line
	Throughput *document.Chart  // nil where nothing valid was measured
	Latency    *document.Chart  // nil where no latency was measured
	OverTime   []document.Chart // of a canary, and of a live experiment
	Evidence   []document.Chart
	Curves     document.Table // what the curves show
	Levels     string         // what its numbers are
	Benchmarks *Benchmarks
	Table      document.Table
	Metrics    *document.Table
	Unjudged   *document.Table // of an experiment: the metrics that do not decide
	Requests   *document.Table // by request, where there is a mix
	Facts      document.Pairs
	Warnings   document.Notes
	Paste      Paste
}

// Benchmarks are the Go benchmarks of a group, each by itself.
type Benchmarks struct {
	Note   string
	Charts []document.Chart
	Table  document.Table // a row a benchmark, a column a value of GOMAXPROCS
}

// Paste is what to put where.
type Paste struct {
	Lead     string // "nothing: …", or what the snippets do
	Snippets document.Snippets
}

// Gate is the answer of procfit compare. Its sentence is empty where the View's verdict is
// the gate's.
type Gate struct {
	State    document.Tone
	Label    string // slower, not slower, or undecided
	Answer   string // in a line
	Sentence string // the other checks, or why nothing is decided
	Table    document.Table
	Note     string // what its changes are; empty: of a baseline, or not judged
}

// Facts are what is known of one thing.
type Facts struct {
	Title string
	document.Pairs
}

// New words a Result.
func New(r *verdict.Result) *View {
	v := &View{
		Name:        phrase.Clean(r.Name),
		Of:          "GOMAXPROCS",
		Started:     r.Started.UTC().Format("2 January 2006, 15:04 UTC"),
		Progress:    progress(r),
		Environment: environment(r),
		Command:     command(r),
		Against:     phrase.Shell(r.Target.Against),
		Sweep:       r.Spec.Shell(),
		Reproduce:   reproduce(r),
		Settings:    settingsFile(r),
	}
	alone := gateAlone(r)
	v.ownTraffic(r)
	for i := range r.Groups {
		g := &group{Group: &r.Groups[i], r: r, index: i, gateAlone: alone, rows: rowsOf(&r.Groups[i])}
		g.throughput = g.throughputShown()
		if alone {
			g.versions()
		}
		v.Groups = append(v.Groups, g.view())
	}
	switch {
	case len(v.Groups) == 1:
		v.Verdict = v.Groups[0].Verdict
	case len(v.Groups) == 0:
		v.Verdict = Verdict{State: document.Unknown, Label: "No result", Answer: Answer{Text: "Nothing measured yet"}, Sentence: "No trial has run."}
	default:
		v.Verdict = acrossGroups(r, v.Groups)
		v.Summary = summary(r, v.Groups)
		v.Overview = overview(r, v.Groups)
	}
	v.vary(r)
	if c := r.Cheapest; c != nil && len(c.Settings) > 0 { // without a valid trial the groups say why
		v.Verdict, v.Summary = cheapestVerdict(r, machine(r)), pricedTable(c)
	}
	if r.Gate != nil {
		v.Gate = gateOf(r.Gate, r.Plan)
		if alone || r.Gate.Kind == verdict.GateKindAgainst {
			v.Of, v.Verdict = "New and old version", v.Gate.headline(r.Gate, r.Plan, v.gateContext(r))
		}
	}
	v.Profiles = profilesOf(r)
	v.warn(r)
	return v
}

// gateContext is how sure the gate is, and on what.
func (v *View) gateContext(r *verdict.Result) string {
	if n := len(r.Groups); n != 1 {
		return v.Gate.sure() + " · " + phrase.Count(n, "group")
	}
	return (&group{Group: &r.Groups[0], r: r}).context(v.Gate.sure())
}

// warn puts the warnings where they belong, and all in a line.
func (v *View) warn(r *verdict.Result) {
	for i := range r.Warnings {
		w := &r.Warnings[i]
		if _, incomplete := w.Remark.(verdict.Incomplete); incomplete && v.Progress != "" {
			continue // which says it, at the head
		}
		a := warn(r, w)
		word := document.Note{Message: phrase.Clean(a.text), Fix: phrase.Clean(a.fix)}
		of := weight{w.Remark, word}
		if w.Group != nil && *w.Group >= 0 && *w.Group < len(v.Groups) {
			g := &v.Groups[*w.Group]
			g.Warnings = append(g.Warnings, word)
			if len(v.Groups) > 1 {
				of.Subject = key(r, *w.Group)
			}
		} else {
			v.Warnings = append(v.Warnings, word)
		}
		v.heavy = append(v.heavy, of)
	}
	all := v.Warnings
	for _, g := range v.Groups {
		all = append(g.Warnings[:len(g.Warnings):len(g.Warnings)], all...)
	}
	v.Alert = alert(all)
}

// group is a verdict.Group with what is needed to word it.
type group struct {
	*verdict.Group
	r          *verdict.Result
	index      int
	throughput number.Unit
	gateAlone  bool
	rows       []verdict.Row // what tables and charts show
}

// rowsOf are the settings that were compared; of a result that was not analysed its
// settings.
func rowsOf(g *verdict.Group) []verdict.Row {
	if len(g.Rows) == 0 {
		return g.Settings
	}
	return g.Rows
}

func (g *group) view() Group {
	v := Group{
		ID:         "g" + strconv.Itoa(g.index+1),
		Title:      g.title(),
		By:         cmp.Or(g.axis(), "GOMAXPROCS"),
		Verdict:    g.verdict(),
		Checklist:  g.checklist(),
		Mistakes:   g.mistakes(),
		Throughput: g.throughputChart(),
		Latency:    g.latencyChart(),
		Evidence:   g.evidenceCharts(),
		Benchmarks: g.benchmarks(),
		Table:      g.table(),
		Metrics:    g.metricsTable(),
		Requests:   g.requestsTable(),
		Facts:      g.facts(),
		Paste:      g.paste(),
	}
	v.Curves = curves(g.valueColumn(), v.Throughput, v.Latency)
	v.Levels = g.levels()
	v.Checked = folded("Before you change it", v.Checklist, "to look at", "unknown")
	v.Mistaken = folded("Common mistakes", v.Mistakes, "to look at", "open")
	return v
}

// title is what distinguishes this group from others.
func (g *group) title() string {
	t := "No CPU limit"
	if g.QuotaCPUs != nil {
		t = "Limit " + number.Limit(*g.QuotaCPUs, g.r.Target.BurstCPUs)
		if g.Replicas > 1 {
			t += " each"
		}
	}
	if g.Replicas > 1 {
		t += ", " + phrase.Count(g.Replicas, "replica")
	}
	if g.GoVersion != "" {
		t += ", Go " + goVersion(g.GoVersion)
	}
	if names := variablesOf(g.Group); names != "" && g.Compares == "" {
		t = strings.TrimSuffix("GOMAXPROCS with "+names+" · "+t, " · No CPU limit")
	}
	if s := setOf(g.Group); s != "" && slices.ContainsFunc(g.r.Groups, func(other verdict.Group) bool { return other.SetLive }) {
		t += ", " + s
	}
	return t
}

func (g *group) verdict() Verdict {
	rec := g.Recommendation
	if g.gateAlone {
		return Verdict{State: document.Unknown, Label: "Not asked", Sentence: "The gate compares two programs with one value of GOMAXPROCS.", Context: g.context(nothingProven)}
	}
	row, w := called(&rec), words{g.Group, g.r}
	return Verdict{
		State:    row.tone,
		Label:    row.label,
		Answer:   g.answer(),
		Sentence: phrase.Capital(phrase.Clean(w.sentence())),
		Reasons:  phrase.CleanAll(w.reasons()),
		Settle:   cleanAdvice(w.settle()),
		Context:  g.context(g.sure()),
	}
}

// context is how sure the result is, and what it was measured on: it is worth nothing elsewhere.
func (g *group) context(sure string) string {
	parts := []string{sure}
	if p := g.Part; p != nil {
		parts = append(parts, fmt.Sprintf("%d of %s", p.CPUs, number.CPUs(float64(p.Of))))
	} else if g.QuotaCPUs == nil || *g.QuotaCPUs != g.EffectiveCPUs {
		parts = append(parts, number.CPUs(g.EffectiveCPUs))
	}
	if g.QuotaCPUs != nil {
		parts = append(parts, "limit "+number.Limit(*g.QuotaCPUs, g.r.Target.BurstCPUs))
	} else if l := g.LimitAround; l != nil {
		parts = append(parts, "limit of "+number.CPUs(l.CPUs)+" on the parent cgroup "+groupName(l.Group))
	} else {
		parts = append(parts, "no CPU limit")
	}
	if g.Replicas > 1 {
		parts = append(parts, phrase.Count(g.Replicas, "replica"))
	}
	if v := g.goVersion(); v != "" {
		parts = append(parts, "Go "+v)
	}
	if g.Race != nil {
		parts = append(parts, phrase.Count(g.Race.Trials, "trial"))
	} else {
		trials := 0
		for i := range g.Settings {
			trials += g.Settings[i].Trials
		}
		parts = append(parts, phrase.Count(trials, "trial"))
	}
	if o := originWords(g.Origin); o != "" && g.Origin != journal.OriginLocal {
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
	case rec.Verdict == verdict.CannotTell || rec.Verdict == "":
		return nothingProven
	}
	return provenSure
}

func (g *group) goVersion() string {
	if g.GoVersion != "" {
		return goVersion(g.GoVersion)
	}
	return goVersion(g.r.Target.GoVersion)
}

// goVersion is a version without the "go" before it.
func goVersion(s string) string {
	s = phrase.Clean(s)
	if len(s) > 2 && s[:2] == "go" {
		return s[2:]
	}
	return s
}
