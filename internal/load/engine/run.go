package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/load"
)

// drain is how long answers are waited for after a loop of the duration: a short one
// would else take a program that is slow on a busy machine for one that hangs.
func drain(duration time.Duration) time.Duration {
	return min(max(duration, minDrain), maxDrain)
}

const (
	minDrain    = time.Second            // how long after the duration answers are waited for, at least
	maxDrain    = 2 * time.Second        // and at most
	maxSetup    = 5 * time.Second        // for all connections to open before the first request
	lateEnd     = 10 * time.Second       // after its last moment, when threads that are still at work are woken
	giveUp      = 30 * time.Second       // after that, when the run has failed
	openLead    = time.Millisecond       // so that the first slot is not late by the threads' waking
	reportEvery = 500 * time.Millisecond // what is due for Each
)

// Run offers the load and returns when it is over. Cancelled, it returns at
// once with what was measured and the context's error. Any other error means
// that nothing was measured.
func Run(ctx context.Context, o load.Options) (*load.Result, error) {
	p, err := prepare(o)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	addresses, err := resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Undefined() {
		if err := p.askTypes(ctx); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
	}
	return p.offer(ctx, addresses)
}

// offer is Run of what was prepared, at the addresses of its targets.
func (p *plan) offer(ctx context.Context, addresses []netip.AddrPort) (*load.Result, error) {
	r := &run{plan: p, addresses: addresses, base: time.Now(), begin: make(chan struct{})}
	r.settling = int64(math.Ceil(p.Rate * p.Settle.Seconds()))
	r.drawTimes()
	var err error
	if r.workers, err = p.engine(r); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	result, err := r.do(ctx)
	if !errors.Is(err, errStuck) { // else threads use what would be closed
		r.close()
	}
	return result, err
}

// errStuck is that a thread neither ended at the run's last moment nor when run.stop was
// set. What was measured until then is not to be trusted.
var errStuck = errors.New("the load generator did not end, so its results are lost: the machine gave it no CPU time, or procfit has a bug")

// run is what the workers of one Run share; it does not change once they send.
type run struct {
	*plan
	addresses []netip.AddrPort // of the targets
	base      time.Time        // the clock of all threads counts from here
	workers   []*loop
	begin     chan struct{} // closed when all are connected
	stop      atomic.Bool   // set before the threads are woken to end at once

	// In nanoseconds since base, set before start is closed.
	start, from, end, last int64 // the first intended send; the measured time; no send is intended after end, none made after last

	reported int64 // intervals that Each was called for
	settling int64 // requests of an open loop's schedule before the measured time
}

// clock is the time since base in nanoseconds, from the monotonic clock.
func (r *run) clock() int64 { return int64(time.Since(r.base)) }

func (r *run) close() {
	for _, w := range r.workers {
		w.net.close()
	}
}

func (r *run) do(ctx context.Context) (*load.Result, error) {
	if err := r.await(ctx); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	duration := r.Duration
	if r.stop.Load() {
		duration = min(duration, time.Duration(max(1, r.clock()-r.from)))
	}
	r.report(r.clock())
	all := make([]*counts, len(r.workers))
	for i, w := range r.workers {
		all[i] = &w.counts
	}
	return merge(r.plan, all, duration, time.Duration(r.last-r.from)), ctx.Err()
}

// await starts the threads and waits until all have ended. An error means that nothing
// was measured.
func (r *run) await(ctx context.Context) (failed error) {
	setup := make(chan error, len(r.workers))
	done := make(chan error, len(r.workers))
	var tick <-chan time.Time
	if r.Each != nil {
		t := time.NewTicker(reportEvery)
		defer t.Stop()
		tick = t.C
	}
	for _, w := range r.workers {
		go func() { done <- w.work(setup) }()
	}
	var over <-chan time.Time              // the end of Duration
	last := time.After(maxSetup + lateEnd) // when all must have ended
	cancelled := ctx.Done()
	for connected, left := 0, len(r.workers); left > 0; {
		var err error
		halt := false
		select {
		case err = <-setup:
			if connected++; connected == len(r.workers) {
				over = r.schedule(err == nil && failed == nil && !r.stop.Load())
				last = time.After(time.Duration(r.last-r.clock()) + lateEnd)
			}
		case <-over:
			over = nil
			r.ended()
		case err = <-done:
			left--
		case <-cancelled:
			cancelled, halt = nil, true
		case <-last:
			if r.stop.Load() {
				return errStuck
			}
			halt = true
		case <-tick:
			if connected == len(r.workers) {
				r.report(r.clock() - int64(intervalLength+intervalGrace))
			}
		}
		if err != nil && failed == nil {
			failed, halt = err, true
		}
		if halt {
			r.halt()
			last = time.After(giveUp)
		}
	}
	if failed == nil && over != nil { // the threads were quicker to end than the timer to fire
		r.ended()
	}
	return failed
}

// schedule sets the common start and releases the threads: to send, where over is the end of
// Duration, or, where nothing can be sent, to end.
func (r *run) schedule(sends bool) (over <-chan time.Time) {
	if sends && r.Began != nil {
		r.Began()
	}
	r.start = r.clock()
	if r.Rate > 0 {
		r.start += int64(openLead)
	}
	r.from = r.start + int64(r.Settle)
	if r.Rate > 0 {
		r.from = r.start + r.even(r.settling)
	}
	r.end = r.from + int64(r.Duration)
	r.last = r.end + int64(drain(r.Duration))
	close(r.begin)
	if sends {
		over = time.After(time.Duration(r.end - r.clock()))
	}
	return over
}

func (r *run) ended() {
	if r.Ended != nil {
		r.Ended()
	}
}

func (r *run) halt() {
	r.stop.Store(true)
	for _, w := range r.workers {
		w.net.wake()
	}
}

// resolve finds the address of each target by connecting to it once. This chooses one
// of a name's addresses, and shows early that nothing listens there.
func resolve(ctx context.Context, p *plan) ([]netip.AddrPort, error) {
	dialer := net.Dialer{Timeout: min(p.Timeout, maxSetup)}
	addresses := make([]netip.AddrPort, len(p.Targets))
	for i, t := range p.Targets {
		conn, err := dialer.DialContext(ctx, "tcp", t.Address)
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return nil, fmt.Errorf("load: cannot connect to %s: %w", t.URL, err)
		}
		addresses[i] = conn.RemoteAddr().(*net.TCPAddr).AddrPort()
		conn.Close()
	}
	return addresses, nil
}

// engine makes the workers of a run; their work has not started.
type engine func(r *run) ([]*loop, error)

// chooseThreads is the number of event loops. One thread carries about 100,000
// requests a second and leaves the other CPUs to the server, so the load takes
// a quarter of a shared machine, all CPUs that were set aside for it, and in an
// open loop no more than the rate asks for. procs bounds it since each running
// loop holds a P.
func chooseThreads(o load.Options, cpus, procs int) int {
	n := cpus / 4
	if len(o.CPUs) > 0 {
		n = len(o.CPUs)
	}
	if o.Rate > 0 {
		n = min(n, int(o.Rate/40_000)+1)
	}
	n = min(n, procs, 16)
	if o.Threads > 0 {
		n = o.Threads
	}
	return max(1, min(n, o.Connections))
}
