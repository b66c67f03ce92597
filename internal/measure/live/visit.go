package live

import (
	"context"
	"math"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	maxlive "github.com/procfit/procfit/maxprocs/live"
)

// Reading is what a program has counted since it began.
type Reading struct {
	At                                 time.Time
	Requests, Failed, Panics, InFlight uint64
	CPU                                float64           // seconds
	Arrival, Handler                   maxlive.Histogram // by the buckets of the Experiment
	// Seen are sums over time of what is seen from outside, by its metric: connections times
	// seconds, events. What is missing is not known.
	Seen map[string]float64
	// Stale: the program's metrics did not answer, and its requests are those of the answer
	// before.
	Stale bool
	// Limits are those around the program, with how each has throttled it.
	Limits []observe.Limit
	// Waits is how long goroutines were runnable before they ran; nil: not known.
	Waits *goproc.Latency
}

// shrank reports that something is less than it was that only grows: other counters are read.
func (r Reading) shrank(was Reading) bool {
	less := func(is, was maxlive.Histogram) bool {
		for i, n := range was.Counts {
			if n > 0 && (i >= len(is.Counts) || is.Counts[i] < n) {
				return true
			}
		}
		return is.Sum < was.Sum
	}
	return r.Requests < was.Requests || r.Failed < was.Failed || r.Panics < was.Panics || less(r.Arrival, was.Arrival) || less(r.Handler, was.Handler)
}

// Seen is what was seen from outside between two readings, per second: the mean of what is
// summed over time.
func Seen(from, to Reading) map[string]float64 {
	out, took := map[string]float64{}, to.At.Sub(from.At).Seconds()
	for name, is := range to.Seen {
		if was, known := from.Seen[name]; known && is >= was && took > 0 {
			out[name] = (is - was) / took
		}
	}
	if share, known := throttled(from, to); known {
		out[judge.FigureThrottled] = share
	}
	if to.Waits != nil && from.Waits != nil {
		waits := to.Waits.Since(from.Waits)
		out[judge.FigureRunnable] = goproc.LatencyPeriod * waits.Sum() / took // by Little's law
		if p99, known := waits.Quantile(0.99); known {
			out[judge.FigureSched] = p99
		}
	}
	return out
}

// throttled is the share of the periods of the CPU limit that throttles it most now. Known is false
// without a limit, and if one cannot be read: the share is the least then.
func throttled(from, to Reading) (share float64, known bool) {
	n := min(len(from.Limits), len(to.Limits))
	known = n > 0
	for i := range n {
		if t, read := to.Limits[i].Since(from.Limits[i]); read {
			share = max(share, float64(t.ThrottledPeriods)/float64(max(1, t.Periods)))
		} else {
			known = false
		}
	}
	return share, known
}

// seen has the latency by the program's own metrics too.
func (e *Experiment) seen(from, to Reading) map[string]float64 {
	out := Seen(from, to)
	if n := to.Handler.Count() - from.Handler.Count(); e.Header.Live.LatencyBy == judge.ByMetrics && n > 0 {
		out[judge.FigureMean] = (to.Handler.Sum - from.Handler.Sum) / float64(n)
		if p99 := e.quantile(from.Handler, to.Handler, 0.99); p99 != nil {
			out[judge.FigureLatencyP99] = *p99
		}
	}
	return out
}

// latency is the one that counts.
func (e *Experiment) latency(x Reading) maxlive.Histogram {
	if e.Header.Live.LatencyBy == judge.ByArrival {
		return x.Arrival
	}
	return x.Handler
}

func (e *Experiment) slow(h maxlive.Histogram) uint64 {
	if e.Header.Live.SlowSeconds == 0 { // it is not known what is slow
		return 0
	}
	first := 0
	for first < len(h.Counts) && e.BucketEnd(first).Seconds() <= e.Header.Live.SlowSeconds {
		first++
	}
	return maxlive.Histogram{Counts: h.Counts[first:]}.Count()
}

// quantile is in seconds; nil: nothing ended, or it is not known. +Inf: it is more than all bounds
// of the buckets.
func (e *Experiment) quantile(was, is maxlive.Histogram, q float64) *float64 {
	since := is.Since(was)
	if since.Count() == 0 {
		return nil
	}
	switch x := e.Quantile(since, q); {
	case x == math.MaxInt64:
		return new(math.Inf(1))
	case x > 0:
		return new(x.Seconds())
	}
	return nil
}

func (e *Experiment) sight(from, to Reading) sight {
	latency := e.latency(to).Since(e.latency(from))
	throttled, _ := throttled(from, to)
	return sight{
		Seconds: to.At.Sub(from.At).Seconds(), Ended: to.Requests - from.Requests, Failed: to.Failed - from.Failed,
		Slow: e.slow(latency), Sojourn: latency.Sum, InFlight: to.InFlight,
		Uncounted: e.Header.Live.Uncounted, Seen: e.seen(from, to), Throttled: throttled,
	}
}

// counted is what a slice counted between two readings, with the one in the middle.
func (e *Experiment) counted(t *journal.Trial, from, half, to Reading) {
	s, all := t.Live, e.sight(from, to)
	for name, x := range all.Seen {
		if t.Metrics == nil {
			t.Metrics = map[string]journal.Metric{}
		}
		m := journal.Metric{Value: x, Better: "lower"}
		if math.IsInf(x, 1) { // only of the program's buckets
			m.Value, m.AtLeast = e.BucketEnd(len(to.Handler.Counts)-2).Seconds(), true
		}
		t.Metrics[name] = m
	}
	s.Requests, s.Failed, s.Slow, s.CPUSeconds = all.Ended, all.Failed, all.Slow, to.CPU-from.CPU
	s.P50Seconds, s.P99Seconds = e.quantile(from.Arrival, to.Arrival, 0.5), e.quantile(from.Arrival, to.Arrival, 0.99)
	for i, ends := range [][2]Reading{{from, half}, {half, to}} {
		s.Halves[i] = journal.Half{Seconds: ends[1].At.Sub(ends[0].At).Seconds(), Requests: ends[1].Requests - ends[0].Requests, CPUSeconds: ends[1].CPU - ends[0].CPU, P50Seconds: e.quantile(ends[0].Arrival, ends[1].Arrival, 0.5)}
	}
}

// visit is the program with a value, until the next one.
type visit struct {
	value int // by its place in the plan
	procs int // 0: none is set yet
	trial *journal.Trial
	wire  wire
	past  Reading   // of the last look
	looks []Reading // those that count so far, with the first; nil: none does yet
	harm  bool      // was seen, and the start value runs: what waits has to drain
}

func (e *Experiment) Apply(ctx context.Context, settings []journal.Setting) error {
	if err := e.drain(ctx); err != nil {
		return err
	}
	value := e.Header.Rules().Value(settings[0])
	if !e.budget.Visit(value) {
		return e.harmed(journal.HarmBudget, value)
	}
	err := e.begin(ctx, value)
	if err == nil {
		e.visit.past, err = e.read(ctx)
	}
	return err
}

func (e *Experiment) begin(ctx context.Context, value int) error {
	t := &journal.Trial{Setting: e.Header.Plan.Settings[value], Origin: journal.OriginLive, Started: time.Now()}
	took, err := e.set(ctx, value)
	if err != nil { // a program that has ended meanwhile had the value before
		return err
	}
	t.Live = &journal.Slice{Before: e.visit.procs, BurnInSeconds: e.burn.Seconds(), CallSeconds: took.Seconds()}
	t.ObservedProcs = []*int{t.Setting.Procs}
	if t.Setting.Variant != "" {
		t.Role = journal.RoleAA
	}
	e.changed = e.changed || value != 0
	e.visit = visit{value: value, procs: *t.Setting.Procs, trial: t, wire: e.wire}
	if t.Live.Before == 0 || t.Live.Before == e.visit.procs { // such a call returns at once
		return nil
	}
	if e.changes++; took > longCall {
		e.long++
	}
	if took > longCall && e.long > 1 && e.long > e.changes/10 { // else it may be a moment without a CPU
		return endFor(journal.EndFailed, "%d of %s of GOMAXPROCS took more than %s, the last one %s: changes wait for garbage collections, or for a CPU; try again on a quieter machine, or use procfit kube canary", e.long, phrase.Count(e.changes, "change"), number.Chosen(longCall), number.Short(number.Duration(took)))
	}
	return nil
}

// longCall is how long a change may take. It holds a goroutine, and the request that this serves.
const longCall = time.Second

// Watch implements paired.Place: it leaves a value at the first harm. A slice of the start value in
// which the same is seen is void, so that chance takes as many from either.
func (e *Experiment) Watch(ctx context.Context) error {
	now, err := e.read(ctx)
	if err != nil {
		return err
	}
	v := &e.visit
	start, t, s := v.value == 0, v.trial, e.sight(v.past, now)
	dear, loaded := e.budget.Look(s), v.wire.Look(s)
	t.Live.InSystemMax = max(t.Live.InSystemMax, e.wire.InSystem(s))
	switch {
	case now.Panics > v.past.Panics && !e.panicked:
		return e.harmed(journal.HarmPanic, v.value)
	case start && (dear || loaded):
		t.InvalidCode, v.harm = journal.InvalidLoaded, true
	case dear || loaded:
		v.past = now
		return e.leave(ctx)
	}
	if start && v.looks != nil {
		e.budget.Start(s)
	}
	if v.past = now; v.looks != nil && !now.Stale {
		v.looks = append(v.looks, now)
	}
	return nil
}

// Slice implements paired.Place: it counts between two looks. Values take turns, so that each of
// its slices has an Apply of its own.
func (e *Experiment) Slice(ctx context.Context) ([]*journal.Trial, error) {
	v := &e.visit
	for v.past.Stale {
		if err := wait.For(ctx, between); err != nil {
			return nil, err
		}
		if err := e.Watch(ctx); err != nil {
			return nil, err
		}
	}
	if v.looks == nil {
		v.looks = []Reading{v.past}
		return nil, nil
	}
	from, to := v.looks[0], v.past
	v.trial.MeasuredSeconds = to.At.Sub(from.At).Seconds()
	v.trial.DurationSeconds = time.Since(v.trial.Started).Seconds()
	e.counted(v.trial, from, v.looks[len(v.looks)/2], to)
	return []*journal.Trial{v.trial}, nil
}

// leave goes back to the start value at once.
func (e *Experiment) leave(ctx context.Context) error {
	v := &e.visit
	v.trial.Live.Beyond = v.wire.beyond
	if _, err := e.set(ctx, 0); err != nil {
		return err
	}
	v.trial.InvalidCode, v.trial.DurationSeconds = journal.InvalidLeft, time.Since(v.trial.Started).Seconds()
	v.value, v.procs, v.harm = 0, e.Header.Live.Start, true
	return &paired.Left{Trials: []*journal.Trial{v.trial}}
}

// drain waits until what a value, or a burst, has left behind has ended.
func (e *Experiment) drain(ctx context.Context) error {
	for from := time.Now(); e.visit.harm && time.Since(from) < longestDrain; {
		if err := wait.For(ctx, between); err != nil {
			return err
		}
		now, err := e.read(ctx)
		if err != nil {
			return err
		}
		s := e.sight(e.visit.past, now)
		e.budget.Add(s)
		e.visit.harm, e.visit.past = !e.wire.Drained(s), now
	}
	return nil
}
