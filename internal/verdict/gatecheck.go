package verdict

// The kinds of gate, and the metrics that they check.
const (
	GateKindAgainst  = "against"
	GateKindBaseline = "baseline"

	MetricThroughput = "throughput"
	MetricP99        = "p99"

	// What else a default may be worse by, or not be shown to be.
	MetricSaturated = "saturated"
	MetricOpen      = "open"
)

// Gate is the answer of procfit compare.
type Gate struct {
	Kind   string      `json:"kind"` // against, baseline
	Pass   bool        `json:"pass"` // every check is judged, and none is worse
	Checks []GateCheck `json:"checks"`
	// Unjudged says why the gate is neither passed nor failed; empty when it is.
	Unjudged []Unjudged `json:"-"`
}

// GateSetting is a setting of a gate, with what sets its group apart where a run has
// several.
type GateSetting struct {
	Label     string
	QuotaCPUs *float64
	GoVersion string
}

// GateCheck is one setting on one metric: new ÷ old with its interval.
type GateCheck struct {
	Setting GateSetting `json:"-"`
	Metric  string      `json:"metric"` // throughput, p99
	Ratio   Interval    `json:"ratio"`
	Margin  float64     `json:"margin"`
	Judged  bool        `json:"judged"` // there are pairs enough to prove something
	Worse   bool        `json:"worse"`  // worse than the margin, with confidence
	Proven  bool        `json:"proven"` // not worse than the margin, with confidence
	Outcome Outcome     `json:"outcome"`
	// Bounds are those that decide: the one on the side of the loss reports whether it is
	// within the margin, the other, which shares its error with all checks, whether it
	// is worse.
	Bounds   Bounds  `json:"bounds"`
	Quantile float64 `json:"quantile,omitempty"` // that is judged, of latency
	late     bool    // the load engine sent late in some trial
}

// Outcome is what a check came to.
type Outcome string

const (
	OutcomeNotJudged Outcome = "not_judged"
	OutcomeWorse     Outcome = "worse"
	OutcomeWithin    Outcome = "within_margin"
	OutcomeOpen      Outcome = "open"
	OutcomeBetter    Outcome = "better" // of a canary, which looks for it
)

// Unjudged is why a gate cannot be judged.
type Unjudged struct {
	Code UnjudgedCode
	// Checks, of too_few, are those with as many Pairs.
	Checks []GateCheck
	Pairs  int
	// Of spoiled: Bad of Of trials of the new program at Setting are invalid, mostly for
	// that Reason, and OldBad of OldOf of the old one.
	Setting                GateSetting
	Bad, Of, OldBad, OldOf int
	Reason                 string
}

// UnjudgedCode says which.
type UnjudgedCode string

const (
	UnjudgedSpoiled   UnjudgedCode = "spoiled"
	UnjudgedTooFew    UnjudgedCode = "too_few"
	UnjudgedWithheld  UnjudgedCode = "withheld"   // Setting: other programs left it too few CPUs
	UnjudgedNoSetting UnjudgedCode = "no_setting" // of the old command was planned
	UnjudgedLate      UnjudgedCode = "late"       // Checks, of latency, with as many Pairs: the load engine sent late
)

// FewestPairs is how many pairs a check takes.
const FewestPairs = minPairs
