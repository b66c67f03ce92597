package lab

import (
	"math"
	"slices"
	"testing"
)

// wavering is a stage whose second setting is that many times the first, give or take.
func wavering(blocks int, ratio, noise float64) Measured {
	return stageOf(blocks, func(procs, block int) float64 {
		if procs == 1 {
			return 1
		}
		return ratio * (1 + noise*float64(block%5-2))
	}, 1, 2)
}

// More blocks are asked for only in the stages that a hypothesis is measured in.
func TestOpen(t *testing.T) {
	in := func(stage string, procs ps) quantity { return quantity{Stage: stage, Procs: procs} }
	e := Experiment{Hypotheses: []Hypothesis{
		{ID: "open", AtMost: 1.1, Measure: ratio(in("a", "2"), in("a", "1"))},
		{ID: "over_both", AtMost: 1.1, Measure: ratio(in("a", "2"), in("b", "1"))},
		{ID: "told", AtMost: 2, Measure: ratio(in("a", "2"), in("a", "1"))},
		{ID: "too_few_blocks", AtMost: 1.1, Measure: ratio(in("c", "2"), in("c", "1"))},
		{ID: "too_few_cpus", AtMost: 1.1, Needs: 8, Measure: ratio(in("a", "2"), in("a", "1"))},
		{ID: "not_run", AtMost: 1.1, Measure: ratio(in("d", "2"), in("d", "1"))},
	}}
	r := Ran{Measured: Results{"a": wavering(10, 1.1, 0.05), "b": wavering(10, 1, 0.05), "c": wavering(3, 1.1, 0.05)}}
	r.Conclude(e, 2)
	open := r.Open(e)
	if want := []string{"open", "over_both"}; len(open) != 2 || !slices.Equal(open["a"], want) || !slices.Equal(open["b"], want[1:]) {
		t.Errorf("%v", open)
	}
	for _, a := range r.Hypotheses {
		if a.Open && a.Answer != CannotTell {
			t.Errorf("%+v", a)
		}
	}

	// Where other programs took the CPUs, more of the same tells nothing.
	e.Hypotheses[0].Needs = 2
	r.Stages = []RanStage{{ID: "a", Run: 20, OtherCPUs: new(1.0)}}
	if r.Conclude(e, 2); slices.Contains(r.Open(e)["a"], "open") {
		t.Errorf("%v", r.Open(e))
	}
}

// An answer that was looked at before takes a wider interval.
func TestLooks(t *testing.T) {
	e := Experiment{Hypotheses: []Hypothesis{{ID: "under", AtMost: 1.1, Measure: ratio(quantity{Stage: "a", Procs: "2"}, quantity{Stage: "a", Procs: "1"})}}}
	a, other := wavering(40, 1.04, 0.05), wavering(6, 1, 0)
	once := judge(e, Results{"a": a, "b": other}, 2)[0]
	other.Rounds = 3
	if still := judge(e, Results{"a": a, "b": other}, 2)[0]; *still.Got.High != *once.Got.High {
		t.Error("another stage's blocks widen its interval")
	}
	a.Rounds = 1
	again := judge(e, Results{"a": a, "b": other}, 2)[0]
	if *again.Got.Value != *once.Got.Value || *again.Got.High <= *once.Got.High || *again.Got.Low >= *once.Got.Low {
		t.Errorf("%g to %g, and %g to %g before", *again.Got.Low, *again.Got.High, *once.Got.Low, *once.Got.High)
	}
	if got, want := math.Log(*again.Got.High / *again.Got.Value), math.Log(*once.Got.High / *once.Got.Value)*pocock; math.Abs(got-want) > 1e-12 {
		t.Errorf("wider by %g, want %g", got, want)
	}
	share := Estimate{Value: new(0.0), Low: new(0.0), High: new(0.25)}.widened()
	if *share.Low != 0 || math.Abs(*share.High-0.25*pocock) > 1e-12 {
		t.Errorf("%g to %g", *share.Low, *share.High)
	}
	if e := (Estimate{Value: new(1.0)}).widened(); e.Low != nil {
		t.Errorf("%+v", e)
	}
}

// What two CPUs cannot show of defaults the emulated machine answers, and says so.
func TestEmulated(t *testing.T) {
	table, err := ReadEmulated()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table.Rows {
		if len(r.Procs) != len(table.Quotas) || r.NumCPU != table.CPUs {
			t.Errorf("%+v", r)
		}
	}
	e, err := Find("defaults")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Answer{
		"one_before_1_5": Holds, "cpus_since_1_5": Holds, "numcpu_1_18": DoesNotHold, "numcpu_today": DoesNotHold, "default_1_18": DoesNotHold,
		"unseen_1_24": Holds, "unseen_today": DoesNotHold, "exact_today": DoesNotHold, "language_1_24": Holds,
	}
	for _, j := range judge(e, nil, 1) {
		if j.Answer != want[j.ID] || j.From == "" || j.Got.Value == nil {
			t.Errorf("%s: %s (%s) from %q, want %s", j.ID, j.Answer, j.Reason, j.From, want[j.ID])
		}
	}
	// Where the machine can show it, what was measured counts.
	for _, j := range judge(e, nil, 8) {
		if j.From != "" || j.Answer != CannotTell {
			t.Errorf("%s: %s from %q", j.ID, j.Answer, j.From)
		}
	}
	var r Ran
	r.Conclude(e, 2)
	for _, a := range r.Hypotheses {
		if (a.From != "") != (a.Needs > 2) {
			t.Errorf("%s needs %g and is answered from %q", a.ID, a.Needs, a.From)
		}
	}
}
