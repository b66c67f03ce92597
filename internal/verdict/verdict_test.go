package verdict_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/must"
)

// quiet is a noise in which six blocks prove what is true.
var quiet = &Noise{Trial: 0.004, P99: 0.02, Drift: 0.05}

func analyze(c Config) *verdict.Result {
	h, trials := Generate(c)
	return verdict.Analyze(h, trials)
}

func TestVerdicts(t *testing.T) {
	closed, open := journal.ModeClosed, journal.ModeOpen
	for _, c := range []struct {
		name    string
		config  Config
		verdict verdict.Verdict
		setting string
		procs   int          // 0: null
		code    verdict.Code // of the claim or a reason
	}{
		{"the default is the smallest that is as good", Config{Settings: CPUServer()}, verdict.KeepDefault, "default", 0, ""},
		{"the default exceeds the quota", Config{Settings: Uber(), Mode: closed}, verdict.Recommended, "2", 2, ""},
		{"the same with latency", Config{Settings: Uber()}, verdict.Recommended, "2", 2, ""},
		{"fewer Ps do as well", Config{Settings: []Truth{Unset(8, 1000, .01), Set(1, 500, .02), Set(2, 1000, .01), Set(4, 1000, .01), Set(8, 1000, .01)}}, verdict.Recommended, "2", 2, ""},
		{"without an unset setting", Config{Settings: []Truth{Set(1, 500, .02), Set(2, 1000, .01), Set(4, 1000, .01)}}, verdict.Recommended, "2", 2, ""},
		{"unset stands where no numbered setting does", Config{Settings: []Truth{Unset(3, 1000, .01), Set(1, 400, .02), Set(2, 700, .01), Set(8, 700, .01)}}, verdict.KeepDefault, "default", 0, ""},
		{"all the same", Config{Settings: []Truth{Unset(4, 1000, .01), Set(1, 1000, .01), Set(2, 1000, .01), Set(4, 1000, .01), Set(8, 1000, .01)}}, verdict.NoDifference, "", 0, "holds_for"},
		{"alike in throughput, of different p99", Config{Settings: []Truth{Unset(4, 1000, .010), Set(1, 1000, .020), Set(2, 1000, .010), Set(4, 1000, .010), Set(8, 1000, .030)}, Mode: open}, verdict.Recommended, "2", 2, "worse_p99"},
		{"the same in closed loop, whose latency is not judged", Config{Settings: []Truth{Unset(4, 1000, .010), Set(1, 1000, .020), Set(2, 1000, .010), Set(4, 1000, .010), Set(8, 1000, .030)}, Mode: closed}, verdict.NoDifference, "", 0, "p99_not_judged"},
		{"throughput and p99 want different values", Config{Settings: []Truth{Unset(8, 1000, .040), Set(1, 400, .05), Set(4, 880, .010), Set(8, 1000, .040)}}, verdict.TradeOff, "", 0, ""},
		{"too noisy", Config{Settings: []Truth{Unset(8, 1000, .01), Set(4, 990, .01), Set(8, 1000, .01)}, Noise: &Noise{Trial: 0.4, P99: 0.9}}, verdict.Undecided, "", 0, "noise"},
		{"noisy, and yet one P is far worse", Config{Seed: 9, Settings: []Truth{Unset(2, 11800, .004), Set(1, 6400, .02), Set(2, 11800, .004), Set(4, 11600, .004), Set(8, 11600, .004)}, CPUs: 2, Noise: &Noise{Trial: 0.05, P99: 0.3}}, verdict.KeepDefault, "default", 0, "worse_throughput"},
		{"the same, and no default", Config{Settings: []Truth{Set(1, 1000, .01), Set(2, 1000, .01)}, Noise: &Noise{Trial: 0.03, P99: 0.2}}, verdict.Recommended, "2", 2, "undecided_throughput"},
		{"p99 strays, and the median does not", Config{Seed: 2, Settings: []Truth{Unset(2, 1000, .01), Set(1, 500, .01), Set(2, 1000, .01)}, CPUs: 2, Noise: &Noise{Trial: 0.01, P99: 1.5}}, verdict.KeepDefault, "default", 0, "latency_short"},
		{"only one value", Config{Settings: []Truth{Unset(2, 1000, .01), Set(2, 1000, .01)}, CPUs: 2}, verdict.Undecided, "", 0, "one_value"},
		{"unset performs unlike its twin", Config{Settings: []Truth{Unset(4, 600, .01), Set(2, 700, .01), Set(4, 1000, .01), Set(8, 1000, .01)}}, verdict.Undecided, "", 0, "default_differs"},
		{"the smallest that carries the rate", Config{Settings: CPUServer(), Rate: 30000, SmallFor: true}, verdict.SustainsRate, "4", 4, ""},
		{"the default is the smallest that carries it", Config{Settings: CPUServer(), Rate: 60000, SmallFor: true}, verdict.SustainsRate, "default", 0, ""},
		{"none carries it", Config{Settings: CPUServer(), Rate: 200000, SmallFor: true}, verdict.Undecided, "", 0, "rate_not_carried"},
		{"batch", Config{Settings: []Truth{Unset(8, .24, 0), Set(1, .04, 0), Set(2, .08, 0), Set(4, .16, 0), Set(8, .24, 0)}, Mode: journal.ModeBatch}, verdict.KeepDefault, "default", 0, ""},
		{"none valid", Config{Settings: CPUServer(), Trial: func(t *journal.Trial) { t.Valid = false }}, verdict.Undecided, "", 0, "none_valid"},
		{"as fast as the default, at the limit of the load engine", Config{Settings: []Truth{Unset(4, 2000, .01), Set(1, 1000, .01), Set(2, 2000, .01), Set(4, 2000, .01)}, Trial: func(t *journal.Trial) {
			if *t.ObservedProcs[0] > 1 {
				t.Load.ThreadBusiestRatio = new(0.99)
			}
		}}, verdict.Undecided, "", 0, "load_limited"},
		{"as fast as a higher value, at the limit of the load engine", Config{Settings: []Truth{Set(1, 1000, .01), Set(2, 2000, .01), Set(4, 2000, .01)}, Trial: func(t *journal.Trial) {
			if *t.ObservedProcs[0] > 1 {
				t.Load.ThreadBusiestRatio = new(0.99)
			}
		}}, verdict.Undecided, "", 0, "load_limited"},
		{"all the same, at the limit of the load engine", Config{Settings: []Truth{Unset(4, 1000, .01), Set(1, 1000, .01), Set(2, 1000, .01), Set(4, 1000, .01)}, Trial: func(t *journal.Trial) { t.Load.ThreadBusiestRatio = new(0.99) }}, verdict.Undecided, "", 0, "load_limited"},
		{"one of each block invalid", Config{Settings: CPUServer(), Trial: func(t *journal.Trial) { t.Valid = t.Order != t.Block }}, verdict.KeepDefault, "default", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.config.Noise == nil {
				c.config.Noise = quiet
			}
			r := analyze(c.config)
			got := r.Recommendation
			if got == nil {
				t.Fatal("one group, and no recommendation at the top")
			}
			procs := 0
			if got.Procs != nil {
				procs = *got.Procs
			}
			if got.Verdict != c.verdict || got.Setting != c.setting || procs != c.procs || c.code != "" && !speaksOf(got, c.code) {
				t.Errorf("%s of setting %q, %d; want %s of setting %q, %d, with %q:\n%+v", got.Verdict, got.Setting, procs, c.verdict, c.setting, c.procs, c.code, got)
			}
			if got.Verdict == verdict.Undecided && (len(got.Next) == 0 || got.Claim.Code() == "") {
				t.Errorf("cannot tell, and not why or what would decide it: %+v", got)
			}
			if got.Verdict == verdict.TradeOff && (got.BestThroughput != "8" || got.BestP99 != "4") {
				t.Errorf("optima %q and %q, want 8 and 4", got.BestThroughput, got.BestP99)
			}
		})
	}
}

// That one value is proven as good as any says nothing of the others: only where all are
// proven to be the same the verdict is that the number does not matter.
func TestNoDifferenceIsProvenOfAll(t *testing.T) {
	for name, c := range map[string]struct {
		settings []Truth
		want     verdict.Verdict // of some
		claims   func(*verdict.Recommendation) bool
	}{
		"without a default": {[]Truth{Set(1, 141, 0), Set(2, 164, 0)}, verdict.Recommended, func(r *verdict.Recommendation) bool {
			return r.Confidence == verdict.Proven
		}},
		"the default leads": {[]Truth{Unset(2, 164, 0), Set(1, 141, 0)}, verdict.KeepDefault, func(r *verdict.Recommendation) bool {
			return r.Confidence == verdict.Proven
		}},
		"the default is as good": {[]Truth{Unset(8, 150, 0), Set(1, 145, 0), Set(2, 150, 0)}, verdict.KeepDefault, func(r *verdict.Recommendation) bool {
			return r.Claim.Code() == "as_good_as_any"
		}},
		"the default is open": {[]Truth{Unset(4, 141, 0), Set(1, 164, 0)}, verdict.Undecided, func(r *verdict.Recommendation) bool {
			x, is := r.Claim.(verdict.CauseDefaultOpen)
			return is && x.Of.Procs == 1 && x.Than.Procs == 4 && x.Change < 0 && len(r.Next) > 0
		}},
	} {
		found, all := 0, map[verdict.Verdict]int{}
		for seed := range uint64(40) {
			r := analyze(Config{Seed: seed, Settings: c.settings, Blocks: 13, NoAA: true, Mode: journal.ModeBatch, Noise: &Noise{Trial: 0.1}}).Recommendation
			all[r.Verdict]++
			open := speaksOf(r, "undecided_throughput")
			if r.Verdict == verdict.NoDifference && open {
				t.Errorf("%s, seed %d: not your knob (%s), and a difference is open: %+v", name, seed, r.Confidence, r)
			}
			if r.Verdict == c.want && c.claims(r) {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s: none of 40 sweeps is %s as it should be: %v", name, c.want, all)
		}
	}
}

// That all values are the same takes as many trials of each as a value has that is named.
func TestNoDifferenceTakesThreeTrials(t *testing.T) {
	for blocks := 2; blocks <= 3; blocks++ {
		r := analyze(Config{Settings: []Truth{Unset(8, 1000, 0), Set(1, 1000, 0), Set(2, 1000, 0), Set(4, 1000, 0), Set(6, 1000, 0)}, Blocks: blocks, NoAA: true, Mode: journal.ModeBatch, Noise: &Noise{Trial: 0.001}}).Recommendation
		if got := r.Verdict == verdict.NoDifference; got != (blocks == 3) {
			t.Errorf("of %d blocks: %s", blocks, r.Verdict)
		}
	}
}

// However far the p99 strays, a p50 is that of the trials.
func TestP50IsOfTheTrials(t *testing.T) {
	r := analyze(Config{Settings: []Truth{Set(1, 500, .01), Set(2, 1000, .01)}, Noise: &Noise{Trial: 0.01, P99: 0.6}, Trial: func(tr *journal.Trial) { tr.LatencySeconds.P50 = new(0.001) }})
	for _, row := range r.Groups[0].Rows {
		if row.P50.Median == nil || *row.P50.Median != 0.001 {
			t.Errorf("%s: the p50 is not that of its trials, 1 ms", row.Label)
		}
	}
}

// speaksOf reports whether a verdict rests on a code.
func speaksOf(r *verdict.Recommendation, code verdict.Code) bool {
	return r.Claim.Code() == code || slices.ContainsFunc(r.Reasons, func(x verdict.Remark) bool { return x.Code() == code })
}

func TestUnreadProcsOfUnset(t *testing.T) {
	r := analyze(Config{Noise: quiet, Settings: CPUServer(), Trial: func(t *journal.Trial) {
		if t.Setting.Procs == nil {
			t.ObservedProcs = []*int{nil}
		}
	}})
	got := r.Recommendation
	if x, _ := got.Claim.(verdict.CauseUnseen); got.Verdict != verdict.Undecided || len(x.List) == 0 || !x.List[0].Default {
		t.Errorf("%+v", got)
	}
	if !has[verdict.ProcsUnread](r) {
		t.Error("no warning that the value of unset was not read")
	}
}

func TestGroupsAreJudgedApart(t *testing.T) {
	settings := append(Quota(2, Unset(8, 500, .03), Set(1, 550, .01), Set(2, 1000, .01), Set(4, 800, .02), Set(8, 500, .03)), CPUServer()...)
	r := analyze(Config{Noise: quiet, Settings: settings})
	if len(r.Groups) != 2 || r.Recommendation != nil {
		t.Fatalf("%d groups, and %v at the top", len(r.Groups), r.Recommendation)
	}
	if a, b := r.Groups[0].Recommendation, r.Groups[1].Recommendation; a.Verdict != verdict.Recommended || *a.Procs != 2 || b.Verdict != verdict.KeepDefault {
		t.Errorf("%+v; %+v", a, b)
	}
}

func TestSameJournalSameResult(t *testing.T) {
	h, trials := Generate(Config{Seed: 7, Settings: append(Uber(), CPUServer()...), Gate: true})
	text := func() string {
		b := must.Get(json.Marshal(verdict.Analyze(h, trials)))(t)
		return string(b)
	}
	first := text()
	for range 5 {
		if text() != first {
			t.Fatal("two analyses of one journal differ")
		}
	}
}

// warned is the warning of a kind; false: there is none.
func warned[T verdict.Remark](r *verdict.Result) (x T, is bool) {
	for _, w := range r.Warnings {
		if x, is = w.Remark.(T); is {
			break
		}
	}
	return x, is
}

// reasonsOf are the reasons of a kind.
func reasonsOf[T verdict.Remark](r *verdict.Recommendation) (list []T) {
	for _, x := range r.Reasons {
		if of, is := x.(T); is {
			list = append(list, of)
		}
	}
	return list
}

func has[T verdict.Remark](r *verdict.Result) bool {
	_, is := warned[T](r)
	return is
}

// One trial of each value does not show how far trials stray, and what a contest assumes of
// that is not reported.
func TestSpreadIsMeasured(t *testing.T) {
	for blocks, measured := range map[int]bool{1: false, 2: true} {
		r := analyze(Config{Settings: []Truth{Set(1, 500, .02), Set(2, 1000, .01)}, Blocks: blocks, NoAA: true, Noise: quiet})
		s := r.Groups[0].Spread
		if (s.Throughput != nil) != measured || (s.P99 != nil) != measured || speaksOf(r.Recommendation, "spread") != measured {
			t.Errorf("%d blocks: %+v", blocks, s)
		}
	}
}
