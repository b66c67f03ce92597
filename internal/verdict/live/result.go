package live

import (
	"cmp"
	"math"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// SliceOf is a trial as the rules have it.
func (h Header) SliceOf(t *journal.Trial) paired.Slice {
	s := paired.Slice{Block: t.Block, Value: h.valueOf(t.Setting), Void: paired.Void(t.InvalidCode)}
	l := t.Live
	if l == nil {
		l = &journal.Slice{}
	}
	if l.Before > 0 {
		s.After = cmp.Compare(*t.Setting.Procs, l.Before)
	}
	for i, half := range l.Halves {
		s.Halves[i] = []float64{half.CPUSeconds / float64(half.Requests), latency(half.P50Seconds, half.Requests)}
	}
	s.Figures = []float64{l.CPUSeconds / float64(l.Requests), latency(l.P50Seconds, l.Requests), latency(l.P99Seconds, l.Requests)}
	for _, q := range h.Live.Queries {
		x := math.NaN()
		if m, known := t.Metrics[q.Name]; known && m.Value >= 0 {
			x = m.Value
		}
		s.Figures = append(s.Figures, x)
	}
	s.Figures = append(s.Figures, float64(l.Requests)/t.MeasuredSeconds, float64(l.Failed)/float64(l.Requests))
	return s
}

// latency is one that enough requests have.
func latency(x *float64, requests uint64) float64 {
	if x == nil || requests < FewRequests {
		return math.NaN()
	}
	return *x
}

// slicesOf are those of a journal's blocks with their trials, and how many of them are from
// before the burn-in became longer.
func (h Header) slicesOf(trials []journal.Trial) (list []paired.Slice, of []*journal.Trial, before int) {
	burn := 0.0
	for i := range trials {
		if l := trials[i].Live; l != nil {
			burn = l.BurnInSeconds // it only grows
		}
	}
	for i := range trials {
		t := &trials[i]
		if t.Role == journal.RolePilot || t.Live == nil || h.valueOf(t.Setting) < 0 {
			continue
		}
		list, of = append(list, h.SliceOf(t)), append(of, t)
		if t.Live.BurnInSeconds < burn {
			before = len(list)
		}
	}
	return list, of, before
}

// Analyze makes a Result of a live experiment's journal. It has no groups.
func Analyze(c *journal.Contents) *verdict.Result {
	h := Header{c.Header}
	list, of, before := h.slicesOf(c.Trials)
	paired.CarriedOver(list[:before])
	look := paired.Judge(h.Rules(), list)
	if look.Carried { // by the last block
		before = len(list)
		paired.CarriedOver(list)
		look = paired.Judge(h.Rules(), list)
	}
	r := verdict.Of(c.Header, c.Trials)
	r.Origin = journal.OriginLive
	r.Complete = c.End != nil && (c.End.Code == journal.EndComplete || c.End.Code == journal.EndDecided)
	l := &verdict.Live{Live: *c.Header.Live, End: c.End, Carried: before > 0}
	for i := range c.Trials {
		t := &c.Trials[i]
		switch {
		case t.Role == journal.RolePilot:
			r.PilotsRun++
			continue
		case !t.Valid:
			r.TrialsInvalid++
		}
		r.TrialsRun++
		l.Blocks = max(l.Blocks, t.Block+1)
	}
	r.TrialsPlanned = r.TrialsRun // a time is planned, and not how many
	for i, t := range of {
		rate, seconds := float64(t.Live.Requests)/t.MeasuredSeconds, l.Seconds+t.MeasuredSeconds
		if list[i].Void != "" || !(t.MeasuredSeconds > 0) || finite(rate) == nil || finite(seconds) == nil {
			continue
		}
		if l.Seconds == 0 || rate < l.Least {
			l.Least = rate
		}
		l.Most, l.Seconds = max(l.Most, rate), seconds
	}
	for i := range c.Header.Plan.Settings {
		l.Settings = append(l.Settings, h.settingResult(i, look, list, c.Trials))
	}
	r.Live, r.Recommendation, r.Warnings = l, recommend(l, r.Complete), append(r.Warnings, verdict.OfTrials(c.Trials)...)
	return r
}

// settingResult is what one value came to.
func (h Header) settingResult(value int, look paired.Look, list []paired.Slice, trials []journal.Trial) verdict.LiveSetting {
	s := h.Plan.Settings[value]
	out := verdict.LiveSetting{CanarySetting: verdict.CanarySetting{Setting: s, Observed: []int{*s.Procs}, Figures: []verdict.CanaryFigure{}}}
	for i := range trials {
		t := &trials[i]
		if t.Live != nil && t.InvalidCode == journal.InvalidLeft && t.Setting.Key() == s.Key() {
			out.Left, out.LeftAfter, out.InSystem = out.Left+1, t.DurationSeconds, t.Live.InSystemMax
		}
	}
	for _, x := range list {
		if x.Value == value && x.Void == "" {
			out.Slices++
		}
	}
	bounds := make([]paired.Bounds, len(h.Rules().Metrics))
	if value > 0 {
		v := look.Values[value-1]
		bounds, out.Came, out.Unequal, out.Failing, out.Verdict = v.Bounds, string(v.Outcome), v.Unequal, v.Failing, verdicts[v.Outcome]
	}
	for i, m := range h.Rules().Metrics {
		if f := compared(m.Name, i, bounds[i], value, list); f.Value.Median != nil && m.Direction != paired.NoMore {
			out.Figures = append(out.Figures, f)
		}
	}
	return out
}

// finite is a number of a result; nil: it is not known.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// verdicts are what outcomes are in the words of a canary.
var verdicts = map[paired.Outcome]verdict.Verdict{
	paired.Better: verdict.Recommended, paired.Worse: verdict.KeepDefault, paired.Left: verdict.KeepDefault, paired.Same: verdict.NotYourKnob,
	paired.Mixed: verdict.TradeOff, paired.Cheaper: verdict.CannotTell, paired.Open: verdict.CannotTell,
}

// compared is one figure of a value, next to the start value's of the same blocks.
func compared(name string, metric int, b paired.Bounds, value int, list []paired.Slice) verdict.CanaryFigure {
	start := map[int]*float64{} // by block
	at := func(s *paired.Slice) *float64 {
		if s.Void != "" {
			return nil
		}
		return finite(s.Figures[metric])
	}
	for i := range list {
		if list[i].Value == 0 {
			start[list[i].Block] = at(&list[i])
		}
	}
	out := verdict.CanaryFigure{Name: name, Outcome: b.Outcome}
	var is, was []float64
	for i := range list {
		x, y := at(&list[i]), start[list[i].Block]
		if list[i].Value != value || x == nil {
			continue
		}
		is = append(is, *x)
		if y != nil {
			was = append(was, *y)
		}
		out.Points = append(out.Points, [2]*float64{x, y})
	}
	out.Value = verdict.Median(is)
	if value > 0 {
		out.Control = verdict.Median(was)
		if out.Ratio.N = b.Pairs; b.Pairs > 0 { // an end that is infinite is not known
			out.Ratio.Median, out.Ratio.Low, out.Ratio.High = finite(b.Ratio), finite(b.Low), finite(b.High)
		}
	}
	return out
}

// recommend is what all values come to, of an experiment that came to its end: one is named
// where it alone is better.
func recommend(l *verdict.Live, complete bool) *verdict.Recommendation {
	by := map[verdict.Verdict][]verdict.LiveSetting{}
	for _, s := range l.Settings {
		if s.Came != "" {
			by[s.Verdict] = append(by[s.Verdict], s)
		}
	}
	out := &verdict.Recommendation{Verdict: verdict.CannotTell}
	switch better := by[verdict.Recommended]; {
	case l.Same || !complete: // for a check, and not for a value
		return out
	case better != nil:
		out.Verdict = verdict.Recommended
		if len(better) == 1 {
			out.Procs, out.Setting = better[0].Procs, better[0].Label
		}
	case by[verdict.CannotTell] != nil:
		return out
	case by[verdict.TradeOff] != nil:
		out.Verdict = verdict.TradeOff
	case by[verdict.KeepDefault] != nil:
		out.Verdict = verdict.KeepDefault
	case by[verdict.NotYourKnob] != nil:
		out.Verdict = verdict.NotYourKnob
	}
	if out.Verdict != verdict.CannotTell {
		out.Confidence = verdict.Proven
	}
	return out
}
