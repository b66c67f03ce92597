package engine

import (
	"cmp"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
)

// paceBins is the resolution of counts, see pace.
const paceBins = 4096

// maxLatency bounds the histograms; longer waits are recorded as this.
const maxLatency = 10 * time.Minute

// counts is what one thread counted. Nothing in it is shared while it runs.
type counts struct {
	part     load.Result // what adds up; ErrorKinds without the statuses
	inTime   int64       // good answers that came within the duration
	fastest  int64       // least latency of an answer, in nanoseconds; 0: none came
	statuses [wire.MostStatus]int64
	bins     [paceBins]int32 // good answers over time, open loop only
	wall     time.Duration
}

// empty is a result of a plan in which nothing has happened.
func (p *plan) empty() load.Result {
	r := load.Result{ErrorKinds: map[load.Kind]int64{}, PerURL: make([]load.URLCount, len(p.targets)), PerRequest: p.mix.byRequest(), Latency: newHistogram()}
	if p.Rate > 0 {
		r.SendLag = newHistogram()
	}
	return r
}

// merge makes one Result of what the threads counted. span is the time that the
// bins of each cover.
func merge(p *plan, all []*counts, duration, span time.Duration) *load.Result {
	r := new(p.empty())
	r.Engine, r.Protocol, r.Streams, r.Connections, r.Threads = p.Engine, wire.HTTP1, p.Streams, p.Connections, len(all)
	r.Mode, r.Rate, r.Pace, r.Duration = load.ModeClosed, p.Rate, p.Pace, duration
	if p.Rate > 0 {
		r.Mode, r.Pace = load.ModeOpen, cmp.Or(p.Pace, load.PaceConstant)
	}
	var inTime, fastest int64
	bins := make([]int64, paceBins)
	for _, c := range all {
		add(r, &c.part)
		for i, n := range c.statuses {
			switch status := wire.Status(i); {
			case n == 0:
			case !status.Good():
				r.ErrorKinds[status.Kind()] += n
			case status.Redirect():
				r.Redirects += n
			}
		}
		if c.wall > 0 {
			r.Busiest = max(r.Busiest, (c.part.User+c.part.System).Seconds()/c.wall.Seconds())
		}
		inTime += c.inTime
		if c.fastest > 0 && (fastest == 0 || c.fastest < fastest) {
			fastest = c.fastest
		}
		for i, n := range c.bins {
			bins[i] += int64(n)
		}
	}
	r.AchievedPerSecond = float64(inTime) / duration.Seconds()
	if r.Mode == load.ModeOpen && duration == p.Duration {
		r.AchievedPerSecond = min(float64(r.Good)/duration.Seconds(), p.carried(bins, span, time.Duration(fastest)))
	}
	return r
}

func add(r, part *load.Result) {
	r.Requests += part.Requests
	r.Good += part.Good
	r.FirstError = cmp.Or(r.FirstError, part.FirstError)
	r.Errors += part.Errors
	r.FailedConnections += part.FailedConnections
	r.Dropped += part.Dropped
	r.Counted += part.Counted
	r.User += part.User
	r.System += part.System
	r.Latency.Merge(part.Latency)
	if r.SendLag != nil {
		r.SendLag.Merge(part.SendLag)
	}
	for k, n := range part.ErrorKinds {
		r.ErrorKinds[k] += n
	}
	r.Protocol = cmp.Or(part.Protocol, r.Protocol)
	for i, o := range part.PerRequest {
		sum := &r.PerRequest[i]
		sum.Answered += o.Answered
		sum.Errors += o.Errors
		sum.Unanswered += o.Unanswered
		sum.Hanging += o.Hanging
		sum.Dropped += o.Dropped
		sum.Latency.Merge(o.Latency)
	}
	for i, u := range part.PerURL {
		sum := &r.PerURL[i]
		sum.Connections += u.Connections
		sum.Answered += u.Answered
		sum.Failed += u.Failed
		sum.Unanswered += u.Unanswered
		sum.Hanging += u.Hanging
		r.Unanswered += u.Unanswered
		r.Hanging += u.Hanging
	}
}

// newHistogram holds 1 ns to maxLatency in three digits, about 0.3 MB.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(maxLatency), 3)
}

// byRequest makes the counts of a mix; nil without one. Each thread has a histogram for each name,
// which in two digits takes about 40 KB.
func (m *mix) byRequest() []load.RequestResult {
	if m == nil {
		return nil
	}
	list := make([]load.RequestResult, len(m.names))
	for i, name := range m.names {
		list[i] = load.RequestResult{Name: name, Latency: hdrhistogram.New(1, int64(maxLatency), 2)}
	}
	return list
}

// byName is the counts of a request; nil without a mix.
func (l *lane) byName(request int32) *load.RequestResult {
	if l.mix == nil {
		return nil
	}
	return &l.part.PerRequest[l.mix.of[request]]
}

const intervalLength = time.Second

// intervals are those of one lane that were not reported yet, by their number. A lane that
// is not watched has none: the lock is for those that are.
type intervals struct {
	mu   sync.Mutex
	open map[int64]*hdrhistogram.Histogram
}

func (v *intervals) add(after, nanos int64) {
	number := max(0, after) / int64(intervalLength)
	v.mu.Lock()
	defer v.mu.Unlock()
	h := v.open[number]
	if h == nil {
		h = newHistogram()
		v.open[number] = h
	}
	record(h, nanos)
}

func (v *intervals) take(number int64, to *hdrhistogram.Histogram) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if h := v.open[number]; h != nil {
		to.Merge(h)
		delete(v.open, number)
	}
}

func (l *lane) watch(now, nanos int64) {
	if l.seconds != nil {
		l.seconds.add(now-l.from, nanos)
	}
}

// intervalGrace is how long an interval is left open for lanes that are late to count.
const intervalGrace = 100 * time.Millisecond

// report calls Each for the intervals that started before a time.
func (r *run) report(before int64) {
	if r.Each == nil || r.from == 0 {
		return
	}
	for ; r.from+r.reported*int64(intervalLength) < before; r.reported++ {
		start := r.from + r.reported*int64(intervalLength)
		one := load.Interval{Start: r.base.Add(time.Duration(start)), Length: intervalLength, Latency: newHistogram()}
		for _, w := range r.workers {
			w.seconds.take(r.reported, one.Latency)
			one.Failed += w.shown.Load()
		}
		r.Each(one)
	}
}
