package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/stat"
)

// New words a Result.
func New(result *stat.Result) *View {
	r := finite(result)
	v := &View{
		Name:        clean(r.Name),
		Started:     r.Started.UTC().Format("2 January 2006, 15:04 UTC"),
		Progress:    progress(r),
		Environment: environment(r),
		Command:     command(r),
		Sweep:       sweep(r),
		Reproduce:   reproduce(r),
	}
	if len(r.Target.Against) > 0 {
		v.Against = quote(r.Target.Against)
	}
	alone := gateAlone(r)
	for i := range r.Groups {
		g := &group{Group: &r.Groups[i], r: r, index: i, gateAlone: alone}
		g.throughput = perSecond(throughputUnit(g.ThroughputUnit))
		v.Groups = append(v.Groups, g.view())
	}
	switch {
	case len(v.Groups) == 1:
		v.Verdict = v.Groups[0].Verdict
	case len(v.Groups) == 0:
		v.Verdict = Verdict{State: Unknown, Label: "No result", Sentence: "No trial has run."}
	default:
		v.Verdict = acrossGroups(v.Groups)
		v.Summary = summary(r, v.Groups)
	}
	if r.Gate != nil {
		v.Gate = gateOf(r.Gate)
		if alone {
			v.Verdict = v.Gate.headline(r.Gate, v.Verdict.Context)
		}
	}
	for _, w := range r.Warnings {
		word := Warning{Arm: clean(w.Arm), Message: clean(w.Message), Fix: clean(w.Fix)}
		if w.Group != nil && *w.Group >= 0 && *w.Group < len(v.Groups) {
			g := &v.Groups[*w.Group]
			g.Warnings = append(g.Warnings, word)
			continue
		}
		v.Warnings = append(v.Warnings, word)
	}
	return v
}

// group is a stat.Group with what is needed to word it.
type group struct {
	*stat.Group
	r          *stat.Result
	index      int
	throughput unit
	gateAlone  bool
}

func (g *group) view() Group {
	v := Group{
		ID:         "g" + strconv.Itoa(g.index+1),
		Title:      g.title(),
		Verdict:    g.verdict(),
		Checklist:  g.checklist(),
		Mistakes:   g.mistakes(),
		Throughput: g.throughputChart(),
		Latency:    g.latencyChart(),
		Evidence:   g.evidenceCharts(),
		Table:      g.table(),
		Metrics:    g.metricsTable(),
		Facts:      g.facts(),
		Paste:      g.paste(),
	}
	return v
}

// title is what sets this group apart from others.
func (g *group) title() string {
	t := "No quota"
	if g.QuotaCPUs != nil {
		t = "Quota " + cpus(*g.QuotaCPUs)
		if g.Replicas > 1 {
			t += " each"
		}
	}
	if g.Replicas > 1 {
		t += ", " + count(g.Replicas, "replica")
	}
	if g.GoVersion != "" {
		t += ", Go " + goVersion(g.GoVersion)
	}
	return t
}

func (g *group) verdict() Verdict {
	rec := g.Recommendation
	if g.gateAlone {
		return Verdict{State: Unknown, Label: "Not asked", Sentence: "The gate compares two programs at one number of Ps.", Context: g.context()}
	}
	v := Verdict{
		Sentence: unlabelled(clean(rec.Sentence)),
		Reasons:  cleanAll(rec.Reasons),
		Settle:   cleanAll(rec.Settle),
		Context:  g.context(),
	}
	switch rec.Verdict {
	case stat.Recommended:
		v.State, v.Label = Act, "Set it"
	case stat.CarriesRate:
		v.State, v.Label = Act, "Smallest that carries the rate"
	case stat.KeepDefault:
		v.State, v.Label = OK, "Change nothing"
	case stat.NotYourKnob:
		v.State, v.Label = OK, "Not your knob"
	case stat.TradeOff:
		v.State, v.Label = Attention, "A trade-off"
	default:
		v.State, v.Label = Unknown, "Cannot tell"
	}
	return v
}

// unlabelled is a sentence without what its label says already.
func unlabelled(s string) string {
	for _, label := range []string{"Cannot tell: ", "A trade-off: ", "GOMAXPROCS is not your knob: "} {
		if rest, ok := strings.CutPrefix(s, label); ok {
			return capital(rest)
		}
	}
	return s
}

func capital(s string) string {
	if s == "" {
		return s
	}
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// context is what the result was measured on: it is worth nothing elsewhere.
func (g *group) context() string {
	var parts []string
	if m := clean(g.r.Host.CPUModel); m != "" {
		parts = append(parts, m)
	}
	parts = append(parts, cpus(g.EffectiveCPUs))
	if g.QuotaCPUs != nil {
		parts = append(parts, "quota "+cpus(*g.QuotaCPUs))
	} else {
		parts = append(parts, "no quota")
	}
	if g.Replicas > 1 {
		parts = append(parts, count(g.Replicas, "replica"))
	}
	if v := g.goVersion(); v != "" {
		parts = append(parts, "Go "+v)
	}
	return strings.Join(append(parts, count(g.r.Plan.Blocks, "block")), " · ")
}

func (g *group) goVersion() string {
	if g.GoVersion != "" {
		return goVersion(g.GoVersion)
	}
	return goVersion(g.r.Target.GoVersion)
}

func progress(r *stat.Result) string {
	if r.Complete {
		return ""
	}
	ran := fmt.Sprintf("Incomplete: %d of %s ran", r.TrialsRun, count(r.TrialsPlanned, "planned trial"))
	const mend = " Mend what made them invalid, then begin anew with another --out."
	switch {
	case r.TrialsRun == 0 && r.PilotsInvalid > 0:
		return ran + ": the pilot trials were invalid." + mend
	case r.TrialsRun > 0 && r.TrialsInvalid == r.TrialsRun:
		return ran + ", and none was valid." + mend
	}
	return ran + ". Resume with the same command and this directory as --out."
}

// goVersion is a version without the "go" before it.
func goVersion(s string) string {
	s = clean(s)
	if len(s) > 2 && s[:2] == "go" {
		return s[2:]
	}
	return s
}

// quotaCeil is the quota in whole CPUs, rounded up as the runtime and
// resourceFieldRef do.
func quotaCeil(q float64) int { return int(math.Ceil(q)) }
