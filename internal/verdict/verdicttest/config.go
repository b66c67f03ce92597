package verdicttest

import (
	"strconv"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Config is a sweep to generate. Its zero fields take the defaults named below.
type Config struct {
	Name      string  // "generated"
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
	Margin      float64 // 0.05
	MarginP99   float64 // 0.20
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
	t.Setting.Label, t.Setting.Procs = "unset", nil
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
