package load

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The modes of a run, as the journal writes them.
const (
	ModeClosed = "closed"
	ModeOpen   = "open"
)

// maxLatency bounds the histograms; longer waits are recorded as this.
const maxLatency = 10 * time.Minute

// Result is what a run measured.
type Result struct {
	Mode        string
	Rate        float64 // offered, requests a second; 0 in a closed loop
	Connections int
	Threads     int
	Duration    time.Duration // as asked for, or until the cancellation
	Elapsed     time.Duration // with what came in after the duration

	Requests int64 // answered, whatever the status
	// AchievedPerSecond is good answers (2xx, 3xx) a second. In a closed loop: those
	// within Duration. In an open loop: the pace at which they came, so that it
	// equals Rate where the server keeps up, whatever its latency (see pace).
	AchievedPerSecond float64
	Errors            int64            // answers with another status, and requests that got none
	ErrorKinds        map[string]int64 // Errors in words
	FirstError        string           // the first of them in full; empty without any
	Unanswered        int64            // under way when the run ended; neither Requests nor Errors
	Dropped           int64            // intended and never sent

	// Latency is in nanoseconds, three digits. It holds every answer, every time-out
	// and, as at least the time waited, what was unanswered or dropped.
	Latency *hdrhistogram.Histogram
	SendLag *hdrhistogram.Histogram // nanoseconds; nil in a closed loop

	BytesRead int64
	User      time.Duration // CPU time of the engine's threads, from the first request to the end
	System    time.Duration
	Busiest   float64 // CPU time ÷ wall time of the busiest thread; near 1 the engine is the limit

	// InFlight is throughput × mean latency (Little's law). In a closed loop it is
	// close to Connections; well below, the engine was busy elsewhere.
	InFlight float64
}

// Encoded is the latency histogram in HdrHistogram's V2 form: compressed, base64.
func (r *Result) Encoded() (string, error) {
	b, err := r.Latency.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encode the latency histogram: %w", err)
	}
	return string(b), nil
}

// kind is an error that is no status.
type kind int

const (
	kindDial kind = iota
	kindBroken
	kindTimeout
	kindMalformed
	kinds
)

func (k kind) String() string {
	switch k {
	case kindDial:
		return "could not connect"
	case kindBroken:
		return "connection broken"
	case kindTimeout:
		return "timed out"
	}
	return "malformed answer"
}

// newHistogram holds 1 ns to maxLatency in three digits, about 0.3 MB.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(maxLatency), 3)
}

// paceBins is the resolution of counts, see pace.
const paceBins = 4096

// counts is what one thread counted. Nothing in it is shared while it runs.
type counts struct {
	requests   int64
	good       int64 // answers with 2xx or 3xx, the late ones too
	inTime     int64 // of these within the duration
	statuses   [1000]int64
	kinds      [kinds]int64
	unanswered int64
	dropped    int64
	firstError string
	bytes      int64
	latency    *hdrhistogram.Histogram
	lag        *hdrhistogram.Histogram
	bins       [paceBins]int32 // good answers over time, open loop only
	user       time.Duration
	system     time.Duration
	wall       time.Duration
}

func (c *counts) errors() int64 {
	n := c.requests - c.good
	for _, v := range c.kinds {
		n += v
	}
	return n
}

// merge makes one Result of what the threads counted. span is the time that the
// bins of each cover.
func merge(p *plan, all []*counts, duration, elapsed, span time.Duration) *Result {
	r := &Result{
		Mode: ModeClosed, Rate: p.Rate, Connections: p.Connections, Threads: len(all),
		Duration: duration, Elapsed: elapsed,
		ErrorKinds: map[string]int64{}, Latency: newHistogram(),
	}
	if p.Rate > 0 {
		r.Mode, r.SendLag = ModeOpen, newHistogram()
	}
	var good, inTime int64
	bins := make([]int64, paceBins)
	for _, c := range all {
		r.Requests += c.requests
		if r.FirstError == "" {
			r.FirstError = c.firstError
		}
		r.Errors += c.errors()
		r.Unanswered += c.unanswered
		r.Dropped += c.dropped
		r.BytesRead += c.bytes
		r.User += c.user
		r.System += c.system
		r.Latency.Merge(c.latency)
		if r.SendLag != nil {
			r.SendLag.Merge(c.lag)
		}
		good += c.good
		inTime += c.inTime
		for i, n := range c.bins {
			bins[i] += int64(n)
		}
		for k, n := range c.kinds {
			if n > 0 {
				r.ErrorKinds[kind(k).String()] += n
			}
		}
		for status, n := range c.statuses {
			if n > 0 && !goodStatus(status) {
				r.ErrorKinds[fmt.Sprintf("status %d", status)] += n
			}
		}
		if c.wall > 0 {
			r.Busiest = max(r.Busiest, (c.user+c.system).Seconds()/c.wall.Seconds())
		}
	}
	r.AchievedPerSecond = float64(inTime) / duration.Seconds()
	if r.Mode == ModeOpen && duration == p.Duration {
		first := time.Duration(r.Latency.Min())
		r.AchievedPerSecond = min(float64(good)/duration.Seconds(), pace(bins, span, first, duration))
	}
	r.InFlight = float64(inTime) / duration.Seconds() * r.Latency.Mean() / 1e9
	return r
}

func goodStatus(status int) bool { return status >= 200 && status < 400 }

// pace is the rate at which answers came over a window of the duration that
// starts at the first possible answer: the mean of the running count over the
// window's last third, less that over its first, over the two thirds between.
// Answers ÷ duration would miss those under way at the end (3 % at 100 ms and
// 3 s, a false saturation), and a count at one moment hangs on a stall at that
// moment; a mean over a third does not.
func pace(bins []int64, span, first, duration time.Duration) float64 {
	third := duration.Seconds() / 3
	begin := first.Seconds()
	mean := func(from float64) float64 { // of the running count over [from, from+third)
		var sum float64
		for i, n := range bins {
			at := (float64(i) + 0.5) * span.Seconds() / float64(len(bins))
			sum += float64(n) * min(1, max(0, (from+third-at)/third))
		}
		return sum
	}
	return (mean(begin+2*third) - mean(begin)) / (2 * third)
}
