package verdict

import "github.com/procfit/procfit/internal/verdict/journal"

// Live is what a live experiment came to, each of its values against the start value's
// slice of the same block. Package live makes it.
type Live struct {
	journal.Live
	End    *journal.End // null: its procfit was killed, or is still at work
	Blocks int          // that were started
	// Seconds are those of the slices that count, and Least and Most the requests per second
	// in them: what is proven holds for these.
	Seconds  float64
	Least    float64
	Most     float64
	Carried  bool          // what a value left behind made the burn-in longer
	Settings []LiveSetting // the start value first
}

// LiveSetting is one value over all slices.
type LiveSetting struct {
	CanarySetting
	// Came is better, cheaper (CPU time is proven less, another metric is open), worse, mixed,
	// same, open or left; empty: the start value.
	Came    string
	Unequal bool // its requests per second differ from the start value's: nothing is judged
	Failing bool // more of its requests fail than of the start value's, as is proven
	Left    int  // how often it was left for harm
	// LeftAfter is how long it ran the last time, and InSystem how many requests were waiting
	// or being served then. Beyond is the metric seen from outside that it was left for; nil:
	// requests piled up.
	LeftAfter float64
	InSystem  float64
	Beyond    *journal.Beyond
}
