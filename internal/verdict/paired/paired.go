// Package paired says what an experiment in blocks proves: in each block a control, and what
// is compared with it, are seen under the same conditions. It is pure: the same slices give
// the same verdict.
//
// # Model
//
// A value's figures are compared with the control's of the same block, metric by metric. In
// one process the order within a block is random, so that without an effect either sign of
// their difference is as likely as the other, whatever the traffic does. On that alone rests
// what is proven, and it may be looked at after every block. Of pods that run at the same time
// the sign is as likely because pods that do not differ could change places.
//
// Where the number of blocks is planned, most of the error is kept for the look after the last
// of them. That one goes by signed ranks, which find more than signs that may be looked at at
// any time: without them a difference would take two to three times as many blocks.
//
// # Limits
//
// A lasting difference that the value did not make is taken for its own: of pods, the one that
// has the only heavy client. In one process, what a value leaves behind in the slices after it
// is found if it fades, or if there are three values.
package paired

import (
	"slices"
	"time"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Metric is one number in which a value is compared with the control.
type Metric struct {
	Name      string
	Direction Direction
	Margin    float64 // how much more counts as no more: 0.05 is 5%
	// Floor is added to both values before they are compared: what differs by much less does not
	// matter, and 0 has a ratio then.
	Floor float64
	// Asked reports that the user asked for it: where fewer than half of the blocks have it,
	// it is open, and not left out of what is judged.
	Asked bool
	// Guarded reports that an experiment ends where it is proven above the control's.
	Guarded bool
	// Halves reports that slices have it for each of their halves, which show what an earlier
	// value has left behind.
	Halves bool
}

// Direction is what a metric decides.
type Direction int

const (
	Shown  Direction = iota // nothing
	Less                    // less is better, and more is worse
	NoMore                  // more is worse, and less is no better, as of failed requests
	Alike                   // it must be the same: else nothing is judged
)

// The metrics that several experiments have.
const (
	FigureCPU      = "cpu"         // alone it makes nothing better: fewer Ps are cheaper nearly always
	FigureP50      = "arrival_p50" // seconds from the kernel's receipt of a request
	FigureP99      = "arrival_p99"
	FigureFailed   = "failed"   // share of the requests
	FigureRequests = "requests" // per second
)

// Rules are what is compared, and how.
type Rules struct {
	Settings []journal.Setting // the control, and what is compared with it
	Metrics  []Metric
	Blocks   int // that are planned for each value; 0: as many as there is time for
}

func (r Rules) values() int { return max(0, len(r.Settings)-1) }

// Value is the place of a setting; -1: it has none.
func (r Rules) Value(s journal.Setting) int {
	return slices.IndexFunc(r.Settings, func(have journal.Setting) bool { return have.Label == s.Label })
}

// Slice is what one value did in a block.
type Slice struct {
	Block int
	Value int // 0: the control; n: the n-th that is compared with it
	// Figures are in the order of the rules' metrics; NaN: not known.
	Figures []float64
	Halves  [2][]float64 // of the metrics that have them, which are the first ones
	// After is 1 where one process had a smaller value before, and -1 where it had a larger
	// one; 0: neither.
	After int
	// Void is why it does not count; empty: it counts. Of one process it is InvalidLeft where
	// harm ended it and the control is back: a value that is left in two of three visits is out.
	// It is InvalidLoaded where it is the control's, and the same would have ended it: a burst of
	// the traffic is void in either, so that both are treated in the same way, and what was left
	// in such a block does not count for that.
	Void    journal.InvalidCode
	Carried bool // what an earlier value left behind was in it, as was proven later
}

// Counts reports that a slice is compared.
func (s *Slice) Counts() bool { return s.Void == "" && !s.Carried }

// CarriedOver are slices that do not count, but for the harm that there was.
func CarriedOver(list []Slice) {
	for i := range list {
		list[i].Carried = true
	}
}

// Outcome is what a value came to.
type Outcome string

const (
	Better    Outcome = "better"  // in some metric, and proven no worse by its margin in all others
	Cheaper   Outcome = "cheaper" // CPU time is proven less, and another metric is open, or none is known
	Worse     Outcome = "worse"
	Mixed     Outcome = "mixed" // better in one metric, worse in another
	Same      Outcome = "same"  // within the margins, in both directions
	Undecided Outcome = "undecided"
	Left      Outcome = "left" // for harm, too often to go on: likely worse, and not proven
)

// Bounds are one metric of a value: its ratio to the control's, with the interval that holds
// at all looks together.
type Bounds struct {
	Metric
	Pairs            int     // of slices
	Ratio, Low, High float64 // High is +Inf until there is an interval
	Outcome          verdict.Outcome
	// Same: proven within the margin in both directions.
	Same bool
}

// Judged is one value.
type Judged struct {
	Outcome Outcome
	Bounds  []Bounds // in the order of the metrics
	Failing bool     // a metric that is to be no more is more, as is proven: it is worse
	// Unequal: a metric that must be the same differs by more than its margin, as is proven,
	// so that nothing of it is judged.
	Unequal bool
}

// Decided reports that more slices of a value would change nothing.
func (j Judged) Decided() bool { return j.Outcome != Undecided && j.Outcome != Cheaper }

// Look is what the slices so far prove.
type Look struct {
	Values []Judged // in order
	// Carried: what a value leaves behind reaches into the slices after it. The burn-in is too
	// short, and the slices so far must be CarriedOver.
	Carried bool
}

// Step is what an experiment does next.
type Step struct {
	Block int
	// Settings run at the same time, those of each list, and the lists one after the other in
	// random order.
	Settings [][]journal.Setting
	BurnIn   time.Duration // of settings that did not run before, until they are compared
	End      *journal.End  // it is over
}
