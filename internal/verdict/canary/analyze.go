package canary

import (
	"math"
	"slices"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Analyze makes a Result of a journal.
func Analyze(c *Contents) *Result {
	r := &Result{Schema: ResultSchema, Header: c.Header, Slices: c.Slices, End: c.End, Counted: len(c.Slices), Planned: len(c.Header.Canary.Rounds) * c.Header.Slices()}
	r.Unreached = unreached(c.Slices)
	r.PerRequest = slices.ContainsFunc(c.Slices, func(s Slice) bool {
		return slices.ContainsFunc(s.Settings, Seen.Served)
	})
	var settings []journal.Setting
	for _, round := range c.Header.Canary.Rounds {
		for _, a := range round {
			if !slices.ContainsFunc(settings, func(have journal.Setting) bool { return have.Label == a.Label }) {
				settings = append(settings, a)
			}
		}
	}
	all := map[string]map[Figure]series{}
	for _, a := range settings {
		all[a.Label] = r.seriesOf(a)
		for f, s := range all[a.Label] {
			if a.Procs != nil && r.Header.Judges(f) && s.together(all[Control][f]) {
				r.Comparisons++
			}
		}
	}
	for _, a := range settings {
		r.Settings = append(r.Settings, r.setting(a, all[a.Label], all[Control]))
	}
	control := slices.IndexFunc(r.Settings, func(a SettingResult) bool { return a.Procs == nil })
	for i := range r.Settings {
		r.Settings[i].Same = control >= 0 && i != control && len(r.Settings[i].Observed) == 1 && slices.Equal(r.Settings[i].Observed, r.Settings[control].Observed)
	}
	return r
}

// series is a figure by slice.
type series map[int][]float64

// together tells that both have a slice with logarithms to compare.
func (s series) together(t series) bool {
	for i, v := range s {
		if w, ok := t[i]; ok && v[0] > 0 && w[0] > 0 {
			return true
		}
	}
	return false
}

// during is what of it is of another's slices.
func (s series) during(other series) series {
	part := series{}
	for i := range other {
		if v, ok := s[i]; ok {
			part[i] = v
		}
	}
	return part
}

func (s series) values() (list []float64) {
	for _, v := range s {
		list = append(list, v...)
	}
	return list
}

func (r *Result) seriesOf(a journal.Setting) map[Figure]series {
	all := map[Figure]series{}
	for _, f := range r.Header.Figures() {
		all[f] = series{}
		for i, s := range r.Slices {
			for _, seen := range s.Settings {
				if x := r.Value(f, seen); x != nil && seen.Setting.Label == a.Label {
					all[f][i] = []float64{*x}
				}
			}
		}
	}
	return all
}

// Served tells that a query counted requests.
func (a Seen) Served() bool {
	n := a.metric(Requests)
	return n != nil && *n > 0
}

// Value is a figure of a setting in a slice; nil: it is not known.
func (r *Result) Value(f Figure, a Seen) *float64 {
	per := a.podSeconds()
	if r.PerRequest {
		per = a.metric(Requests)
	}
	switch f {
	case FigureCPU:
		return share(a.cpuSeconds(), per)
	case FigureWait:
		return share(a.RunQueueWaitSeconds, per)
	case FigureThrottled:
		if a.Cgroup == nil {
			return nil
		}
		return share(new(float64(a.Cgroup.ThrottledPeriods)), new(float64(a.Cgroup.Periods)))
	case FigureRequests:
		return share(a.metric(Requests), new(r.Header.Canary.SliceSeconds*float64(max(1, len(a.Pods)))))
	}
	return a.metric(string(f))
}

func share(a, b *float64) *float64 {
	if a == nil || b == nil || !(*b > 0) || math.IsInf(*a / *b, 0) {
		return nil
	}
	return new(*a / *b)
}

func (r *Result) setting(a journal.Setting, of, control map[Figure]series) SettingResult {
	out := SettingResult{Setting: a, Better: []Figure{}, Worse: []Figure{}, Untold: []Figure{}, Figures: []Measured{}}
	for _, s := range r.Slices {
		for _, seen := range s.Settings {
			if seen.Setting.Label != a.Label {
				continue
			}
			out.Slices++
			if seen.Idle() {
				out.Idle++
			}
			for _, n := range seen.ObservedProcs {
				if n != nil && !slices.Contains(out.Observed, *n) {
					out.Observed = append(out.Observed, *n)
				}
			}
		}
	}
	slices.Sort(out.Observed)
	for _, f := range r.Header.Figures() {
		if len(of[f]) == 0 {
			if a.Procs != nil && r.Header.asked(f) { // of what the user asked for nothing is known
				out.Untold = append(out.Untold, f)
			}
			continue
		}
		m := Measured{Figure: f, Value: verdict.Median(of[f].values())}
		if a.Procs != nil {
			together := 1
			if r.Header.Judges(f) {
				together = r.Comparisons
			}
			m.Ratio = verdict.PairedAmong(of[f], control[f], together)
			m.Control = verdict.Median(control[f].during(of[f]).values())
		}
		out.Figures = append(out.Figures, m)
		switch i := m.Ratio; {
		case a.Procs == nil || !r.Header.Judges(f):
		case i.High != nil && *i.High < 1:
			out.Better = append(out.Better, f)
		case i.Low != nil && *i.Low > 1:
			out.Worse = append(out.Worse, f)
		case i.High == nil || *i.High > 1+r.Header.Margin(f):
			out.Untold = append(out.Untold, f)
		}
	}
	if a.Procs != nil {
		out.Verdict = out.concluded()
	}
	return out
}

func (a SettingResult) concluded() Verdict {
	better, worse := len(a.Better) > 0, len(a.Worse) > 0
	switch {
	case better && worse:
		return Mixed
	case better && len(a.Untold) == 0:
		return Better
	case worse:
		return Worse
	}
	return Open
}
