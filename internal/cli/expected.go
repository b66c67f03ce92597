package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/results"
)

// expectedRow is the expected value of a program in a procfit.yaml, which is no flag.
func (o *checkOptions) expectedRow() field.Field {
	return field.Field{Name: specfile.ExpectedField, Group: field.Check, Holds: "JSON", Help: "the value that a sweep decided, as procfit report DIR -o expected prints it", Value: field.Several(&o.expected, func(text string) (*rule.Expected, error) {
		return expected.Parse([]byte(text))
	})}
}

func expectedOf(r *verdict.Result, from *results.Results) (e rule.Expected, err error) {
	rec := r.Recommendation
	switch {
	case r.Canary != nil:
		return e, errors.New("a canary does not know the limit and the Go version of its pods; measure with procfit kube sweep")
	case len(r.Plan.Vary) > 0:
		return e, errors.New("it compares variables, and an expected value is of GOMAXPROCS alone; give the variables their values with --env, and sweep GOMAXPROCS")
	case r.Cheapest != nil:
		return e, errors.New("it asks which setting is the cheapest that carries a rate; measure again with the limit that the program has, without --rate")
	case rec == nil:
		return e, errors.New("it compares several limits or Go versions; measure again with the one that the program has")
	case !rec.Verdict.Decides():
		return e, fmt.Errorf("its verdict is %s, which names no value; procfit report %s prints what would decide it", rec.Verdict, phrase.ShellWord(r.Folder))
	case r.Target.AnyProgram && rec.Confidence == verdict.Likely:
		return e, errors.New("it was measured with --any-program, and its verdict is only likely; a value is kept that procfit read from the program's memory")
	case rec.Confidence == verdict.Likely && rec.Procs != nil:
		return e, fmt.Errorf("its verdict is only likely, so there is nothing to set yet; procfit report %s prints what would prove it", phrase.ShellWord(r.Folder))
	case r.Live != nil && r.Live.LimitUnknown:
		return e, errors.New("the CPU limit that it was measured under could not be read; measure again where procfit can read it: procfit explain PID prints what it cannot read")
	case r.Live != nil && rec.Verdict == verdict.Recommended && rec.Procs == nil:
		return e, errors.New("several values are proven better than the value at start; choose one, and try it alone with --procs")
	}
	e = rule.Expected{
		Program: programName(r), CPUs: cmp.Or(r.Host.AffinityCPUs, r.Host.CPUs), GoVersion: r.Target.GoVersion,
		Measured: r.Started.UTC().Format(time.DateOnly), Commit: r.Target.Revision, Again: page.Again(r).Args(),
	}
	if r.Live != nil {
		expectedLive(&e, r)
	} else {
		expectedSwept(&e, r, from)
	}
	if q := e.Requests; q != nil {
		q.Min, q.Max = digits(q.Min), digits(q.Max)
	}
	e.GoVersion = rule.GoVersion(e.GoVersion)
	if expected.Check(e) != nil {
		e.Again = nil // a command of several lines, or a long one, without which the value can be kept
	}
	return e, expected.Check(e)
}

// replacesUnknown is why a value is not to be kept yet: nobody knows which one it would replace. Of a
// service of a fleet its manifest may say that.
func replacesUnknown(r *verdict.Result) error {
	if r.Live == nil && r.Recommendation.Procs != nil && r.Groups[0].Unclear() {
		return errors.New("it is unknown what the program runs with now, or how that compares, and nothing is to be set in its place; measure the default too, with --procs default,…")
	}
	return nil
}

// digits are the four that a measurement has at most.
func digits(x float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64) // of a number, which it can read
	return short
}

func programName(r *verdict.Result) string {
	switch t := r.Target; {
	case t.Container != "":
		return t.Container
	case path.Base(t.Build) != ".": // nor empty
		return path.Base(t.Build)
	case t.Build == "" && len(t.Command) > 0: // else they are its arguments
		return path.Base(plan.Program(t.Command))
	case t.Attached != nil:
		return t.Attached.Name
	case t.MainModule != "":
		return path.Base(t.MainModule)
	}
	return ""
}

func expectedSwept(e *rule.Expected, r *verdict.Result, from *results.Results) {
	g := r.Groups[0]
	if value := r.Value(); value != nil {
		e.Procs = *value
	}
	if own := cmp.Or(len(r.Target.ServerCPUs), len(r.Target.CPUs)); own > 0 {
		e.CPUs = own
	}
	if g.QuotaCPUs != nil || g.LimitAround != nil || g.EffectiveCPUs < float64(e.CPUs) {
		e.LimitCPUs = &g.EffectiveCPUs
	}
	shown := from.Shown(e.Procs)
	e.GoVersion = cmp.Or(shown.GoVersion, e.GoVersion)
	if replicas := float64(g.Replicas); len(shown.Rates) > 0 { // else a batch program
		e.Requests = &rule.ExpectedRange{Min: slices.Min(shown.Rates) / replicas, Max: slices.Max(shown.Rates) / replicas}
	}
}

func expectedLive(e *rule.Expected, r *verdict.Result) {
	if limit := r.Live.LimitCPUs; limit > 0 {
		e.LimitCPUs = &limit
	}
	if r.Live.Least > 0 { // else a slice had no request, and there is no lowest load
		e.Requests = &rule.ExpectedRange{Min: r.Live.Least, Max: r.Live.Most}
	}
	for _, s := range r.Live.Settings {
		if s.Procs == nil || r.Recommendation.Procs != nil && *s.Procs != *r.Recommendation.Procs {
			continue
		}
		e.Procs = *s.Procs
		return // the start value is the first, and is kept where none is named
	}
}
