// Package live measures what the requests of the running process cost, and lets procfit try
// other values of GOMAXPROCS in it for a while. It changes nothing unless the program allows
// it, and it never listens: procfit reads and writes the memory of the process.
//
//	var meter live.Meter // ready as it is
//	defer live.Allow(&meter)()
//	srv := &http.Server{Handler: meter.Middleware(mux), ConnContext: meter.ConnContext}
//	srv.Serve(meter.Listener(l))
//
// # Measurement
//
// The [Meter] is useful alone. Its arrival is the latency from the kernel's receipt of a
// request (SO_TIMESTAMPING) to the start of the last write of the answer. A middleware
// that starts its clock in the handler omits the wait before the handler, which is where
// a GOMAXPROCS that is too low costs most. What nothing inside a process can see are the
// waits before the kernel has the request: in a client's pool, in a load balancer, until a
// connection is made. The wait of a connection that the program has not accepted yet is
// included.
//
//   - HTTP/1.1: exact for each request. The first read of a body counts from its last
//     segment.
//   - TLS: the stamp is that of the last record.
//   - HTTP/2: the stamp is that of the connection's last read, and the latency ends with
//     the handler. Metrics.Streams counts these requests.
//   - What is not HTTP: Begin, or Arrived if the program knows when the work was queued.
//   - Outside Linux there is no arrival; the handler's time and the CPU time remain.
//
// Of several Meters procfit reads that of [Allow], otherwise the first that is used.
//
// # Change
//
// After [Allow], procfit can ask for another GOMAXPROCS. It writes the value and an end into
// a few words of this package's data, which it finds by a mark. That takes the right to write
// the memory of the process. The program looks once a second, and 50 times per second while
// there is such a lease, and changes the value itself. A lease ends by itself after at most
// 30 seconds unless procfit renews it. The process then returns to the value that it had, or,
// if that was the runtime's default, to this default, which the runtime keeps up to date.
// Meanwhile Set, Watch and Start of package maxprocs change nothing. If something else calls
// runtime.GOMAXPROCS, the lease ends, and that value is kept. By default no value above the
// one at the start of the lease is accepted: programs that sized something by it at start
// have crashed with more.
package live

import (
	"context"
	"net"
	"net/http"
	"runtime/metrics"
	"sync"
	"time"
)

// Meter counts the requests of this process and how long they took. Its zero value is
// ready to use, concurrently too. It must not be copied.
type Meter struct {
	counters
	accepted sync.Map // connections of Listener, by the address of their peer
}

// Metrics are what a Meter has counted since the process began. Whoever wants them for a
// time subtracts two readings.
type Metrics struct {
	At       int64   `json:"at"`        // Unix nanoseconds
	Requests uint64  `json:"requests"`  // that ended
	InFlight uint64  `json:"in_flight"` // between the start of their handler and its end
	Failed   uint64  `json:"failed"`    // answered with a status of 500 or more, ended with an error or by a panic
	Panics   uint64  `json:"panics"`    // of handlers, but for http.ErrAbortHandler
	Streams  uint64  `json:"streams"`   // of HTTP/2, whose arrival is that of the last read of their connection
	Hijacked uint64  `json:"hijacked"`  // taken from the server, such as WebSockets: counted, without a latency
	CPU      float64 `json:"cpu"`       // seconds of this process, user and system; 0 on systems other than Unix and Windows
	GCCycles uint64  `json:"gc_cycles"`
	GCCPU    float64 `json:"gc_cpu"` // seconds, as of the last collection

	// Arrival is from the kernel's receipt of a request to the start of the last write of
	// its answer. A request is in it only if it came through the Listener, or was begun by
	// Arrived.
	Arrival Histogram `json:"arrival"`
	// Handler is from the start of the handler, or Begin, to its end. It omits the wait
	// before the handler, and with it most of what a GOMAXPROCS that is too low costs.
	Handler Histogram `json:"handler"`
	// Ready is, while there is a lease, how late a goroutine runs after the kernel has woken
	// it, 50 times a second at random.
	Ready Histogram `json:"ready"`
}

var gcMetrics = [...]string{"/gc/cycles/total:gc-cycles", "/cpu/classes/gc/total:cpu-seconds"}

// Read reads all metrics.
func (m *Meter) Read() Metrics {
	f := Metrics{
		At: time.Now().UnixNano(), Requests: m.ended.Load(), Failed: m.failed.Load(), Panics: m.panics.Load(),
		Streams: m.streams.Load(), Hijacked: m.hijacked.Load(), CPU: cpuTime().Seconds(),
		Arrival: m.arrival.read(), Handler: m.handler.read(), Ready: m.ready.read(),
	}
	if started := m.started.Load(); started > f.Requests {
		f.InFlight = started - f.Requests
	}
	samples := []metrics.Sample{{Name: gcMetrics[0]}, {Name: gcMetrics[1]}}
	metrics.Read(samples)
	if v := samples[0].Value; v.Kind() == metrics.KindUint64 {
		f.GCCycles = v.Uint64()
	}
	if v := samples[1].Value; v.Kind() == metrics.KindFloat64 {
		f.GCCPU = v.Float64()
	}
	return f
}

// Work is a piece of work that is not an HTTP request. The zero value is none.
type Work struct {
	meter   *Meter
	started time.Time
	arrived time.Time
}

// Begin counts a piece of work from now on, such as a message of a queue or a call of gRPC.
// Call End when it is done.
func (m *Meter) Begin() Work {
	if m.started.Add(1) == 1 {
		m.publish()
	}
	return Work{meter: m, started: time.Now()}
}

// Arrived is Begin for work that has waited since at, such as the time that a queue wrote
// into its message. Its latency includes that wait, of which at most a day counts.
func (m *Meter) Arrived(at time.Time) Work {
	w := m.Begin()
	w.arrived = at
	return w
}

// End counts the work as done, and as failed if err is not nil. Call it once.
func (w Work) End(err error) {
	if w.meter == nil {
		return
	}
	now := time.Now()
	w.meter.handler.add(now.Sub(w.started))
	if !w.arrived.IsZero() {
		w.meter.arrival.add(now.Sub(w.arrived))
	}
	w.meter.end(err != nil)
}

func (m *Meter) end(failed bool) {
	if failed {
		m.failed.Add(1)
	}
	m.ended.Add(1)
}

type connKey struct{}

// ConnContext is for the field ConnContext of http.Server. It lets Middleware find the
// connections of Listener, also if TLS or other listeners wrap them.
func (m *Meter) ConnContext(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // *tls.Conn
		c = t.NetConn()
	}
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	// What wraps a connection hands on the address of its peer, the same pointer.
	peer, _ := c.RemoteAddr().(*net.TCPAddr)
	if own, ok := m.accepted.LoadAndDelete(peer); ok {
		return context.WithValue(ctx, connKey{}, own)
	}
	return ctx
}

// Middleware counts the requests that next answers. It allocates nothing per request. The
// ResponseWriter that next gets has Unwrap and CloseNotify, and implements http.Flusher,
// http.Hijacker, http.Pusher and io.ReaderFrom where the server's own does.
func (m *Meter) Middleware(next http.Handler) http.Handler {
	m.publish()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := time.Now()
		m.started.Add(1)
		x := newResponse()
		x.w, x.from, x.meter = w, from, m
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			x.conn, x.came = c, c.came.Load()
		}
		x.stream = r.ProtoMajor >= 2
		defer func() {
			p := recover()
			x.done(p)
			if p != nil {
				panic(p) // here the stack still shows where it began
			}
		}()
		next.ServeHTTP(x.as(), r)
	})
}
