package verdict_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/contest/race"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
	"github.com/procfit/procfit/test/need"
)

// machine answers trials as a program whose truth is drawn: a curve with a knee, a
// latency, and whatever may go wrong with a trial.
type machine struct {
	r                    *rand.Rand
	cpus, knee           float64
	noise, wild          float64 // of throughput and p99
	fails, crowded, load float64
	saturates, unread    bool
	blind                float64 // how often nothing can be read of a trial
	short                bool    // trials in which other programs are not counted
	unlike               float64 // how much slower the default is than its number
	slower               float64 // the new program of a gate
	now                  time.Time
}

func (m *machine) Prepare(context.Context, journal.Plan, plan.Observer) error { return nil }
func (m *machine) Close() error                                               { return nil }

func (m *machine) Run(_ context.Context, task plan.Task, _ plan.Observer) (journal.Trial, error) {
	procs := m.cpus
	if task.Setting.QuotaCPUs != nil {
		procs = min(m.cpus, max(2, math.Ceil(*task.Setting.QuotaCPUs)))
	}
	unset := task.Setting.Procs == nil
	if !unset {
		procs = float64(*task.Setting.Procs)
	}
	speed := 1000 * min(procs, m.knee) * math.Exp(m.noise*m.r.NormFloat64())
	p99 := (0.002 + 0.02/procs) * math.Exp(m.wild*m.r.NormFloat64())
	if unset {
		speed *= 1 - m.unlike
	}
	if task.Setting.Variant == "" {
		speed *= 1 - m.slower
	}
	m.now = m.now.Add(5 * time.Second)
	t := journal.Trial{
		Valid: true, ThroughputPerSecond: &speed, ThroughputUnit: "requests", Started: m.now, DurationSeconds: 5,
		ObservedProcs: []*int{new(int(procs))}, LatencySeconds: &journal.Latency{P99: &p99, P90: new(p99 / 2), P50: new(p99 / 4)},
		Load: &journal.LoadCost{CPUSeconds: 3 * m.load, SendLagP99Seconds: new(0.0)},
	}
	if unset && m.unread {
		t.ObservedProcs = []*int{nil}
	}
	if m.blind > 0 && m.r.Float64() < m.blind {
		t.ObservedProcs = []*int{nil}
	}
	t.MeasuredSeconds, t.CPUSeconds = 3, &journal.CPUSeconds{User: 3 * min(procs, m.cpus)}
	t.HostUse = &journal.HostUse{TargetCPUs: int(m.cpus), OtherCPUSeconds: new(0.0)}
	t.Phases = []journal.Phase{{Mode: journal.ModeClosed, AchievedPerSecond: speed, DurationSeconds: 3}}
	if task.RatePerSecond != nil {
		t.Saturated = m.saturates && speed < *task.RatePerSecond
		t.Phases = append(t.Phases, journal.Phase{Mode: journal.ModeOpen, RatePerSecond: task.RatePerSecond, AchievedPerSecond: *task.RatePerSecond, Requests: 10_000, DurationSeconds: 10, LatencySeconds: t.LatencySeconds})
	}
	if task.Role != journal.RolePilot && m.r.Float64() < m.crowded {
		t.HostUse.OtherCPUSeconds = new(3 * m.cpus * m.r.Float64())
	}
	if m.short { // it waited for what the others took
		t.RunQueueWaitSeconds, t.HostUse.OtherCPUSeconds = t.HostUse.OtherCPUSeconds, nil
		if m.r.IntN(20) == 0 {
			t.RunQueueWaitSeconds = nil
		}
	}
	switch chance := m.r.Float64(); {
	case task.Role == journal.RolePilot:
	case chance < m.fails/2:
		t.Valid, t.InvalidCode = false, journal.InvalidErrors
	case chance < m.fails:
		t.ThroughputPerSecond = new(0.0)
	}
	return t, nil
}

// draw is a sweep of some kind, and a program for it.
func draw(n int) (plan.Spec, *machine, journal.Header) {
	r := rand.New(rand.NewPCG(uint64(n), 23))
	pick := func(list ...float64) float64 { return list[r.IntN(len(list))] }
	m := &machine{
		r: r, cpus: pick(2, 4, 8, 16), noise: pick(0, 0.01, 0.03, 0.1), wild: pick(0, 0.05, 0.25, 0.6),
		fails: pick(0, 0, 0, 0.05, 0.3), crowded: pick(0, 0, 0, 0.1, 0.5), load: pick(0.1, 0.5, 3),
		saturates: r.IntN(3) == 0, unread: r.IntN(6) == 0, unlike: pick(0, 0, 0, 0, 0.03, 0.3), slower: pick(0, 0.02, 0.2),
		blind: pick(0, 0, 0, 0, 0.3, 1), short: r.IntN(6) == 0,
		now: time.Date(2026, time.March, 14, 9, 0, 0, 0, time.UTC),
	}
	m.knee = max(1, math.Round(m.cpus*pick(0.25, 0.5, 1, 2)))
	s := plan.Default()
	s.Target.Command, s.Target.URL, s.Seed = []string{"program", "{port}"}, "http://127.0.0.1:{port}/", new(uint64(n))
	s.Tolerant, s.Target.AnyProgram = true, r.IntN(8) == 0
	s.Budget = &plan.Budget{Goal: journal.GoalProven, MaxTrials: int(pick(20, 30, 40))}
	if r.IntN(4) == 0 {
		s.Budget.Goal = journal.GoalLikely
	}
	if r.IntN(3) == 0 {
		s.Procs = plan.Procs{Values: []*int{nil, new(1), new(2), new(int(m.cpus))}}
	}
	if r.IntN(3) == 0 {
		s.Quotas = []*float64{nil, new(1.0), new(m.cpus - 0.5)}
	}
	switch r.IntN(6) {
	case 0:
		s.Budget, s.Repeats = nil, 3+r.IntN(4)
	case 1:
		s.Target.Against = []string{"old", "{port}"}
		s.Budget.MaxTrials = 60
	case 2:
		s.Load.SLO = &slo.Objective{Quantile: 0.99, Seconds: 0.02}
	}
	h := journal.Header{TargetHost: journal.Host{EffectiveCPUs: m.cpus, CPUs: int(m.cpus)}}
	h.Target.Kind, h.Target.AnyProgram = journal.KindServer, s.Target.AnyProgram
	h.Load.Arrangement = new([]journal.Arrangement{journal.ArrangementShared, journal.ArrangementElsewhere, journal.ArrangementApart}[r.IntN(3)])
	return s, m, h
}

// A planner that stopped has the lead that the verdict is made of: over sweeps of all
// kinds, with trials that fail, that other programs starved, and defaults that cannot be
// read or that differ from their number.
func TestPlanAndVerdictHaveOneLead(t *testing.T) {
	runs := 100
	switch {
	case need.Whole():
		runs = 1000
	case need.Required():
		runs = 400
	}
	kinds, stops, named := map[string]int{}, map[race.Stop]int{}, 0
	for n := range runs {
		s, m, h := draw(n)
		if err := s.Validate(); err != nil {
			t.Fatalf("sweep %d: %v", n, err)
		}
		h.Plan = s.Plan(m.cpus, 0)
		kinds[kindOf(h.Plan)]++
		var kept []journal.Trial
		x := plan.Execution{
			Header: h, Spec: plan.Spec{Tolerant: true}, Runner: m, Now: func() time.Time { return m.now },
			Begin:  func(journal.Block) error { return nil },
			Append: func(t journal.Trial) error { kept = append(kept, t); return nil },
		}
		if err := x.Run(t.Context()); err != nil {
			t.Fatalf("sweep %d: %v", n, err)
		}
		if h.Plan.GateAgainst {
			sameRuling(t, n, h, kept)
			continue
		}
		counted := contest.Count(h, kept)
		contests, ends := counted.Contests(), counted.Ends()
		counted = contest.Count(h, kept)
		r := verdict.Analyze(h, kept)
		for _, c := range contests {
			i := slices.Index(counted.Groups, c.Group)
			if i < 0 {
				t.Errorf("sweep %d: the verdict has no group %+v", n, c.Group)
				continue
			}
			g := counted.Contest(counted.Groups[i])
			mine, theirs := c.Lead(), g.Lead()
			mine.Model, theirs.Model = nil, nil
			if !reflect.DeepEqual(mine, theirs) {
				t.Errorf("sweep %d (%s): the planner's lead is %+v, the verdict's %+v", n, kindOf(h.Plan), mine, theirs)
			}
			stops[ends[c.Group]]++
			result := &r.Groups[i]
			if h.Plan.Racing() && result.Race.Stop != string(ends[c.Group]) {
				t.Errorf("sweep %d: the verdict says that it ended by %q, the planner by %q", n, result.Race.Stop, ends[c.Group])
			}
			for _, a := range result.Settings {
				if h.Plan.Racing() && a.Procs != nil && a.Trials > 0 && !slices.Contains(result.Race.Measured, *a.Procs) {
					t.Errorf("sweep %d: %d is measured, and the list of what is has %v", n, *a.Procs, result.Race.Measured)
				}
			}
			named += leads(t, n, c, &result.Recommendation)
			seen(t, n, h, g, &result.Recommendation)
		}
	}
	t.Logf("%d sweeps %v, ended by %v; %d named a value", runs, kinds, stops, named)
	if len(kinds) < 4 || len(stops) < 3 || named < runs/10 {
		t.Errorf("too few kinds of sweeps: %v, ended by %v, %d named", kinds, stops, named)
	}
}

// leads checks that what is named is the lead, or the default in its place.
func leads(t *testing.T, n int, c *contest.Contest, r *verdict.Recommendation) int {
	t.Helper()
	pick := c.Lead().Pick
	switch r.Verdict {
	case verdict.Recommended:
		if r.Procs == nil || *r.Procs != pick {
			t.Errorf("sweep %d: recommended is %v, the lead is %d", n, r.Procs, pick)
		}
	case verdict.KeepDefault:
		if d := c.DefaultValue(); d == nil || d.Procs > max(pick, 1) && pick > 0 && c.Lead().Default == "" {
			t.Errorf("sweep %d: the default is to be kept, and the lead is %d", n, pick)
		}
	default:
		return 0
	}
	capped := slices.ContainsFunc(r.Next, func(s verdict.Step) bool { return s.Code == verdict.StepSee })
	if string(r.Confidence) != string(c.Lead().Confidence) && c.Unset == contest.PartNone && !capped {
		t.Errorf("sweep %d: the verdict is %s, the lead %s", n, r.Confidence, c.Lead().Confidence)
	}
	return 1
}

// seen checks that a verdict names only what was seen to run, next to a default that was,
// and nothing of trials whose CPUs other programs may have had; and that it gives up a
// default only if that is proven worse, or if a smaller value matches it and some value is
// proven worse.
func seen(t *testing.T, n int, h journal.Header, g *contest.Contest, r *verdict.Recommendation) {
	t.Helper()
	if r.Verdict == verdict.Undecided {
		return
	}
	ran := func(s *contest.Value) bool {
		p, _ := contest.Resolved(s.Trials)
		return p > 0
	}
	rests := g.Values
	if x := recommended(g, r); r.Verdict != verdict.NoDifference && r.Verdict != verdict.TradeOff && x != nil {
		rests = []*contest.Value{x}
	}
	standard := g.DefaultValue()
	if standard != nil {
		rests = append(slices.Clone(rests), standard)
	}
	for _, s := range rests {
		if !ran(s) && r.Verdict != verdict.TradeOff && (!h.Target.AnyProgram || r.Confidence == verdict.Proven) {
			t.Errorf("sweep %d: %s %s rests on %s, which was not seen to run", n, r.Verdict, r.Confidence, s.Setting)
		}
		for _, a := range s.Settings {
			disturbed := 0
			for _, one := range g.Measured(a) {
				if one.Valid && contest.Others(&one.Usage) == nil && contest.AtLeast(contest.MostOthers(one), contest.OthersMatter) {
					disturbed++
				}
			}
			if 2*disturbed > contest.Valid(g.Measured(a)) {
				t.Errorf("sweep %d: %s rests on %s, of whose trials %d may be what other programs left", n, r.Verdict, a.Label, disturbed)
			}
		}
	}
	planned := slices.ContainsFunc(h.Plan.Of(g.Group), func(a journal.Setting) bool { return a.Procs == nil && a.Variant == "" })
	if planned && standard == nil && !h.Target.AnyProgram && h.Plan.MaxMemoryBytes == 0 {
		t.Errorf("sweep %d: %s, and the default takes no part", n, r.Verdict)
	}
	x := recommended(g, r)
	if r.Verdict != verdict.Recommended || r.Confidence != verdict.Proven || standard == nil || x == nil || x == standard {
		return
	}
	if worse := g.Beats(x, standard) || g.Out(standard); !worse && !(x.Procs < standard.Procs && g.Covers(x, standard) && g.Worse(x)) {
		t.Errorf("sweep %d: the default %d is given up for %d, and is not proven worse", n, standard.Procs, x.Procs)
	}
}

// recommended is the value that a verdict names; nil where it names none.
func recommended(c *contest.Contest, r *verdict.Recommendation) *contest.Value {
	switch {
	case r.Verdict == verdict.NoDifference:
		return cmp.Or(c.DefaultValue(), c.Best)
	case r.Verdict.Decides():
		return r.Of()
	}
	return nil
}

// sameRuling holds a gate's verdict against what ended it.
func sameRuling(t *testing.T, n int, h journal.Header, kept []journal.Trial) {
	t.Helper()
	gate, counted := verdict.Analyze(h, kept).Gate, contest.Count(h, kept)
	if !h.Plan.Racing() {
		return
	}
	for _, d := range counted.Duels() {
		for _, c := range d.Gate().Checks {
			i := slices.IndexFunc(gate.Checks, func(x verdict.GateCheck) bool {
				return x.Setting.Label == d.New.Label && x.Metric == string(c.By) && (x.Setting.QuotaCPUs == nil) == (len(h.Plan.Groups()) == 1 || !d.New.Group().Limited) &&
					(x.Setting.QuotaCPUs == nil || *x.Setting.QuotaCPUs == d.New.Group().QuotaCPUs)
			})
			if i < 0 {
				t.Errorf("sweep %d: the gate has no check of %s by %s", n, d.New.Label, c.By)
				continue
			}
			want := map[race.Ruling]verdict.Outcome{race.Pass: verdict.OutcomeWithin, race.Fail: verdict.OutcomeWorse}[c.Ruling]
			if got := gate.Checks[i].Outcome; want != "" && got != want || want == "" && (got == verdict.OutcomeWithin || got == verdict.OutcomeWorse) {
				t.Errorf("sweep %d: %s by %s ended as %s, and the gate says %s", n, d.New.Label, c.By, c.Ruling, got)
			}
		}
	}
}

func kindOf(p journal.Plan) string {
	var words []string
	for word, has := range map[string]bool{
		"race": p.Racing(), "grid": !p.Racing(), "gate": p.GateAgainst, "objective": p.SLO != nil, "limits": len(p.Groups()) > 1,
	} {
		if has {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}
