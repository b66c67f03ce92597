package lab

import (
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// TestJoin: each answer is from a machine that had the CPUs, and machines that disagree
// leave it open.
func TestJoin(t *testing.T) {
	const short = "needs 4 CPUs; this machine has 2"
	answer := func(id string, a Answer, median float64) Answered {
		h := Answered{Hypothesis: Hypothesis{ID: id, Says: id, AtLeast: 1.9}, Answer: a, Measured: Estimate{Value: &median, N: 6}}
		if a == Undecided {
			h.Reason = short
		}
		return h
	}
	machine := func(name string, cpus float64, day int, quick bool, list ...Answered) *Machine {
		return &Machine{Name: name, Outcome: &Outcome{
			Started: time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC), Host: journal.Host{EffectiveCPUs: cpus},
			Experiments: []Ran{{ID: "cpubound", Quick: quick, Complete: true, Hypotheses: list}},
		}}
	}
	other := answer("asked again", Holds, 1)
	other.Needs = 4
	open, table := answer("more blocks", Undecided, 2), answer("of the table", Holds, 2)
	open.Open, table.From = true, "on an emulated machine"
	small := machine("laptop", 2, 2, false, answer("four", Undecided, 1.8), answer("both", Holds, 2), answer("one against", Holds, 2.1), answer("one between", Holds, 2), answer("asked again", Holds, 3), open, table, answer("full size", DoesNotHold, 1))
	large := machine("runner", 4, 1, true, answer("four", DoesNotHold, 1.5), answer("both", Holds, 2.2), answer("one against", DoesNotHold, 1.2), answer("one between", AtBound, 1.9), other,
		answer("more blocks", Undecided, 9), answer("of the table", Holds, 3), answer("full size", DoesNotHold, 1.1), answer("there alone", Holds, 4))
	for _, machines := range [][]*Machine{{small, large}, {large, small}} {
		small.Skipped, large.Skipped = 0, 0
		o := Join(machines)
		if len(o.Experiments) != 1 || !o.Complete || o.Experiments[0].Quick || small.Skipped != 0 || large.Skipped != 1 || !o.Started.Equal(small.Started) {
			t.Fatalf("%+v, %d and %d skipped", o, small.Skipped, large.Skipped)
		}
		want := map[string]string{
			"four": "does_not_hold 1.5 runner, 4 CPUs, --quick", "both": "holds 2 laptop, 2 CPUs", "asked again": "holds 3 laptop, 2 CPUs",
			"one against": "undecided 2.1 laptop, 2 CPUs", "one between": "undecided 2 laptop, 2 CPUs", "more blocks": "undecided 2 laptop, 2 CPUs", "of the table": "holds 3 runner, 4 CPUs, --quick",
			"full size": "does_not_hold 1 laptop, 2 CPUs", "there alone": "holds 4 runner, 4 CPUs, --quick",
		}
		reasons := map[string]string{
			"one against": "it holds on laptop (2.10) and does not hold on runner (1.20)",
			"one between": "it holds on laptop (2.00) and is at its bound on runner (1.90)",
		}
		for _, a := range o.Experiments[0].Hypotheses {
			if got := strings.Join([]string{string(a.Answer), interval(a.Measured), a.From}, " "); got != want[a.ID] {
				t.Errorf("%s: %s, want %s", a.ID, got, want[a.ID])
			}
			if why := reasons[a.ID]; why != "" && a.Reason != why {
				t.Errorf("%q", a.Reason)
			}
			delete(want, a.ID)
		}
		if len(want) > 0 {
			t.Errorf("missing: %v", want)
		}
	}
}
