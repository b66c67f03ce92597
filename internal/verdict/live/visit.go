package live

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Reading is what a program has counted since it began.
type Reading struct {
	At                                 time.Time
	Requests, Failed, Panics, InFlight uint64
	CPU                                float64 // seconds
	Arrival, Handler                   Histogram
}

// Histogram is how many requests took so long, by bucket, and their sum in seconds.
type Histogram struct {
	Counts []uint64
	Sum    float64
}

// count is how many there are from a bucket on.
func (h Histogram) count(from int) (n uint64) {
	for _, c := range h.Counts[min(from, len(h.Counts)):] {
		n += c
	}
	return n
}

// latency is the one that counts.
func (r *Run) latency(x Reading) Histogram {
	if r.Header.Live.LatencyBy == ByArrival {
		return x.Arrival
	}
	return x.Handler
}

// slow is how many took longer than allowed.
func (r *Run) slow(h Histogram) uint64 {
	first := 0
	for first < len(h.Counts) && r.BucketEnd(first).Seconds() <= r.Header.Live.SlowSeconds {
		first++
	}
	return h.count(first)
}

// quantile is in seconds; nil: nothing ended.
func (r *Run) quantile(was, is Histogram, q float64) *float64 {
	if is.count(0) == was.count(0) {
		return nil
	}
	return new(r.Quantile(was, is, q).Seconds())
}

// sight is what happened between two readings.
func (r *Run) sight(from, to Reading) Sight {
	was, is := r.latency(from), r.latency(to)
	return Sight{
		Seconds: to.At.Sub(from.At).Seconds(), Ended: to.Requests - from.Requests, Failed: to.Failed - from.Failed,
		Slow: r.slow(is) - r.slow(was), Sojourn: is.Sum - was.Sum, InFlight: to.InFlight,
	}
}

// counted is what a slice counted between two readings, with the one in the middle.
func (r *Run) counted(s *journal.Slice, from, half, to Reading) {
	all := r.sight(from, to)
	s.Requests, s.Failed, s.Slow, s.CPUSeconds = all.Ended, all.Failed, all.Slow, to.CPU-from.CPU
	s.P50Seconds, s.P99Seconds = r.quantile(from.Arrival, to.Arrival, 0.5), r.quantile(from.Arrival, to.Arrival, 0.99)
	for i, ends := range [][2]Reading{{from, half}, {half, to}} {
		s.Halves[i] = journal.Half{Requests: ends[1].Requests - ends[0].Requests, CPUSeconds: ends[1].CPU - ends[0].CPU, P50Seconds: r.quantile(ends[0].Arrival, ends[1].Arrival, 0.5)}
	}
}

// visit has the program run with a value for a slice, and leaves it at the first harm.
func (r *Run) visit(ctx context.Context, block, order, value int) error {
	start := value == 0
	if !start && !r.budget.Visit(value) {
		return &EndError{journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmBudget, Setting: r.Header.Plan.Settings[value].Label}}}
	}
	t, err := r.begin(ctx, block, order, value)
	if err != nil {
		return err
	}
	length := seconds(r.Header.Live.SliceSeconds * (1 - jitter + 2*jitter*r.random.Float64()))
	counting := time.Now().Add(r.burn)
	var from, half, to Reading
	past, err := r.read(ctx)
	if err != nil {
		return err
	}
	for wire := r.wire; to.At.IsZero(); {
		if err := wait(ctx, between); err != nil {
			return err
		}
		now, err := r.read(ctx)
		if err != nil {
			return err
		}
		s := r.sight(past, now)
		loaded := wire.Look(s)
		t.Live.InSystemMax = max(t.Live.InSystemMax, r.wire.InSystem(s))
		switch {
		case now.Panics > past.Panics && !r.panicked:
			return &EndError{journal.End{Code: journal.EndHarm, Harm: &journal.Harm{Code: journal.HarmPanic, Setting: t.Setting.Label}}}
		case start && !from.At.IsZero():
			r.budget.Start(s)
		case start:
		case r.budget.Look(s) || loaded:
			return r.leave(ctx, t, now)
		}
		if start && loaded && t.InvalidCode == "" {
			t.InvalidCode = journal.InvalidLoaded
		}
		past = now
		switch at := time.Now(); {
		case at.Before(counting):
		case from.At.IsZero():
			from = now
		case half.At.IsZero() && !at.Before(counting.Add(length/2)):
			half = now
		case !half.At.IsZero() && !at.Before(counting.Add(length)):
			to = now
		}
	}
	t.MeasuredSeconds = to.At.Sub(from.At).Seconds()
	r.counted(t.Live, from, half, to)
	return r.keepSlice(t)
}

// begin sets a value.
func (r *Run) begin(ctx context.Context, block, order, value int) (*journal.Trial, error) {
	t := &journal.Trial{Setting: r.Header.Plan.Settings[value], Role: journal.RoleMeasure, Origin: journal.OriginLive, Block: block, Order: order, Started: time.Now()}
	t.Live = &journal.Slice{Before: r.last, BurnInSeconds: r.burn.Seconds()}
	t.ObservedProcs = []*int{t.Setting.Procs}
	if t.Setting.Variant != "" {
		t.Role = journal.RoleAA
	}
	took, err := r.Place.Set(ctx, *t.Setting.Procs)
	t.Live.CallSeconds = took.Seconds()
	r.running, r.last = value, *t.Setting.Procs
	return t, err
}

// leave goes back to the start value at once, and waits until what the value has left
// behind has ended.
func (r *Run) leave(ctx context.Context, t *journal.Trial, past Reading) error {
	start := r.Header.Live.Start
	if _, err := r.Place.Set(ctx, start); err != nil {
		return err
	}
	t.InvalidCode = journal.InvalidLeft
	if err := r.keepSlice(t); err != nil {
		return err
	}
	r.running, r.last = 0, start
	for from := time.Now(); time.Since(from) < longestDrain; {
		if err := wait(ctx, between); err != nil {
			return err
		}
		now, err := r.read(ctx)
		if err != nil {
			return err
		}
		s := r.sight(past, now)
		r.budget.Drain(s)
		if r.wire.Drained(s) {
			break
		}
		past = now
	}
	return nil
}

// keepSlice keeps a slice that is over.
func (r *Run) keepSlice(t *journal.Trial) error {
	t.DurationSeconds = time.Since(t.Started).Seconds()
	t.Valid = t.InvalidCode == ""
	r.slices = append(r.slices, r.Header.sliceOf(t))
	if err := r.Append(*t); err != nil {
		return err
	}
	r.Tell(Event{Kind: EventSlice, Trial: *t, Spent: r.budget.Spent()})
	return nil
}

// baseline looks at the start value alone: what is usual, and what is slow. What it finds
// is not learned again later.
func (r *Run) baseline(ctx context.Context) error {
	h := &r.Header
	r.Tell(Event{Kind: EventBaseline})
	var all [][]Reading // of each slice
	var trials []*journal.Trial
	for n := range max(2, int(h.Live.BaselineSeconds/h.Live.SliceSeconds)) {
		t, err := r.begin(ctx, n, 0, 0)
		if err != nil {
			return err
		}
		t.Role, t.Valid = journal.RolePilot, true
		var list []Reading
		for from := time.Now(); len(list) < 3 || time.Since(from) < seconds(h.Live.SliceSeconds); {
			x, err := r.read(ctx)
			if err == nil {
				list, err = append(list, x), wait(ctx, between)
			}
			if err != nil {
				return err
			}
		}
		t.DurationSeconds = time.Since(t.Started).Seconds()
		all, trials = append(all, list), append(trials, t)
	}
	first, end := all[0][0], all[len(all)-1]
	last := end[len(end)-1]
	if err := r.learn(first, last, trials); err != nil {
		return err
	}
	var sights []Sight
	for _, list := range all {
		for j, x := range list[1:] {
			sights = append(sights, r.sight(list[j], x))
		}
	}
	r.wire, r.budget = NewWire(sights), NewBudget(h.Live.Budget, sights)
	if least := r.budget.Reserve(); least > h.Live.Budget {
		return endFor(journal.EndFailed, "a value that carries nothing costs %.0f requests until it is left, more than the budget of %.0f: use --budget %.0f or more", least, h.Live.Budget, math.Ceil(4*least))
	}
	h.Live.InSystemMax = r.wire.Most
	for i, list := range all {
		end := list[len(list)-1]
		trials[i].MeasuredSeconds = end.At.Sub(list[0].At).Seconds()
		r.counted(trials[i].Live, list[0], list[len(list)/2], end)
		for j, x := range list[1:] {
			trials[i].Live.InSystemMax = max(trials[i].Live.InSystemMax, r.wire.InSystem(r.sight(list[j], x)))
		}
	}
	if err := r.Begin(*h); err != nil {
		return err
	}
	for _, t := range trials {
		if err := r.Append(*t); err != nil {
			return err
		}
	}
	r.Tell(Event{Kind: EventBegin})
	return nil
}

// learn is what of the header the baseline decides.
func (r *Run) learn(first, last Reading, trials []*journal.Trial) error {
	l, took := r.Header.Live, last.At.Sub(first.At)
	requests := last.Requests - first.Requests
	if requests == 0 {
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
		l.LatencyBy = ByArrival
	case last.Handler.count(0) > first.Handler.count(0):
		l.LatencyBy = byHandler
	default:
		l.LatencyBy = byNone
	}
	if l.SlowSeconds == 0 {
		if p99 := r.quantile(r.latency(first), r.latency(last), 0.99); p99 != nil {
			l.SlowSeconds = 2 * *p99
		}
	}
	if r.Share > 0 {
		const month, allowed = 30 * 24 * 3600, 0.001 // of a month, with an objective of 99.9%
		l.Budget = r.Share * allowed * month * l.RequestsPerSecond
	}
	return nil
}
