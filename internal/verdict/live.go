package verdict

import "github.com/procfit/procfit/internal/verdict/journal"

// Live is what a live experiment came to, each of its values against the start value's
// slice of the same block. Package live makes it.
type Live struct {
	journal.Live
	End    *journal.End `json:"end"`    // null: its procfit was killed, or is still at work
	Blocks int          `json:"blocks"` // that were started
	// Seconds are those of the slices that count, and Least and Most the requests per second
	// in them: what is proven holds for these.
	Seconds  float64       `json:"seconds"`
	Least    float64       `json:"requests_per_second_min"`
	Most     float64       `json:"requests_per_second_max"`
	Carried  bool          `json:"carried_over"` // what a value left behind made the burn-in longer
	Settings []LiveSetting `json:"settings"`     // the start value first
}

// LiveSetting is one value over all slices.
type LiveSetting struct {
	CanarySetting
	// Came is better, cheaper (CPU time is proven less, another metric is open), worse, mixed,
	// same, open or left; empty: the start value.
	Came    string `json:"outcome,omitempty"`
	Unequal bool   `json:"unequal_load,omitempty"` // its requests per second differ from the start value's: nothing is judged
	Failing bool   `json:"failing,omitempty"`      // more of its requests fail than of the start value's, as is proven
	Left    int    `json:"left,omitempty"`         // how often it was left for harm
	// LeftAfter is how long it ran the last time, and InSystem how many requests were waiting
	// or being served then.
	LeftAfter float64 `json:"left_after_seconds,omitempty"`
	InSystem  float64 `json:"left_in_system,omitempty"`
}
