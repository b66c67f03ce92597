package engine

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
)

// intervalLength is that of an Interval.
const intervalLength = time.Second

// intervals are those of one lane that were not reported yet, by their number. A lane that
// is not watched has none: the lock is for those that are.
type intervals struct {
	mu   sync.Mutex
	open map[int64]*hdrhistogram.Histogram
}

// add enters a latency at a time after the beginning of the measured time.
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

// take adds an interval to a histogram, and forgets it.
func (v *intervals) take(number int64, to *hdrhistogram.Histogram) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if h := v.open[number]; h != nil {
		to.Merge(h)
		delete(v.open, number)
	}
}

// watch enters a latency in its interval, where somebody watches.
func (l *lane) watch(now, nanos int64) {
	if l.seconds != nil {
		l.seconds.add(now-l.from, nanos)
	}
}

// intervalGrace is how long an interval is left open for lanes that are late to count.
const intervalGrace = 100 * time.Millisecond

// report calls Each for the intervals that are over.
func (r *run) report(now int64) {
	if r.Each == nil || r.from == 0 {
		return
	}
	for ; r.from+(r.reported+1)*int64(intervalLength)+int64(intervalGrace) <= now; r.reported++ {
		r.reportOne(r.reported)
	}
}

// reportLast calls Each for what is left, up to the end of the run.
func (r *run) reportLast(now int64) {
	if r.Each == nil || r.from == 0 {
		return
	}
	for ; r.from+r.reported*int64(intervalLength) < now; r.reported++ {
		r.reportOne(r.reported)
	}
}

func (r *run) reportOne(number int64) {
	one := load.Interval{
		Start:  r.base.Add(time.Duration(r.from + number*int64(intervalLength))),
		Length: intervalLength, Latency: newHistogram(),
	}
	for _, w := range r.workers {
		if v := w.watched(); v != nil {
			v.take(number, one.Latency)
		}
	}
	r.Each(one)
}
