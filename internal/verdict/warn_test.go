package verdict_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// calm is a sweep that nothing is to be said against.
func calm() Config {
	return Config{Noise: &Noise{Trial: 0.004, P99: 0.02}, Rate: 1000, Settings: CPUServer()}
}

func codes(r *verdict.Result) []string {
	var list []string
	for _, w := range r.Warnings {
		if code := string(w.Code()); !slices.Contains(list, code) {
			list = append(list, code)
		}
	}
	return list
}

func TestNothingToWarnOf(t *testing.T) {
	if got := analyze(calm()); len(got.Warnings) > 0 {
		t.Errorf("warnings of a calm run: %+v", got.Warnings)
	}
}

// Each warning must come of its cause, alone or next to those named.
func TestWarnings(t *testing.T) {
	under := func(quota float64, settings ...Truth) []Truth { return Quota(quota, settings...) }
	throttled := func(share float64, truth Truth) Truth { truth.Throttled = share; return truth }
	for _, c := range []struct {
		want   string // codes, in order
		change func(*Config)
	}{
		{"few_blocks", func(c *Config) { c.Blocks = 2 }},
		{"few_settings", func(c *Config) { c.Settings = c.Settings[:4] }},
		{"invalid_trials", func(c *Config) {
			c.Blocks = 8
			c.Trial = func(t *journal.Trial) {
				if t.Block == 1 && t.Order < 2 {
					t.Valid, t.InvalidReason = false, "ran at 4 instead of 8"
				}
			}
		}},
		{"saturated", func(c *Config) { c.Rate = 20000 }},
		{"drift", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				*t.ThroughputPerSecond *= 1 - 0.03*float64(t.Block) - 0.0005*float64(t.Order)
			}
		}},
		{"steal", func(c *Config) { c.Trial = func(t *journal.Trial) { t.HostUse.StealSeconds = 1.2 } }},
		{"steal", func(c *Config) { // in a burst
			c.Trial = func(t *journal.Trial) {
				if t.Block == 1 {
					t.HostUse.StealSeconds = 20
				}
			}
		}},
		{"load_limited", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				t.Warnings = []journal.Warning{{Code: journal.WarnLoadLimited, Value: new(0.99)}, {Code: journal.WarnSaturated}}
			}
		}},
		{"trial_warnings", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				t.Warnings = []journal.Warning{{Code: journal.WarnKilled, Value: new(5.0)}}
			}
		}},
		{"unproven_procs", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				if t.Setting.Procs != nil {
					t.ObservedProcs = []*int{nil}
				}
			}
		}},
		{"no_go", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				t.ObservedProcs, t.Warnings = []*int{nil}, []journal.Warning{{Code: journal.WarnNoGo}}
			}
		}},
		{"default_varies", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				if t.Setting.Procs == nil && t.Block == 0 {
					t.ObservedProcs = []*int{new(7)}
				}
			}
		}},
		{"default_differs", func(c *Config) { c.Settings[0] = Unset(8, 40000, .0052) }},
		{"dropped", func(c *Config) { c.Trial = func(t *journal.Trial) { t.Load.Dropped = 2 } }},
		{"send_lag", func(c *Config) { c.Trial = func(t *journal.Trial) { t.Load.SendLagP99Seconds = new(0.002) } }},
		{"noisy noisy_p99", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				by := math.Exp2(float64((t.Block*7+t.Order*3)%5-2) / 3)
				*t.ThroughputPerSecond *= by
				t.LatencySeconds.P99 = new(*t.LatencySeconds.P99 / (by * by * by))
			}
		}},
		{"heat", func(c *Config) {
			c.Trial = func(t *journal.Trial) { t.HostUse.HeatTimes = new(int64(t.Order % 2)) }
		}},
		{"", func(c *Config) { c.Trial = func(t *journal.Trial) { t.HostUse.HeatTimes = new(int64(0)) } }},
		{"few_collections", func(c *Config) {
			c.Trial = func(t *journal.Trial) { // 2.4 collections in a trial of 3 s, each 5% of its time
				t.Usage.GC = &journal.GC{Cycles: 8, SpanSeconds: 10, CPUSeconds: new(1.2), BusySeconds: new(10.0)}
			}
		}},
		{"", func(c *Config) {
			c.Trial = func(t *journal.Trial) { // each 0.4%
				t.Usage.GC = &journal.GC{Cycles: 8, SpanSeconds: 10, CPUSeconds: new(0.1), BusySeconds: new(10.0)}
			}
		}},
		{"", func(c *Config) {
			c.Trial = func(t *journal.Trial) { // 6 in a trial
				t.Usage.GC = &journal.GC{Cycles: 20, SpanSeconds: 10, CPUSeconds: new(2.0), BusySeconds: new(10.0)}
			}
		}},
		{"flat_curve", func(c *Config) {
			c.Settings = []Truth{Unset(8, 5000, .01), Set(1, 5000, .02), Set(2, 5000, .01), Set(4, 5000, .01), Set(8, 5000, .01)}
		}},
		{"throttled_beyond_quota", func(c *Config) {
			c.Settings = under(2, throttled(.6, Unset(8, 500, .03)), Set(1, 550, .01), Set(2, 1000, .01), throttled(.4, Set(4, 800, .02)), throttled(.6, Set(8, 500, .03)))
			c.Rate = 100
		}},
		{"throttled_within_quota", func(c *Config) {
			c.Settings = under(2, throttled(.6, Unset(2, 1000, .03)), Set(1, 550, .03), throttled(.6, Set(2, 1000, .03)), Set(4, 800, .03), Set(8, 700, .03))
			c.Rate = 100
		}},
		{"oversubscribed", func(c *Config) {
			c.Settings = under(4, c.Settings...)
			for i := range c.Settings {
				c.Settings[i].Setting.Replicas = 3
			}
		}},
		{"carrier_p99", func(c *Config) { c.SmallFor = true; c.Rate = 10000; c.Noise = &Noise{Trial: .001, P99: .02} }},
		{"quota_unbound", func(c *Config) {
			c.Settings = under(2, c.Settings...)
			c.Trial = func(t *journal.Trial) {
				if t.Setting.Procs == nil || *t.Setting.Procs > 2 {
					t.CPUSeconds.User = 2.2 * t.MeasuredSeconds
				}
			}
		}},
	} {
		t.Run(c.want, func(t *testing.T) {
			config := calm()
			c.change(&config)
			r := analyze(config)
			if got := strings.Join(codes(r), " "); got != c.want {
				t.Errorf("codes %q, want %q: %+v", got, c.want, r.Warnings)
			}
		})
	}
}

// The advised --trial-time is of the phases that share it, and of the values whose collections
// take long.
func TestDurationForCollections(t *testing.T) {
	for command, want := range map[string]int{"": 13, "wrk -d{duration} {url}": 7} {
		c := calm()
		c.Trial = func(t *journal.Trial) {
			t.Usage.GC = &journal.GC{Cycles: 8, SpanSeconds: 10, CPUSeconds: new(1.2), BusySeconds: new(10.0)}
			if *t.ObservedProcs[0] == 1 { // one that nobody notices
				t.Usage.GC = &journal.GC{Cycles: 1, SpanSeconds: 10, CPUSeconds: new(0.001), BusySeconds: new(10.0)}
			}
		}
		h, trials := Generate(c)
		h.Load.Command = command
		r := verdict.Analyze(h, trials)
		if w, _ := warned[verdict.FewCollections](r); w.Seconds != want {
			t.Errorf("--load %q: %+v, want a duration of %d s", command, r.Warnings, want)
		}
	}
}

func TestNothingMeasured(t *testing.T) {
	h, trials := Generate(calm())
	h.Plan.Pilots = 2
	pilot := func(valid bool) journal.Trial {
		p := trials[0]
		p.Role, p.Valid, p.InvalidReason = journal.RolePilot, valid, ""
		if !valid {
			p.InvalidReason = "the target never became ready"
		}
		return p
	}
	invalid := trials[:7]
	for i := range invalid {
		invalid[i].Valid, invalid[i].InvalidReason = false, "crashed"
	}
	for _, c := range []struct {
		name   string
		trials []journal.Trial
		cause  verdict.Code
		next   verdict.StepCode
		codes  string
	}{
		{"the header alone", nil, "not_measured", verdict.StepResume, "incomplete"},
		{"valid pilots", []journal.Trial{pilot(true), pilot(true)}, "not_measured", verdict.StepResume, "incomplete"},
		{"an invalid pilot", []journal.Trial{pilot(false)}, "rate_trials_invalid", verdict.StepFix, "incomplete rate_trials_invalid"},
		{"a block of invalid trials", invalid, "none_valid", verdict.StepFix, "invalid_trials incomplete"},
	} {
		r := verdict.Analyze(h, c.trials)
		rec := r.Recommendation
		if rec.Claim.Code() != c.cause || len(rec.Next) != 1 || rec.Next[0].Code != c.next {
			t.Errorf("%s: %+v", c.name, rec)
		}
		if got := strings.Join(codes(r), " "); got != c.codes {
			t.Errorf("%s: codes %q, want %q", c.name, got, c.codes)
		}
	}
	r := verdict.Analyze(h, []journal.Trial{pilot(false), pilot(true)})
	if r.PilotsRun != 2 || r.PilotsInvalid != 1 {
		t.Errorf("%d pilots, %d invalid", r.PilotsRun, r.PilotsInvalid)
	}
	if w, is := warned[verdict.InvalidPilots](r); is && (w.Count != 1 || w.Of != 2 || w.Reason != "the target never became ready") {
		t.Errorf("%+v", w)
	}
}

func TestTrialsHeldTwiceCountOnce(t *testing.T) {
	h, trials := Generate(calm())
	want := verdict.Analyze(h, trials)
	late := slices.Clone(trials)
	for i := range late {
		late[i].ThroughputPerSecond = new(1.0)
	}
	r := verdict.Analyze(h, append(slices.Clone(trials), late...))
	if r.TrialsRun != 42 || !r.Complete || *r.Groups[0].Settings[0].Throughput.Median != *want.Groups[0].Settings[0].Throughput.Median {
		t.Errorf("%d trials run, median %g", r.TrialsRun, *r.Groups[0].Settings[0].Throughput.Median)
	}
	if got := codes(r); len(got) != 1 || got[0] != "duplicate_trials" {
		t.Errorf("codes %q", got)
	}
}

func TestSharedMachine(t *testing.T) {
	h, trials := Generate(calm())
	h.Load.Arrangement = new(journal.ArrangementShared)
	if got := codes(verdict.Analyze(h, trials)); len(got) != 1 || got[0] != "shared_machine" {
		t.Errorf("load and program fill the machine: %v", got)
	}
	h.Load.Arrangement = new(journal.ArrangementApart)
	if got := codes(verdict.Analyze(h, trials)); len(got) != 0 {
		t.Errorf("load on CPUs of its own: %v", got)
	}
}

func TestInterruptedRun(t *testing.T) {
	h, trials := Generate(calm())
	r := verdict.Analyze(h, trials[:40])
	if r.Complete || r.TrialsPlanned != 42 || r.TrialsRun != 40 || !has[verdict.Incomplete](r) {
		t.Errorf("complete %v, %d of %d, %v", r.Complete, r.TrialsRun, r.TrialsPlanned, codes(r))
	}
	if r := verdict.Analyze(h, nil); r.Complete || r.Recommendation.Verdict != verdict.Undecided {
		t.Errorf("no trial at all: %+v", r.Recommendation)
	}
	h.Plan.Blocks = 1 << 40 // counting must not take as long as the plan would
	start := time.Now()
	if verdict.Analyze(h, trials); time.Since(start) > 5*time.Second {
		t.Error("a huge plan is counted out")
	}
	if r := verdict.Analyze(journal.Header{}, nil); r.Recommendation != nil || len(r.Groups) != 0 {
		t.Errorf("an empty journal: %+v", r)
	}
}
