package live

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// SliceOf is a trial as the rules have it.
func (h Header) SliceOf(t *journal.Trial) paired.Slice {
	s := paired.Slice{Block: t.Block, Value: paired.Rules{Settings: h.Plan.Settings}.Value(t.Setting), Void: t.InvalidCode}
	l := t.Live
	if l == nil {
		l = &journal.Slice{}
	}
	if l.Before > 0 && t.Setting.Procs != nil { // a journal may be anyone's
		s.After = cmp.Compare(*t.Setting.Procs, l.Before)
	}
	for i, half := range l.Halves {
		s.Halves[i] = []float64{h.cpu(half.CPUSeconds, half.Seconds, half.Requests), latency(half.P50Seconds, half.Requests)}
	}
	s.Figures = []float64{h.cpu(l.CPUSeconds, t.MeasuredSeconds, l.Requests), latency(l.P50Seconds, l.Requests), latency(l.P99Seconds, l.Requests)}
	metric := func(name string) {
		x := math.NaN()
		if m, known := t.Metrics[name]; known && m.Value >= 0 {
			if x = m.Value; m.AtLeast {
				x = math.Inf(1)
			}
		}
		s.Figures = append(s.Figures, x)
	}
	for _, m := range seen {
		if slices.Contains(h.Live.Seen, m.Name) {
			metric(m.Name)
		}
	}
	for _, q := range h.Live.Queries {
		metric(q.Name)
	}
	if !h.Live.Uncounted {
		failed := math.NaN()
		if _, known := Harmed(h.Live); known {
			failed = float64(l.Failed) / float64(l.Requests)
		}
		s.Figures = append(s.Figures, float64(l.Requests)/t.MeasuredSeconds, failed)
	}
	return s
}

// cpu is the CPU time per request or, where requests are not known, per second. Without a request
// it is not known.
func (h Header) cpu(cpu, seconds float64, requests uint64) float64 {
	switch {
	case h.Live.Uncounted:
		return cpu / seconds
	case requests == 0:
		return math.NaN()
	}
	return cpu / float64(requests)
}

// latency is one that enough requests have. 0 is not known.
func latency(x *float64, requests uint64) float64 {
	if x == nil || !(*x > 0) || requests < FewRequests {
		return math.NaN()
	}
	return *x
}

// slicesOf are those of a journal's blocks with their trials, how many of them are from before
// the burn-in became longer, and how many seconds that has now.
func (h Header) slicesOf(trials []journal.Trial) (list []paired.Slice, of []*journal.Trial, before int, burn float64) {
	burn = h.Live.BurnInSeconds
	for i := range trials {
		if l := trials[i].Live; l != nil {
			burn = l.BurnInSeconds // it only grows
		}
	}
	for i := range trials {
		t := &trials[i]
		s := h.SliceOf(t)
		if t.Role == journal.RolePilot || t.Live == nil || s.Value < 0 {
			continue
		}
		list, of = append(list, s), append(of, t)
		if t.Live.BurnInSeconds < burn {
			before = len(list)
		}
	}
	paired.CarriedOver(list[:before])
	return list, of, before, burn
}

// Analyze makes a Result of a live experiment's journal. It has no groups.
func Analyze(c *journal.Contents) *verdict.Result {
	h := Header{c.Header}
	list, of, before, _ := h.slicesOf(c.Trials)
	look := paired.Judge(h.Rules(), list)
	if look.Carried { // by the last block
		before = len(list)
		paired.CarriedOver(list)
		look = paired.Judge(h.Rules(), list)
	}
	r := verdict.NewResult(c.Header, c.Trials)
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
		if !list[i].Counts() || !(t.MeasuredSeconds > 0) || math.IsInf(rate, 0) || math.IsInf(seconds, 0) {
			continue
		}
		if l.Seconds == 0 || rate < l.Least {
			l.Least = rate
		}
		l.Most, l.Seconds = max(l.Most, rate), seconds
	}
	r.Recommendation = &verdict.Recommendation{Verdict: verdict.Undecided}
	var settings []verdict.CanarySetting
	for i := range c.Header.Plan.Settings {
		s := h.settingResult(i, look, list, c.Trials)
		l.Settings, settings = append(l.Settings, s), append(settings, s.CanarySetting)
	}
	if r.Complete && !l.Same { // else it is for a check, and not for a value
		r.Recommendation = paired.Recommend(settings)
		left := slices.ContainsFunc(look.Values, func(v paired.Judged) bool { return v.Outcome == paired.Left })
		keep := r.Recommendation.Verdict == verdict.KeepDefault
		switch _, known := Harmed(h.Live); {
		case (keep || r.Recommendation.Verdict == verdict.Recommended) && !known: // answers that fail cost less, and come sooner
			r.Recommendation.Confidence = verdict.Likely
		case keep && left: // bursts look like harm
			r.Recommendation.Confidence = verdict.Likely
		}
	}
	r.Live, r.Warnings = l, append(r.Warnings, verdict.OfTrials(c.Trials)...)
	return r
}

func (h Header) settingResult(value int, look paired.Look, list []paired.Slice, trials []journal.Trial) verdict.LiveSetting {
	out := verdict.LiveSetting{CanarySetting: h.Rules().Setting(value, look, list)}
	out.Observed = []int{*out.Procs}
	for i := range trials {
		t := &trials[i]
		if t.Live != nil && Left(t) && t.Setting.Label == out.Label {
			out.Left, out.LeftAfter, out.InSystem, out.Beyond = out.Left+1, t.DurationSeconds, t.Live.InSystemMax, t.Live.Beyond
		}
	}
	if value > 0 {
		v := look.Values[value-1]
		out.Came, out.Unequal, out.Failing = string(v.Outcome), v.Unequal, v.Failing
	}
	return out
}
