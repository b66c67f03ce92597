package page

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict"
)

// What ran next to some trials alone is reported by those, and not by a median of all.
func TestOthersInWords(t *testing.T) {
	for want, o := range map[string]verdict.OtherPrograms{
		"other programs used 0.5 of 2 CPUs":                           {CPUs: new(0.5), Of: 2, MostCPUs: new(0.6), MostSetting: "4"},
		"other programs used up to 1.2 of 2 CPUs, in the trials of 4": {CPUs: new(0.01), Of: 2, MostCPUs: new(1.2), MostSetting: "4"},
		"other programs used CPUs that the target may use":            {},
	} {
		if got := (words{group: &verdict.Group{Others: o}}).others(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBurstsInWords(t *testing.T) {
	g := &verdict.Group{Others: verdict.OtherPrograms{Bursts: 13, BurstMost: 0.8, Trials: 37}}
	const text = "other programs took up to 80% of the CPU time in 13 of 37 trials, and hardly any in the others"
	if got := (words{group: g}).bursts(); got != text {
		t.Errorf("%q, want %q", got, text)
	}
	for left, want := range map[int]string{4: text + ": 4 of those trials are not used", 13: text + ": those trials are not used"} {
		g.Others.LeftOut = left
		if got := (words{group: g}).bursts(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	g.Others.LeftOut, g.Recommendation.Verdict = 0, verdict.CannotTell
	if got := (words{group: g}).bursts(); got != text+"; start again with another --out when no other programs run" {
		t.Errorf("%q", got)
	}
}

// What a hypervisor made invalid is not mended by reading logs.
func TestRemedyOfStolenTrials(t *testing.T) {
	for _, code := range []verdict.WarningCode{verdict.WarnInvalid, verdict.WarnInvalidPilots} {
		w := verdict.Warning{Code: code, Count: 3, Of: 37, Reason: "the hypervisor took 72% of the CPU time", Stolen: true}
		if got := invalidTrials(&w); got.fix != unshared {
			t.Errorf("%s: %q", code, got.fix)
		}
		if w.Stolen = false; invalidTrials(&w).fix == unshared {
			t.Errorf("%s: the machine is blamed for what it has not done", code)
		}
	}
}
