package local

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/halt"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/resize"
	"github.com/procfit/procfit/maxprocs/facts"
)

const (
	// mostFor is how long a closed loop shows what a server carries, but for a part of the
	// shortest step.
	mostFor    = 3 * time.Second
	mostPart   = 3
	FreshTakes = mostFor + time.Second  // by a fresh start with its loop, about, without its warm-up
	lookEvery  = 100 * time.Millisecond // at the live GOMAXPROCS, while a limit holds
	rateShare  = 0.5                    // of what is carried under the smallest limit, which is offered by default
)

// Rehearse starts a server under each of the limits for itself, and then once more under
// the first, changes its limit step by step while it is under load, and returns what it
// ran with and carried, also until an error. The Spec is valid and was checked. What the server prints is kept
// until the end alone.
func Rehearse(ctx context.Context, spec plan.Spec, config Config, steps []plan.Limited, tell plan.Observer) (*resize.Rehearsal, error) {
	for _, s := range steps {
		spec.Quotas = append(spec.Quotas, &s.CPUs)
	}
	made, err := New(spec, config)
	if err != nil {
		return nil, err
	}
	setting := journal.Setting{Procs: envProcs(slices.Concat(config.Environ, spec.Target.Env)), Replicas: 1, Label: "resize"}
	h := &rehearsal{runner: made.(*runner), setting: setting, tell: tell, result: &resize.Rehearsal{Schema: resize.Schema, Host: config.Host}}
	logs, err := h.temporary("procfit-resize-")
	h.config.CreateLog = func(name string) (*os.File, string, error) {
		path := filepath.Join(logs, name)
		f, err := os.Create(path)
		return f, path, err
	}
	if err == nil {
		err = h.Prepare(ctx, journal.Plan{Settings: []journal.Setting{setting}}, tell)
	}
	if err == nil {
		err = h.freshStarts(ctx, steps)
	}
	if err == nil {
		err = h.resized(ctx, steps)
	}
	if err == nil {
		err = h.fresh(ctx, h.result.Doubtful())
	}
	if closed := h.Close(); err == nil {
		err = closed
	}
	return h.result, err
}

// envProcs is the GOMAXPROCS that an environment gives a program; nil: none.
func envProcs(environ []string) (procs *int) {
	for _, v := range environ {
		if text, ok := strings.CutPrefix(v, "GOMAXPROCS="); ok {
			procs = nil
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				procs = &n
			}
		}
	}
	return procs
}

type rehearsal struct {
	*runner
	setting journal.Setting
	tell    plan.Observer
	result  *resize.Rehearsal
	starts  int
	span    time.Duration // of the closed loops
}

// under starts the server under a limit, warms it up and hands it over.
func (h *rehearsal) under(ctx context.Context, limit float64, use func(*run, []string) error) error {
	setting := h.setting
	setting.QuotaCPUs = &limit
	h.starts++
	one := &run{runner: h.runner, Task: trial.NewTask(journal.OriginLocal, h.spec, plan.Task{Setting: setting, Block: h.starts}, h.tell, h.told)}
	err := one.Prepare(ctx, nil)
	var urls []string
	if err == nil {
		urls, err = one.Start(ctx)
	}
	if err == nil && h.spec.Load.Warmup > 0 {
		one.Step(plan.StepWarmup)
		_, _, err = one.Offer(ctx, h.spec.LoadOptions(urls, 0, h.spec.Load.Warmup), false)
	}
	if err == nil {
		_, err = one.Look(ctx)
	}
	if err == nil {
		err = use(one, urls)
	}
	if became := one.Check(ctx); became != nil && ctx.Err() == nil && err != nil {
		err = became
	}
	_, stopped := one.Stop(ctx)
	if ctx.Err() != nil {
		return trial.Stopped(ctx.Err(), stopped)
	}
	if err = trial.Stopped(err, stopped); err != nil {
		return fmt.Errorf("under a CPU limit of %g: %w", *one.Setting.QuotaCPUs, err)
	}
	return nil
}

// freshStarts measures a start under each limit, the smallest first: it tells the rate if none is given.
func (h *rehearsal) freshStarts(ctx context.Context, steps []plan.Limited) error {
	h.span = mostFor
	var limits []float64
	for _, s := range steps {
		limits, h.span = append(limits, s.CPUs), min(h.span, s.For/mostPart)
	}
	slices.Sort(limits)
	limits = slices.Compact(limits)
	if err := h.fresh(ctx, limits); err != nil {
		return err
	}
	h.result.RatePerSecond = h.spec.Load.Rate
	if h.result.RatePerSecond == 0 {
		h.result.RatePerSecond = rateShare * h.result.FreshAt(limits[0]).Most.PerSecond
	}
	if h.result.RatePerSecond <= 0 {
		return fmt.Errorf("the server answered nothing well under a CPU limit of %g: give --rate, or a larger limit", limits[0])
	}
	return nil
}

func (h *rehearsal) fresh(ctx context.Context, limits []float64) error {
	for _, limit := range limits {
		err := h.under(ctx, limit, func(one *run, urls []string) error {
			most, err := h.offer(ctx, one, urls, 0, h.span)
			if err != nil {
				return err
			}
			if most.Failing != "" {
				return trial.Invalid(journal.InvalidErrors, "%s", most.Failing)
			}
			reading, err := h.read(one)
			h.result.Again(resize.Fresh{LimitCPUs: limit, Reading: reading, Most: most})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *rehearsal) resized(ctx context.Context, steps []plan.Limited) error {
	return h.under(ctx, steps[0].CPUs, func(one *run, urls []string) error {
		if err := h.describe(one); err != nil {
			return err
		}
		began := time.Now()
		for i, to := range steps {
			s, err := h.step(ctx, one, urls, to, i > 0)
			s.AtSeconds = time.Since(began).Seconds() - s.Seconds
			if became := one.Check(ctx); became != nil && ctx.Err() == nil {
				s.Ended = became.Error()
				h.result.Steps = append(h.result.Steps, s)
				return nil // which is its result
			}
			if err != nil {
				return err
			}
			h.result.Steps = append(h.result.Steps, s)
		}
		return nil
	})
}

func (h *rehearsal) step(ctx context.Context, one *run, urls []string, to plan.Limited, change bool) (s resize.Step, err error) {
	h.tell.Tell(plan.Activity{Step: plan.StepResize, CPUs: to.CPUs, RatePerSecond: h.result.RatePerSecond})
	w := h.follow(one)
	defer func() {
		w.end()
		s.LimitCPUs, s.Seconds, s.Restarts = to.CPUs, time.Since(w.began).Seconds(), w.restarts
		if change {
			s.FollowedSeconds = w.changed
		}
	}()
	if change {
		if err := one.fleet[0].group.SetQuota(to.CPUs); err != nil {
			return s, err
		}
		one.Setting.QuotaCPUs = &to.CPUs
	}
	if s.Paced, err = h.offer(ctx, one, urls, h.result.RatePerSecond, to.For-h.span); err != nil {
		return s, err
	}
	if s.Most, err = h.offer(ctx, one, urls, 0, h.span); err != nil {
		return s, err
	}
	w.end()
	one.fleet[0].program = w.pid
	s.Reading, err = h.read(one)
	return s, err
}

// offer offers load, and counts meanwhile; a rate of 0 is a closed loop. While procfit itself is stopped, nothing is
// offered and the program is not looked at: it would seem to fail, or to follow late.
func (h *rehearsal) offer(ctx context.Context, one *run, urls []string, rate float64, span time.Duration) (*resize.Load, error) {
	watch := halt.Start()
	result, usage, err := one.Offer(ctx, h.spec.LoadOptions(urls, rate, span), true)
	if err = trial.Halted(err, watch.End()); err != nil {
		return nil, err
	}
	phase, err := trial.Phase(result)
	if err != nil {
		return nil, err
	}
	cost := trial.Cost(result)
	l := &resize.Load{PerSecond: phase.AchievedPerSecond, Requests: phase.Requests, Failed: phase.Errors + phase.Unanswered}
	if err := trial.JudgeAnswers(&journal.Trial{Phases: []journal.Phase{phase}, Load: &cost}, h.spec.Load.MaxErrors, h.spec.Load.Places()); err != nil {
		l.Failing = err.Error() // its latency is that of failures
	} else if of := phase.LatencySeconds; of != nil {
		l.P50Seconds, l.P99Seconds = of.P50, of.P99
	}
	if usage == nil || usage.MeasuredSeconds <= 0 {
		return l, nil
	}
	if c := usage.CPUSeconds; c != nil {
		l.CPUs = new((c.User + c.System) / usage.MeasuredSeconds)
	}
	if c := usage.Cgroup; c != nil && c.Periods > 0 {
		l.ThrottledRatio = new(float64(c.ThrottledPeriods) / float64(c.Periods))
	}
	if u := usage.HostUse; u != nil && u.OtherCPUSeconds != nil {
		l.OtherCPUs = new(*u.OtherCPUSeconds / usage.MeasuredSeconds)
	}
	return l, nil
}

// subject is all that is seen of the server's Go program.
func (h *rehearsal) subject(one *run) (rule.Subject, error) {
	s, err := h.reader.Subject(one.fleet[0].program)
	switch {
	case err != nil:
		return s, err
	case s.NotGo:
		return s, trial.Invalid(journal.InvalidNoProgram, "the server is not a Go program, so it has no GOMAXPROCS to follow the limit; to measure it under load: procfit load --rate N URL")
	case s.Live == nil:
		return s, trial.Invalid(journal.InvalidNoProgram, "its GOMAXPROCS cannot be read: %s", s.LiveUnknown)
	}
	return s, nil
}

// read is what the server runs with now, and what it would by the newest Go.
func (h *rehearsal) read(one *run) (resize.Reading, error) {
	s, err := h.subject(one)
	if err != nil {
		return resize.Reading{}, err
	}
	reading := resize.Reading{Procs: *s.Live, FitProcs: s.Fit.Procs}
	plain := s.Facts
	plain.Env, plain.GODEBUG, plain.GoVersion, plain.DefaultGODEBUG = facts.Fact{State: facts.Absent}, facts.Fact{State: facts.Absent}, "", ""
	reading.DefaultProcs = facts.Decide(plain, facts.Go{}).Procs
	if limit, err := h.reader.MemoryLimit(s.PID); err == nil && limit < math.MaxInt64 {
		reading.MemoryLimitBytes = &limit
	}
	if now, err := observe.ReadStat(s.PID); err == nil {
		reading.Threads = now.Threads
	}
	return reading, nil
}

func (h *rehearsal) describe(one *run) error {
	s, err := h.subject(one)
	if err != nil {
		return err
	}
	p := resize.Program{GoVersion: s.Facts.GoVersion, Automaxprocs: s.Automaxprocs, FollowsLimits: s.FollowsLimit(), RuntimeProcs: s.Unset(), Custom: s.Custom}
	if program, err := h.reader.Program(s.PID); err == nil {
		p.MainModule = program.MainModule
	}
	if n, ok := s.EnvProcs(); ok {
		p.EnvProcs = &n
	}
	h.result.Program = p
	return nil
}
