package verdict

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Canary is what a canary came to, each of its settings against the control of the same
// slice. Package canary makes it.
type Canary struct {
	journal.Canary
	End     *journal.End `json:"end"` // null: its procfit was killed, or is still at work
	Slices  int          `json:"slices"`
	Planned int          `json:"slices_planned"`
	// PerRequest reports that CPU time and waiting are of a request, by the query named
	// requests; else they are of a pod, and include what the traffic's spread does.
	PerRequest  bool            `json:"per_request"`
	Unreached   bool            `json:"unreached"`   // no request came to any pod in any slice
	Comparisons int             `json:"comparisons"` // that the intervals of judged metrics hold for together
	Settings    []CanarySetting `json:"settings"`    // the control first
}

// CanarySetting is one setting over all slices.
type CanarySetting struct {
	journal.Setting
	Slices   int   `json:"slices"`
	Idle     int   `json:"idle_slices"`    // in which no request came to its pods
	Observed []int `json:"observed_procs"` // every value that its pods were seen to run with
	Same     bool  `json:"same"`           // it ran with what the control did: it is the same program
	// Verdict is recommended of a setting that is better in at least one judged metric, and
	// no worse by its margin in every other, keep_default of one that is worse, trade_off
	// of both, and cannot_tell of neither; empty: the control.
	Verdict Verdict        `json:"verdict,omitempty"`
	Figures []CanaryFigure `json:"figures"`
}

// CanaryFigure is a metric of a setting: one of package canary's, or a query's.
type CanaryFigure struct {
	Name    string   `json:"name"`
	Value   Interval `json:"value"`   // its median over the slices
	Control Interval `json:"control"` // the control's in the same slices
	// Ratio is to the control's of the same slice. The interval of a judged metric holds
	// for all comparisons together; the others' is by itself.
	Ratio   Interval `json:"ratio"`
	Outcome Outcome  `json:"outcome,omitempty"` // empty: the control
	// Points are the setting's and the control's, slice by slice; null: not known.
	Points [][2]*float64 `json:"-"`
}

// In are the names of the metrics that came to an outcome.
func (a CanarySetting) In(o Outcome) (list []string) {
	for _, f := range a.Figures {
		if f.Outcome == o {
			list = append(list, f.Name)
		}
	}
	return list
}

// Of is a metric of the setting; nil: it was not measured.
func (a CanarySetting) Of(name string) *CanaryFigure {
	i := slices.IndexFunc(a.Figures, func(f CanaryFigure) bool { return f.Name == name && f.Value.Median != nil })
	if i < 0 {
		return nil
	}
	return &a.Figures[i]
}
