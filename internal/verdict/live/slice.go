// Package live says what a live experiment proves: one process ran with several values of
// GOMAXPROCS in turn, in slices of random order, under the traffic that it has anyway. It is
// pure: the same slices give the same verdict.
//
// A slice of a value is compared with the slice of the start value in the same block. The
// order within a block is random, so that without an effect either sign of their
// difference is as likely as the other, whatever the traffic does. On that alone rests what
// is proven, and it may be looked at after every block.
package live

import "github.com/procfit/procfit/internal/verdict"

// Slice is what the program did while it ran with one value, after the burn-in.
type Slice struct {
	Block   int
	Value   int // 0: the start value; n: the n-th of Rules.Values
	Procs   int
	Before  int     // the value of the slice before it; 0: there was none
	Seconds float64 // counted
	// Requests ended in it; Failed are among them.
	Requests, Failed uint64
	CPU              float64            // seconds of the process
	P50, P99         float64            // seconds from arrival; 0: unknown
	Queries          map[string]float64 // the user's own metrics; less is better
	Halves           [2]half            // the first and the second, for the test of carry-over
	Void             void               // why it does not count; empty: it counts
}

// half is half of a slice.
type half struct {
	Requests uint64
	CPU, P50 float64
}

// void is why a slice does not count.
type void string

const (
	// voidLeft: harm ended it, and the program went back to the start value. A value that is
	// left in two of three visits is out. Blocks in which the start value's slice is voidLoaded
	// do not count for that.
	voidLeft void = "left"
	// voidLoaded: it is the start value's, and the wire would have ended it. A burst of the
	// traffic is void in either, so that both are treated in the same way.
	voidLoaded void = "loaded"
	// voidCarried: what an earlier value left behind was in it, as was proven later.
	voidCarried void = "carried_over"
)

// CarriedOver are slices that do not count, but for the harm that there was.
func CarriedOver(list []Slice) {
	for i := range list {
		if list[i].Void == "" {
			list[i].Void = voidCarried
		}
	}
}

// Rules are what is compared, and how.
type Rules struct {
	Values []int // those that are compared with the start value; of an A/A it is the start value
	// MarginCPU, MarginP50 and MarginP99 are how much worse counts as no worse: 0.05 is 5%.
	// 0: 5%, 10% and 20%. Queries have that of p99.
	MarginCPU, MarginP50, MarginP99 float64
	Latency                         bool // latency from arrival may decide
	Queries                         []string
}

// What values are compared in, in addition to the user's queries.
const (
	FigureCPU      = "cpu" // seconds per request
	figureP50      = "arrival_p50"
	FigureP99      = "arrival_p99"
	figureFailed   = "failed"   // share of the requests: more than the start value's is worse
	figureRequests = "requests" // per second, which must be the same
)

// Outcome is what a value came to.
type Outcome string

const (
	Better  Outcome = "better"  // in some figure, and proven no worse by its margin in all others
	Cheaper Outcome = "cheaper" // CPU per request is proven less, and latency or a query is open
	Worse   Outcome = "worse"
	Mixed   Outcome = "mixed" // better in one figure, worse in another
	Same    Outcome = "same"  // within the margins, in both directions
	Open    Outcome = "open"
	Left    Outcome = "left" // for harm, too often to go on
)

// bound is one figure of a value: its ratio to the start value's, less being better, with
// the interval that holds at all looks together.
type bound struct {
	Figure           string
	Pairs            int     // of slices
	Ratio, Low, High float64 // High is +Inf until there is an interval
	Margin           float64
	Outcome          verdict.Outcome
	// Same: proven within the margin in both directions.
	Same bool
}

// judged is one value.
type judged struct {
	Procs   int
	Outcome Outcome
	Out     bool // it is not to be measured again
	Bounds  []bound
	Failing bool // more of its requests fail than of the start value's, as is proven: it is worse
	// Unequal: the requests per second differ by more than 5%, as is proven, so that nothing
	// of it is judged.
	Unequal bool
}

// Look is what the slices so far prove.
type Look struct {
	Values []judged // in the order of the rules
	// Carried: what a value leaves behind reaches into the slices after it. The burn-in is too
	// short, and the slices so far must become voidCarried.
	Carried bool
}
