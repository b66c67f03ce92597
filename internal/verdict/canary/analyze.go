package canary

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// What settings are compared in, in addition to the user's queries and to what all
// experiments have. CPU time is of a request, or CPUs of a pod; requests are those of a second
// and pod.
const (
	FigureWait      = "run_queue_wait" // seconds a request, or a second and pod
	FigureSched     = "sched_p99"      // seconds
	FigureThrottled = "throttled"      // of the quota's periods
)

// own are the names that no query may have. A query counts the requests.
var own = []string{paired.FigureCPU, FigureWait, FigureSched, FigureThrottled, paired.FigureP50, paired.FigureP99, paired.FigureFailed}

type (
	FewSlices struct{ Slices int } // intervals of so few slices are of little use
	PerPod    struct{}             // no query counted the requests, so that CPU time is of a pod
	// Idle are settings to whose pods no request came in most slices, or few: fewer than one per
	// second and pod.
	Idle struct {
		Settings []string
		Few      bool
	}
	SameProcs struct{ Settings []string } // these settings run with what unset comes to
	// OtherProcs are settings whose pods did not keep one value, or ran with another than theirs.
	OtherProcs struct{ Settings []string }
)

func (FewSlices) Code() verdict.Code  { return "few_slices" }
func (PerPod) Code() verdict.Code     { return "cpu_per_pod" }
func (Idle) Code() verdict.Code       { return "no_requests" }
func (SameProcs) Code() verdict.Code  { return "same_procs" }
func (OtherProcs) Code() verdict.Code { return "other_procs" }

// MarginCPU is how much more CPU time does not matter: as a sweep has it of throughput.
const MarginCPU = 0.05

type experiment struct {
	Header
	perRequest bool // CPU time and waiting are of a request
	rules      paired.Rules
	slices     []paired.Slice // the n-th is of the trial of that place
}

func (h Header) experiment(trials []journal.Trial) *experiment {
	e := &experiment{Header: h, rules: paired.Rules{Blocks: h.Slices()}}
	e.perRequest = Counted(trials)
	for _, s := range slices.Concat(h.Canary.Rounds...) {
		if e.rules.Value(s) < 0 {
			e.rules.Settings = append(e.rules.Settings, s)
		}
	}
	e.rules.Metrics = e.metrics(trials)
	for i := range trials {
		t := &trials[i]
		s := paired.Slice{Block: t.Block, Value: e.rules.Value(t.Setting)}
		for _, m := range e.rules.Metrics {
			s.Figures = append(s.Figures, e.value(m.Name, t))
		}
		e.slices = append(e.slices, s)
	}
	return e
}

// metrics are what was measured, in order, and what was asked for. CPU time decides, the
// latency of the programs' Meters, and what the user asks for. How long goroutines and threads
// wait is a part of a request's latency, and represents it only where nothing reports that;
// throttling shows in it, and requests are none of a setting's doing. Failed requests end a
// canary, but prove nothing better.
func (e *experiment) metrics(trials []journal.Trial) (list []paired.Metric) {
	waits := paired.Less
	for _, q := range e.Canary.Queries {
		if q.Name != Requests {
			waits = paired.Shown
			list = append(list, paired.Metric{Name: q.Name, Direction: paired.Less, Asked: true, Guarded: true})
		}
	}
	measured := func(name string) bool {
		return slices.ContainsFunc(trials, func(t journal.Trial) bool { return !math.IsNaN(e.value(name, &t)) })
	}
	if measured(paired.FigureP99) {
		waits = paired.Shown
	}
	for _, m := range []paired.Metric{
		{Name: paired.FigureP50, Direction: paired.Less}, {Name: paired.FigureP99, Direction: paired.Less, Guarded: true}, {Name: paired.FigureCPU, Direction: paired.Less},
		{Name: FigureSched, Direction: waits}, {Name: FigureWait, Direction: waits}, {Name: FigureThrottled}, {Name: paired.FigureRequests}, {Name: paired.FigureFailed, Guarded: true},
	} {
		if measured(m.Name) {
			list = append(list, m)
		}
	}
	for i := range list {
		if list[i].Margin = e.Plan.MarginP99; list[i].Name == paired.FigureCPU {
			list[i].Margin = MarginCPU
		}
	}
	return list
}

// SoFar analyses the slices of a canary that runs.
func (h Header) SoFar(trials []journal.Trial) *verdict.Result {
	return Analyze(&journal.Contents{Header: h.Header, Trials: trials})
}

// Outcome is how a canary ended, as an error where it did not come to its end: err, unless the
// end says more. Harm is what it is there to find.
func Outcome(end *journal.End, err error) error {
	switch end.Code {
	case journal.EndInterrupted:
		return context.Canceled
	case journal.EndTaken, journal.EndNotStarted:
		return errors.New(end.Reason)
	case journal.EndUnreached:
		return errors.New("no request reached the canary's pods, or fewer than 1 req/s per pod with next to no CPU time: nothing was compared")
	}
	return err
}

// Analyze makes a Result of a canary's journal. It has no groups: its verdict is of all
// settings together.
func Analyze(c *journal.Contents) *verdict.Result {
	h := Header{c.Header}
	e := h.experiment(c.Trials)
	look := paired.Judge(e.rules, e.slices)
	r := verdict.NewResult(c.Header, c.Trials)
	r.Origin, r.Complete, r.TrialsRun = journal.OriginKube, c.End != nil && (c.End.Code == journal.EndComplete || c.End.Code == journal.EndDecided), len(c.Trials)
	r.Canary = &verdict.Canary{
		Canary: *c.Header.Canary, End: c.End, Planned: len(c.Header.Canary.Rounds) * h.Slices(),
		Unreached: Unreached(c.Trials), PerRequest: e.perRequest,
	}
	r.TrialsPlanned = len(slices.Concat(h.Canary.Rounds...)) * h.Slices()
	for i, t := range c.Trials {
		if i == 0 || t.Block != c.Trials[i-1].Block {
			r.Canary.Slices++
		}
	}
	for i := range e.rules.Settings {
		r.Canary.Settings = append(r.Canary.Settings, e.setting(i, look, c.Trials))
	}
	for _, v := range look.Values {
		for _, b := range v.Bounds {
			if b.Direction == paired.Less && b.Pairs > 0 {
				r.Canary.Comparisons++
			}
		}
	}
	control := slices.IndexFunc(r.Canary.Settings, func(s verdict.CanarySetting) bool { return s.Procs == nil })
	for i := range r.Canary.Settings {
		s := &r.Canary.Settings[i]
		s.Same = control >= 0 && i != control && len(s.Observed) == 1 && slices.Equal(s.Observed, r.Canary.Settings[control].Observed)
	}
	// Without a container that observes the pods only queries are compared, and no value can be seen.
	watched := slices.ContainsFunc(c.Trials, func(t journal.Trial) bool { return t.CPUSeconds != nil }) ||
		slices.ContainsFunc(r.Canary.Settings, func(s verdict.CanarySetting) bool { return s.Observed != nil })
	withhold(r.Canary.Settings, control, watched)
	r.Recommendation = &verdict.Recommendation{Verdict: verdict.Undecided}
	if r.Complete && !r.Canary.Unreached {
		r.Recommendation = paired.Recommend(r.Canary.Settings)
		if !watched && r.Recommendation.Confidence == verdict.Proven {
			r.Recommendation.Confidence = verdict.Likely
		}
	}
	r.Warnings = warnings(r.Canary, c.Trials)
	return r
}

// withhold takes the verdict from settings that prove nothing: both they and the control must have
// had requests, and must have been seen to run at their value. What differs between a setting and
// a control of the same value is chance. Where nothing watched the pods, no value could be seen.
func withhold(settings []verdict.CanarySetting, control int, watched bool) {
	var all verdict.Remark
	if control >= 0 {
		all = void(settings[control], watched)
	}
	for i := range settings {
		s := &settings[i]
		s.Void = cmp.Or(void(*s, watched), all)
		switch {
		case s.Verdict == "":
		case s.Void != nil || control < 0:
			s.Verdict = verdict.Undecided
			for k := range s.Figures {
				s.Figures[k].Outcome = verdict.OutcomeNotJudged
			}
		case s.Same:
			s.Verdict = verdict.NoDifference
		}
	}
}

// void is why a setting proves nothing; nil: it may.
func void(s verdict.CanarySetting, watched bool) verdict.Remark {
	own := []string{s.Label}
	switch {
	case idle(s):
		return Idle{own, few(s)}
	case unread(s) && watched:
		return verdict.ProcsUnread{Settings: own}
	case other(s):
		return OtherProcs{own}
	}
	return nil
}

// idle reports whether no request, or too few to tell from probes, came to a setting's pods in most
// slices.
func idle(s verdict.CanarySetting) bool {
	requests := s.Of(paired.FigureRequests)
	return 2*s.Idle > s.Slices || requests != nil && *requests.Value.Median == 0
}

// few reports whether requests were counted in most slices.
func few(s verdict.CanarySetting) bool {
	requests := s.Of(paired.FigureRequests)
	return requests != nil && *requests.Value.Median > 0
}

func unread(s verdict.CanarySetting) bool { return s.Slices > 0 && len(s.Observed) == 0 }

// other reports whether its pods were seen to run with several values, or with another than theirs.
func other(s verdict.CanarySetting) bool {
	return len(s.Observed) > 1 || s.Procs != nil && len(s.Observed) == 1 && s.Observed[0] != *s.Procs
}

func (e *experiment) setting(value int, look paired.Look, trials []journal.Trial) verdict.CanarySetting {
	out := e.rules.Setting(value, look, e.slices)
	for i := range trials {
		t := &trials[i]
		if t.Setting.Label != out.Label {
			continue
		}
		if useOf(t).idle() {
			out.Idle++
		}
		for _, n := range t.ObservedProcs {
			if n != nil && !slices.Contains(out.Observed, *n) {
				out.Observed = append(out.Observed, *n)
			}
		}
	}
	slices.Sort(out.Observed)
	return out
}

// value is a metric of a setting in a slice; NaN: it is not known.
func (e *experiment) value(figure string, t *journal.Trial) float64 {
	per := podSeconds(t)
	if e.perRequest {
		per = metric(t, Requests)
	}
	switch figure {
	case paired.FigureCPU:
		return share(cpuSeconds(t), per)
	case FigureWait:
		if t.RunQueueWaitSeconds == nil {
			return math.NaN()
		}
		return share(*t.RunQueueWaitSeconds, per)
	case FigureThrottled:
		if t.Cgroup == nil {
			return math.NaN()
		}
		return share(float64(t.Cgroup.ThrottledPeriods), float64(t.Cgroup.Periods))
	case paired.FigureRequests:
		over := podSeconds(t) // which the Meters count over
		if slices.ContainsFunc(e.Canary.Queries, func(q journal.Query) bool { return q.Name == Requests }) {
			over = e.Canary.SliceSeconds * float64(max(1, len(t.Pods)))
		}
		return share(metric(t, Requests), over)
	}
	return metric(t, figure)
}

// fewSlices say little: an interval of a median takes six.
const fewSlices = 6

func warnings(c *verdict.Canary, trials []journal.Trial) []verdict.Warning {
	list := []verdict.Warning{}
	those := func(is func(verdict.CanarySetting) bool) (labels []string) {
		for _, s := range c.Settings {
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
	none := those(func(s verdict.CanarySetting) bool { return idle(s) && !few(s) })
	rare := those(func(s verdict.CanarySetting) bool { return idle(s) && few(s) })
	unread, other := those(unread), those(other)
	same := those(func(s verdict.CanarySetting) bool { return s.Same })
	add(len(c.Settings) > 0 && !c.PerRequest && c.Settings[0].Of(paired.FigureCPU) != nil, PerPod{})
	add(len(none) > 0 && !c.Unreached, Idle{none, false})
	add(len(rare) > 0 && !c.Unreached, Idle{rare, true})
	add(len(same) > 0, SameProcs{same})
	add(len(unread) > 0, verdict.ProcsUnread{Settings: unread})
	add(len(other) > 0, OtherProcs{other})
	list = append(list, verdict.OfTrials(trials)...)
	n := c.Slices
	add(n > 0 && n < fewSlices, FewSlices{n})
	return list
}
