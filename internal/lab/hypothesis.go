package lab

import (
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// The machines of document 002. A gain on four hardware threads of two cores is not one
// on sixteen, so each number says which of them it is of.
const (
	OnLaptop = "laptop"
	OnServer = "server"
)

// Hypothesis is what a document's numbers say, as a statement about a ratio that
// another machine can test. Absolute times cannot be compared.
type Hypothesis struct {
	ID       string  // unique in its experiment, lower snake case
	Says     string  // "two Ps cost under 1.1 times one P"
	Document string  // the document's own numbers: "29 ÷ 27.1 µs = 1.07"; "" where it gives none
	Value    float64 // the document's ratio; 0 where it gives none
	On       string  // its machine that Value is of, where it has several

	// Needs is how many CPUs it takes to see it, those of the load among them; 0 is any.
	// Below, the answer is CannotTell, whatever was measured.
	Needs float64
	// LoadCPUs is how many of those the load takes, where it must leave the program its
	// own; 0 where it takes the program's in the document too.
	LoadCPUs float64
	// Emulated is that with too few CPUs the kept table of a machine that was emulated
	// answers.
	Emulated bool

	Measure measure
	// It holds for a ratio from AtLeast to AtMost; 0 leaves that end open.
	AtLeast, AtMost float64
}

// Results are the stages' results by Stage.ID.
type Results map[string]Measured

// Measured is what a stage came to.
type Measured struct {
	Result *verdict.Result
	Trials []journal.Trial
	Why    string // why there is no Result
	Rounds int    // how often blocks were added after a look at the answers
}

// Estimate is a measured ratio with its two-sided 95% interval.
type Estimate struct {
	Value, Low, High *float64 // nil: not known
	N                int      // blocks that it rests on; of Ended, trials
	Why              string   // why something is nil
}

// Answer is what became of a hypothesis.
type Answer string

const (
	Holds       Answer = "holds"         // the whole interval lies within
	DoesNotHold Answer = "does_not_hold" // the whole interval lies outside
	CannotTell  Answer = "cannot_tell"   // it crosses a bound, or the machine cannot show it
)

// judged is a hypothesis with its answer.
type judged struct {
	Hypothesis
	Got    Estimate
	From   string // whose Got is; empty: this machine's
	Answer Answer
	Reason string // of CannotTell, in words
	Open   bool   // the interval holds a bound, so that more blocks may tell
}
