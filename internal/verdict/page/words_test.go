package page_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	. "github.com/procfit/procfit/internal/verdict/verdicttest"
)

// quiet is a noise in which six blocks prove what is true.
var quiet = &Noise{Trial: 0.004, P99: 0.02, Drift: 0.05}

func analyze(c Config) *verdict.Result {
	if c.Noise == nil {
		c.Noise = quiet
	}
	h, trials := Generate(c)
	return verdict.Analyze(h, trials)
}

// spoken is a recommendation as result.json has it.
type spoken struct {
	Sentence      string
	Reasons, Next []string
}

// recommended is that of the first group.
func recommended(r *verdict.Result) spoken {
	b, err := page.JSON(r)
	var read struct {
		Groups []struct{ Recommendation spoken }
	}
	if err = errors.Join(err, json.Unmarshal(b, &read)); err != nil {
		panic(err)
	}
	return read.Groups[0].Recommendation
}

// said is all that is printed of a sweep's verdict.
func said(r *verdict.Result) string {
	rec := recommended(r)
	return rec.Sentence + "\n" + strings.Join(rec.Reasons, "\n") + "\n" + strings.Join(rec.Next, "\n")
}

// flat is what remarks have, whatever their kind.
type flat struct {
	Code          verdict.Code
	Of, Than      *contest.Value
	List          []*contest.Value
	Metric        string
	Change, Bound float64
	N             int
}

func flatten(x verdict.Remark) flat {
	if x == nil {
		return flat{}
	}
	r := flat{Code: x.Code()}
	of := reflect.ValueOf(x)
	for i, name := range []string{"Of", "Than", "List", "Metric", "Change", "Bound", "N"} {
		if f := of.FieldByName(name); f.IsValid() {
			reflect.ValueOf(&r).Elem().Field(i + 1).Set(f)
		}
	}
	for _, name := range []string{"Lucky", "Open"} {
		if f := of.FieldByName(name); f.IsValid() {
			r.List = f.Interface().([]*contest.Value)
		}
	}
	return r
}

// What no golden page has of the words of a verdict.
func TestVerdictsInWords(t *testing.T) {
	closed := journal.ModeClosed
	for _, c := range []struct {
		name   string
		config Config
		say    string
	}{
		{"the default is the smallest that is as good", Config{Settings: CPUServer()}, "Keep the default (8). Nothing we measured beats the default (8) by more than 5% (p99: 20%)."},
		{"the default exceeds the quota", Config{Settings: Uber(), Mode: closed}, "Compared with the default (24): throughput is "},
		{"fewer Ps do as well", Config{Settings: []Truth{Unset(8, 1000, .01), Set(1, 500, .02), Set(2, 1000, .01), Set(4, 1000, .01), Set(8, 1000, .01)}}, "Set GOMAXPROCS=2. Compared with the default (8): throughput is the same within 5%; p99 is the same within 20%."},
		{"unset stands where no numbered setting does", Config{Settings: []Truth{Unset(3, 1000, .01), Set(1, 400, .02), Set(2, 700, .01), Set(8, 700, .01)}}, "Keep the default (3)."},
		{"the same in closed loop, whose latency is not judged", Config{Settings: []Truth{Unset(4, 1000, .010), Set(1, 1000, .020), Set(2, 1000, .010), Set(4, 1000, .010), Set(8, 1000, .030)}, Mode: closed}, "p99 is not judged"},
		{"only one value", Config{Settings: []Truth{Unset(2, 1000, .01), Set(2, 1000, .01)}, CPUs: 2}, "Only one value of GOMAXPROCS was measured, 2"},
		{"the smallest that carries the rate", Config{Settings: CPUServer(), Rate: 30000, SmallFor: true}, "4 is the smallest measured value that sustains 30,000 req/s"},
		{"the default is the smallest that carries it", Config{Settings: CPUServer(), Rate: 60000, SmallFor: true}, "Keep the default (8). 8 (default) is the smallest measured value that sustains 60,000 req/s"},
		{"none carries it", Config{Settings: CPUServer(), Rate: 200000, SmallFor: true}, "No measured value of GOMAXPROCS sustains 200,000 req/s on 8 CPUs"},
		{"batch", Config{Settings: []Truth{Unset(8, .24, 0), Set(1, .04, 0), Set(2, .08, 0), Set(4, .16, 0), Set(8, .24, 0)}, Mode: journal.ModeBatch}, "Keep the default (8)."},
	} {
		if got := said(analyze(c.config)); !strings.Contains(got, c.say) {
			t.Errorf("%s: no %q in\n%s", c.name, c.say, got)
		}
	}
}

func TestWhatCarriesTheRate(t *testing.T) {
	// open makes the open loop achieve a share of the rate whatever the closed one did.
	open := func(label string, share float64) func(*journal.Trial) {
		return func(t *journal.Trial) {
			if p := &t.Phases[len(t.Phases)-1]; t.Setting.Label == label && p.Mode == journal.ModeOpen {
				p.AchievedPerSecond = share * *p.RatePerSecond
				t.Saturated = share < 0.99
			}
		}
	}
	external := func(t *journal.Trial) { t.Phases = t.Phases[1:] }
	for _, c := range []struct {
		name    string
		config  Config
		setting string // the smallest that sustains it; empty: undecided
		say     string
	}{
		{"just below the threshold", Config{Rate: 20000, Trial: open("2", 0.98996)}, "4", "2 sustained 98.9%, below 99% of the rate (median, n 6)"},
		{"queues hide what the closed loop shows", Config{Rate: 24000, Trial: open("2", 0.995)}, "4", "2 sustained 99.5% of the rate, but its throughput phase reached only 9"},
		{"the low end counts", Config{Rate: 23400, Seed: 3, Noise: &Noise{Trial: .03}, Trial: open("2", 1)}, "4", "(lower bound)"},
		{"without an interval the median", Config{Rate: 24000, Blocks: 4, Trial: open("2", 1)}, "4", "(lower bound) (median, n 4)"},
		{"a load command has no closed loop", Config{Rate: 24000, Trial: func(t *journal.Trial) { open("2", 1)(t); external(t) }}, "2", "2 sustained 100% of the rate (median"},
		{"two trials", Config{Rate: 20000, Blocks: 2}, "", "in the 3 trials that a proof needs"},
	} {
		c.config.SmallFor, c.config.Settings = true, CPUServer()
		r := analyze(c.config)
		if rec, got := r.Recommendation, said(r); rec.Setting != c.setting || (rec.Verdict == verdict.SustainsRate) != (c.setting != "") || !strings.Contains(got, c.say) {
			t.Errorf("%s: %s of %q, want %q, and %q in\n%s", c.name, rec.Verdict, rec.Setting, c.setting, c.say, got)
		}
	}
}

func versus(throughput, p99 float64, noise *Noise) Config {
	settings := []Truth{Unset(4, 1000*throughput, .010*p99), Set(1, 300*throughput, .020*p99), Set(4, 1000*throughput, .010*p99)}
	return Config{Gate: true, Noise: noise, Rate: 200, Settings: append(settings, Against(Unset(4, 1000, .010), Set(1, 300, .020), Set(4, 1000, .010))...)}
}

func TestGatesThatCannotBeJudgedInWords(t *testing.T) {
	fails := func(t *journal.Trial) {
		if t.Setting.Variant == "" {
			t.Valid, t.InvalidReason = false, "exited with code 4"
		}
	}
	few, spoiled := versus(1, 1, quiet), versus(1, 1, quiet)
	few.Blocks, spoiled.Trial = 2, fails
	for want, c := range map[string]Config{
		"throughput with the default GOMAXPROCS, p99 with the default GOMAXPROCS, throughput with GOMAXPROCS=1, p99 with GOMAXPROCS=1, throughput with GOMAXPROCS=4 and p99 with GOMAXPROCS=4: only 2 pairs of trials are valid, and 3 are needed": few,
		"with the default GOMAXPROCS, 6 of 6 trials of the new program were invalid, and 0 of 6 of the old: exited with code 4; with GOMAXPROCS=1, 6 of 6":                                                                                         spoiled,
		"no trial of both programs was measured": {Gate: true, Settings: CPUServer()},
	} {
		if got := page.Unjudged(analyze(c).Gate); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
