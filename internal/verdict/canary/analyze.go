package canary

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// What settings are compared in, in addition to the user's queries.
const (
	FigureCPU       = "cpu"            // CPU seconds a request, or CPUs of a pod
	FigureWait      = "run_queue_wait" // seconds a request, or a second and pod
	FigureSched     = "sched_p99"      // seconds
	FigureThrottled = "throttled"      // of the quota's periods
	FigureRequests  = "requests"       // a second and pod

	// These are of programs that have the Meter of maxprocs/live: the latency from the
	// kernel's receipt of a request, in seconds, and the share of requests that failed.
	FigureP50    = "arrival_p50"
	FigureP99    = "arrival_p99"
	FigureFailed = "failed"
)

// own are the names that no query may have. A query counts the requests.
var own = []string{FigureCPU, FigureWait, FigureSched, FigureThrottled, FigureP50, FigureP99, FigureFailed}

// The remarks that are made here.
type (
	FewSlices struct{ Slices int }        // intervals of so few slices are of little use
	PerPod    struct{}                    // no query counted the requests, so that CPU time is of a pod
	Idle      struct{ Settings []string } // in most slices no request came to the pods of these settings
	SameProcs struct{ Settings []string } // these settings run with what unset comes to
)

func (FewSlices) Code() verdict.Code { return "few_slices" }
func (PerPod) Code() verdict.Code    { return "cpu_per_pod" }
func (Idle) Code() verdict.Code      { return "no_requests" }
func (SameProcs) Code() verdict.Code { return "same_procs" }

// judges reports whether a metric decides: CPU time, the latency of the program's Meter and
// what the user asks for. How long goroutines and threads wait is a part of a request's
// latency, and represents it only where nothing reports that; throttling shows in it, and
// requests are none of a setting's doing. Failed requests end a canary, but prove nothing
// better.
func (a *analysis) judges(figure string) bool {
	switch figure {
	case FigureThrottled, FigureRequests, FigureFailed:
		return false
	case FigureSched, FigureWait:
		return !a.timed && !slices.ContainsFunc(a.Canary.Queries, func(q journal.Query) bool { return q.Name != Requests })
	}
	return true
}

// MarginCPU is how much more CPU time does not matter: as a sweep has it of throughput.
const MarginCPU = 0.05

// margin is how far above the control's a judged metric counts as no worse: 0.2 is 20%.
func (h Header) margin(figure string) float64 {
	if figure == FigureCPU {
		return MarginCPU
	}
	return h.Plan.MarginP99
}

// figures are all that may have been measured, in order.
func (h Header) figures() (list []string) {
	for _, q := range h.Canary.Queries {
		if q.Name != Requests {
			list = append(list, q.Name)
		}
	}
	return append(list, FigureP50, FigureP99, FigureCPU, FigureSched, FigureWait, FigureThrottled, FigureRequests, FigureFailed)
}

// asked reports that a metric is a query's, and so the user's own.
func (h Header) asked(figure string) bool {
	return figure != FigureRequests && slices.ContainsFunc(h.Canary.Queries, func(q journal.Query) bool { return q.Name == figure })
}

// analysis is a Result in the making.
type analysis struct {
	Header
	*verdict.Canary
	slices []Slice
	of     map[string]map[string]series // setting, metric
	timed  bool                         // the programs' Meters have the latency
}

// Analyze makes a Result of a canary's journal. It has no groups: its verdict is of all
// settings together.
func Analyze(c *journal.Contents) *verdict.Result {
	a := &analysis{Header: Header{c.Header}, slices: slicesOf(c.Trials), of: map[string]map[string]series{}}
	r := verdict.Of(c.Header, c.Trials)
	r.Origin, r.Complete, r.TrialsRun = journal.OriginKube, c.End != nil && c.End.Code == journal.EndComplete, len(c.Trials)
	r.Canary = &verdict.Canary{
		Canary: *c.Header.Canary, End: c.End, Slices: len(a.slices), Planned: len(c.Header.Canary.Rounds) * a.Header.Slices(),
		Unreached: Unreached(a.slices), PerRequest: slices.ContainsFunc(c.Trials, served),
	}
	a.Canary = r.Canary
	a.timed = slices.ContainsFunc(c.Trials, func(t journal.Trial) bool { return metric(&t, FigureP99) != nil })
	var settings []journal.Setting
	for _, round := range c.Header.Canary.Rounds {
		r.TrialsPlanned += len(round) * a.Header.Slices()
		for _, s := range round {
			if !slices.ContainsFunc(settings, func(have journal.Setting) bool { return have.Label == s.Label }) {
				settings = append(settings, s)
			}
		}
	}
	for _, s := range settings {
		a.of[s.Label] = a.seriesOf(s)
		for f, values := range a.of[s.Label] {
			if s.Procs != nil && a.judges(f) && values.together(a.of[Control][f]) {
				a.Comparisons++
			}
		}
	}
	for _, s := range settings {
		a.Settings = append(a.Settings, a.setting(s))
	}
	control := slices.IndexFunc(a.Settings, func(s verdict.CanarySetting) bool { return s.Procs == nil })
	for i := range a.Settings {
		s := &a.Settings[i]
		s.Same = control >= 0 && i != control && len(s.Observed) == 1 && slices.Equal(s.Observed, a.Settings[control].Observed)
	}
	r.Recommendation, r.Warnings = recommend(r.Canary), a.warnings(c.Trials)
	return r
}

// series is a metric by slice.
type series map[int][]float64

// together reports that both have a slice with logarithms to compare.
func (s series) together(t series) bool {
	for i, v := range s {
		if w, ok := t[i]; ok && v[0] > 0 && w[0] > 0 {
			return true
		}
	}
	return false
}

// median is that of the slices that another has too.
func (s series) median(other series) verdict.Interval {
	var list []float64
	for i := range other {
		list = append(list, s[i]...)
	}
	return verdict.Median(list)
}

// at is the value of a slice; nil: it is not known.
func (s series) at(i int) *float64 {
	if v, ok := s[i]; ok {
		return &v[0]
	}
	return nil
}

func (a *analysis) seriesOf(setting journal.Setting) map[string]series {
	all := map[string]series{}
	for _, f := range a.figures() {
		all[f] = series{}
		for i, s := range a.slices {
			if t := s.of(setting.Label); t != nil {
				if x := a.value(f, t); x != nil {
					all[f][i] = []float64{*x}
				}
			}
		}
	}
	return all
}

// value is a metric of a setting in a slice; nil: it is not known.
func (a *analysis) value(figure string, t *journal.Trial) *float64 {
	per := podSeconds(t)
	if a.PerRequest {
		per = metric(t, Requests)
	}
	switch figure {
	case FigureCPU:
		return share(cpuSeconds(t), per)
	case FigureWait:
		return share(t.RunQueueWaitSeconds, per)
	case FigureThrottled:
		if t.Cgroup == nil {
			return nil
		}
		return share(new(float64(t.Cgroup.ThrottledPeriods)), new(float64(t.Cgroup.Periods)))
	case FigureRequests:
		over := podSeconds(t) // which the Meters count over
		if slices.ContainsFunc(a.Canary.Queries, func(q journal.Query) bool { return q.Name == Requests }) {
			over = new(a.SliceSeconds * float64(max(1, len(t.Pods))))
		}
		return share(metric(t, Requests), over)
	}
	return metric(t, figure)
}

func share(a, b *float64) *float64 {
	if a == nil || b == nil || !(*b > 0) || math.IsInf(*a / *b, 0) {
		return nil
	}
	return new(*a / *b)
}

func (a *analysis) setting(s journal.Setting) verdict.CanarySetting {
	out := verdict.CanarySetting{Setting: s, Figures: []verdict.CanaryFigure{}}
	for _, slice := range a.slices {
		t := slice.of(s.Label)
		if t == nil {
			continue
		}
		out.Slices++
		if idle(t) {
			out.Idle++
		}
		for _, n := range t.ObservedProcs {
			if n != nil && !slices.Contains(out.Observed, *n) {
				out.Observed = append(out.Observed, *n)
			}
		}
	}
	slices.Sort(out.Observed)
	for _, f := range a.figures() {
		// Of what the user asked for it counts that nothing is known.
		if len(a.of[s.Label][f]) > 0 || s.Procs != nil && out.Slices > 0 && a.asked(f) {
			out.Figures = append(out.Figures, a.figure(f, s))
		}
	}
	if s.Procs != nil {
		out.Verdict = concluded(out)
	}
	return out
}

// figure compares a setting with the control.
func (a *analysis) figure(name string, s journal.Setting) verdict.CanaryFigure {
	of, control, together := a.of[s.Label][name], a.of[Control][name], 1
	f := verdict.CanaryFigure{Name: name, Value: of.median(of)}
	if s.Procs == nil {
		return f
	}
	if a.judges(name) {
		together = a.Comparisons
	}
	f.Ratio, f.Control = verdict.PairedAmong(of, control, together), control.median(of)
	for i, slice := range a.slices {
		if slice.of(s.Label) != nil {
			f.Points = append(f.Points, [2]*float64{of.at(i), control.at(i)})
		}
	}
	switch i := f.Ratio; {
	case !a.judges(name):
		f.Outcome = verdict.OutcomeNotJudged
	case i.High != nil && *i.High < 1:
		f.Outcome = verdict.OutcomeBetter
	case i.Low != nil && *i.Low > 1:
		f.Outcome = verdict.OutcomeWorse
	case i.High == nil || *i.High > 1+a.margin(name):
		f.Outcome = verdict.OutcomeOpen
	default:
		f.Outcome = verdict.OutcomeWithin
	}
	return f
}

// concluded is the verdict on one setting.
func concluded(a verdict.CanarySetting) verdict.Verdict {
	better, worse := a.In(verdict.OutcomeBetter) != nil, a.In(verdict.OutcomeWorse) != nil
	switch {
	case better && worse:
		return verdict.TradeOff
	case better && a.In(verdict.OutcomeOpen) == nil:
		return verdict.Recommended
	case worse:
		return verdict.KeepDefault
	}
	return verdict.CannotTell
}

// recommend is what all settings come to, of a canary that came to its end: a value is
// named where one alone is better.
func recommend(c *verdict.Canary) *verdict.Recommendation {
	by := map[verdict.Verdict][]verdict.CanarySetting{}
	for _, a := range c.Settings {
		by[a.Verdict] = append(by[a.Verdict], a)
	}
	out := &verdict.Recommendation{Verdict: verdict.CannotTell}
	switch better := by[verdict.Recommended]; {
	case c.End == nil || c.End.Code != journal.EndComplete || c.Unreached:
		return out
	case better != nil:
		out.Verdict = verdict.Recommended
		if len(better) == 1 {
			out.Procs, out.Setting = better[0].Procs, better[0].Label
		}
	case by[verdict.TradeOff] != nil:
		out.Verdict = verdict.TradeOff
	case by[verdict.KeepDefault] != nil && by[verdict.CannotTell] == nil:
		out.Verdict = verdict.KeepDefault
	default:
		return out
	}
	out.Confidence = verdict.Proven
	return out
}

// fewSlices say little: an interval of a median takes six.
const fewSlices = 6

// warnings are what weakens it.
func (a *analysis) warnings(trials []journal.Trial) []verdict.Warning {
	list := []verdict.Warning{}
	those := func(is func(verdict.CanarySetting) bool) (labels []string) {
		for _, s := range a.Settings {
			if is(s) {
				labels = append(labels, s.Label)
			}
		}
		return labels
	}
	add := func(when bool, x verdict.Remark) {
		if when {
			list = append(list, verdict.Warning{Remark: x})
		}
	}
	idle := those(func(s verdict.CanarySetting) bool {
		requests := s.Of(FigureRequests)
		return 2*s.Idle > s.Slices || requests != nil && *requests.Value.Median == 0
	})
	same := those(func(s verdict.CanarySetting) bool { return s.Same })
	unread := those(func(s verdict.CanarySetting) bool { return s.Slices > 0 && len(s.Observed) == 0 })
	add(len(a.Settings) > 0 && !a.PerRequest && a.Settings[0].Of(FigureCPU) != nil, PerPod{})
	add(len(idle) > 0 && !a.Unreached, Idle{idle})
	add(len(same) > 0, SameProcs{same})
	add(len(unread) > 0, verdict.ProcsUnread{Settings: unread})
	list = append(list, verdict.OfTrials(trials)...)
	n := a.Canary.Slices
	add(n > 0 && n < fewSlices, FewSlices{n})
	return list
}
