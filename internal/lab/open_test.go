package lab

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/chance"
	"github.com/procfit/procfit/test/must"
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

// More blocks are asked for only of the settings that an open hypothesis is measured in.
func TestMore(t *testing.T) {
	in := func(stage string, procs ps) quantity { return quantity{Stage: stage, Procs: procs} }
	e := Experiment{Hypotheses: []Hypothesis{
		{ID: "open", AtMost: 1.1, Measure: ratio(in("a", "2"), in("a", "1"))},
		{ID: "over_both", AtMost: 1.1, Measure: ratio(in("a", "2"), in("b", "1"))},
		{ID: "told", AtMost: 2, Measure: ratio(in("a", "2"), in("a", "1"))},
		{ID: "too_few_blocks", AtMost: 1.3, Measure: ratio(in("c", "2"), in("c", "1"))},
		{ID: "too_few_cpus", AtMost: 1.1, Needs: 8, Measure: ratio(in("a", "2"), in("a", "1"))},
		{ID: "not_run", AtMost: 1.1, Measure: ratio(in("d", "2"), in("d", "1"))},
		{ID: "all_of_them", AtMost: 1.1, Measure: flat(in("a", "1"))},
		{ID: "on_its_bound", AtMost: 1, Measure: ratio(in("b", "1"), in("b", "2"))},
	}}
	seconds := func(t *journal.Trial) { t.DurationSeconds = 0.5 }
	r := Ran{Measured: Results{"a": wavering(10, 1.06, 0.05).with(seconds), "b": wavering(10, 1, 0.05).with(seconds), "c": wavering(4, 1.1, 0.05).with(seconds)}}
	r.Conclude(e, 2)
	got := map[string]More{}
	for _, m := range r.More() {
		got[m.Hypothesis] = m
	}
	for id, want := range map[string]map[string]int{
		"open": {"a": 2}, "over_both": {"a": 1, "b": 1}, "too_few_blocks": {"c": 2}, "all_of_them": {"a": 2}, "on_its_bound": {"b": 2}, "told": nil, "too_few_cpus": nil, "not_run": nil,
	} {
		m, seconds := got[id], 0.0
		for stage, n := range want {
			if seconds += float64(m.Blocks*n) * 0.5; len(m.Settings[stage]) != n || m.Blocks < 1 {
				t.Errorf("%s: %+v, want %v", id, m, want)
			}
		}
		if len(m.Settings) != len(want) || math.Abs(m.Seconds-seconds) > 1e-9 {
			t.Errorf("%s: %d blocks of %v in %g s, want %v in %g s", id, m.Blocks, m.Settings, m.Seconds, want, seconds)
		}
	}
	for _, a := range r.Hypotheses {
		if open := slices.Contains([]string{"open", "over_both", "too_few_blocks", "all_of_them", "on_its_bound"}, a.ID); a.Open != open || a.Open && a.Answer != Undecided {
			t.Errorf("%+v", a)
		}
	}
	if few := r.Hypotheses[3]; few.Reason != "4 blocks: an interval needs 6" || few.MoreBlocks < 2 {
		t.Errorf("%+v", few)
	}

	// Where other programs took the CPUs, more of the same tells nothing.
	e.Hypotheses[0].Needs = 2
	r.Stages = []RanStage{{ID: "a", Run: 20, OtherCPUs: new(1.0)}}
	if r.Conclude(e, 2); slices.ContainsFunc(r.More(), func(m More) bool { return m.Hypothesis == "open" }) {
		t.Errorf("%v", r.More())
	}
}

// What is forecast of a hypothesis is about what it takes.
func TestForecast(t *testing.T) {
	h := Hypothesis{AtMost: 1.1, Measure: ratio(quantity{Procs: "2"}, quantity{Procs: "1"})}
	for _, of := range []float64{1.02, 1.03, 1.3} {
		at := func(blocks int) Estimate { return h.Measure.of(Results{"": wavering(blocks, of, 0.05)}) }
		more := at(5).needs(&h)
		if more < 1 || more > 60 {
			t.Fatalf("%g: %d more blocks", of, more)
		}
		if then := at(5 + more); then.answer(&h) == Undecided {
			t.Errorf("%g: %d more blocks do not decide it: %g to %g", of, more, *then.Low, *then.High)
		}
	}
	at := func(blocks int) Estimate { return h.Measure.of(Results{"": wavering(blocks, 1.1, 0.05)}) }
	if nothing, more := (Estimate{}).needs(&h), at(10).needs(&h); nothing != 0 || more == 0 || at(10+more).answer(&h) != AtBound {
		t.Errorf("%d blocks of nothing, %d on the bound", nothing, more)
	}
	if far := h.Measure.of(Results{"": wavering(10, 1.1, 0.4)}).needs(&h); far != 0 {
		t.Errorf("%d blocks of what scatters by half", far)
	}
}

// However often one looks, what is equal is seldom reported to differ, and what is on its bound is
// seldom decided.
func TestLooks(t *testing.T) {
	n, wrong := chance.Runs(1000), 0
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		h, s := Hypothesis{AtMost: 1}, sequence{}
		for range 60 {
			s.values = append(s.values, 0.05*r.NormFloat64())
			if len(s.values) < fewest {
				continue
			}
			if answer := s.estimate(new(1.0), "").answer(&h); answer == Holds || answer == DoesNotHold {
				wrong++
				break
			}
		}
	}
	if wrong > chance.Most(n, 2*claimError) {
		t.Errorf("%d of %d", wrong, n)
	}
}

// Six blocks decide what is far from a bound, though the ranks of such differences are chance.
func TestFar(t *testing.T) {
	s := sequence{}
	for _, x := range []float64{39, 36, 42, 35, 41, 38} {
		s.values = append(s.values, math.Log(x))
	}
	for want, h := range map[Answer]Hypothesis{Holds: {AtLeast: 2}, DoesNotHold: {AtMost: 2}, Undecided: {AtMost: 38.5}} {
		if got := s.estimate(new(38.5), "").answer(&h); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// One outlier leaves an answer open, which it does not change.
func TestOutlier(t *testing.T) {
	h := Hypothesis{AtMost: 1.1}
	s := sequence{values: []float64{0.01, 0.02, 0.01, 0.03, 0.02, 0.02, 0.01, 0.02}}
	if got := s.estimate(new(1.0), "").answer(&h); got != Holds {
		t.Errorf("without: %s", got)
	}
	s.values[3] = 3
	if got := s.estimate(new(1.0), "").answer(&h); got != Undecided {
		t.Errorf("with: %s", got)
	}
}

// What two CPUs cannot show of defaults the emulated machine answers, and says so.
func TestEmulated(t *testing.T) {
	table := must.Get(ReadEmulated())(t)
	for _, r := range table.Rows {
		if len(r.Procs) != len(table.Quotas) || r.NumCPU != table.CPUs {
			t.Errorf("%+v", r)
		}
	}
	e := must.Get(Find("defaults"))(t)
	want := map[string]Answer{
		"one_before_1_5": Holds, "cpus_since_1_5": Holds, "numcpu_1_18": DoesNotHold, "numcpu_today": DoesNotHold, "default_1_18": DoesNotHold,
		"unseen_1_24": Holds, "unseen_today": DoesNotHold, "exact_today": DoesNotHold, "language_1_24": Holds,
	}
	for _, j := range judge(e, nil, 1) {
		if j.Answer != want[j.ID] || j.From == "" || j.Measured.Value == nil {
			t.Errorf("%s: %s (%s) from %q, want %s", j.ID, j.Answer, j.Reason, j.From, want[j.ID])
		}
	}
	// Where the machine can show it, what was measured counts.
	for _, j := range judge(e, nil, 8) {
		if j.From != "" || j.Answer != Undecided {
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

// What is close to a bound is reported so with as much proof as any answer: not before the interval is
// narrow, and not next to it.
func TestAtBound(t *testing.T) {
	one := func(h Hypothesis, of, noise float64) (Answer, float64) {
		e := ratio(quantity{Procs: "2"}, quantity{Procs: "1"}).of(Results{"": wavering(30, of, noise)})
		return e.answer(&h), e.bound(&h)
	}
	for _, tc := range []struct {
		h            Hypothesis
		ratio, noise float64
		want         Answer
		bound        float64
	}{
		{Hypothesis{AtMost: 1.1}, 1.1, 0.01, AtBound, 1.1},
		{Hypothesis{AtLeast: 0.9, AtMost: 1.1}, 0.9, 0.01, AtBound, 0.9},
		{Hypothesis{AtLeast: 1}, 1, 0.01, AtBound, 1},
		{Hypothesis{AtMost: 1.1}, 1.1, 0.2, Undecided, 0},
		{Hypothesis{AtMost: 1.1}, 1.05, 0.01, Holds, 0},
		{Hypothesis{AtMost: 1.1}, 1.2, 0.01, DoesNotHold, 0},
	} {
		answer, bound := one(tc.h, tc.ratio, tc.noise)
		if answer != tc.want || answer == AtBound && bound != tc.bound {
			t.Errorf("%g give or take %g of %g to %g: %s, bound %g", tc.ratio, tc.noise, tc.h.AtLeast, tc.h.AtMost, answer, bound)
		}
	}
	// A distance that is small either way, and a number that programs print, cannot have that answer.
	far := Hypothesis{AtMost: 1.1}
	if e := flat(quantity{Procs: "1"}).of(Results{"": wavering(30, 1.1, 0.01)}); e.answer(&far) != Undecided {
		t.Errorf("%+v", e)
	}
	if e := (Estimate{Value: new(1.1), Low: new(1.09), High: new(1.11), Printed: true}); e.answer(&far) != Undecided {
		t.Errorf("%+v", e)
	}
}
