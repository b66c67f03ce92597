package page_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// calm is a sweep that nothing is to be said against.
func calm() Config {
	return Config{Noise: &Noise{Trial: 0.004, P99: 0.02}, Rate: 1000, Settings: CPUServer()}
}

// Each warning comes of its cause, alone or next to those named, and says so.
func TestWarnings(t *testing.T) {
	under := func(quota float64, settings ...Truth) []Truth { return Quota(quota, settings...) }
	throttled := func(share float64, truth Truth) Truth { truth.Throttled = share; return truth }
	for _, c := range []struct {
		want   string // codes, in order
		change func(*Config)
		say    string
	}{
		{"few_blocks", func(c *Config) { c.Blocks = 2 }, "one setting has only 2"},
		{"few_settings", func(c *Config) { c.Settings = c.Settings[:4] }, "4 settings"},
		{"invalid_trials", func(c *Config) {
			c.Blocks = 8
			c.Trial = func(t *journal.Trial) {
				if t.Block == 1 && t.Order < 2 {
					t.Valid, t.InvalidReason = false, "ran at 4 instead of 8"
				}
			}
		}, "2 of 56 trials invalid; most common reason: ran at 4"},
		{"invalid_trials", func(c *Config) { // more trials of it would crash too
			c.Trial = func(t *journal.Trial) {
				if t.Setting.Label == "2" {
					t.Valid, t.InvalidReason, t.InvalidCode = false, "it crashed", journal.InvalidCrashed
				}
			}
		}, "all with GOMAXPROCS 2; most common reason: it crashed: read their output in logs/"},
		{"invalid_trials", func(c *Config) {
			c.Blocks = 8
			c.Trial = func(t *journal.Trial) {
				if t.Setting.Procs != nil && *t.Setting.Procs >= 4 && t.Block%4 == 1 {
					t.Valid, t.InvalidReason, t.InvalidCode = false, "it crashed", journal.InvalidCrashed
				}
			}
		}, "most common reason: it crashed: read their output in logs/; it failed only with GOMAXPROCS 4 or more, as programs with a data race do: build it with -race, and run it once"},
		{"saturated", func(c *Config) { c.Rate = 20000 }, "could not keep up with 20,000 req/s"},
		{"saturated", func(c *Config) {
			c.Trial = func(t *journal.Trial) { t.Saturated = t.Setting.Label == "16" && t.Block < 4 }
		}, "GOMAXPROCS 16 could not keep up with 1,000 req/s (16 in 4 of 6 trials): in these trials the latency is mostly queueing"},
		{"drift", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				*t.ThroughputPerSecond *= 1 - 0.03*float64(t.Block) - 0.0005*float64(t.Order)
			}
		}, "% slower than the start"},
		{"steal", func(c *Config) { c.Trial = func(t *journal.Trial) { t.HostUse.StealSeconds = 1.2 } }, "took 5% of the CPU time"},
		{"steal", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				if t.Block == 1 {
					t.HostUse.StealSeconds = 20
				}
			}
		}, "took CPU time: 20% or more of it in 7 of 42 trials"},
		{"load_limited", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				t.Warnings = []journal.Warning{{Code: journal.WarnLoadLimited, Value: new(0.99)}, {Code: journal.WarnSaturated}}
			}
		}, "in 42 of 42 trials"},
		{"trial_warnings", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				t.Warnings = []journal.Warning{{Code: journal.WarnKilled, Value: new(5.0)}}
			}
		}, "42 warnings in trials, the first: did not end within"},
		{"unproven_procs", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				if t.Setting.Procs != nil {
					t.ObservedProcs = []*int{nil}
				}
			}
		}, "could not be read: 1, 2, 4, 8 and 16"},
		{"no_go", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				t.ObservedProcs, t.Warnings = []*int{nil}, []journal.Warning{{Code: journal.WarnNoGo}}
			}
		}, "the target is not a Go program"},
		{"default_varies", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				if t.Setting.Procs == nil && t.Block == 0 {
					t.ObservedProcs = []*int{new(7)}
				}
			}
		}, "default"},
		{"default_differs", func(c *Config) { c.Settings[0] = Unset(8, 40000, .0052) }, "performs differently from GOMAXPROCS=8"},
		{"dropped", func(c *Config) { c.Trial = func(t *journal.Trial) { t.Load.Dropped = 2 } }, "were due but never sent"},
		{"send_lag", func(c *Config) { c.Trial = func(t *journal.Trial) { t.Load.SendLagP99Seconds = new(0.002) } }, "4 (6 of 6 trials)"},
		{"noisy noisy_p99", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				by := math.Exp2(float64((t.Block*7+t.Order*3)%5-2) / 3)
				*t.ThroughputPerSecond *= by
				t.LatencySeconds.P99 = new(*t.LatencySeconds.P99 / (by * by * by))
			}
		}, "% in throughput, too much to prove small differences"},
		{"heat", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				if t.Block == 0 && t.Order < 2 {
					t.HostUse.HeatTimes = new(int64(3))
				}
			}
		}, "the CPUs lowered their clock because they were too hot, in 2 of "},
		{"", func(c *Config) { c.Trial = func(t *journal.Trial) { t.HostUse.HeatTimes = new(int64(0)) } }, ""},
		{"few_collections", func(c *Config) {
			c.Trial = func(t *journal.Trial) { // 2.4 collections in a trial of 3 s, each 5% of its time
				t.Usage.GC = &journal.GC{Cycles: 8, SpanSeconds: 10, CPUSeconds: new(1.2), BusySeconds: new(10.0)}
			}
		}, "the throughput phase of a trial with GOMAXPROCS 1 has about 2.4 garbage collections, and each takes 5% of its time: its throughput depends on how many it happens to have: use --trial-time 13s, which has room for five"},
		{"", func(c *Config) {
			c.Trial = func(t *journal.Trial) { // each 0.4%
				t.Usage.GC = &journal.GC{Cycles: 8, SpanSeconds: 10, CPUSeconds: new(0.1), BusySeconds: new(10.0)}
			}
		}, ""},
		{"", func(c *Config) {
			c.Trial = func(t *journal.Trial) { // 6 in a trial
				t.Usage.GC = &journal.GC{Cycles: 20, SpanSeconds: 10, CPUSeconds: new(2.0), BusySeconds: new(10.0)}
			}
		}, ""},
		{"flat_curve", func(c *Config) {
			c.Settings = []Truth{Unset(8, 5000, .01), Set(1, 5000, .0119), Set(2, 5000, .01), Set(4, 5000, .01), Set(8, 5000, .01)}
		}, "within 5% of the best"},
		{"", func(c *Config) { // its p99 shows that the number of Ps matters
			c.Settings = []Truth{Unset(8, 5000, .01), Set(1, 5000, .02), Set(2, 5000, .01), Set(4, 5000, .01), Set(8, 5000, .01)}
		}, ""},
		{"throttled_beyond_quota", func(c *Config) {
			c.Settings = under(2, throttled(.6, Unset(8, 500, .03)), Set(1, 550, .01), Set(2, 1000, .01), throttled(.4, Set(4, 800, .02)), throttled(.6, Set(8, 500, .03)))
			c.Rate = 100
		}, "throttled with GOMAXPROCS above the CPU limit of 2 CPUs: default (60% of periods), 4"},
		{"throttled_within_quota", func(c *Config) {
			c.Settings = under(2, throttled(.6, Unset(2, 1000, .03)), Set(1, 550, .03), throttled(.6, Set(2, 1000, .03)), Set(4, 800, .03), Set(8, 700, .03))
			c.Rate = 100
		}, "throttled by the CPU limit of 2 CPUs although GOMAXPROCS is not above it: default (60"},
		{"throttled_beyond_quota throttled_within_quota", func(c *Config) {
			c.Settings = under(0.5, throttled(1, Unset(2, 500, .09)), throttled(1, Set(1, 500, .1)), throttled(1, Set(2, 500, .09)), throttled(1, Set(4, 500, .09)), throttled(1, Set(8, 500, .09)))
			c.Rate = 100
		}, "throttled by the CPU limit of 0.5 CPUs although GOMAXPROCS is not above it, rounded up: 1 (100% of periods): raise the CPU limit"},
		{"oversubscribed", func(c *Config) {
			c.Settings = under(4, c.Settings...)
			for i := range c.Settings {
				c.Settings[i].Setting.Replicas = 3
			}
		}, "3 replicas with a CPU limit of 4 CPUs need 12 CPUs, but the machine has 8 CPUs"},
		{"carrier_p99", func(c *Config) { c.SmallFor = true; c.Rate = 10000; c.Noise = &Noise{Trial: .001, P99: .02} }, "proven lower than the 28"},
		{"fault_held_ps", func(c *Config) {
			c.Trial = func(t *journal.Trial) {
				if t.Setting.Procs != nil && *t.Setting.Procs == 16 {
					*t.ThroughputPerSecond *= 5
					t.PageFaults = &journal.PageFaults{Major: 9000, HeldSeconds: new(10.26 * t.MeasuredSeconds)}
				}
			}
		}, "page faults kept 10 of 16 Ps waiting for the disk with GOMAXPROCS=16, the highest value that was measured: higher values are worth a measurement: procfit sweep --procs default,16,24,32,48,80"},
		{"quota_unbound", func(c *Config) {
			c.Settings = under(2, c.Settings...)
			c.Trial = func(t *journal.Trial) {
				if t.Setting.Procs == nil || *t.Setting.Procs > 2 {
					t.CPUSeconds.User = 2.2 * t.MeasuredSeconds
				}
			}
		}, "runs used more CPU than the limit of 2 CPUs allows, which is possible in very short runs (the period of the limit is 100 ms), with GOMAXPROCS default (2."},
	} {
		config := calm()
		c.change(&config)
		r := analyze(config)
		var codes []string
		for _, w := range r.Warnings {
			if code := string(w.Code()); !slices.Contains(codes, code) {
				codes = append(codes, code)
			}
		}
		got := ""
		for _, n := range notes(r) {
			got += n.Message + ": " + n.Fix + "\n"
		}
		if strings.Join(codes, " ") != c.want || !strings.Contains(got, c.say) {
			t.Errorf("%q, want %q, with %q:\n%s", codes, c.want, c.say, got)
		}
	}
}

// TestHeldIsSilent: page faults that hold Ps are no reason for higher values where enough Ps
// are left for the CPUs, where a lower value is better, and where few are held.
func TestHeldIsSilent(t *testing.T) {
	for name, c := range map[string]struct{ held, times float64 }{"enough are left": {7.9, 5}, "a lower value is better": {12, 0.2}, "few are held": {1.5, 5}} {
		config := calm()
		config.Trial = func(t *journal.Trial) {
			if t.Setting.Procs != nil && *t.Setting.Procs == 16 {
				*t.ThroughputPerSecond *= c.times
				t.PageFaults = &journal.PageFaults{Major: 9000, HeldSeconds: new(c.held * t.MeasuredSeconds)}
			}
		}
		r := analyze(config)
		for i := range r.Warnings {
			if r.Warnings[i].Code() == "fault_held_ps" {
				t.Errorf("%s: %+v", name, r.Warnings[i])
			}
		}
	}
}

// Every code that a journal may hold of a trial has words of its own.
func TestTrialWarningsInWords(t *testing.T) {
	seen := map[string]bool{}
	for _, code := range []journal.WarningCode{
		journal.WarnLoadLimited, journal.WarnLoadTook, journal.WarnSaturated, journal.WarnSentLate, journal.WarnProcsUnproven, journal.WarnNoGo,
		journal.WarnProcsChanged, journal.WarnKilled, journal.WarnCounters, journal.WarnQuery, journal.WarnFailedRequests, journal.WarnUnanswered, journal.WarnRedirects,
	} {
		got := noted(pagetest.Typical(), verdict.TrialWarnings{Count: 1, First: &journal.Warning{Code: code, Value: new(0.5), Count: 3, Phase: journal.ModeOpen}}).Message
		if _, words, _ := strings.Cut(got, "the first: "); words == "" || words == string(code) || seen[got] {
			t.Errorf("%s: %q", code, got)
		}
		seen[got] = true
	}
	changed := verdict.TrialWarnings{Count: 1, First: &journal.Warning{Code: journal.WarnProcsChanged, From: new(2), To: new(4)}}
	if got := noted(pagetest.Typical(), changed).Message; got != "1 warning in trials, the first: GOMAXPROCS changed from 2 to 4" {
		t.Errorf("%q", got)
	}
	for want, w := range map[string]journal.Warning{
		"3 requests failed: no response":                                                            {Code: journal.WarnFailedRequests, Count: 3, Detail: "no_response"},
		"1 response was a redirect (3xx) in the throughput phase":                                   {Code: journal.WarnRedirects, Count: 1, Phase: journal.ModeClosed},
		"the output has no result of 1 benchmark, which are in no number here: BenchmarkParse_JSON": {Code: journal.WarnNoResult, Count: 1, Detail: "BenchmarkParse_JSON"},
	} {
		if got := noted(pagetest.Typical(), verdict.TrialWarnings{Count: 1, First: &w}).Message; got != "1 warning in trials, the first: "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a terminal has no room for is counted, and no remark loses its fix.
func TestBriefKeepsFixes(t *testing.T) {
	r := pagetest.Typical()
	for _, kind := range page.Remarks() {
		r.Warnings = append(r.Warnings, verdict.Warning{Group: new(0), Remark: pagetest.Example(kind, "2", true).Interface().(verdict.Remark)})
	}
	all := notes(r)
	briefly := documenttest.Find[document.Notes](page.Brief(r).Blocks)[0]
	shown, last := briefly[:len(briefly)-1], briefly[len(briefly)-1]
	if len(shown) < 2 || last.Message != fmt.Sprintf("%d more remarks are in report.html", len(all)-len(shown)) {
		t.Errorf("%d shown of %d: %q", len(shown), len(all), last.Message)
	}
	for _, n := range shown {
		if !slices.Contains(all, n) {
			t.Errorf("the report does not have %+v", n)
		}
	}
}
