package live

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/internal/gort"
	"github.com/procfit/procfit/maxprocs/internal/lease"
	"github.com/procfit/procfit/maxprocs/internal/watch"
)

// How far ahead the end of a lease may be, and how often the program looks for one.
const longestLease, idle = 30 * time.Second, time.Second

// allowing is held while Allow looks whether it is the first: another one would write a
// leased value as the one before the lease, which the end of the lease restores.
var allowing sync.Mutex

// Option changes what Allow accepts. A nil Option is ignored.
type Option func(*lessee)

// Max is the highest GOMAXPROCS of an experiment, if that is above the value at its start.
func Max(n int) Option { return func(l *lessee) { l.max = n } }

// Refuse is asked before each lease, renewal and change. If it returns an error there is
// no experiment, or no longer: the program is not ready, is draining, or is the leader. A
// lease ends in time while it is asked, however long it takes.
func Refuse(f func() error) Option { return func(l *lessee) { l.refuse = f } }

// Allow lets procfit change GOMAXPROCS for a while, and read m; if that is nil, the first
// Meter that is used. end ends that, and restores GOMAXPROCS; it may be called from any
// goroutine, and more than once. Outside Linux, and while an earlier Allow has not ended,
// Allow does nothing.
func Allow(m *Meter, opts ...Option) (end func()) {
	l := &lessee{block: &shared}
	l.ctx, l.stop = context.WithCancel(context.Background())
	for _, o := range opts {
		if o != nil {
			o(l)
		}
	}
	allowing.Lock()
	defer allowing.Unlock()
	if monotonic() == 0 || l.state.Load() == allowed {
		return func() {}
	}
	l.tell() // before it is allowed: whoever reads that reads a value too
	l.state.Store(allowed)
	if m == nil {
		l.counters.CompareAndSwap(nil, &nobody)
	} else {
		l.counters.Store(&m.counters)
	}
	go l.run()
	return sync.OnceFunc(l.end)
}

type lessee struct {
	*block
	max    int
	refuse func() error
	ctx    context.Context // ends with Allow
	stop   func()
	last   request // which was answered last

	mu   sync.Mutex
	held request // what is obeyed; lease 0: nothing
	auto bool    // before is the runtime's own default, which it keeps up to date
}

// run looks once a second, and 50 times a second under a lease.
func (l *lessee) run() {
	var p probe
	_ = watch.Every(l.ctx, idle, func() (done bool) {
		for l.look() && l.holder.Load() != 0 {
			p.wait(l.counters.Load())
		}
		p.close()
		return false
	})
}

// look answers a new request. It is false after the end.
func (l *lessee) look() bool {
	q, whole := l.wanted()
	var no error
	asked := whole && q != l.last
	if asked && l.refuse != nil {
		no = l.ask() // without the lock: the lease must end in time
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return false
	}
	if l.held.lease != 0 && runtime.GOMAXPROCS(0) != int(l.held.procs) {
		l.restore(setByOther)
	}
	l.tell()
	if now, still := l.wanted(); asked && still && now == q { // procfit takes back what is not answered in time
		l.answer(q, no)
	}
	return true
}

// answer obeys a request and says so. If it was taken back meanwhile, either procfit reads the
// answer, or the request is seen here to be gone.
func (l *lessee) answer(q request, no error) {
	l.last = q
	l.why.Store(uint64(l.obey(q, no)))
	l.seq.Store(q.seq)
	if now, _ := l.wanted(); now.lease == 0 {
		l.restore(released)
	}
}

// tell writes what holds now.
func (l *lessee) tell() {
	if l.held.lease == 0 {
		l.before.Store(uint64(runtime.GOMAXPROCS(0)))
	}
	l.most.Store(uint64(max(int(l.before.Load()), l.max)))
	l.procs.Store(uint64(runtime.GOMAXPROCS(0)))
	l.looked.Store(uint64(monotonic()))
}

// ask asks the program. Its panic is a refusal.
func (l *lessee) ask() (no error) {
	defer func() {
		if recover() != nil {
			no = errPanicked
		}
	}()
	return l.refuse()
}

func (l *lessee) obey(q request, no error) reason {
	now := monotonic()
	switch {
	case l.held.lease != 0 && q.lease != l.held.lease:
		return taken
	case q.lease == l.over.Load():
		return reason(l.why.Load())
	case q.procs == 0:
		return l.restore(released)
	case no != nil:
		l.say(no.Error())
		return l.restore(refused)
	case q.procs > l.most.Load() || q.end <= now || q.end-now > int64(longestLease):
		return outOfRange
	}
	if l.held.lease == 0 {
		lease.Take()
		l.held.procs = l.before.Load()
		l.auto = gort.HasDefault && !gort.ValidEnv(os.Getenv("GOMAXPROCS")) && int(l.held.procs) == facts.Decide(facts.Read(), facts.Go{}).Procs
	}
	l.holder.Store(q.lease)
	time.AfterFunc(time.Duration(q.end-now), l.expire)
	if q.procs != l.held.procs {
		runtime.GOMAXPROCS(int(q.procs))
		l.procs.Store(q.procs)
		l.when.Store(uint64(monotonic()))
		l.took.Store(l.when.Load() - uint64(now))
	}
	l.held = q
	return 0
}

func (l *lessee) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := monotonic(); now >= l.held.end || now == 0 { // else the lease was renewed
		l.restore(ranOut)
	}
}

// restore ends a lease, and restores GOMAXPROCS unless something else has set it.
func (l *lessee) restore(why reason) reason {
	if l.held.lease == 0 {
		return why
	}
	defer lease.Return()
	now, before := runtime.GOMAXPROCS(0), int(l.before.Load())
	if ours := now == int(l.held.procs); ours && l.auto {
		gort.SetDefault() // so that the runtime keeps it up to date again
	} else if ours && now != before {
		runtime.GOMAXPROCS(before)
	}
	l.over.Store(l.held.lease)
	l.held = request{}
	l.why.Store(uint64(why))
	l.procs.Store(uint64(runtime.GOMAXPROCS(0)))
	l.holder.Store(0) // last: whoever reads that the lease is over reads its own value too
	return why
}

func (l *lessee) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.restore(switchedOff)
	l.state.Store(off)
	l.stop()
}
