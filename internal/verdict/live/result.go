package live

import (
	"math"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// SliceOf is a trial as Judge has it.
func (h Header) SliceOf(t *journal.Trial) Slice {
	s := Slice{Block: t.Block, Value: h.valueOf(t.Setting), Procs: *t.Setting.Procs, Seconds: t.MeasuredSeconds, Void: void(t.InvalidCode)}
	if l := t.Live; l != nil {
		s.Before, s.Requests, s.Failed, s.CPU = l.Before, l.Requests, l.Failed, l.CPUSeconds
		s.P50, s.P99 = known(l.P50Seconds), known(l.P99Seconds)
		for i, h := range l.Halves {
			s.Halves[i] = half{h.Requests, h.CPUSeconds, known(h.P50Seconds)}
		}
	}
	for _, q := range h.Live.Queries {
		if m, known := t.Metrics[q.Name]; known {
			if s.Queries == nil {
				s.Queries = map[string]float64{}
			}
			s.Queries[q.Name] = m.Value
		}
	}
	return s
}

func known(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// slicesOf are those of a journal's blocks, and how many of them are from before the burn-in
// became longer.
func (h Header) slicesOf(trials []journal.Trial) (list []Slice, before int) {
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
		list = append(list, h.SliceOf(t))
		if t.Live.BurnInSeconds < burn {
			before = len(list)
		}
	}
	return list, before
}

// Analyze makes a Result of a live experiment's journal. It has no groups.
func Analyze(c *journal.Contents) *verdict.Result {
	h := Header{c.Header}
	list, before := h.slicesOf(c.Trials)
	CarriedOver(list[:before])
	look := Judge(h.Rules(), list)
	if look.Carried { // by the last block
		before = len(list)
		CarriedOver(list)
		look = Judge(h.Rules(), list)
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
	for _, s := range list {
		rate, seconds := float64(s.Requests)/s.Seconds, l.Seconds+s.Seconds
		if s.Void != "" || !(s.Seconds > 0) || !isFinite(rate) || !isFinite(seconds) {
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
func (h Header) settingResult(value int, look Look, list []Slice, trials []journal.Trial) verdict.LiveSetting {
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
	figures, bounds := h.Rules().figures(), make([]bound, len(h.Rules().figures()))
	if value > 0 {
		v := look.Values[value-1]
		bounds, out.Came, out.Unequal, out.Failing, out.Verdict = v.Bounds, string(v.Outcome), v.Unequal, v.Failing, verdicts[v.Outcome]
	}
	for i, b := range bounds {
		if f := compared(figures[i], b, value, list); f.Value.Median != nil {
			out.Figures = append(out.Figures, f)
		}
	}
	return out
}

// finite is a number of a result; nil: it is not known.
func finite(x float64) *float64 {
	if !isFinite(x) {
		return nil
	}
	return &x
}

// verdicts are what outcomes are in the words of a canary.
var verdicts = map[Outcome]verdict.Verdict{
	Better: verdict.Recommended, Worse: verdict.KeepDefault, Left: verdict.KeepDefault, Same: verdict.NotYourKnob,
	Mixed: verdict.TradeOff, Cheaper: verdict.CannotTell, Open: verdict.CannotTell,
}

// compared is one figure of a value, next to the start value's of the same blocks.
func compared(f *figure, b bound, value int, list []Slice) verdict.CanaryFigure {
	start := map[int]*float64{} // by block
	at := func(s *Slice) *float64 {
		if s.Void != "" {
			return nil
		}
		return finite(math.Exp(f.of(s)))
	}
	for i := range list {
		if list[i].Value == 0 {
			start[list[i].Block] = at(&list[i])
		}
	}
	out := verdict.CanaryFigure{Name: f.name, Outcome: b.Outcome}
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
