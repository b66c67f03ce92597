package lab

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// reworked are experiments whose program or stages do other work since a time. A run of
// before answered for what they were, whatever their hypotheses say.
var reworked = map[string]string{
	"http":   "2026-11-22T15:00:00Z", // clients by P
	"powser": "2026-11-22T15:00:00Z", // a goroutine for each coefficient
}

// rejudged are hypotheses that another need, bound or sentence was given since, and that
// measure the same: the number of a run of before is held against what they ask today.
var rejudged = []string{
	"chain/go1_4_two_ps", "chain/go1_2_two_ps", "chainbuf/go1_4_two_ps", "chainbuf/go1_2_two_ps", "powser/go1_4_two_ps", "powser/go1_2_two_ps",
	"sieve/go1_5_two_ps", "sieve/today_two_ps", "defaults/exact_today",
	"k8sbench/throughput", "k8sbench/average", "k8sbench/maximum", "k8sbench/switches", "extremes/ten_times", "extremes/catastrophe", "http/each_cpu",
}

// added are asked since the run in docs/evidence/articles: the next complete run answers them.
var added = []string{"cpuserver/one_less_is_identical", "cpuserver/four_times_p99", "cpuserver/p99_rises_beyond", "workload/mixed_at_cpus",
	"preempt/every_10_ms", "preempt/until_it_ends", "handoff/threads_cost", "handoff/a_thread_sleeps", "handoff/kept_in_one_thread", "tenants/unequal", "tenants/quota"}

// recorded is a run in docs/evidence/articles beside today's experiments.
type recorded struct {
	*Outcome
	experiments []Experiment
	today       map[string][]Answered // by experiment, as they read today
	reworked    map[string]string
	again       map[string]Answered // those of rejudged, by experiment/hypothesis
}

func seedsOf(o *Outcome) recorded {
	p := recorded{o, List(), map[string][]Answered{}, reworked, map[string]Answered{}}
	for _, e := range p.experiments {
		var r Ran
		r.Conclude(e, o.Host.EffectiveCPUs)
		p.today[e.ID] = r.Hypotheses
		for _, h := range e.Hypotheses {
			if name := e.ID + "/" + h.ID; slices.Contains(rejudged, name) && !p.another(e.ID) {
				p.again[name] = p.judgedAgain(e.ID, h)
			}
		}
	}
	return p
}

// judgedAgain holds what the run measured against a hypothesis as it reads today.
func (p recorded) judgedAgain(id string, h Hypothesis) Answered {
	measured := Estimate{Why: "not in the run"}
	if a := p.hypothesis(id, h.ID); a != nil {
		measured = a.Measured
	}
	h.Measure = measure{of: func(Results) Estimate { return measured }}
	var r Ran
	r.Conclude(Experiment{Hypotheses: []Hypothesis{h}}, p.Host.EffectiveCPUs)
	return r.Hypotheses[0]
}

// hypothesis is one of the run's; nil: it had none of that name.
func (p recorded) hypothesis(experiment, id string) *Answered {
	if r := p.ran(experiment); r != nil {
		if at := slices.IndexFunc(r.Hypotheses, func(a Answered) bool { return a.ID == id }); at >= 0 {
			return &r.Hypotheses[at]
		}
	}
	return nil
}

// then is the place of a hypothesis among those that the run answered of an experiment;
// -1 where it read otherwise or was not there, or the experiment was another.
func (p recorded) then(id string, a Answered) int {
	r := p.ran(id)
	if r == nil || p.another(id) {
		return -1
	}
	return slices.IndexFunc(r.Hypotheses, func(b Answered) bool { return a.sameQuestion(b) })
}

// another reports that an experiment was reworked since.
func (p recorded) another(id string) bool {
	since, err := time.Parse(time.RFC3339, p.reworked[id])
	return err == nil && p.Started.Before(since)
}

// answered is the answer to a hypothesis as it reads today: the run's, or that of the kept
// table, for which the run's machine makes no difference.
func (p recorded) answered(id string, a Answered) (Answered, bool) {
	if again, ok := p.again[id+"/"+a.ID]; ok {
		return again, true
	}
	if a.Answer == NotAsked && a.Lacks > 0 {
		return a, true
	}
	if at := p.then(id, a); at >= 0 {
		return p.ran(id).Hypotheses[at], true
	}
	return a, a.From != "" && a.Measured.Value != nil
}

// now is the run as its experiments ask today.
func (p recorded) now() *Outcome {
	o := *p.Outcome
	o.Experiments = nil
	for _, e := range p.experiments {
		r := Ran{ID: e.ID, Title: e.Title, Document: e.Document, Claim: e.Claim, Kind: e.Kind, Complete: true, Stages: []RanStage{}}
		for _, a := range p.today[e.ID] {
			now, ok := p.answered(e.ID, a)
			if !ok {
				continue
			}
			now.Today = a.Today
			now.Reason, _, _ = strings.Cut(now.Reason, ": more --repeats") // as earlier runs said it
			if now.Measured.Value == nil && now.Answer == Undecided {      // of make.bash, and of wrk alone
				now.Answer = NotAsked
			}
			if e.ID == "requests" && slices.ContainsFunc(r.Hypotheses, func(b Answered) bool { return b.Answer != NotAsked && now.Answer != NotAsked && b.sameNumbers(now) }) {
				now.Answer, now.Reason = NotAsked, "on this machine it is the same measurement as another"
			}
			r.Hypotheses = append(r.Hypotheses, now)
		}
		o.Experiments = append(o.Experiments, r)
	}
	return &o
}

// sameNumbers reports whether two answers are of one measurement, held against the same bounds.
func (a Answered) sameNumbers(b Answered) bool {
	same := func(x, y *float64) bool { return x == y || x != nil && y != nil && *x == *y }
	return a.Measured.Value != nil && a.Measured.Low != nil && same(a.AtLeast, b.AtLeast) && same(a.AtMost, b.AtMost) &&
		same(a.Measured.Value, b.Measured.Value) && same(a.Measured.Low, b.Measured.Low) && same(a.Measured.High, b.Measured.High)
}

// count is how many answers are such.
func (p recorded) count(is func(Answered) bool) (n int) {
	for _, e := range p.now().Experiments {
		for _, a := range e.Hypotheses {
			if is(a) {
				n++
			}
		}
	}
	return n
}

// changed are the hypotheses without an answer.
func (p recorded) changed() (list []string) {
	for _, e := range p.experiments {
		for _, a := range p.today[e.ID] {
			if _, ok := p.answered(e.ID, a); !ok && !slices.Contains(added, e.ID+"/"+a.ID) {
				list = append(list, e.ID+"/"+a.ID)
			}
		}
	}
	return list
}

// A hypothesis that changed has no answer of an earlier run, and one that did not keeps
// its own.
func TestSinceTheRun(t *testing.T) {
	two := func(says string) Answered {
		return Answered{ID: "two_ps", Says: says, Document: "2 ÷ 1", AtLeast: new(1.9), Measured: Estimate{Value: new(2.0), N: 6}, Answer: Holds}
	}
	o := &Outcome{Started: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC), Experiments: []Ran{
		{ID: "a", Hypotheses: []Answered{two("two Ps do twice as much"), {ID: "gone", Says: "nobody says so any more", AtMost: new(1.0), Answer: DoesNotHold}}},
		{ID: "b", Hypotheses: []Answered{two("two Ps do twice as much")}},
	}}
	p := recorded{o, []Experiment{{ID: "a", Document: "000"}, {ID: "b", Document: "000"}, {ID: "c", Document: "001", Title: "another"}}, map[string][]Answered{
		"a": {two("two Ps do twice as much"), {ID: "new", Says: "it <is> new", AtMost: new(1.1), Answer: Undecided}},
		"b": {two("two Ps do more"), {ID: "kept", Says: "of a table", AtMost: new(1.0), From: "an emulated machine", Answer: DoesNotHold}},
		"c": {two("two Ps do twice as much")},
	}, map[string]string{"b": "2026-11-20T00:00:00Z"}, nil}
	p.today["b"][1].Measured.Value = new(2.0)
	if n := p.count(func(a Answered) bool { return a.Answer == Holds || a.From != "" }); n != 2 {
		t.Errorf("%d hold, or are of the table", n)
	}
	if got, want := strings.Join(p.changed(), " "), "a/new b/two_ps c/two_ps"; got != want {
		t.Errorf("changed are %s, want %s", got, want)
	}

	// An experiment that does other work has no answers of before.
	p.reworked = map[string]string{"a": "2026-11-22T00:00:00Z"}
	if got, want := strings.Join(p.changed(), " "), "a/two_ps a/new b/two_ps c/two_ps"; got != want {
		t.Errorf("changed are %s, want %s", got, want)
	}
	// One that measures the same is held against the bound of today.
	o.Host.EffectiveCPUs = 2
	o.Experiments[1].Hypotheses[0].Measured = Estimate{Value: new(2.0), Low: new(1.5), High: new(2.5), N: 6}
	for needs, want := range map[float64]string{2: "the interval contains the bound of 1.9", 8: "needs 8 CPUs; this machine has 2"} {
		p.again = map[string]Answered{"b/two_ps": p.judgedAgain("b", Hypothesis{ID: "two_ps", AtLeast: 1.9, Needs: needs})}
		if a, ok := p.answered("b", p.today["b"][0]); !ok || !strings.HasPrefix(a.Reason, want) || interval(a.Measured) != "2 [1.5, 2.5]" {
			t.Errorf("%+v", a)
		}
	}
	for _, name := range rejudged {
		id, hypothesis, _ := strings.Cut(name, "/")
		if e, err := Find(id); err != nil || !slices.ContainsFunc(e.Hypotheses, func(h Hypothesis) bool { return h.ID == hypothesis }) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for id := range reworked {
		if _, err := time.Parse(time.RFC3339, reworked[id]); err != nil {
			t.Error(err)
		}
		if _, err := Find(id); err != nil {
			t.Error(err)
		}
	}
}
