package live

import (
	"context"
	"time"

	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
)

// Reading is what a program has counted since it began.
type Reading struct {
	At                                 time.Time
	Requests, Failed, Panics, InFlight uint64
	CPU                                float64 // seconds
	Arrival, Handler                   Histogram
	// Seen are sums over time of what is seen from outside, by its metric: connections times
	// seconds, events. What is missing is not known.
	Seen map[string]float64
	// Stale: the program's metrics did not answer, and its requests are those of the answer
	// before.
	Stale bool
	// Waits is how long goroutines were runnable before they ran; nil: not known.
	Waits *goproc.Latency
}

// periods are those of the CPU limit, in Reading.Seen: what was throttled is a share of them.
const periods = "periods"

// Seen is what was seen from outside between two readings, per second: the mean of what is
// summed over time.
func Seen(from, to Reading) map[string]float64 {
	out, took := map[string]float64{}, to.At.Sub(from.At).Seconds()
	for name, is := range to.Seen {
		if was, known := from.Seen[name]; known && is >= was && took > 0 {
			out[name] = (is - was) / took
		}
	}
	if throttled, known := out[judge.FigureThrottled]; known {
		delete(out, judge.FigureThrottled)
		if all, known := out[periods]; known {
			out[judge.FigureThrottled] = throttled / max(all, 1/took) // in no period nothing was throttled
		}
	}
	delete(out, periods)
	if to.Waits != nil && from.Waits != nil {
		waits := to.Waits.Since(from.Waits)
		out[judge.FigureRunnable] = goproc.LatencyPeriod * waits.Sum() / took // by Little's law
		if p99, known := waits.Quantile(0.99); known {
			out[judge.FigureSched] = p99
		}
	}
	return out
}

// seen has the latency by the program's own metrics too.
func (r *Run) seen(from, to Reading) map[string]float64 {
	out := Seen(from, to)
	if n := to.Handler.count(0) - from.Handler.count(0); r.Header.Live.LatencyBy == judge.ByMetrics && n > 0 {
		out[judge.FigureMean] = (to.Handler.Sum - from.Handler.Sum) / float64(n)
		if p99 := r.quantile(from.Handler, to.Handler, 0.99); p99 != nil {
			out[judge.FigureLatencyP99] = *p99
		}
	}
	return out
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
	if r.Header.Live.LatencyBy == judge.ByArrival {
		return x.Arrival
	}
	return x.Handler
}

// slow is how many took longer than allowed.
func (r *Run) slow(h Histogram) uint64 {
	if r.Header.Live.SlowSeconds == 0 { // it is not known what is slow
		return 0
	}
	first := 0
	for first < len(h.Counts) && r.BucketEnd(first).Seconds() <= r.Header.Live.SlowSeconds {
		first++
	}
	return h.count(first)
}

// quantile is in seconds; nil: nothing ended, or it is not known.
func (r *Run) quantile(was, is Histogram, q float64) *float64 {
	if is.count(0) == was.count(0) {
		return nil
	}
	if x := r.Quantile(was, is, q).Seconds(); x > 0 {
		return &x
	}
	return nil
}

// sight is what happened between two readings.
func (r *Run) sight(from, to Reading) sight {
	was, is := r.latency(from), r.latency(to)
	return sight{
		Seconds: to.At.Sub(from.At).Seconds(), Ended: to.Requests - from.Requests, Failed: to.Failed - from.Failed,
		Slow: r.slow(is) - r.slow(was), Sojourn: is.Sum - was.Sum, InFlight: to.InFlight,
		Uncounted: r.Header.Live.Uncounted, Seen: r.seen(from, to),
	}
}

// counted is what a slice counted between two readings, with the one in the middle.
func (r *Run) counted(t *journal.Trial, from, half, to Reading) {
	s, all := t.Live, r.sight(from, to)
	for name, x := range all.Seen {
		if t.Metrics == nil {
			t.Metrics = map[string]journal.Metric{}
		}
		t.Metrics[name] = journal.Metric{Value: x, Better: "lower"}
	}
	s.Requests, s.Failed, s.Slow, s.CPUSeconds = all.Ended, all.Failed, all.Slow, to.CPU-from.CPU
	s.P50Seconds, s.P99Seconds = r.quantile(from.Arrival, to.Arrival, 0.5), r.quantile(from.Arrival, to.Arrival, 0.99)
	for i, ends := range [][2]Reading{{from, half}, {half, to}} {
		s.Halves[i] = journal.Half{Seconds: ends[1].At.Sub(ends[0].At).Seconds(), Requests: ends[1].Requests - ends[0].Requests, CPUSeconds: ends[1].CPU - ends[0].CPU, P50Seconds: r.quantile(ends[0].Arrival, ends[1].Arrival, 0.5)}
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
	length := seconds(r.Header.Live.SliceSeconds * (1 - judge.Jitter + 2*judge.Jitter*r.random.Float64()))
	counting := time.Now().Add(r.burn)
	var from, half, to Reading
	past, err := r.read(ctx)
	if err != nil {
		return err
	}
	var asked <-chan []journal.Answer // until they are there, the value is watched as before
	for wire, over := r.wire, false; !over; {
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
			t.Live.Beyond = wire.beyond
			return r.leave(ctx, t, now)
		}
		if start && loaded && t.InvalidCode == "" {
			t.InvalidCode = journal.InvalidLoaded
		}
		past = now
		switch at := time.Now(); {
		case at.Before(counting), now.Stale:
		case from.At.IsZero():
			from = now
		case half.At.IsZero() && !at.Before(counting.Add(length/2)):
			half = now
		case to.At.IsZero() && !half.At.IsZero() && !at.Before(counting.Add(length)):
			to, asked = now, r.ask(ctx)
		}
		over = r.answered(t, asked)
	}
	t.MeasuredSeconds = to.At.Sub(from.At).Seconds()
	r.counted(t, from, half, to)
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
	took, err := r.set(ctx, *t.Setting.Procs)
	t.Live.CallSeconds = took.Seconds()
	r.running, r.last, r.changed = value, *t.Setting.Procs, r.changed || value != 0
	return t, err
}

// leave goes back to the start value at once, and waits until what the value has left
// behind has ended.
func (r *Run) leave(ctx context.Context, t *journal.Trial, past Reading) error {
	start := r.Header.Live.Start
	if _, err := r.set(ctx, start); err != nil {
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
	r.slices = append(r.slices, r.Header.SliceOf(t))
	if err := r.Append(*t); err != nil {
		return err
	}
	r.Tell(Event{Kind: EventSlice, Trial: *t, Spent: r.budget.Spent()})
	return nil
}
