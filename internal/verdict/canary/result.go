package canary

import (
	"slices"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Figure is what settings are compared in: one of ours, or the name of a query.
type Figure string

const (
	FigureCPU       Figure = "cpu"            // CPU seconds a request, or CPUs of a pod
	FigureWait      Figure = "run_queue_wait" // seconds a request, or a second and pod
	FigureSched     Figure = "sched_p99"      // seconds
	FigureThrottled Figure = "throttled"      // of the quota's periods
	FigureRequests  Figure = "requests"       // a second and pod
)

// own are those that no query may be called, but for requests, which one tells.
var own = []Figure{FigureCPU, FigureWait, FigureSched, FigureThrottled}

// Judges tells a figure that decides: CPU time and what the user asks for. How long
// goroutines and threads wait is a part of a request's latency, and stands in for it only
// where no query tells that; throttling shows in it, and requests are none of a setting's
// doing.
func (h Header) Judges(f Figure) bool {
	switch f {
	case FigureThrottled, FigureRequests:
		return false
	case FigureSched, FigureWait:
		return !slices.ContainsFunc(h.Canary.Queries, func(q journal.Query) bool { return q.Name != Requests })
	}
	return true
}

// Verdict is what is proven of a setting, against the control.
type Verdict string

const (
	Better Verdict = "better" // in at least one judged figure, and no worse by its margin in every other
	Worse  Verdict = "worse"
	Mixed  Verdict = "mixed" // better in one, worse in another
	Open   Verdict = "open"  // neither, or better in one while it may be worse in another
)

// marginCPU is how much more CPU time does not matter: as a sweep has it of throughput.
const marginCPU = 0.05

// Margin is how far above the control's a judged figure counts as no worse: 0.2 is 20 %.
func (h Header) Margin(f Figure) float64 {
	if f == FigureCPU {
		return marginCPU
	}
	return h.Plan.MarginP99
}

// Result is what a journal says.
type Result struct {
	Schema string       `json:"schema"`
	Header Header       `json:"header"`
	Slices []Slice      `json:"-"` // they stand in the journal
	End    *journal.End `json:"end"`
	// Counted is how many slices there are of how many.
	Counted int `json:"slices"`
	Planned int `json:"slices_planned"`
	// PerRequest tells that CPU time and waiting are of a request, by the query that
	// tells requests; else they are of a pod, and what the traffic's spread does is in them.
	PerRequest  bool            `json:"per_request"`
	Unreached   bool            `json:"unreached"`   // no request came to any pod in any slice
	Comparisons int             `json:"comparisons"` // that the intervals of judged figures hold for together
	Settings    []SettingResult `json:"settings"`    // the control first
}

// ResultSchema is a Result's in JSON.
const ResultSchema = "procfit.canary-result/v1"

// SettingResult is one setting over all slices.
type SettingResult struct {
	journal.Setting
	Slices   int     `json:"slices"`
	Observed []int   `json:"observed_procs"` // every value that its pods were seen to run with
	Same     bool    `json:"same"`           // it ran with what the control did: it is the same program
	Verdict  Verdict `json:"verdict"`        // empty: the control
	// Idle is in how many slices no request came to its pods.
	Idle   int      `json:"idle_slices"`
	Better []Figure `json:"better"`
	Worse  []Figure `json:"worse"`
	// Untold are judged figures that are neither: by more than the margin it may be worse
	// in them.
	Untold  []Figure   `json:"open"`
	Figures []Measured `json:"figures"`
}

// Measured is a figure of a setting.
type Measured struct {
	Figure Figure           `json:"figure"`
	Value  verdict.Interval `json:"value"` // its median over the slices
	// Control is the control's in the same slices.
	Control verdict.Interval `json:"control"`
	// Ratio is to the control's of the same slice. The interval of a judged figure holds
	// for all comparisons together; the others' is by itself.
	Ratio verdict.Interval `json:"ratio"`
}

// Of is a figure of the setting; nil: it was not measured.
func (a SettingResult) Of(f Figure) *Measured {
	i := slices.IndexFunc(a.Figures, func(m Measured) bool { return m.Figure == f })
	if i < 0 {
		return nil
	}
	return &a.Figures[i]
}

// Has tells that any setting has a figure.
func (r *Result) Has(f Figure) bool {
	return slices.ContainsFunc(r.Settings, func(a SettingResult) bool { return a.Of(f) != nil })
}

// Figures are all that may have been measured, in order.
func (h Header) Figures() (list []Figure) {
	for _, q := range h.Canary.Queries {
		if q.Name != Requests {
			list = append(list, Figure(q.Name))
		}
	}
	return append(list, FigureCPU, FigureSched, FigureWait, FigureThrottled, FigureRequests)
}

// asked tells that a figure is a query's, and so the user's own.
func (h Header) asked(f Figure) bool {
	return f != FigureRequests && slices.ContainsFunc(h.Canary.Queries, func(q journal.Query) bool { return q.Name == string(f) })
}
