package live

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/paired"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	blocks "github.com/procfit/procfit/internal/verdict/paired"
	maxlive "github.com/procfit/procfit/maxprocs/live"
)

// baseline looks at the start value alone: what is usual, and what is slow. What it finds
// is not learned again later.
func (e *Experiment) baseline(ctx context.Context) ([]*journal.Trial, error) {
	h := &e.Header
	all, trials, err := e.usual(ctx)
	if err != nil {
		return nil, err
	}
	first, end := all[0][0], all[len(all)-1]
	last := end[len(end)-1]
	if err := e.learn(first, last); err != nil {
		return nil, err
	}
	if err := e.unanswered(trials); err != nil {
		return nil, err
	}
	var sights []sight
	for _, list := range all {
		for j, x := range list[1:] {
			sights = append(sights, e.sight(list[j], x))
		}
	}
	e.wire, e.budget = newWire(sights), newBudget(h.Live.Budget, sights)
	if e.rare { // one look is no harm yet
		delete(e.wire.usual, judge.FigureUnread)
	}
	if slow, failed := judge.Harmed(h.Live); !slow && !failed { // nothing is counted against it
		e.budget.Total = math.Inf(1)
	}
	h.Live.Seen = names(sights)
	if least := e.budget.Reserve(); least > e.budget.Total {
		return nil, endFor(journal.EndFailed, "a value that carries nothing costs %.0f requests until it is left, more than the budget of %.0f: use --budget %.0f or more", least, h.Live.Budget, math.Ceil(4*least))
	}
	h.Live.InSystemMax = e.wire.Most
	for i, list := range all {
		end := list[len(list)-1]
		trials[i].MeasuredSeconds = end.At.Sub(list[0].At).Seconds()
		e.counted(trials[i], list[0], list[len(list)/2], end)
		for j, x := range list[1:] {
			trials[i].Live.InSystemMax = max(trials[i].Live.InSystemMax, e.wire.InSystem(e.sight(list[j], x)))
		}
	}
	var slices []blocks.Slice
	for _, t := range trials {
		slices = append(slices, h.SliceOf(t))
	}
	e.Begun(h.Forecast(slices))
	return trials, nil
}

// slowBucket is the end of the first bucket that is twice as long as that of the p99, since
// nothing finer is counted. 0: there is none.
func (e *Experiment) slowBucket(h maxlive.Histogram) float64 {
	bucket, below := 0, uint64(0)
	for all := h.Count(); bucket < len(h.Counts); bucket++ {
		if below += h.Counts[bucket]; float64(below) >= 0.99*float64(all) {
			break
		}
	}
	for i := bucket; i < len(h.Counts)-1; i++ {
		if e.BucketEnd(i) >= 2*e.BucketEnd(bucket) {
			return e.BucketEnd(i).Seconds()
		}
	}
	return 0
}

// names are the metrics seen from outside in most looks, in order. What is beyond the buckets there
// is not one to compare with.
func names(sights []sight) (list []string) {
	n := map[string]int{}
	for _, s := range sights {
		for name, x := range s.Seen {
			if math.IsInf(x, 1) {
				continue
			}
			if n[name]++; 2*n[name] > len(sights) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// usual are the slices of the baseline, with all looks at each.
func (e *Experiment) usual(ctx context.Context) (all [][]Reading, trials []*journal.Trial, err error) {
	h := &e.Header
	for n := range max(2, int(h.Live.BaselineSeconds/h.Live.SliceSeconds)) {
		if err := e.begin(ctx, 0); err != nil {
			return nil, nil, err
		}
		t := e.visit.trial
		t.Role, t.Valid, t.Block = journal.RolePilot, true, n
		var list []Reading
		for from := time.Now(); len(list) < 3 || time.Since(from) < seconds(h.Live.SliceSeconds); {
			x, err := e.read(ctx)
			if err == nil && x.Stale && list == nil { // from where on requests are counted
				err = wait.For(ctx, between)
			} else if err == nil {
				list, err = append(list, x), wait.For(ctx, between)
			}
			if err != nil {
				return nil, nil, err
			}
		}
		queries, at := h.Live.Queries, time.Now()
		read := func(ctx context.Context) error { _, err := e.read(ctx); return err } // which renews a lease
		answers, err := paired.Meanwhile(ctx, between, read, len(queries), func(ctx context.Context, i int) (*float64, error) { return e.ask(ctx, queries[i].Name, 0, nil, at) })
		if err != nil {
			return nil, nil, err
		}
		for i, a := range answers {
			t.Keep(queries[i], "lower", a)
		}
		t.DurationSeconds = time.Since(t.Started).Seconds()
		all, trials = append(all, list), append(trials, t)
	}
	return all, trials, nil
}

// learn is what of the header the baseline decides.
func (e *Experiment) learn(first, last Reading) error {
	l, took := e.Header.Live, last.At.Sub(first.At)
	requests := last.Requests - first.Requests
	if requests == 0 && !l.Uncounted {
		return endFor(journal.EndUnreached, "no %ss in %s: there is nothing to compare", l.Unit, number.Short(number.Duration(took)))
	}
	l.RequestsPerSecond, l.CPUs = float64(requests)/took.Seconds(), (last.CPU-first.CPU)/took.Seconds()
	e.panicked = last.Panics > first.Panics
	switch {
	case last.Arrival.Count() > first.Arrival.Count():
		l.LatencyBy = judge.ByArrival
	case last.Handler.Count() > first.Handler.Count() && l.Metrics != nil:
		l.LatencyBy = judge.ByMetrics
	case last.Handler.Count() > first.Handler.Count():
		l.LatencyBy = judge.ByHandler
	default:
		l.LatencyBy = judge.ByNone
	}
	if l.SlowSeconds == 0 {
		if p99 := e.quantile(e.latency(first), e.latency(last), 0.99); p99 != nil {
			l.SlowSeconds = 2 * *p99
		}
		if l.LatencyBy == judge.ByMetrics {
			l.SlowSeconds = e.slowBucket(last.Handler.Since(first.Handler))
		}
	}
	if e.Share > 0 {
		l.Budget = Allowed(e.Share) * l.RequestsPerSecond
	}
	return nil
}

// Allowed is in how many seconds as many requests arrive as a share of those that an objective of
// 99.9% allows to fail in 30 days.
func Allowed(share float64) float64 {
	const month, allowed = 30 * 24 * 3600, 0.001
	return share * allowed * month
}
