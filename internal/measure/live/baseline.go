package live

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// baseline looks at the start value alone: what is usual, and what is slow. What it finds
// is not learned again later.
func (r *Run) baseline(ctx context.Context) error {
	h := &r.Header
	r.Tell(Event{Kind: EventBaseline})
	all, trials, err := r.usual(ctx)
	if err != nil {
		return err
	}
	first, end := all[0][0], all[len(all)-1]
	last := end[len(end)-1]
	if err := r.learn(first, last, trials); err != nil {
		return err
	}
	if err := r.unanswered(trials); err != nil {
		return err
	}
	var sights []sight
	for _, list := range all {
		for j, x := range list[1:] {
			sights = append(sights, r.sight(list[j], x))
		}
	}
	r.wire, r.budget = newWire(sights), newBudget(h.Live.Budget, sights)
	if h.Live.Uncounted { // nothing is counted against it
		r.budget.Total = math.Inf(1)
	}
	h.Live.Seen = names(sights)
	if least := r.budget.Reserve(); least > r.budget.Total {
		return endFor(journal.EndFailed, "a value that carries nothing costs %.0f requests until it is left, more than the budget of %.0f: use --budget %.0f or more", least, h.Live.Budget, math.Ceil(4*least))
	}
	h.Live.InSystemMax = r.wire.Most
	for i, list := range all {
		end := list[len(list)-1]
		trials[i].MeasuredSeconds = end.At.Sub(list[0].At).Seconds()
		r.counted(trials[i], list[0], list[len(list)/2], end)
		for j, x := range list[1:] {
			trials[i].Live.InSystemMax = max(trials[i].Live.InSystemMax, r.wire.InSystem(r.sight(list[j], x)))
		}
	}
	if err := r.Begin(*h); err != nil {
		return err
	}
	var slices []paired.Slice
	for _, t := range trials {
		slices = append(slices, h.SliceOf(t))
		if err := r.Append(*t); err != nil {
			return err
		}
	}
	r.Tell(Event{Kind: EventBegin, Forecast: h.Forecast(slices)})
	return nil
}

// slowBucket is the end of the first bucket that is twice as long as that of the p99, since
// nothing finer is counted. 0: there is none.
func (r *Run) slowBucket(was, is Histogram) float64 {
	bucket, below := 0, uint64(0)
	for all := is.count(0) - was.count(0); bucket < len(is.Counts); bucket++ {
		if below += is.Counts[bucket] - was.Counts[bucket]; float64(below) >= 0.99*float64(all) {
			break
		}
	}
	for i := bucket; i < len(is.Counts)-1; i++ {
		if r.BucketEnd(i) >= 2*r.BucketEnd(bucket) {
			return r.BucketEnd(i).Seconds()
		}
	}
	return 0
}

// names are the metrics seen from outside in most looks, in order.
func names(sights []sight) (list []string) {
	n := map[string]int{}
	for _, s := range sights {
		for name := range s.Seen {
			if n[name]++; 2*n[name] > len(sights) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// usual are the slices of the baseline, with all looks at each.
func (r *Run) usual(ctx context.Context) (all [][]Reading, trials []*journal.Trial, err error) {
	h := &r.Header
	for n := range max(2, int(h.Live.BaselineSeconds/h.Live.SliceSeconds)) {
		t, err := r.begin(ctx, n, 0, 0)
		if err != nil {
			return nil, nil, err
		}
		t.Role, t.Valid = journal.RolePilot, true
		var list []Reading
		for from := time.Now(); len(list) < 3 || time.Since(from) < seconds(h.Live.SliceSeconds); {
			x, err := r.read(ctx)
			if err == nil && x.Stale && list == nil { // from where on requests are counted
				err = wait(ctx, between)
			} else if err == nil {
				list, err = append(list, x), wait(ctx, between)
			}
			if err != nil {
				return nil, nil, err
			}
		}
		for answers := r.ask(ctx); !r.answered(t, answers); {
			if err := wait(ctx, between); err != nil {
				return nil, nil, err
			}
		}
		t.DurationSeconds = time.Since(t.Started).Seconds()
		all, trials = append(all, list), append(trials, t)
	}
	return all, trials, nil
}

// learn is what of the header the baseline decides.
func (r *Run) learn(first, last Reading, trials []*journal.Trial) error {
	l, took := r.Header.Live, last.At.Sub(first.At)
	requests := last.Requests - first.Requests
	if requests == 0 && !l.Uncounted {
		return endFor(journal.EndUnreached, "no %ss in %s: there is nothing to compare", l.Unit, number.Short(number.Duration(took)))
	}
	calls := make([]float64, len(trials))
	for i, t := range trials {
		calls[i] = t.Live.CallSeconds
	}
	slices.Sort(calls)
	if call := calls[len(calls)/2]; call > 1 {
		return endFor(journal.EndFailed, "a change of GOMAXPROCS waits for collections, %s in the median: use kube canary", number.Short(number.Seconds(call)))
	}
	l.RequestsPerSecond, l.CPUs = float64(requests)/took.Seconds(), (last.CPU-first.CPU)/took.Seconds()
	r.panicked = last.Panics > first.Panics
	switch {
	case last.Arrival.count(0) > first.Arrival.count(0):
		l.LatencyBy = judge.ByArrival
	case last.Handler.count(0) > first.Handler.count(0) && l.Metrics != nil:
		l.LatencyBy = judge.ByMetrics
	case last.Handler.count(0) > first.Handler.count(0):
		l.LatencyBy = judge.ByHandler
	default:
		l.LatencyBy = judge.ByNone
	}
	if l.SlowSeconds == 0 {
		if p99 := r.quantile(r.latency(first), r.latency(last), 0.99); p99 != nil {
			l.SlowSeconds = 2 * *p99
		}
		if l.LatencyBy == judge.ByMetrics {
			l.SlowSeconds = r.slowBucket(first.Handler, last.Handler)
		}
	}
	if r.Share > 0 {
		const month, allowed = 30 * 24 * 3600, 0.001 // of a month, with an objective of 99.9%
		l.Budget = r.Share * allowed * month * l.RequestsPerSecond
	}
	return nil
}
