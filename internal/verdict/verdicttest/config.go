// Package verdicttest generates journals whose truth is known, so that a test can
// ask whether an analysis finds it.
//
// A trial's throughput is the setting's true value times a drift that all settings
// share (a random walk over the trials, in the order in which they ran), times
// a log-normal factor of its own; now and then a trial is an outlier. Its p99
// has a wider log-normal factor, and moves against the drift. What the kernel
// would have counted is made up to fit, so that a report has something to show.
//
// The same Config gives the same journal.
package verdicttest

import (
	"strconv"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Config is a sweep to generate. Its zero fields take the defaults named below.
type Config struct {
	Seed      uint64  // of the noise and of the order of trials
	Settings  []Truth // every setting, of all groups
	Blocks    int     // 6
	Noise     *Noise  // Realistic(); &Noise{} is none
	CPUs      int     // of the machine: 8
	Mode      journal.Mode
	Rate      float64 // of the open loop, per second; half of each group's first setting
	SmallFor  bool    // the plan asks for the smallest setting that carries Rate
	Gate      bool    // the plan compares against the settings of variant "against"
	OtherCPUs float64 // that other programs use all the time; what the target gets is what they leave
	NoAA      bool    // without it each group's first setting runs twice a block
	// OpenSeconds is the length of the open loop; else it is as long as it takes for
	// its p99 to be judged.
	OpenSeconds float64
	// Trial, when set, may change each trial at the end: make it invalid, drop
	// what could not be read, add a warning.
	Trial func(*journal.Trial)
}

// Truth is a setting and what it really does.
type Truth struct {
	Setting    journal.Setting
	Resolved   int     // the Ps that it runs with; those of the setting, or the machine's CPUs
	Throughput float64 // per second, in closed loop
	P50, P99   float64 // seconds, in open loop
	CPU        float64 // share of min(Ps, effective CPUs) in use: 0.95
	Throttled  float64 // share of CFS periods throttled; counted only under a quota
}

// Noise is how far trials stray from the truth, as ratios.
type Noise struct {
	Trial    float64 // coefficient of variation of a trial's throughput
	P99      float64 // of its p99
	Drift    float64 // standard deviation of the shared walk at the end of the run
	Outliers float64 // share of trials that lose 10 to 40% and whose p99 grows 2 to 4 times
}

// Realistic is the noise of a quiet virtual machine on shared hardware.
func Realistic() *Noise { return &Noise{Trial: 0.03, P99: 0.25, Drift: 0.08, Outliers: 0.02} }

// Set is a setting with GOMAXPROCS=procs.
func Set(procs int, throughput, p99 float64) Truth {
	return Truth{
		Setting:    journal.Setting{Label: strconv.Itoa(procs), Procs: &procs, Replicas: 1},
		Resolved:   procs,
		Throughput: throughput,
		P50:        p99 / 5,
		P99:        p99,
	}
}

// Unset is the setting without GOMAXPROCS, whose default resolves to a value.
func Unset(resolved int, throughput, p99 float64) Truth {
	t := Set(resolved, throughput, p99)
	t.Setting.Label, t.Setting.Procs = journal.Default, nil
	return t
}

// Quota puts settings under a limit of that many CPUs.
func Quota(cpus float64, settings ...Truth) []Truth {
	for i := range settings {
		settings[i].Setting.QuotaCPUs = &cpus
	}
	return settings
}

// Against makes the settings those of a gate's old command.
func Against(settings ...Truth) []Truth {
	for i := range settings {
		settings[i].Setting.Variant = "against"
		settings[i].Setting.Label = "old " + settings[i].Setting.Label
	}
	return settings
}

// Uber is the published table of a load balancer under a quota of two CPUs,
// where the default of its day chose 24 (README of go.uber.org/automaxprocs).
// The table has the P99.9; half of it represents the p99.
func Uber() []Truth {
	half := func(ms float64) float64 { return ms / 2 / 1000 }
	settings := Quota(2,
		Unset(24, 22191.40, half(76.19)),
		Set(1, 28893.18, half(19.70)),
		Set(2, 44715.07, half(26.38)),
		Set(3, 44212.93, half(30.07)),
		Set(4, 41071.15, half(42.94)),
		Set(8, 33111.69, half(64.32)),
		Set(24, 22191.40, half(76.19)),
	)
	for i := range settings {
		if settings[i].Resolved > 2 {
			settings[i].Throttled = 0.9
		}
	}
	return settings
}

// CPUServer is document 000's table: hashing over HTTP on eight CPUs.
func CPUServer() []Truth {
	return []Truth{
		Unset(8, 78100, 0.0052),
		Set(1, 12000, 0.0287),
		Set(2, 23500, 0.0151),
		Set(4, 45200, 0.0084),
		Set(8, 78100, 0.0052),
		Set(16, 76400, 0.0061),
	}
}
