package verdict_test

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// The highest quantile that an open loop carries is judged.
func TestWhichLatencyIsJudged(t *testing.T) {
	settings := func() []Truth { return []Truth{Unset(4, 2000, .01), Set(1, 600, .02), Set(4, 2000, .01)} }
	for name, c := range map[string]struct {
		config   Config
		quantile float64
		reason   journal.UnjudgedCode
	}{
		"5,100 requests":                 {Config{Settings: settings()}, 0.99, ""},
		"1,000 requests":                 {Config{Settings: settings(), Rate: 500, OpenSeconds: 2}, 0.9, journal.UnjudgedFewRequests},
		"150 requests":                   {Config{Settings: settings(), Rate: 500, OpenSeconds: 0.3}, 0.5, journal.UnjudgedFewRequests},
		"50 requests":                    {Config{Settings: settings(), Rate: 500, OpenSeconds: 0.1}, 0, journal.UnjudgedFewRequests},
		"30 periods of a quota":          {Config{Settings: Quota(2, settings()...), Rate: 1800, OpenSeconds: 3}, 0.9, journal.UnjudgedFewPeriods},
		"102 periods of a quota":         {Config{Settings: Quota(2, settings()...)}, 0.99, ""},
		"the trial says that it may":     {Config{Settings: settings(), Rate: 500, OpenSeconds: 2, Trial: says(true, 0, nil)}, 0.99, ""},
		"the trial names another":        {Config{Settings: settings(), Trial: says(false, 0.95, new(0.008))}, 0.95, journal.UnjudgedFewRequests},
		"some trials carry less":         {Config{Settings: settings(), Trial: short(1)}, 0.99, journal.UnjudgedFewRequests},
		"most trials carry less":         {Config{Settings: settings(), Trial: short(4)}, 0.9, journal.UnjudgedFewRequests},
		"no latency":                     {Config{Settings: settings(), Mode: journal.ModeClosed}, 0, ""},
		"a load command that counts not": {Config{Settings: settings(), OpenSeconds: 0.1, Trial: func(t *journal.Trial) { t.Phases = nil }}, 0.99, ""},
	} {
		c.config.Noise = quiet
		g := analyze(c.config).Groups[0]
		if j := g.Latency; j.Quantile != c.quantile || j.Reason != c.reason {
			t.Errorf("%s: %+v, want %g, %s", name, j, c.quantile, c.reason)
		}
	}
}

func says(judged bool, quantile float64, seconds *float64) func(*journal.Trial) {
	return func(t *journal.Trial) {
		t.Phases[1].Judgement = journal.Judgement{Judged: &judged, Quantile: quantile, QuantileSeconds: seconds}
	}
}

// short are trials of N blocks with few requests.
func short(blocks int) func(*journal.Trial) {
	return func(t *journal.Trial) {
		if t.Block < blocks {
			t.Phases[1].Requests = 1000
		}
	}
}

// A late generator takes a trial out of comparisons of latency, and of no others.
func TestALateTrialIsOutOfLatencyAlone(t *testing.T) {
	for lag, out := range map[float64]bool{0.0009: false, 0.0011: false, 0.01: true} {
		r := analyze(Config{Noise: quiet, Settings: CPUServer(), Trial: func(t *journal.Trial) {
			if t.Setting.Label == "4" && t.Block < 2 {
				t.Load.SendLagP99Seconds = &lag
			}
		}})
		late, missing := r.Groups[0].Latency.Late, 0
		for _, p := range r.Groups[0].Settings[3].Points {
			if p.Judged == nil {
				missing++
			}
			if p.ThroughputPerSecond == nil {
				t.Error("a late trial lost its throughput")
			}
		}
		if (late > 0) != out || late != missing || out && !has[verdict.SentLate](r) {
			t.Errorf("lag %g: %d late, %d without a latency", lag, late, missing)
		}
	}
}

// With the load on the target's CPUs, latency prefers nothing above them, and says so;
// apart it may. Under a quota that leaves CPUs to the load nothing is bound.
func TestSharedCPUsBindTheVerdict(t *testing.T) {
	settings := func() []Truth {
		return []Truth{Unset(2, 11800, .0059), Set(1, 6500, .0082), Set(2, 11800, .0059), Set(4, 11750, .0012)}
	}
	for name, c := range map[string]struct {
		arrangement journal.Arrangement
		config      Config
		verdict     verdict.Verdict
		said        bool
	}{
		"shared":                    {journal.ArrangementShared, Config{CPUs: 2, Settings: settings()}, verdict.KeepDefault, true},
		"apart":                     {journal.ArrangementApart, Config{CPUs: 2, Settings: settings()}, verdict.Recommended, false},
		"elsewhere":                 {journal.ArrangementElsewhere, Config{CPUs: 2, Settings: settings()}, verdict.Recommended, false},
		"shared, room for the load": {journal.ArrangementShared, Config{CPUs: 8, Settings: Quota(2, settings()...)}, verdict.Recommended, false},
	} {
		c.config.Noise = quiet
		h, trials := Generate(c.config)
		h.Load.Arrangement = &c.arrangement
		r := verdict.Analyze(h, trials)
		if rec := r.Recommendation; rec.Verdict != c.verdict || speaksOf(rec, "load_on_cpus") != c.said {
			t.Errorf("%s: %+v", name, rec)
		}
	}
}

// That no value carries a rate is not proven by trials that measured the load generator.
func TestNothingIsRefusedAtTheLimitOfTheLoad(t *testing.T) {
	for _, busiest := range []float64{0.5, 0.95} {
		limited := busiest > 0.9
		rec := analyze(Config{Noise: quiet, Settings: CPUServer(), SmallFor: true, Rate: 200000, Trial: func(t *journal.Trial) { t.Load.ThreadBusiestRatio = &busiest }}).Recommendation
		if cause, is := rec.Claim.(verdict.CauseRateNotCarried); !is || cause.Proven == limited || (rec.Next[0].Code == verdict.StepLoadElsewhere) != limited {
			t.Errorf("the busiest thread at %g: %+v", busiest, rec)
		}
	}
}

// What a smaller quota carries, a larger one is not said not to.
func TestQuotasDoNotContradictEachOther(t *testing.T) {
	settings := append(Quota(1, Unset(2, 1300, .01), Set(1, 1300, .01)), Quota(2, Unset(2, 900, .01), Set(1, 900, .01))...)
	r := analyze(Config{Noise: quiet, Settings: settings, SmallFor: true, Rate: 1000})
	a, b := r.Groups[0].Recommendation, r.Groups[1].Recommendation
	if a.Verdict != verdict.SustainsRate || b.Claim.Code() != "rate_contradicts" {
		t.Errorf("%+v; %+v", a, b)
	}
}
