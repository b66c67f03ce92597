// Package live lets an experiment change the GOMAXPROCS of the running process for a
// while, and measures what its requests cost meanwhile. It changes nothing, and opens no
// socket, unless the program asks for it:
//
//	var meter live.Meter // ready as it is
//	agent := live.New(&meter)
//	control, err := agent.Listen("/run/app/procfit.sock")
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
// # Change
//
// An [Agent] changes GOMAXPROCS only under a lease, which the experiment renews and which
// ends by itself after at most 30 seconds. The process then returns to the value that it
// had, or, if that was the runtime's default, to this default, which the runtime keeps up
// to date. Meanwhile Set, Watch and Start of package maxprocs change nothing. If something
// else calls runtime.GOMAXPROCS, or if the CPU limit or the affinity changes, the lease
// ends; a value that something else has set is kept. By default no value above the one at
// the start of the lease is accepted: programs that sized something by it at start have
// crashed with more.
package live

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/internal/gort"
	"github.com/procfit/procfit/maxprocs/internal/lease"
)

// Bounds of a lease, and the shortest time between two changes.
const (
	ShortestLease = 500 * time.Millisecond
	LongestLease  = 30 * time.Second
	BetweenSwitch = 200 * time.Millisecond
)

// Agent is the process's side of an experiment. Use New to make one.
type Agent struct {
	options
	meter    *Meter
	asking   sync.Mutex    // Refuse is called once at a time
	patience time.Duration // with the body of a request

	mu       sync.Mutex
	off      bool
	lease    string
	ended    string // why the last lease ended
	start    int    // GOMAXPROCS when the lease began
	set      int    // what the lease has set last; 0: nothing
	auto     bool   // start is the runtime's own default, which it keeps up to date
	place    place
	expires  time.Time
	timer    *time.Timer
	probing  func() // ends the probe
	last     Switched
	seq      int64
	switches int
}

// Min is the lowest GOMAXPROCS that an experiment may set. The default is 1.
func Min(n int) Option { return func(a *options) { a.min = n } }

// OnSwitch is called after each change of GOMAXPROCS by the Agent. A panic in it is
// ignored.
func OnSwitch(f func(Switch)) Option { return func(a *options) { a.onSwitch = f } }

// Unit is what a piece of work is called, such as "message". The default is "request".
func Unit(name string) Option { return func(a *options) { a.unit = name } }

// Switch is one change of GOMAXPROCS.
type Switch struct {
	From, To int
	Why      string // "experiment", or why the value was restored
}

// New returns an Agent, which changes nothing until an experiment has a lease. If m is
// nil, the Agent has a Meter of its own, which counts no requests.
func New(m *Meter, opts ...Option) *Agent {
	if m == nil {
		m = new(Meter)
	}
	a := &Agent{options: options{min: 1, unit: "request"}, meter: m, patience: slowest}
	for _, o := range opts {
		if o != nil {
			o(&a.options)
		}
	}
	if a.min < 1 {
		a.min = 1
	}
	return a
}

// Off ends an experiment that is running, restores GOMAXPROCS, and refuses all further
// experiments. It may be called from any goroutine, and more than once.
func (a *Agent) Off() {
	a.mu.Lock()
	s := a.end("the program switched experiments off")
	a.off = true
	a.mu.Unlock()
	a.tell(s)
}

// tell calls OnSwitch, without the lock.
func (a *Agent) tell(s Switch) {
	if a.onSwitch != nil && s.To != 0 {
		defer func() { _ = recover() }() // what a program logs must not end it
		a.onSwitch(s)
	}
}

// place is what the value depends on.
type place struct {
	limit    float64 // CPUs; 0: none
	affinity int
	def      int // the runtime's default
}

func look() place {
	f := facts.Read()
	p := place{affinity: f.AffinityCPUs(), def: facts.Decide(f, facts.Go{}).Procs}
	if l, ok := f.Tightest(); ok {
		p.limit = l.CPUs
	}
	return p
}

// take begins a lease, or renews it. refused is what Refuse has returned.
func (a *Agent) take(name string, ttl time.Duration, refused error) (Switch, *refusal) {
	switch {
	case a.off:
		return Switch{}, refuse(403, "off", "the program has switched experiments off")
	case !isLease(name):
		return Switch{}, refuse(400, "lease", "expected a random name of 32 to 128 hexadecimal digits")
	case ttl < ShortestLease || ttl > LongestLease:
		return Switch{}, refuse(400, "ttl", "ttl_ms "+strconv.FormatInt(ttl.Milliseconds(), 10)+": expected 500 to 30000")
	case a.lease != "" && a.lease != name:
		left := time.Until(a.expires).Round(time.Millisecond)
		return Switch{}, refuse(409, "leased", "another experiment has the lease for "+left.String()+" more")
	}
	if refused != nil {
		return a.end("the program refused: " + refused.Error()), refuse(503, "refused", refused.Error())
	}
	if a.lease != "" {
		if now := look(); now != a.place {
			return a.end("the CPU limit or the affinity changed"), refuse(410, "no_lease", "the CPU limit or the affinity of the process changed")
		}
		if now := runtime.GOMAXPROCS(0); now != a.expected() {
			return a.stolen(now)
		}
	} else {
		if !lease.Take() {
			return Switch{}, refuse(409, "leased", "another agent of this process has a lease")
		}
		a.place = look()
		a.start, a.set, a.seq, a.switches, a.last, a.ended = runtime.GOMAXPROCS(0), 0, 0, 0, Switched{}, ""
		a.auto = gort.HasDefault && !gort.ValidEnv(os.Getenv("GOMAXPROCS")) && a.start == a.place.def
		a.probing = probing(a.meter)
		a.timer = time.AfterFunc(ttl, func() { a.expire(name) })
	}
	a.lease, a.expires = name, time.Now().Add(ttl)
	a.timer.Reset(ttl)
	return Switch{}, nil
}

// asked asks the program, without the lock: a program that does not answer must not keep
// the lease from ending. Its panic is a refusal.
func (a *Agent) asked() (err error) {
	if a.refuse == nil {
		return nil
	}
	a.asking.Lock()
	defer a.asking.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = errPanicked
		}
	}()
	return a.refuse()
}

// expire ends the lease when its time is over.
func (a *Agent) expire(name string) {
	a.mu.Lock()
	var s Switch
	if a.lease == name {
		if left := time.Until(a.expires); left > 0 {
			a.timer.Reset(left) // it was renewed meanwhile
		} else {
			s = a.end("the lease ran out")
		}
	}
	a.mu.Unlock()
	a.tell(s)
}

// expected is GOMAXPROCS under the lease, unless something else sets it.
func (a *Agent) expected() int {
	if a.set != 0 {
		return a.set
	}
	return a.start
}

// stolen ends the lease because something else has set GOMAXPROCS, to now.
func (a *Agent) stolen(now int) (Switch, *refusal) {
	s := a.end("something else set GOMAXPROCS")
	return s, refuse(409, "set_by_other", "something else set GOMAXPROCS to "+strconv.Itoa(now)+", where the experiment expected "+strconv.Itoa(a.expected()))
}

// end restores GOMAXPROCS, unless something else has set it meanwhile.
func (a *Agent) end(why string) Switch {
	if a.lease == "" {
		return Switch{}
	}
	a.lease, a.ended = "", why
	a.timer.Stop()
	a.probing()
	defer lease.Return()
	now := runtime.GOMAXPROCS(0)
	if a.set == 0 {
		return Switch{}
	}
	if now != a.set {
		a.ended += "; GOMAXPROCS is " + strconv.Itoa(now) + ", which the experiment did not set, and is kept"
		return Switch{}
	}
	to := a.start
	if a.auto {
		gort.SetDefault() // so that the runtime keeps it up to date again
		if def := look().def; runtime.GOMAXPROCS(0) == def {
			to = def // another than at the start, if the limit has changed
		}
	}
	if runtime.GOMAXPROCS(0) != to {
		runtime.GOMAXPROCS(to)
	}
	return Switch{From: now, To: to, Why: why}
}

// most is the highest value that a lease may set.
func (a *Agent) most() int {
	start := a.start
	if a.lease == "" {
		start = runtime.GOMAXPROCS(0)
	}
	if a.max > start {
		return a.max
	}
	return start
}

// change sets GOMAXPROCS under a lease. The same seq again is the same answer. refused is
// what Refuse has returned.
func (a *Agent) change(name string, procs int, seq int64, refused error) (Switched, Switch, *refusal) {
	before, most := runtime.GOMAXPROCS(0), a.most()
	since := time.Duration(time.Now().UnixNano() - a.last.At) // below 0: the clock was set back
	switch {
	case a.lease == "" || a.lease != name:
		return Switched{}, Switch{}, a.noLease()
	case seq != 0 && seq == a.seq:
		return a.last, Switch{}, nil
	case procs != a.start && (procs < a.min || procs > most):
		return Switched{}, Switch{}, refuse(400, "procs", "procs "+strconv.Itoa(procs)+": the process allows "+strconv.Itoa(a.min)+" to "+strconv.Itoa(most))
	case before != a.expected():
		s, no := a.stolen(before)
		return Switched{}, s, no
	case procs != a.start && a.switches > 0 && 0 <= since && since < BetweenSwitch:
		return Switched{}, Switch{}, refuse(429, "too_often", "the last change was less than "+BetweenSwitch.String()+" ago")
	case refused != nil:
		return Switched{}, a.end("the program refused: " + refused.Error()), refuse(503, "refused", refused.Error())
	}
	from := time.Now()
	if procs == before && before > 1 {
		runtime.GOMAXPROCS(before - 1) // so that every change stops the world, and no value has an advantage
	}
	runtime.GOMAXPROCS(procs)
	now := time.Now()
	a.set, a.seq = procs, seq
	a.switches++
	a.last = Switched{Before: before, Procs: procs, CallNS: int64(now.Sub(from)), At: now.UnixNano()}
	a.expires = a.expires.Add(now.Sub(from)) // nobody could renew it during the call
	a.timer.Reset(time.Until(a.expires))
	return a.last, Switch{From: before, To: procs, Why: "experiment"}, nil
}

func (a *Agent) noLease() *refusal {
	why := a.ended
	if why == "" {
		why = "there was none"
	}
	return refuse(410, "no_lease", "this lease does not exist: "+why)
}

// isLease reports whether a lease's name is 16 to 64 bytes in hexadecimal.
func isLease(name string) bool {
	if len(name) < 32 || len(name) > 128 || len(name)%2 != 0 {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// probing measures until the result is called.
func probing(m *Meter) (stop func()) {
	end := make(chan struct{})
	go func() {
		var p probe
		defer p.close()
		for {
			select {
			case <-end:
				return
			default:
				p.wait(m)
			}
		}
	}()
	return func() { close(end) }
}
