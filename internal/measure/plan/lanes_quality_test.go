package plan_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// unlike are nodes of unlike speeds, on which each setting does its share of the work,
// within 2%.
type unlike struct {
	speeds []float64
	share  map[int]float64 // by GOMAXPROCS; without: 1

	mu    sync.Mutex
	noise *rand.Rand
}

func (u *unlike) Prepare(context.Context, journal.Plan, plan.Observer) error { return nil }
func (u *unlike) Close() error                                               { return nil }

func (u *unlike) Run(_ context.Context, task plan.Task, _ plan.Observer) (journal.Trial, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	procs := 4 // unset
	if task.Setting.Procs != nil {
		procs = *task.Setting.Procs
	}
	share, ok := u.share[procs]
	if !ok {
		share = 1
	}
	rate := 1000 * u.speeds[task.Lane] * share * math.Exp(0.02*u.noise.NormFloat64())
	return journal.Trial{
		Origin: journal.OriginKube, Valid: true, ObservedProcs: []*int{&procs}, ObservedSource: "symbol", DurationSeconds: 1,
		ThroughputPerSecond: &rate, ThroughputUnit: "runs",
	}, nil
}

// measured is what a sweep over the nodes comes to.
func (u *unlike) measured(t *testing.T, seed uint64, racing bool) *verdict.Result {
	t.Helper()
	s := plan.Default()
	s.Target.Command, s.Seed = []string{"program"}, &seed
	s.Procs = plan.Procs{Values: []*int{nil, new(1), new(2), new(4)}}
	if racing {
		s.Budget = &plan.Budget{Goal: journal.GoalProven}
	}
	h := journal.Header{TargetHost: journal.Host{CPUs: 4, EffectiveCPUs: 4}, Plan: s.Plan(4, seed)}
	h.Target.Kind = s.Target.Kind()
	for range u.speeds {
		h.Plan.Nodes = append(h.Plan.Nodes, "node")
	}
	u.noise = rand.New(rand.NewPCG(seed, 1))
	var kept []journal.Trial
	e := plan.Execution{Header: h, Planner: plan.PlannerOf(h), Runner: u, Now: time.Now,
		Begin: func(journal.Block) error { return nil }, Append: func(t journal.Trial) error { kept = append(kept, t); return nil }}
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return verdict.Analyze(h, kept)
}

// claims reports whether a result says that one value is worse than another.
func claims(r *verdict.Result) bool {
	rec := r.Groups[0].Recommendation
	return rec.Verdict == verdict.Recommended || rec.Verdict == verdict.TradeOff ||
		slices.ContainsFunc(rec.Reasons, func(x verdict.Remark) bool { return x.Code() == "worse_throughput" || x.Code() == "worse_p99" })
}

// sees reports whether a result has a value of GOMAXPROCS below the peak.
func sees(r *verdict.Result, procs int) bool {
	return slices.ContainsFunc(r.Groups[0].Values, func(s *contest.Value) bool {
		return s.Procs == procs && s.VersusPeak.High != nil && *s.VersusPeak.High < 1
	})
}

// One of two nodes, or of three, is slower by three tenths. Of equal values no
// difference is claimed, no more often than on one node; one that is a tenth worse is
// told all the same, since what a block compares ran on one node.
func TestUnlikeNodes(t *testing.T) {
	const sweeps = 20
	for _, racing := range []bool{false, true} {
		for _, speeds := range [][]float64{{1, 0.7}, {1, 1, 0.7}} {
			wrong, missed := 0, 0
			for seed := range uint64(sweeps) {
				if claims((&unlike{speeds: speeds}).measured(t, seed, racing)) {
					wrong++
				}
				worse := &unlike{speeds: speeds, share: map[int]float64{1: 0.9}}
				if !sees(worse.measured(t, seed, racing), 1) {
					missed++
				}
			}
			if wrong > 2 { // 5% and chance
				t.Errorf("nodes %v, race %v: %d of %d sweeps claim a difference of equal values", speeds, racing, wrong, sweeps)
			}
			if missed > sweeps/10 {
				t.Errorf("nodes %v, race %v: %d of %d sweeps do not see that one value is a tenth worse", speeds, racing, missed, sweeps)
			}
		}
	}
}
