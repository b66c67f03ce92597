package verdict

import "github.com/procfit/procfit/internal/verdict/journal"

// Warning is something that weakens the result: a code with its numbers. Which of them
// a code has is next to the code.
type Warning struct {
	Code    WarningCode `json:"code"`
	Group   *int        `json:"group,omitempty"` // index into groups; absent: the whole run
	Setting string      `json:"setting,omitempty"`

	Settings  []SettingFigure  `json:"-"`
	Count, Of int64            `json:"-"`
	Value     float64          `json:"-"`
	Limit     float64          `json:"-"`
	Reason    string           `json:"-"` // of most of the invalid trials
	Stolen    bool             `json:"-"` // a hypervisor made most of them so
	Unit      string           `json:"-"`
	Procs     int              `json:"-"`
	Mend      bool             `json:"-"`
	Advised   bool             `json:"-"` // the group's advice on throttling is of this warning
	Trial     *journal.Warning `json:"-"`
	Losses    []Reason         `json:"-"`
	Nodes     []journal.Node   `json:"-"`
}

// SettingFigure is a setting with the metric that a warning is of, and what that is to be
// compared with.
type SettingFigure struct {
	Label string
	Value float64
	Limit float64
}

// WarningCode is stable: it is in result.json.
type WarningCode string

const (
	WarnFewBlocks       WarningCode = "few_blocks"             // Count: the fewest valid trials of a setting
	WarnFewSettings     WarningCode = "few_settings"           // Count: settings
	WarnInvalid         WarningCode = "invalid_trials"         // Count, Of, Reason
	WarnInvalidPilots   WarningCode = "invalid_pilots"         // Count, Of, Reason
	WarnNoisy           WarningCode = "noisy"                  // Value: how far a trial strays
	WarnNoisyP99        WarningCode = "noisy_p99"              // in the same way
	WarnThrottledBeyond WarningCode = "throttled_beyond_quota" // Settings: Value of periods; Limit, the quota
	WarnThrottledWithin WarningCode = "throttled_within_quota" // Settings, Limit
	WarnThrottledAround WarningCode = "throttled_around"       // in the same way by a limit around the target, of group Reason
	WarnOthers          WarningCode = "other_programs"         // Value: CPUs used of Count; Settings: withheld
	WarnMixedUnits      WarningCode = "mixed_units"            // Count skipped, in Reason a second instead of Unit
	WarnUnanswered      WarningCode = "unanswered"             // Count: requests that were never answered
	WarnRedirects       WarningCode = "redirects"              // Count, Of: answers; Settings
	WarnSaturated       WarningCode = "saturated"              // Settings
	WarnDropped         WarningCode = "dropped"                // Count
	WarnSendLag         WarningCode = "send_lag"               // Settings: Value of Limit trials whose generator was late
	WarnCarrierP99      WarningCode = "carrier_p99"            // Settings: the better one, then the verdict's; Value: p99, seconds
	WarnUnproven        WarningCode = "unproven_procs"         // Settings
	WarnNoGo            WarningCode = "no_go"                  // no trial saw a Go program
	WarnDefaultVaries   WarningCode = "default_varies"         // Settings
	WarnUnsetDiffers    WarningCode = "unset_differs"          // Procs
	WarnShared          WarningCode = "shared_machine"         // Value: CPUs that the load took, Limit: of the machine
	WarnUnbound         WarningCode = "quota_unbound"          // Settings: CPUs used; Limit: the quota, Count: replicas
	WarnOversubscribed  WarningCode = "oversubscribed"         // Count: replicas, Value: CPUs that they want, Limit: of the machine
	WarnFlat            WarningCode = "flat_curve"
	WarnSpansNodes      WarningCode = "spans_nodes"      // Nodes
	WarnMetricWorse     WarningCode = "metric_worse"     // Setting, Losses
	WarnIncomplete      WarningCode = "incomplete"       // Count, Of; Mend: none was valid
	WarnDrift           WarningCode = "drift"            // Value: the end against the start, a ratio less 1
	WarnSteal           WarningCode = "steal"            // Value: share of the CPU time
	WarnLoadLimited     WarningCode = "load_limited"     // Count, Of
	WarnTrials          WarningCode = "trial_warnings"   // Count, Trial: the first
	WarnDuplicates      WarningCode = "duplicate_trials" // Count

	// Of a canary:
	WarnFewSlices WarningCode = "few_slices"  // Count
	WarnPerPod    WarningCode = "cpu_per_pod" // no query told the requests
	WarnIdle      WarningCode = "no_requests" // Settings: in most slices
	WarnSame      WarningCode = "same_procs"  // Settings: that run with what unset comes to
)
