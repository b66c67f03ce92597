package trial

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial/foreign"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// Carried is the share of the offered rate below which a setting is saturated.
const Carried = journal.CarriedRatio

// ThroughputRequests is the unit of a server's throughput.
const ThroughputRequests = "requests"

// Offered is a run of the load engine as procfit load --json prints it.
func Offered(l *load.Result) (foreign.Offered, error) {
	p, err := Phase(l)
	return foreign.Offered{Schema: foreign.Schema, Phase: p, Load: Cost(l)}, err
}

// Phase is a run of the load engine as the journal has it.
func Phase(l *load.Result) (journal.Phase, error) {
	encoded, err := l.Encoded()
	if err != nil {
		return journal.Phase{}, err
	}
	p := journal.Phase{
		Mode: journal.Mode(l.Mode), Engine: l.Engine, Protocol: l.Protocol, DurationSeconds: l.Duration.Seconds(), AchievedPerSecond: l.AchievedPerSecond,
		Requests: l.Requests, Errors: l.Errors, FailedConnections: l.FailedConnections, Unanswered: l.Unanswered, Hanging: l.Hanging, Redirects: l.Redirects, Histogram: encoded, LatencySeconds: summary(l.Latency),
	}
	if l.Mode == load.ModeOpen {
		p.RatePerSecond = &l.Rate
		if l.Pace != load.PaceConstant {
			p.Pace = l.Pace
		}
	}
	for _, r := range l.PerRequest {
		one := journal.RequestFigures{Name: secret.Text(r.Name), Requests: r.Answered, Errors: r.Errors, Unanswered: r.Unanswered, Hanging: r.Hanging, Dropped: r.Dropped, LatencySeconds: summary(r.Latency)}
		p.ByRequest = append(p.ByRequest, one)
	}
	if len(l.PerURL) > 1 {
		for _, u := range l.PerURL {
			p.ByReplica = append(p.ByReplica, journal.ReplicaFigures{Requests: u.Answered, Errors: u.Failed, Unanswered: u.Unanswered, Hanging: u.Hanging})
		}
	}
	for kind, n := range l.ErrorKinds {
		if p.ErrorKinds == nil {
			p.ErrorKinds = map[string]int64{}
		}
		p.ErrorKinds[string(kind)] = n
	}
	return p, nil
}

// summary has the usual quantiles of a histogram; nil: nothing is in it.
func summary(h *hdrhistogram.Histogram) *journal.Latency {
	if h.TotalCount() == 0 {
		return nil
	}
	at := func(quantile float64) *float64 { return seconds(h.ValueAtQuantile(quantile)) }
	return &journal.Latency{P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: at(100), Mean: new(h.Mean() / 1e9)}
}

// Cost is what a run of the load engine cost, and how well it kept its pace.
func Cost(l *load.Result) journal.LoadCost {
	c := journal.LoadCost{CPUSeconds: (l.User + l.System).Seconds(), ThreadBusiestRatio: &l.Busiest, Dropped: l.Dropped}
	if l.SendLag != nil {
		c.SendLagP99Seconds = new(time.Duration(l.SendLag.ValueAtQuantile(99)).Seconds())
	}
	return c
}

// addClosed adds the closed loop: the trial's throughput, and the counters of its span.
func addClosed(t *journal.Trial, l *load.Result, usage *journal.Usage) error {
	if err := addPhase(t, l, usage); err != nil {
		return err
	}
	if usage != nil {
		t.Usage = *usage
	}
	if l.AchievedPerSecond == 0 {
		why := mostOften(l.ErrorKinds)
		if why == "" { // each connection still has the request that it sent first
			connections := 0
			for _, u := range l.PerURL {
				connections += u.Connections
			}
			why = fmt.Sprintf("none of %s got an answer; give a longer --trial-time", phrase.Count(connections, "connection"))
		}
		return Invalid(journal.InvalidNoAnswer, "no request succeeded in the throughput phase of %s: %s", number.Short(number.Duration(l.Duration)), why)
	}
	t.ThroughputPerSecond, t.ThroughputUnit = &l.AchievedPerSecond, ThroughputRequests
	t.Load = new(Cost(l))
	return hung(l, usage)
}

// addOpen adds the open loop, whose latency is judged; head is what was left out of it.
func addOpen(t *journal.Trial, l *load.Result, usage *journal.Usage, head time.Duration) error {
	if err := addPhase(t, l, usage); err != nil {
		return err
	}
	p := &t.Phases[len(t.Phases)-1]
	p.DroppedHeadSeconds = head.Seconds()
	judge(t, p, l.Latency.TotalCount(), func(quantile float64) *float64 { return seconds(l.Latency.ValueAtQuantile(100 * quantile)) })
	paced := Cost(l)
	if t.Load == nil {
		t.Load = &paced
	}
	t.Load.SendLagP99Seconds, t.Load.Dropped = paced.SendLagP99Seconds, paced.Dropped
	t.LatencySeconds = p.LatencySeconds
	t.Saturated = l.AchievedPerSecond < Carried*l.Rate
	return hung(l, usage)
}

// addPaced is the trial of a server that is only offered a rate: its throughput is what it carried.
func addPaced(t *journal.Trial, l *load.Result, usage *journal.Usage, head time.Duration) error {
	if err := addOpen(t, l, usage, head); err != nil {
		return err
	}
	if usage != nil {
		t.Usage = *usage
	}
	t.ThroughputPerSecond, t.ThroughputUnit = &l.AchievedPerSecond, ThroughputRequests
	if l.AchievedPerSecond == 0 {
		return Invalid(journal.InvalidNoAnswer, "no request succeeded within %s: %s", number.Short(number.Duration(l.Duration)), mostOften(l.ErrorKinds))
	}
	return nil
}

func addPhase(t *journal.Trial, l *load.Result, usage *journal.Usage) error {
	p, err := Phase(l)
	if err != nil {
		return err
	}
	p.Usage = usage
	t.Phases = append(t.Phases, p)
	for _, kind := range slices.Sorted(maps.Keys(l.ErrorKinds)) {
		warn(t, journal.Warning{Code: journal.WarnFailedRequests, Phase: p.Mode, Count: l.ErrorKinds[kind], Detail: string(kind)})
	}
	if l.Unanswered > 0 {
		warn(t, journal.Warning{Code: journal.WarnUnanswered, Phase: p.Mode, Count: l.Unanswered})
	}
	if l.Redirects > l.Requests/2 {
		warn(t, journal.Warning{Code: journal.WarnRedirects, Phase: p.Mode, Count: l.Redirects})
	}
	return nil
}

// hung says whether a replica answered nothing any more: whatever it served before,
// at this setting the program locks up; or the machine was taken from under it.
func hung(l *load.Result, usage *journal.Usage) error {
	for i, u := range l.PerURL {
		if !u.Hung() {
			continue
		}
		who := Replica(i, len(l.PerURL))
		if share := stolen(usage); share >= stolenMuch {
			return Invalid(journal.InvalidStolen, "the hypervisor took %.0f%% of the CPU time of the %s, and at its end all %d connections of %s were still waiting; measure again when the machine has its CPUs",
				100*share, phaseName(l.Mode), u.Connections, who)
		}
		at, meanwhile, remedy := phaseName(l.Mode), "", "a longer --trial-time"
		if l.Mode == load.ModeOpen {
			at, remedy = fmt.Sprintf("%s at %s req/s", at, number.Count(l.Rate)), "a lower --rate or a longer --trial-time"
		}
		if share := contest.Others(usage); contest.AtLeast(share, contest.CrowdedFrom) {
			meanwhile, remedy = fmt.Sprintf(", while other programs used %.0f%% of the CPU time", 100**share), "a quieter machine, or "+remedy+","
		}
		return Invalid(journal.InvalidNoAnswer, "%s stopped answering: after %d answers, all of its %d connections were still waiting at the end of the %s%s; %s shows whether it is slow or hangs",
			who, u.Answered, u.Connections, at, meanwhile, remedy)
	}
	return nil
}

// phaseName is what a loop of this mode is for.
func phaseName(mode string) string {
	if mode == load.ModeOpen {
		return "latency phase"
	}
	return "throughput phase"
}

func mostOften[K ~string](kinds map[K]int64) string {
	var most K
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if most == "" || kinds[kind] > kinds[most] {
			most = kind
		}
	}
	if most == "" {
		return ""
	}
	return fmt.Sprintf("%d × %s", kinds[most], load.Kind(most).Words())
}

// loops runs a server's loops, the same wherever it runs: a closed loop for throughput,
// then an open one at the rate that all settings get, or as many as the search for the
// highest rate within an objective takes. A server that is already running gets the open
// loop alone.
func (t *Task) loops(ctx context.Context, p Place) error {
	if t.Spec.Target.Attach != nil {
		return t.open(ctx, p, addPaced)
	}
	t.Observe.Tell(plan.Activity{Step: plan.StepClosedLoop})
	options := t.Spec.LoadOptions(t.urls, 0, t.Spec.ClosedFor(t.Collections))
	options.Settle = t.Spec.Load.Settle()
	closed, usage, err := p.Offer(ctx, options, true)
	if err != nil {
		return err
	}
	if err := addClosed(t.Trial, closed, usage); err != nil {
		return err
	}
	switch {
	case t.Spec.Load.SLO != nil:
		return t.search(ctx, p, closed.AchievedPerSecond)
	case t.RatePerSecond == nil:
		return nil
	}
	return t.open(ctx, p, addOpen)
}

func (t *Task) open(ctx context.Context, p Place, add func(*journal.Trial, *load.Result, *journal.Usage, time.Duration) error) error {
	rate, quota := *t.RatePerSecond, t.quota()
	t.foretell(rate, quota)
	result, usage, err := t.at(ctx, p, rate, t.Spec.OpenFor(rate, quota, t.Collections))
	if err != nil {
		return err
	}
	return add(t.Trial, result, usage, t.Spec.Load.OpenHead())
}

// search looks for the highest rate within an objective, each in an open loop of its own.
func (t *Task) search(ctx context.Context, p Place, ceiling float64) error {
	search := t.Spec.Search(ceiling)
	var done []slo.Probe
	for rate, more := search.Next(done); more; rate, more = search.Next(done) {
		result, usage, err := t.at(ctx, p, rate, t.Spec.ProbeFor(rate, t.quota()))
		if err != nil {
			return err
		}
		probe, err := t.addProbe(search.Objective, result, usage)
		if err != nil {
			return err
		}
		done = append(done, probe)
	}
	attain(t.Trial, search, done)
	return nil
}

// at runs an open loop.
func (t *Task) at(ctx context.Context, p Place, rate float64, span time.Duration) (*load.Result, *journal.Usage, error) {
	t.Observe.Tell(plan.Activity{Step: plan.StepOpenLoop, RatePerSecond: rate})
	options := t.Spec.LoadOptions(t.urls, rate, span)
	options.Settle = t.Spec.Load.OpenHead()
	return p.Offer(ctx, options, true)
}

// foretell reports once per group that its p99 will not be judged, if only the pilots could tell.
func (t *Task) foretell(rate float64, quota bool) {
	group := t.Setting.Group()
	if t.Foretold[group] || t.Spec.Shortfall(t.Spec.Load.Rate, quota) != nil {
		return
	}
	if short := t.Spec.Shortfall(rate, quota); short != nil {
		t.Foretold[group] = true
		t.Observe.Tell(plan.Activity{Step: plan.StepUnjudged, Shortfall: short})
	}
}

func (t *Task) quota() bool { return t.Setting.QuotaCPUs != nil }
