package plan

import (
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Planner says what is measured next: a pure function of what was measured, so that
// a run that was stopped goes on as if it had not been.
type Planner interface {
	Next(Record) Leg
}

// Leg is what to run next.
type Leg struct {
	Tasks []Task // in the order to run; none: the plan is at its end
	// Begin are the blocks to be told to the journal before them, one for each node that
	// is measured on; none where they are told already, or are no race's.
	Begin []journal.Block
	Total int // trials that the journal holds in the end, or at most
	// AtMost says that Total is a bound, and what is open may be settled before.
	AtMost bool
	// Left is how long the plan lets it go on; nil: it has no bound.
	Left *time.Duration
	Open []Question
}

// Question is what a group of a race has still to tell.
type Question struct {
	Group   journal.GroupKey
	A, B    int  // values of GOMAXPROCS: which of them; B 0: whether A is the answer
	Latency bool // by p99, and not by throughput
	Trials  int  // that it may take; 0: not known
}

// PlannerOf is the planner of a journal's plan.
func PlannerOf(h journal.Header) Planner {
	switch {
	case h.Plan.Racing() && h.Plan.GateAgainst:
		return dueling{h}
	case h.Plan.Racing():
		return racing{h}
	}
	return grid{h.Plan}
}
