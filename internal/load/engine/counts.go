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
	requests   int64
	good       int64 // answers with 2xx or 3xx, the late ones too
	inTime     int64 // good answers that came within the duration
	counted    int64 // answers that came before its end, from the first send on
	failed     int64 // requests and connections
	lost       int64 // of these the connections on which no request was under way
	dropped    int64
	fastest    int64 // least latency of an answer, in nanoseconds; 0: none came
	statuses   [wire.MostStatus]int64
	kinds      map[load.Kind]int64 // of what failed
	first      load.Failure
	protocol   string // empty: HTTP/1.1
	perURL     []load.URLCount
	perRequest []load.RequestResult // of a mix
	bytesRead  int64
	latency    *hdrhistogram.Histogram
	lag        *hdrhistogram.Histogram
	bins       [paceBins]int32 // good answers over time, open loop only
	user       time.Duration
	system     time.Duration
	wall       time.Duration
}

func (c *counts) errors() int64 { return c.requests - c.good + c.failed }

// merge makes one Result of what the threads counted. span is the time that the
// bins of each cover.
func merge(p *plan, all []*counts, duration, elapsed, span time.Duration) *load.Result {
	r := &load.Result{
		Engine: p.Engine, Protocol: wire.HTTP1, Streams: p.Streams, Mode: load.ModeClosed, Rate: p.Rate, Connections: p.Connections, Threads: len(all),
		Duration: duration, Elapsed: elapsed,
		ErrorKinds: map[load.Kind]int64{}, PerURL: make([]load.URLCount, len(p.targets)), Latency: newHistogram(),
		Pace: p.Pace, PerRequest: p.mix.byRequest(),
	}
	if p.Rate > 0 {
		r.Mode, r.SendLag, r.Pace = load.ModeOpen, newHistogram(), cmp.Or(p.Pace, load.PaceConstant)
	}
	var inTime, fastest int64
	bins := make([]int64, paceBins)
	for _, c := range all {
		addCounts(r, c)
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
	r.InFlight = float64(inTime) / duration.Seconds() * r.Latency.Mean() / 1e9
	return r
}

func addCounts(r *load.Result, c *counts) {
	r.Requests += c.requests
	r.Good += c.good
	r.FirstError = cmp.Or(r.FirstError, c.first)
	r.Errors += c.errors()
	r.FailedConnections += c.lost
	r.Dropped += c.dropped
	r.Counted += c.counted
	r.BytesRead += c.bytesRead
	r.User += c.user
	r.System += c.system
	r.Latency.Merge(c.latency)
	if r.SendLag != nil {
		r.SendLag.Merge(c.lag)
	}
	for k, n := range c.kinds {
		r.ErrorKinds[k] += n
	}
	for i, n := range c.statuses {
		switch status := wire.Status(i); {
		case n == 0:
		case !status.Good():
			r.ErrorKinds[status.Kind()] += n
		case status.Redirect():
			r.Redirects += n
		}
	}
	if c.protocol != "" {
		r.Protocol = c.protocol
	}
	for i, o := range c.perRequest {
		sum := &r.PerRequest[i]
		sum.Answered += o.Answered
		sum.Errors += o.Errors
		sum.Unanswered += o.Unanswered
		sum.Hanging += o.Hanging
		sum.Dropped += o.Dropped
		sum.Latency.Merge(o.Latency)
	}
	for i, u := range c.perURL {
		sum := &r.PerURL[i]
		sum.Connections += u.Connections
		sum.Answered += u.Answered
		sum.Failed += u.Failed
		sum.Unanswered += u.Unanswered
		sum.Hanging += u.Hanging
		r.Unanswered += u.Unanswered
		r.Hanging += u.Hanging
	}
	if c.wall > 0 {
		r.Busiest = max(r.Busiest, (c.user+c.system).Seconds()/c.wall.Seconds())
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
	return &l.perRequest[l.mix.of[request]]
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
		}
		r.Each(one)
	}
}
