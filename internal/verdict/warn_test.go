package verdict_test

import (
	"slices"
	"strings"
	"testing"

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
	if r := verdict.Analyze(journal.Header{}, nil); r.Recommendation != nil || len(r.Groups) != 0 {
		t.Errorf("an empty journal: %+v", r)
	}
}
