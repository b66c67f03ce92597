// Package fleet is what the sweeps of several services came to: the verdict of each next to
// the value in its manifest, and next to what it came to the last time on the same machine.
//
// # Model
//
// A service is to change where its verdict is proven, and the value that it names is not the
// one in the manifest. One in the manifest that is as good as the best stays: of two such
// values, each run may name another. Where the verdict keeps the default, the value in the
// manifest must be proven slower, too. Since the last time it has moved where both verdicts
// are proven for the same load and limit, and name different values. It is worse where a
// gate proves a loss beyond the margin (package verdict, GateBaseline): the two runs are of
// different days, so that each value is compared by what it gains over the default in its own
// run.
//
// # Limits
//
// What all values of a service lose together, from one time to the next, is not seen: no
// metric of another day proves that.
package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/verdict"
)

// Schema is the version of fleet.json.
const Schema = "procfit.fleet/v1"

// Outcome is one run over the services of a fleet.yaml.
type Outcome struct {
	Schema   string    `json:"schema"`
	Started  time.Time `json:"started"`
	File     string    `json:"file"`             // the fleet.yaml
	Folder   string    `json:"folder"`           // of the results
	Commit   string    `json:"commit"`           // of the repository; without one, the day
	Branch   string    `json:"branch,omitempty"` // that has the proposed changes
	Services []Service `json:"services"`         // in the order of the file
}

// Service is what one of them came to.
type Service struct {
	Name       string             `json:"name"`
	Failed     string             `json:"failed,omitempty"`  // why it has no verdict
	Machine    string             `json:"machine,omitempty"` // the kind of machine, or the node of a cluster
	Folder     string             `json:"folder,omitempty"`  // of its results, below that of the run
	Verdict    verdict.Verdict    `json:"verdict,omitempty"`
	Confidence verdict.Confidence `json:"confidence,omitempty"`
	Procs      *int               `json:"procs"`              // the value to run with; null: the verdict names none
	Manifest   *Manifest          `json:"manifest,omitempty"` // absent: the fleet.yaml names none
	Since      *Since             `json:"since,omitempty"`    // absent: it is the first result on this machine
	Proposed   *Proposed          `json:"proposed,omitempty"` // absent: nothing was to be proposed, or nobody asked

	Result *verdict.Result `json:"-"` // nil: it has none
}

// Manifest is the place of a service's value.
type Manifest struct {
	Path      string `json:"path"`
	Object    string `json:"object"`
	Container string `json:"container"`
	Procs     *int   `json:"procs"`  // that the container gets; null: that is not known
	Text      string `json:"text"`   // the same in words
	Source    string `json:"source"` // what sets it
}

// Proposed is a change of the manifest.
type Proposed struct {
	Commit  string `json:"commit,omitempty"`
	Refused string `json:"refused,omitempty"` // why there is none
}

// Since is what has changed since an earlier result.
type Since struct {
	Folder      string             `json:"folder"` // of the earlier results, below that of the run
	Started     time.Time          `json:"started"`
	Verdict     verdict.Verdict    `json:"verdict,omitempty"`
	Confidence  verdict.Confidence `json:"confidence,omitempty"`
	Procs       *int               `json:"procs"`
	Moved       bool               `json:"moved"`                  // both values are proven for the same load and limit, and differ
	Worse       []Loss             `json:"worse"`                  // what is proven worse by more than the margins
	Failing     []string           `json:"failing,omitempty"`      // values whose trials fail, and did not, or clearly less often
	NotCompared string             `json:"not_compared,omitempty"` // why throughput and latency, of one value at least, or latency alone, are not compared
}

// Loss is a metric of a value that is proven worse than the last time: what the value gains
// over the default now, as a ratio to what it gained then.
type Loss struct {
	Setting  string   `json:"setting"`
	Metric   string   `json:"metric"`             // throughput, p99
	Quantile float64  `json:"quantile,omitempty"` // that is judged, of latency
	Ratio    float64  `json:"ratio"`
	Bound    *float64 `json:"bound"`  // that proves it: throughput is at most so, p99 at least
	Margin   float64  `json:"margin"` // beyond which the bound is
	N        int      `json:"n"`      // trials of the run that has fewer
}

// Take fills in what a result says.
func (s *Service) Take(r *verdict.Result) {
	s.Result, s.Procs = r, r.Value()
	if rec := r.Recommendation; rec != nil {
		s.Verdict, s.Confidence = rec.Verdict, rec.Confidence
	}
}

// AsGood reports whether the verdict names another value than the manifest has, and that of
// the manifest is proven as good as the best: in throughput and, where that is judged, in
// latency.
func (s *Service) AsGood() bool {
	if s.Verdict != verdict.Recommended || s.Manifest == nil || s.Manifest.Procs == nil || s.Procs == nil || *s.Manifest.Procs == *s.Procs {
		return false
	}
	settings := s.Result.Groups[0].Settings
	judged := slices.ContainsFunc(settings, func(a verdict.Row) bool { return a.NonInferior.P99 != nil })
	return slices.ContainsFunc(settings, func(a verdict.Row) bool {
		good := a.NonInferior
		return a.Variant == "" && a.Procs != nil && *a.Procs == *s.Manifest.Procs && good.Throughput != nil && *good.Throughput &&
			(!judged || good.P99 != nil && *good.P99) // a latency that is not known is not as good
	})
}

// advises reports whether the verdict is proven, and says to set a value: the one that it
// names unless that of the manifest is as good or, where it keeps the default, that of the
// default in place of one in the manifest that is proven slower by more than the margin.
func (s *Service) advises() bool {
	if s.Procs == nil || s.Confidence != verdict.Proven || s.Result == nil {
		return false
	}
	switch s.Verdict {
	case verdict.Recommended:
		return s.Result.Recommendation.Procs != nil && s.replaces() && !s.AsGood()
	case verdict.SustainsRate:
		return s.Result.Recommendation.Procs != nil && s.replaces()
	case verdict.KeepDefault:
		return s.Manifest != nil && s.Manifest.Procs != nil && slower(s.Result, *s.Manifest.Procs)
	}
	return false
}

// replaces reports whether what the value would take the place of is known: the default, or the value
// of the manifest among those measured.
func (s *Service) replaces() bool {
	g := &s.Result.Groups[0]
	return !g.Unclear() || s.Manifest != nil && s.Manifest.Procs != nil &&
		slices.ContainsFunc(g.Settings, func(a verdict.Row) bool { return a.Variant == "" && a.Procs != nil && *a.Procs == *s.Manifest.Procs })
}

func slower(r *verdict.Result, procs int) bool {
	for _, v := range r.Groups[0].Values {
		if v.Procs == procs {
			return v.VersusPeak.High != nil && *v.VersusPeak.High < 1-r.Plan.Margin
		}
	}
	return false
}

// Differs reports whether the manifest has another value than the one that is proven. A
// value that the runtime chooses by itself is another one where the verdict is against the
// default.
func (s *Service) Differs() bool {
	return s.advises() && s.Manifest != nil && (s.Manifest.Procs == nil || *s.Manifest.Procs != *s.Procs)
}

// Changed reports whether somebody should look at the service: its value is to change, or
// it is not what it was.
func (s *Service) Changed() bool {
	return s.Differs() || s.Since != nil && (s.Since.Moved || len(s.Since.Worse)+len(s.Since.Failing) > 0)
}

// Compare is what has changed from an earlier result; unlike is why the two cannot be
// compared, if that is known already.
func Compare(then, now *verdict.Result, unlike error) *Since {
	s := &Since{Started: then.Started, Procs: then.Value(), Worse: []Loss{}}
	if rec := then.Recommendation; rec != nil {
		s.Verdict, s.Confidence = rec.Verdict, rec.Confidence
	}
	if unlike == nil && !verdict.SameLoad(then, now) {
		unlike = errors.New("it was measured under another load")
	}
	if unlike = cmp.Or(unlike, verdict.SameObjective(then.Plan, now.Plan)); unlike != nil { // what was measured was changed, and its value with it
		s.NotCompared = reasonOf(unlike)
		return s
	}
	if value := now.Value(); s.Procs != nil && value != nil && verdict.ShareGroup(then, now) {
		s.Moved = *value != *s.Procs && s.Confidence == verdict.Proven && now.Recommendation.Confidence == verdict.Proven
	}
	gate, err := verdict.GateBaseline(then, now)
	if err != nil {
		s.NotCompared = reasonOf(err)
		return s
	}
	judged := slices.ContainsFunc(gate.Checks, func(c verdict.GateCheck) bool { return c.Judged })
	for _, u := range gate.Unjudged {
		why := unjudged[u.Code]
		switch {
		case u.Code == verdict.UnjudgedSpoiled:
			s.Failing = append(s.Failing, u.Setting.Label)
			why = fmt.Sprintf("with %s, %d of %d trials failed, the last time %d of %d: %s", u.Setting.Label, u.Bad, u.Of, u.OldBad, u.OldOf, u.Reason)
		case u.Code == verdict.UnjudgedTooFewCPUs:
			why = "other programs left " + u.Setting.Label + " too few CPUs"
		case u.Code == verdict.UnjudgedRedirects:
			why = "with " + u.Setting.Label + ", most responses were redirects (3xx) in one of the two runs alone"
		case u.Code == verdict.UnjudgedTooFew && !judged:
			why = "no value has three pairs of valid trials"
		}
		s.NotCompared = cmp.Or(s.NotCompared, why)
	}
	for i := range gate.Checks {
		c := &gate.Checks[i]
		if c.Metric == verdict.MetricP99 && c.Quantile == 0 {
			s.NotCompared = cmp.Or(s.NotCompared, "latency, because no percentile is judged in both")
		}
		if !c.Worse || c.Ratio.Median == nil {
			continue
		}
		bound := c.Bounds.High
		if c.Metric == verdict.MetricP99 {
			bound = c.Bounds.Low
		}
		s.Worse = append(s.Worse, Loss{Setting: c.Setting.Label, Metric: c.Metric, Quantile: c.Quantile, Ratio: *c.Ratio.Median, Bound: bound, Margin: c.Margin, N: c.Ratio.N})
	}
	latency := func(c verdict.GateCheck) bool { return c.Metric == verdict.MetricP99 }
	if slices.ContainsFunc(gate.Checks, latency) && !slices.ContainsFunc(gate.Checks, func(c verdict.GateCheck) bool { return latency(c) && c.Judged }) {
		s.NotCompared = cmp.Or(s.NotCompared, "latency, because no value has three pairs of trials in which it is judged")
	}
	return s
}

// unjudged is what is not compared, and why, whichever setting it is of.
var unjudged = map[verdict.UnjudgedCode]string{
	verdict.UnjudgedLag:     "latency, because the load generator does not report how late it sent",
	verdict.UnjudgedLimited: "throughput, because the load generator was at its limit",
	verdict.UnjudgedMissed:  "throughput, because in some trials no rate met the objective",
}

func reasonOf(err error) string {
	if refused := (*verdict.RefusedError)(nil); errors.As(err, &refused) {
		return refused.Reason
	}
	return err.Error()
}

// Count is how many services something is true of.
func (o *Outcome) Count(is func(*Service) bool) (n int) {
	for i := range o.Services {
		if is(&o.Services[i]) {
			n++
		}
	}
	return n
}
