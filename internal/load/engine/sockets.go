package engine

import (
	"net"
	"runtime"
	"sync"
	"time"
)

// portable is the engine on connections of package net.
func portable(dial dialer) engine {
	return func(r *run) ([]*loop, error) {
		w := &loop{}
		w.init(r, 0, 1)
		w.net = &sockets{attempts: newAttempts(dial), w: w, woken: make(chan struct{}, 1)}
		return []*loop{w}, nil
	}
}

// sockets is a network of connections of package net, each of which has a goroutine that
// waits for bytes. That goroutine itself does what follows on them, while it holds the
// lock; the loop's own only keeps the time.
type sockets struct {
	*attempts
	w     *loop
	woken chan struct{}

	mu    sync.Mutex // of the loop; held by its goroutine unless that waits
	armed int64      // until when it waits; 0: it does not
	over  bool
}

func (s *sockets) begin() (end func(), err error) {
	back, err := Bind(s.w.CPUs)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	return func() {
		s.over = true // what comes now counts no more
		s.mu.Unlock()
		back()
	}, nil
}

func (s *sockets) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

func (s *sockets) wait(until int64) error {
	s.armed = until
	s.mu.Unlock()
	t := time.NewTimer(time.Duration(until - s.w.clock()))
	select {
	case <-t.C:
	case <-s.woken:
	}
	t.Stop()
	s.mu.Lock()
	s.armed = 0
	return nil
}

// locked does something with a connection, unless that is another one by now, and then what
// is due.
func (s *sockets) locked(c *conn, generation int32, do func()) (done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || c.generation != generation || c.state == stateClosed {
		return false
	}
	do()
	over := false
	if s.w.loading {
		over, _ = s.w.step() // the loop's own goroutine returns an error of used
	}
	if over || !s.w.loading || s.w.next() < s.armed {
		s.wake()
	}
	return true
}

func (s *sockets) used() (user, system time.Duration, cpus int, err error) {
	user, system, err = processCPU()
	cpus = min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	if len(s.w.CPUs) > 0 {
		cpus = min(cpus, len(s.w.CPUs))
	}
	return user, system, cpus, err
}

func (s *sockets) close() {
	s.mu.Lock()
	for i := range s.w.conns {
		s.w.shut(&s.w.conns[i])
	}
	s.mu.Unlock()
	s.cancel()
	s.left.Wait()
}

func (s *sockets) open(c *conn) {
	s.start(s.w, c, func(c net.Conn) net.Conn { return c }, func(a *attempt) {
		p := &socket{network: s, conn: c, generation: a.generation, below: a.below, over: a.below}
		if a.secure != nil {
			p.over = a.secure
		}
		taken := s.locked(c, a.generation, func() {
			if a.failure != nil {
				s.w.lose(c, a.failure, s.w.clock())
				return
			}
			s.w.connected(c, p, a.spoken)
		})
		switch {
		case a.failure != nil:
		case taken:
			p.readAll()
		default:
			a.below.Close()
		}
	})
}

type socket struct {
	network     *sockets
	conn        *conn
	generation  int32
	below, over net.Conn // that is closed; that bytes go through: TLS or plain

	in      []byte // that came and were not taken
	end     error  // behind them
	unread  int    // bytes written since something came
	writing bool   // a goroutine does
	wrote   int    // bytes that it wrote, which the loop does not know yet
	failed  error  // why no more
}

func (p *socket) readAll() {
	buf := make([]byte, 64<<10)
	for {
		n, err := p.over.Read(buf)
		taken := p.network.locked(p.conn, p.generation, func() {
			p.in, p.end, p.unread = buf[:n], err, 0
			p.network.w.read(p.conn)
		})
		if !taken || err != nil {
			return
		}
	}
}

func (p *socket) Read() (b []byte, more bool, end error) {
	b, p.in = p.in, nil
	return b, false, p.end
}

// atHand is how many bytes a connection takes of which the server has read nothing.
const atHand = 8 << 10

// Write writes little at once, and leaves what may take time to a goroutine.
func (p *socket) Write(b []byte) (sent int, wait bool, err error) {
	if p.writing {
		return 0, true, nil
	}
	sent, p.wrote = p.wrote, 0
	switch b = b[sent:]; {
	case p.failed != nil || len(b) == 0:
		return sent, false, p.failed
	case p.unread+len(b) <= atHand:
		p.unread += len(b)
		n, err := p.over.Write(b)
		return sent + n, false, err
	}
	p.writing = true
	p.network.left.Go(func() {
		n, err := p.over.Write(b)
		p.network.locked(p.conn, p.generation, func() {
			p.writing, p.wrote, p.failed = false, n, err
			p.network.w.write(p.conn)
		})
	})
	return sent, true, nil
}

func (p *socket) Close(reset bool) {
	if tcp, ok := p.below.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = p.below.Close()
}
