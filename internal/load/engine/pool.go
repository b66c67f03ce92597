package engine

import (
	"context"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/load/wire"
)

// portable is the engine on the connections of package wire. Tests give it a network in
// memory, and a pause that takes their time.
type portable struct {
	open  func(ctx context.Context, network, address string) (net.Conn, error)
	pause func(time.Duration) // the system's finest
}

func (e portable) workers(r *run) ([]worker, error) { return []worker{newPool(r, e)}, nil }

// pool is the one worker of the portable engine: all connections, each read by a
// goroutine of its own, and the schedule, which the worker's goroutine keeps.
//
// A place that becomes free takes what is due itself, on the goroutine that read the
// answer; the schedule only has to send where places are idle. What is counted and
// who is idle is under mu, a connection under its link's lock; who holds both took
// the link's first.
type pool struct {
	portable
	ctx    context.Context // ends the connections' goroutines
	cancel context.CancelFunc
	woken  chan struct{} // something may be over
	left   sync.WaitGroup
	links  []*link

	mu sync.Mutex
	lane
	begun, over bool
	tried       int // links that have tried to connect
	opened      int // links that did
	busy        int // places
	idle        places
	user        time.Duration // CPU time of the process when the measured time started
	system      time.Duration
}

func newPool(r *run, e portable) *pool {
	p := &pool{portable: e, woken: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.lane.init(r, 0, 1)
	for i := range r.Connections {
		t := i % len(r.targets)
		p.perURL[t].Connections += r.Streams
		p.links = append(p.links, newLink(p, t))
	}
	p.idle.ring = make([]*place, r.Connections*r.Streams)
	return p
}

// wake makes the worker's goroutine look at what there is; any goroutine may call it.
func (p *pool) wake() {
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

func (p *pool) progress() (requests, errors int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests, p.errors()
}

// close ends the connections and waits for their goroutines.
func (p *pool) close() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.cancel()
	for _, l := range p.links {
		l.end()
	}
	p.left.Wait()
}

// work connects, reports on setup, waits for the common start and loads.
func (p *pool) work(setup chan<- error) error {
	back, err := Bind(p.CPUs)
	if err == nil {
		defer back()
		err = p.connectAll()
	}
	setup <- err
	<-p.begin
	if err != nil || p.stop.Load() {
		return nil // reported on setup, or cancelled
	}
	p.beginAll()
	if p.Rate > 0 {
		p.keepSchedule()
	}
	for !p.isOver() {
		p.sleep(p.nextCheck())
	}
	p.finish()
	p.close() // so that all that came is counted
	return nil
}

// atOnce is how many connections are opened at a time: handshakes cost the server.
const atOnce = 128

// connectAll opens all connections; one that fails is tried again.
func (p *pool) connectAll() error {
	turn := make(chan struct{}, atOnce)
	for _, l := range p.links {
		p.left.Go(func() { l.work(turn) })
	}
	p.left.Go(p.watch)
	limit := p.clock() + int64(min(p.Timeout, maxSetup)+afterSetup)
	for {
		p.mu.Lock()
		tried, opened, none := p.tried, p.opened, p.noneOpen(len(p.links))
		p.mu.Unlock()
		now := p.clock()
		if tried == len(p.links) || now >= limit || p.stop.Load() {
			if opened == 0 && !p.stop.Load() {
				return none
			}
			return nil
		}
		p.sleep(limit)
	}
}

// beginAll lets the links send.
func (p *pool) beginAll() {
	p.mu.Lock()
	p.begun = true
	p.mu.Unlock()
	for _, l := range p.links {
		l.begin()
	}
}

// isOver looks whether the measured time has started and whether all is over.
func (p *pool) isOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	p.settle(now)
	sending := now < p.end
	if p.Rate > 0 {
		sending = p.slot < p.slots
	}
	return now >= p.last || p.stop.Load() || !sending && p.busy == 0
}

// settle notes what the process has used until the measured time started.
func (p *pool) settle(now int64) {
	if p.settled == 0 && now >= p.from {
		p.settled = now
		p.user, p.system = processCPU()
	}
}

// nextCheck is when to look again though nothing has happened.
func (p *pool) nextCheck() int64 {
	now := p.clock()
	for _, at := range []int64{p.from, p.end} {
		if now < at {
			return at
		}
	}
	return p.last
}

// sleep returns at the time, or when woken.
func (p *pool) sleep(until int64) {
	t := time.NewTimer(time.Duration(until - p.clock()))
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.woken:
	}
}

// finish enters what has not ended and what was never sent.
func (p *pool) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	p.over = true
	for _, l := range p.links {
		for i := range l.places {
			if x := &l.places[i]; x.busy {
				p.hanging(&x.exchange, l.target, now)
			}
		}
	}
	p.unsent(now)
	if p.settled > 0 {
		user, system := processCPU()
		p.counts.user, p.counts.system = user-p.user, system-p.system
		// A process that has its CPUs to itself is at its limit when it uses them all.
		p.wall = time.Duration(now-p.settled) * time.Duration(max(1, parallel(p.CPUs)))
	}
}

// parallel is how many CPUs the engine can use at once.
func parallel(cpus []int) int {
	n := min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	if len(cpus) > 0 {
		n = min(n, len(cpus))
	}
	return n
}

// give hands a free place its next request, or none; it is under mu.
func (p *pool) give(x *place, now int64) (send bool) {
	switch {
	case p.over || !p.begun:
		return false
	case p.Rate == 0:
		if now >= p.end {
			return false
		}
		p.another(&x.exchange, now)
	case p.idle.n > 0 || p.slot >= p.slots || p.intended(p.slot) > now:
		p.idle.push(x)
		return false
	default:
		p.due(&x.exchange, p.intended(p.slot), now)
	}
	x.busy = true
	p.busy++
	return true
}

// done frees a place; it is under mu.
func (p *pool) done(x *place, now int64) {
	x.busy, x.again, x.retries, x.freeAt = false, false, 0, now
	if p.busy--; p.busy == 0 {
		p.wake()
	}
}

// fails counts a failure, once the load has started; it is under mu.
func (p *pool) fails(x *exchange, target int, f wire.Failure, now int64) {
	if !p.begun {
		p.note(target, f.Kind, f.Detail) // the connection is tried again
		return
	}
	p.failure(x, target, f, now)
}

// connecting is called with each attempt to connect.
func (p *pool) connecting(l *link, f *wire.Failure, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open {
		p.opened++
	} else if f != nil && !p.over {
		p.fails(nil, l.target, *f, p.clock())
	}
	if !l.tried {
		l.tried = true
		if p.tried++; p.tried == len(p.links) {
			p.wake()
		}
	}
}
