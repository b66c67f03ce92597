package journal

// Block is what a race runs next, written before the first of its trials, so that a
// run that goes on completes what was begun, whatever it would choose today.
type Block struct {
	Kind  string `json:"kind"`
	Block int    `json:"block"` // from 0, over all groups
	Arms  []Arm  `json:"arms"`  // all of one group, in the order to run
	Why   string `json:"why"`   // a code: what the block is to tell
}

// Budget is what a race may take from here on, where it goes on with another than it
// began with. A reader has it in the header's plan.
type Budget struct {
	Kind       string  `json:"kind"`
	Goal       Goal    `json:"goal"`
	MaxTrials  int     `json:"max_trials"`
	MaxSeconds float64 `json:"max_seconds"` // 0: any
}

// Budget is the plan's.
func (p Plan) Budget() Budget {
	return Budget{Kind: KindBudget, Goal: p.Goal, MaxTrials: p.MaxTrials, MaxSeconds: p.MaxSeconds}
}

// With is the plan with another budget.
func (p Plan) With(b Budget) Plan {
	p.Goal, p.MaxTrials, p.MaxSeconds = b.Goal, b.MaxTrials, b.MaxSeconds
	return p
}
