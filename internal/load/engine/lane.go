package engine

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// lane is one worker's share of the schedule, and what it counted. It is for one
// goroutine at a time.
type lane struct {
	*run
	id, of int

	slot, slots int64      // of an open loop: the next one, and how many there are
	seconds     *intervals // nil: nobody watches
	picked      int64      // requests of a closed loop that were chosen so far
	settled     int64      // when the measured time was seen to have started; 0: not yet
	binsPerNano float64

	counts
	shown atomic.Int64 // requests that failed, for Each
}

// init makes a lane with every several-th request of the schedule.
func (l *lane) init(r *run, id, of int) {
	l.run, l.id, l.of = r, id, of
	l.part = r.empty()
	if r.Each != nil {
		l.seconds = &intervals{open: map[int64]*hdrhistogram.Histogram{}}
	}
	if r.Rate > 0 {
		l.slots = l.share(r.settling + int64(math.Ceil(r.Rate*r.Duration.Seconds())))
		l.binsPerNano = paceBins / float64(r.Duration+drain(r.Duration))
	}
}

func (l *lane) intended(slot int64) int64 { return l.start + l.after(l.number(slot)) }

// number is the slot's in the schedule of all lanes.
func (l *lane) number(slot int64) int64 { return slot*int64(l.of) + int64(l.id) }

// pick is which of a target's requests that of a number is.
func (r *run) pick(number int64) int32 {
	if r.mix == nil {
		return 0
	}
	return r.mix.pick(number)
}

// due gives the next slot, intended at a time, to a free place, and notes how late
// it is.
func (l *lane) due(x *place, at, now int64) {
	x.request = l.pick(l.number(l.slot))
	l.slot++
	if at >= l.from {
		l.part.SendLag.RecordValue(min(max(0, now-max(at, x.freeAt)), int64(maxLatency)))
	}
	x.start, x.sentAt = at, now
}

// another gives a free place its next request of a closed loop.
func (l *lane) another(x *place, now int64) {
	x.request = l.pick(l.number(l.picked))
	l.picked++
	x.start, x.sentAt = now, now
}

// answered counts an answer. One to a request of the settling counts only for what
// arrives within the duration.
func (l *lane) answered(x *place, status wire.Status, now int64) {
	good := status.Good()
	if now < l.end {
		l.part.Counted++
		if good && now >= l.from {
			l.inTime++
		}
	}
	if x.start < l.from {
		return
	}
	took, target := now-x.start, x.conn.target
	l.part.Requests++
	l.part.PerURL[target].Answered++
	record(l.part.Latency, took)
	l.watch(now, took)
	if l.fastest == 0 || took < l.fastest {
		l.fastest = max(1, took)
	}
	l.statuses[status]++
	if of := l.byName(x.request); of != nil {
		of.Answered++
		record(of.Latency, took)
		if !good {
			of.Errors++
		}
	}
	if !good {
		l.part.Errors++
		l.part.PerURL[target].Failed++
		l.note(target, status.Kind(), "")
		return
	}
	l.part.Good++
	if l.Rate > 0 {
		if i := int(float64(now-l.from) * l.binsPerNano); i < paceBins {
			l.bins[i]++
		}
	}
}

// failure counts an error, with the request that it ends, if there is one. That
// counts as at least as late as it waited: who retries it waits longer still.
func (l *lane) failure(x *place, target int, why wire.Failure, now int64) {
	if now < l.from {
		return
	}
	if x == nil {
		l.part.FailedConnections++
	} else {
		record(l.part.Latency, now-x.start)
		l.watch(now, now-x.start)
		if of := l.byName(x.request); of != nil {
			of.Errors++
			record(of.Latency, now-x.start)
		}
	}
	l.part.Errors++
	l.part.ErrorKinds[why.Kind]++
	l.part.PerURL[target].Failed++
	l.note(target, why.Kind, why.Detail)
}

func (l *lane) note(target int, k load.Kind, detail string) {
	if l.part.FirstError.Kind == "" {
		l.part.FirstError = load.Failure{Kind: k, URL: l.targets[target].URL, Detail: detail}
	}
}

// noneOpen is why nothing can be measured where no connection could be opened: the
// first failure, or that there was neither that nor a connection.
func (l *lane) noneOpen(connections int) error {
	first := cmp.Or(l.part.FirstError, load.Failure{Kind: load.KindConnectTimeout, URL: l.targets[0].URL, Detail: "nothing came within " + number.Chosen(min(l.Timeout, maxSetup))})
	return fmt.Errorf("could not open any of %s: %s", phrase.Count(connections, "connection"), first)
}

// hanging enters a request that has no answer at the end.
func (l *lane) hanging(x *place, now int64) {
	hangs := int64(0)
	if x.sentAt < l.end || x.silent {
		hangs = 1
	}
	u := &l.part.PerURL[x.conn.target]
	u.Unanswered++
	u.Hanging += hangs
	record(l.part.Latency, now-x.start)
	if of := l.byName(x.request); of != nil {
		of.Unanswered++
		of.Hanging += hangs
		record(of.Latency, now-x.start)
	}
}

// unsent counts the slots that were due and never sent, but for those of the
// settling, as lasting at least until now. They are taken in about 1,000 groups,
// each at its middle.
func (l *lane) unsent(now int64) {
	due := l.slots
	if l.Rate > 0 && now < l.end { // cancelled: the rest was not intended yet
		due = min(due, l.share(int64(math.Ceil(float64(now-l.start)*l.Rate/1e9))))
	}
	l.slot = max(l.slot, l.share(l.settling))
	step := max(1, (due-l.slot)/1000)
	for ; l.slot < due; l.slot += step {
		n := min(step, due-l.slot)
		middle := l.slot + n/2
		waited := min(max(now-l.intended(middle), 1), int64(maxLatency))
		l.part.Latency.RecordValues(waited, n)
		if of := l.byName(l.pick(l.number(middle))); of != nil {
			of.Dropped += n
			of.Latency.RecordValues(waited, n)
		}
		l.part.Dropped += n
	}
}

// share is how many of the first n requests of the schedule are this lane's.
func (l *lane) share(n int64) int64 {
	return max(0, (n-int64(l.id)+int64(l.of)-1)/int64(l.of))
}

func record(to *hdrhistogram.Histogram, nanos int64) {
	to.RecordValue(min(max(nanos, 1), int64(maxLatency)))
}
