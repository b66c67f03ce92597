package journal

// Block is what a race runs next, written before the first of its trials, so that a
// run that goes on completes what was begun, whatever it would choose today.
type Block struct {
	Kind     string    `json:"kind"`
	Block    int       `json:"block"`    // from 0, over all groups
	Settings []Setting `json:"settings"` // all of one group, in the order to run
	Why      string    `json:"why"`      // a code: what the block is to tell
}

// Budget is what a race may take from here on, where it goes on with another than it
// began with, or how many blocks a grid has from here on. A reader has it in the
// header's plan.
type Budget struct {
	Kind       string  `json:"kind"`
	Goal       Goal    `json:"goal"`
	MaxTrials  int     `json:"max_trials"`
	MaxSeconds float64 `json:"max_seconds"`      // 0: any
	Blocks     int     `json:"blocks,omitempty"` // of a grid
}

// Budget is the plan's.
func (p Plan) Budget() Budget {
	return Budget{Kind: KindBudget, Goal: p.Goal, MaxTrials: p.MaxTrials, MaxSeconds: p.MaxSeconds}
}

// With is the plan with another budget; a grid keeps the blocks that it has.
func (p Plan) With(b Budget) Plan {
	if !p.Racing() {
		p.Blocks = max(p.Blocks, b.Blocks)
		return p
	}
	p.Goal, p.MaxTrials, p.MaxSeconds = b.Goal, b.MaxTrials, b.MaxSeconds
	return p
}
