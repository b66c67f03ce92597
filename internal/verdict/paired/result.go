package paired

import (
	"math"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// verdicts are what outcomes are in the words of a result.
var verdicts = map[Outcome]verdict.Verdict{
	Better: verdict.Recommended, Worse: verdict.KeepDefault, Left: verdict.KeepDefault, Same: verdict.NoDifference,
	Mixed: verdict.TradeOff, Cheaper: verdict.Undecided, Undecided: verdict.Undecided,
}

// Setting is what a value came to, next to the control in the same blocks; 0 is the control.
// Metrics that no slice has are left out, unless the user asked for them.
func (r Rules) Setting(value int, look Look, list []Slice) (out verdict.CanarySetting) {
	control := map[int]*Slice{} // by block
	for i := range list {
		if s := &list[i]; s.Value == 0 && s.Counts() {
			control[s.Block] = s
		}
	}
	var slices []*Slice
	for i := range list {
		if s := &list[i]; s.Value == value && s.Counts() {
			slices = append(slices, s)
		}
	}
	out.Setting, out.Slices, out.Figures = r.Settings[value], len(slices), []verdict.CanaryFigure{}
	if value > 0 {
		out.Verdict = verdicts[look.Values[value-1].Outcome]
	}
	for i, m := range r.Metrics {
		f := verdict.CanaryFigure{Name: m.Name}
		var is, was []float64
		for _, s := range slices {
			x, y := s.Figures[i], math.NaN()
			if c := control[s.Block]; c != nil {
				y = c.Figures[i]
			}
			if !math.IsNaN(x) {
				is = append(is, x)
			}
			if !math.IsNaN(x + y) {
				was = append(was, y)
			}
			f.Points = append(f.Points, [2]*float64{stat.Known(x), stat.Known(y)})
		}
		f.Value = stat.Median(is)
		if value > 0 {
			b := look.Values[value-1].Bounds[i]
			f.Control, f.Outcome, f.Ratio.N = stat.Median(was), b.Outcome, b.Pairs
			if f.Value.Median != nil && f.Control.Median != nil && b.Pairs > 0 { // else one is beyond the buckets of a histogram; an end that is infinite is not known
				f.Ratio.Median, f.Ratio.Low, f.Ratio.High = stat.Known(b.Ratio), stat.Known(b.Low), stat.Known(b.High)
			}
		}
		if known := len(is) > 0 && m.Direction != NoMore; known || m.Asked && value > 0 && len(slices) > 0 {
			out.Figures = append(out.Figures, f)
		}
	}
	return out
}

// Recommend is what all values of an experiment that came to its end come to: one is named
// where it alone is better.
func Recommend(settings []verdict.CanarySetting) *verdict.Recommendation {
	by := map[verdict.Verdict][]verdict.CanarySetting{}
	for _, s := range settings {
		by[s.Verdict] = append(by[s.Verdict], s)
	}
	out := &verdict.Recommendation{Verdict: verdict.Undecided}
	for _, v := range []verdict.Verdict{verdict.Recommended, verdict.Undecided, verdict.TradeOff, verdict.KeepDefault, verdict.NoDifference} {
		if by[v] != nil {
			out.Verdict = v
			break
		}
	}
	if out.Verdict != verdict.Undecided {
		out.Confidence = verdict.Proven
	}
	if better := by[verdict.Recommended]; len(better) == 1 {
		out.Procs, out.Setting = better[0].Procs, better[0].Label
	}
	return out
}
