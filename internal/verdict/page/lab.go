package page

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// Lab is a lab run's outcome, ready to be laid out.
type Lab struct {
	Started     string
	Progress    string // "2 of 5 experiments …"; empty when all is done
	Sentence    string // how many hypotheses hold
	Disturbed   string // that other programs took CPUs; empty when they did not
	Experiments []Experiment
	Environment []Pair
	Command     string
}

// Experiment is what one of them came to.
type Experiment struct {
	ID         string
	Title      string
	Document   string
	Claim      string // the document's own result, in its words
	Note       string // that it ran at small sizes, or is not complete
	NotRun     string // why nothing of it was run
	Page       string // its own page, relative to the index; empty: none
	Counts     string
	Hypotheses []Hypothesis
	Stages     []Stage
	Files      []Pair // to be looked at: what it is, and where, relative to the experiment's page
	Versions   bool   // it compares Go versions
}

// Hypothesis is what a document says, with what was measured.
type Hypothesis struct {
	State    State
	Label    string // holds, does not hold, cannot tell here
	Says     string
	Document string // its own numbers
	On       string // its machine that they are of, where it has several
	Here     string // the measured ratio, with its interval
	Wanted   string // from what to what the hypothesis holds
	Reason   string // why it cannot be told
	Strip    *Strip // what is wanted, what was measured, and the document's value; nil: nothing to draw
}

// Stage is one of an experiment's sweeps.
type Stage struct {
	Title  string
	Notes  []string
	Report string // the sweep's own report, relative to the experiment's page; empty: none
	Rows   []Multiples
	Over   bool // the document's curves lie over ours
}

// Multiples is one figure of a stage: a small chart for each group, all on one
// scale, and the table of the same.
type Multiples struct {
	Title  string
	Charts []Chart
	Table  Table
	labels []string // of the arms, a row of the table each
	over   bool     // a document's curve lies over ours
}

// NewLab words an Outcome.
func NewLab(o *lab.Outcome) *Lab {
	v := &Lab{Started: o.Started.UTC().Format("2 January 2006, 15:04 UTC"), Command: "procfit " + phrase.Shell(o.Tool.Args)}
	var all tally
	open := 0
	for i := range o.Experiments {
		r := &o.Experiments[i]
		e := newExperiment(r)
		v.Experiments = append(v.Experiments, e)
		all.add(r.Hypotheses)
		if !r.Complete {
			open++
		}
	}
	if open > 0 {
		v.Progress = fmt.Sprintf("%s of %d not complete. The same command with this directory as --out runs what is missing.", phrase.Count(open, "experiment"), len(o.Experiments))
	}
	v.Disturbed = disturbed(o)
	v.Sentence = phrase.Capital(all.sentence(len(o.Experiments)))
	v.Environment = []Pair{
		{"CPU", phrase.Clean(o.Host.CPUModel)},
		{"CPUs", fmt.Sprintf("%d online, %s to be used", o.Host.CPUs, short(o.Host.EffectiveCPUs, number.Digits))},
		{"System", phrase.Clean(o.Host.OS + "/" + o.Host.Arch + " " + o.Host.Kernel)},
		{"Cgroups", phrase.Clean(o.Host.CgroupMode)},
		{"procfit", phrase.Clean(o.Tool.Version) + ", built with " + phrase.Clean(o.Tool.GoVersion)},
	}
	return v
}

// tally counts answers.
type tally struct{ all, holds, not, open int }

func (t *tally) add(list []lab.Answered) {
	for _, s := range list {
		t.all++
		switch s.Answer {
		case lab.Holds:
			t.holds++
		case lab.DoesNotHold:
			t.not++
		default:
			t.open++
		}
	}
}

func (t tally) sentence(experiments int) string {
	s := fmt.Sprintf("%s of %s", phrase.CountOf(t.all, "hypothesis", "hypotheses"), phrase.Count(experiments, "experiment"))
	if t.all == 0 {
		return s + "."
	}
	return s + ": " + t.words() + "."
}

func (t tally) words() string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{{t.holds, "holds", "hold"}, {t.not, "does not hold", "do not hold"}, {t.open, "cannot be told here", "cannot be told here"}} {
		if p.n > 0 {
			parts = append(parts, phrase.CountOf(p.n, p.one, p.many))
		}
	}
	return strings.Join(parts, ", ")
}

func newExperiment(r *lab.Ran) Experiment {
	e := Experiment{
		ID: r.ID, Title: phrase.Clean(r.Title), Document: documentName(r.Document), Claim: phrase.Clean(r.Claim), NotRun: phrase.Clean(lead(r.NotRun)),
	}
	var notes []string
	if r.Quick {
		notes = append(notes, "small sizes (--quick)")
	}
	if !r.Complete && r.NotRun == "" {
		notes = append(notes, "not complete")
	}
	e.Note = strings.Join(notes, ", ")
	var t tally
	t.add(r.Hypotheses)
	e.Counts = t.words()
	for _, s := range r.Hypotheses {
		e.Hypotheses = append(e.Hypotheses, hypothesis(s))
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		e.Versions = e.Versions || len(s.Versions) > 0
		e.Stages = append(e.Stages, stage(r.ID, s, r.Measured[s.ID]))
	}
	for _, f := range r.Files {
		e.Files = append(e.Files, Pair{phrase.Clean(f.Title), phrase.Clean(strings.TrimPrefix(f.Path, r.ID+"/"))})
	}
	if slices.ContainsFunc(e.Stages, func(s Stage) bool { return s.Report != "" }) {
		e.Page = path.Join(r.ID, "index.html")
	}
	return e
}

func documentName(s string) string {
	if s = phrase.Clean(s); s != "" && s[0] >= '0' && s[0] <= '9' {
		return "document " + s
	}
	return s
}

func hypothesis(s lab.Answered) Hypothesis {
	h := Hypothesis{Says: phrase.Clean(s.Says), Document: phrase.Clean(s.Document), On: phrase.Clean(s.On), Reason: phrase.Clean(s.Reason), Here: "not measured", Wanted: wanted(s)}
	h.Strip = hypothesisStrip(&s, h.Wanted)
	switch s.Answer {
	case lab.Holds:
		h.State, h.Label = OK, "holds"
	case lab.DoesNotHold:
		h.State, h.Label = Attention, "does not hold"
	default:
		h.State, h.Label = Unknown, "cannot tell here"
	}
	if m := s.Measured; m.Median != nil {
		h.Here = number.Figure(*m.Median)
		if m.Low != nil && m.High != nil {
			h.Here += " [" + number.Figure(*m.Low) + ", " + number.Figure(*m.High) + "]"
		}
		h.Here += fmt.Sprintf(", n %d", m.N)
		if s.From != "" {
			h.Here += " (" + phrase.Clean(s.From) + ")"
		}
	}
	return h
}

func wanted(s lab.Answered) string {
	switch {
	case s.AtLeast != nil && s.AtMost != nil:
		return short(*s.AtLeast, number.Digits) + " to " + short(*s.AtMost, number.Digits)
	case s.AtLeast != nil:
		return short(*s.AtLeast, number.Digits) + " or more"
	case s.AtMost != nil:
		return short(*s.AtMost, number.Digits) + " or less"
	}
	return ""
}

func disturbed(o *lab.Outcome) string {
	sweeps, of, most := 0, 0, 0.0
	for _, e := range o.Experiments {
		for _, s := range e.Stages {
			if s.Run == 0 {
				continue
			}
			of++
			if s.Disturbed(o.Host.EffectiveCPUs) {
				sweeps, most = sweeps+1, max(most, *s.OtherCPUs)
			}
		}
	}
	if sweeps == 0 {
		return ""
	}
	return fmt.Sprintf("Other programs took up to %s of the %d CPUs during %d of %s, so what needs those CPUs cannot be judged there: quiet the machine and run them again.",
		short(most, 2), o.Host.CPUs, sweeps, phrase.Count(of, "sweep"))
}

// mostOften is the reason of most of the invalid trials.
func mostOften(r *verdict.Result) string {
	n, why := map[string]int{}, ""
	for _, g := range r.Groups {
		for _, a := range g.Arms {
			for _, x := range a.InvalidReasons {
				if n[invalidReason(x.Reason, x.Code)] += x.Count; n[invalidReason(x.Reason, x.Code)] > n[why] {
					why = invalidReason(x.Reason, x.Code)
				}
			}
		}
	}
	return why
}

func stage(id string, s *lab.RanStage, m lab.Measured) Stage {
	v := Stage{Title: phrase.Clean(s.Title)}
	if v.Title == "" {
		v.Title = phrase.Clean(s.ID)
	}
	note := func(format string, args ...any) {
		v.Notes = append(v.Notes, phrase.Clean(fmt.Sprintf(format, args...)))
	}
	if s.Scaled != "" {
		note("%s", s.Scaled)
	}
	if s.NotRun != "" {
		note("not run: %s", lead(s.NotRun))
	}
	if s.Stopped != "" {
		note("stopped early: %s", lead(s.Stopped))
	}
	for _, x := range s.Versions {
		if x.Fault != "" {
			note("Go %s: invalid: %s", x.Asked, lead(x.Fault))
		}
	}
	if m.Result == nil {
		return v
	}
	if s.Invalid > 0 {
		note("%d of %s invalid, most often: %s", s.Invalid, phrase.Count(s.Run, "trial"), lead(mostOften(m.Result)))
	}
	if s.Disturbed(m.Result.Host.EffectiveCPUs) {
		note("other programs took %s meanwhile: quiet the machine and run it again", number.CPUs(number.Round(*s.OtherCPUs, number.Digits)))
	}
	below, err := relative(id, s.Directory)
	if err == nil {
		v.Report = path.Join(below, "report.html")
	}
	v.Rows, v.Over = multiples(finite(m.Result), lab.Curves(id))
	return v
}

// relative is a stage's directory as seen from its experiment's.
func relative(id, directory string) (string, error) {
	if directory == id {
		return ".", nil
	}
	below, ok := strings.CutPrefix(directory, id+"/")
	if !ok {
		return "", fmt.Errorf("%s is not in %s", directory, id)
	}
	return below, nil
}

// spread is how document 002 writes a figure: its median × (lowest ÷ median,
// highest ÷ median).
func spread(u number.Unit, values []float64) string {
	if len(values) == 0 {
		return absent
	}
	x := slices.Sorted(slices.Values(values))
	n := len(x)
	if n > 1 && x[0] == x[n-1] && x[0] == math.Trunc(x[0]) && !u.Prefixed(x[0]) {
		return short(x[0], number.Digits) // a count that is always the same
	}
	median := x[(n-1)/2]/2 + x[n/2]/2
	s := u.Number(median)
	if median == 0 || math.IsNaN(median) {
		return s
	}
	return fmt.Sprintf("%s × (%.2f,%.2f)", s, x[0]/median, x[n-1]/median)
}

// lead is the first line of a reason, which may lead to more.
func lead(s string) string { return strings.TrimSuffix(phrase.FirstLine(s), ":") }
