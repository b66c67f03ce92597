package local

import (
	"context"
	"fmt"
	"os"

	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// sizingTrials show what the load costs, as many as pilots tell a capacity.
const sizingTrials = 2

// Arrange measures, with target and load on all CPUs, what the load costs at the most
// that it can offer, and gives it whole cores for that.
func (r *runner) Arrange(ctx context.Context, wanted journal.Plan, observe plan.Observer) (*plan.Split, error) {
	cores := topology.Cores(os.DirFS("/sys"), r.cpus)
	if len(cores) < 2 {
		return nil, nil
	}
	observe.Tell(plan.Activity{Step: plan.StepArrange})
	task := plan.Task{Setting: widest(wanted), Role: journal.RolePilot}
	if r.spec.Load.Command != "" && r.spec.Load.Rate > 0 {
		task.RatePerSecond = &r.spec.Load.Rate // its command may ask for one
	}
	var sizing journal.Sizing
	for task.Block = range sizingTrials {
		t, err := r.Run(ctx, task, nil)
		if err != nil {
			return nil, err
		}
		rate, cost, ok := costOf(t)
		if !ok {
			return nil, nil // the first trials will say what is wrong
		}
		sizing.RequestsPerSecond = max(sizing.RequestsPerSecond, rate)
		sizing.CPUSecondsPerRequest = max(sizing.CPUSecondsPerRequest, cost)
	}
	offered := max(sizing.RequestsPerSecond, r.spec.Load.Rate)
	target, load, ok := topology.Split(cores, offered*sizing.CPUSecondsPerRequest)
	if !ok {
		return nil, nil
	}
	r.spec.Split = &plan.Split{Target: target, Load: load, Sizing: &sizing}
	r.cpus = target
	return r.spec.Split, nil
}

// widest is the default setting of the group with the highest quota, where the load has most to do.
func widest(p journal.Plan) journal.Setting {
	setting := p.Settings[0]
	for _, a := range p.Settings[1:] {
		if setting.QuotaCPUs != nil && (a.QuotaCPUs == nil || *a.QuotaCPUs > *setting.QuotaCPUs) {
			setting = a
		}
	}
	setting.Procs, setting.Label, setting.Variant = nil, journal.Default, ""
	return setting
}

// costOf is what a trial's load offered and what a request of it cost, in CPU seconds.
func costOf(t journal.Trial) (rate, cost float64, ok bool) {
	if !t.Valid || t.Load == nil || t.ThroughputPerSecond == nil || len(t.Phases) == 0 {
		return 0, 0, false
	}
	p := t.Phases[0]
	if p.Requests <= 0 || t.Load.CPUSeconds < 0 {
		return 0, 0, false
	}
	return *t.ThroughputPerSecond, t.Load.CPUSeconds / float64(p.Requests), true
}

// moveToLoadCPUs moves procfit itself, with its engine, onto the load's CPUs for a trial, so
// that none of its threads runs on the target's.
func (r *runner) moveToLoadCPUs() (back func(), err error) {
	cpus := r.spec.LoadCPUs()
	if !r.spec.Target.IsServer() || len(cpus) == 0 {
		return func() {}, nil
	}
	back, err = engine.Bind(cpus)
	if err != nil && r.spec.Split != nil {
		err = fmt.Errorf("%w; with --cpus load=shared the load generator stays on the target's CPUs", err)
	}
	return back, err
}

// targetOn are the CPUs that a target is put onto; nil: those that procfit has, unless
// it has stepped aside.
func (r *runner) targetOn() []int {
	if on := r.spec.TargetCPUs(); on != nil || len(r.spec.LoadCPUs()) == 0 {
		return on
	}
	return r.cpus
}
