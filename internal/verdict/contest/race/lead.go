package race

// Lead is which value is best after some trials, and what is proven.
type Lead struct {
	Pick        int     // the smallest value as good as any; 0: cannot tell
	Confidence  Goal    // of the pick; empty without one
	Probability float64 // that the pick is right, by the pooled model
	Default     Goal    // how sure it is that the default is as good as any; empty: that is open, or there is none
	Peak        int     // the highest throughput; 0 without figures
	Equal       []int   // proven to lose no more than the margin to the peak, which is among them
	BestP99     int     // the shortest p99 among values that are not out; 0: none
	Trade       int     // a value that is out whose p99 is proven better than the pick's by more than its throughput is worse; 0: none
	Levels      []Level // of each value that was tried, ascending
	Open        []Comparison
	Spread      Spread
	Copies      Copies
	Model       *Model
}

// Interval is an estimate with its two-sided interval at 95%. Zeros: none,
// and no bounds below three trials.
type Interval struct{ Mean, Low, High float64 }

// Level is what is known of one value.
type Level struct {
	Value  int
	Trials int // that carry figures
	Failed int

	Throughput, P99 Interval // at the average block
	Out             bool     // proven worse than the peak by more than the margin, or hopeless
	Saturated       bool     // proven: it does not carry the offered rate
	AsFast          bool     // proven no worse than each rival in throughput
	AsPrompt        bool     // and in p99
	Slower          bool     // proven worse than the peak by more than the margin, all values considered at once
	Later           bool     // and its p99 than the best
}

// Comparison is one that is not decided: is A as good as B?
type Comparison struct {
	A, B             int
	By               Figure
	Ratio, Low, High float64 // of A to B, the two-sided interval at 95%
	Trials           int     // that would decide it as things look, of both values together; 0: more than can be asked
}

// Spread is how much a trial strays about its value and block, as a coefficient of
// variation: the noise floor. DF is how many degrees of freedom it comes from.
type Spread struct {
	Throughput, P99 float64
	DF              float64
}

// Copies is the default as unset against its number, which are one setting.
type Copies struct {
	Ratio, Low, High float64 // of throughput; zeros: no two of each
	Apart            bool    // proven to differ: then nothing is what it seems
}
