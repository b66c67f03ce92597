// Package meter reads what a running program counts with the Meter of package maxprocs/live,
// and under a lease has it use another GOMAXPROCS for a while.
//
// Both are in the memory of the program, in the data that its linker laid out, where procfit
// finds them by a mark. Nothing in the program listens. Reading takes the right to read its
// memory, and writing takes the same right: five words say which value is wanted and until
// when, and a sum of them that half of them is not obeyed. The program looks once a second,
// changes its GOMAXPROCS itself, and restores its own value when the lease ends. So a
// procfit that dies leaves nothing behind.
//
// A program may be hostile: what it shows is checked, and only ever shown or compared. Memory
// is read and written by a file that the kernel keeps with the program that it was opened on.
//
// Limits: Linux, and 64-bit little-endian programs. A lease needs the same CLOCK_MONOTONIC: a
// program in another time namespace is not asked.
package meter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/live"
)

// LongestLease is how long a program keeps a value that is not renewed, at most.
const LongestLease = 30 * time.Second

const (
	// patience is how long a program may take to answer: it looks once a second, and may have
	// to ask its own code.
	patience = 5 * time.Second
	// between is the time between two looks for the answer.
	between = 5 * time.Millisecond
	// early and late are how far from now a program's last look may be on its own clock.
	early = time.Second
	late  = 30 * time.Second
)

// ErrNone is that a program has no Meter that was used, and does not allow leases.
var ErrNone = errors.New("it has no Meter of maxprocs/live")

// ErrGone is that the program has ended, or became another one by exec.
var ErrGone = goproc.ErrGone

// Why is why a program did not use a value, or no longer does.
type Why uint64

// The first are the program's, in the order of the type reason of maxprocs/live.
const (
	Obeyed Why = iota
	OutOfRange
	Taken
	Refused
	RanOut
	Released
	SetByOther
	SwitchedOff
	firstOwn
	NotAllowed Why = 100 + iota
	Silent
	Late
	OtherClock
	Denied
)

// sentences are the reasons in words; %s is the detail.
var sentences = map[Why]string{
	OutOfRange:  "it allows GOMAXPROCS 1 to %s; live.Max in its code allows more",
	Taken:       "another experiment has a lease of it%s: try again later",
	Refused:     "it refuses experiments now: %s",
	RanOut:      "its lease ran out before it was renewed%s",
	Released:    "its lease is released%s",
	SetByOther:  "something else set its GOMAXPROCS, to %s, which is kept",
	SwitchedOff: "it has switched experiments off%s",
	NotAllowed:  "it has the Meter of maxprocs/live, but does not call live.Allow%s",
	Silent:      "it did not answer within %s: it is stopped, or has no time",
	Late:        "it looked only when the lease was over%s: try a longer one",
	OtherClock:  "its clock is not that of procfit (%s): it is stopped, or in another time namespace",
	Denied:      "its memory cannot be written: %s",
}

// Refusal is that a program does not use a value.
type Refusal struct {
	PID    int
	Why    Why
	Detail string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("process %d: "+sentences[r.Why], r.PID, r.Detail)
}

// State is what a program shows of leases.
type State struct {
	Allowed bool          // there can be one
	Procs   int           // GOMAXPROCS when the program last looked
	Before  int           // without the lease
	Most    int           // the highest that it accepts
	Held    bool          // this Program's lease is in effect
	Taken   bool          // another's is
	Left    time.Duration // of the request that was written last, by which a lease is renewed
	Why     Why           // Obeyed, or why the last request was not, or why the lease ended
	Refusal string
}

// Change is one of GOMAXPROCS.
type Change struct {
	Before int           // without the lease
	Took   time.Duration // the call; 0: the value was in effect already
}

// Reader opens programs. The zero value is ready; it is safe for concurrent use.
type Reader struct{ files goproc.Cache }

// Program is a running program with a Meter. Close it.
type Program struct {
	PID   int
	files *goproc.Cache
	at    int64    // of its block
	mem   *os.File // to read

	mu    sync.Mutex // of one lease
	write *os.File   // nil: not opened yet
	lease uint64
	seq   uint64
}

// memory opens the memory of the program that a process is now.
func memory(pid, flag int) (*os.File, error) {
	return os.OpenFile("/proc/"+strconv.Itoa(pid)+"/mem", flag, 0)
}

// Open finds what a program shows.
func (r *Reader) Open(pid int) (*Program, error) {
	mark := markOf()
	places, err := r.files.Marked(pid, bytesOf(mark[:]...))
	if err != nil {
		return nil, err
	}
	mem, err := memory(pid, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	for _, at := range places {
		p := &Program{PID: pid, files: &r.files, at: int64(at), mem: mem, lease: rand.Uint64() | 1, seq: rand.Uint64()}
		if x, err := p.look(mem); err == nil && (x.counters != 0 || x.state != 0) {
			return p, nil
		}
	}
	mem.Close()
	return nil, fmt.Errorf("process %d: %w", pid, ErrNone)
}

// Close ends reading. It does not release a lease.
func (p *Program) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.write != nil {
		p.write.Close()
	}
	return p.mem.Close()
}

func (p *Program) look(mem *os.File) (block, error) {
	b := make([]byte, 8*blockWords)
	if _, err := mem.ReadAt(b, p.at); err != nil {
		return block{}, fmt.Errorf("process %d: %w", p.PID, ErrGone)
	}
	x, ok := decode(b)
	if !ok {
		return x, fmt.Errorf("process %d: %w of this release: use the procfit and the maxprocs of one release", p.PID, ErrNone)
	}
	return x, nil
}

// Metrics reads what the program has counted. It says nothing of its collector where that
// cannot be read.
func (p *Program) Metrics() (live.Metrics, error) {
	x, err := p.look(p.mem)
	if err != nil {
		return live.Metrics{}, err
	}
	if x.counters == 0 {
		return live.Metrics{}, fmt.Errorf("process %d: %w that was used", p.PID, ErrNone)
	}
	var b [8 * countersWords]byte
	if _, err := p.mem.ReadAt(b[:], int64(x.counters)); err != nil {
		return live.Metrics{}, fmt.Errorf("process %d: its counters cannot be read", p.PID)
	}
	m := decodeCounters(b)
	m.At = time.Now().UnixNano()
	used, err := procstat.ReadCPUTime(p.PID)
	if err != nil {
		return m, fmt.Errorf("process %d: %w", p.PID, ErrGone)
	}
	m.CPU = used.Seconds()
	if gc, err := p.files.GC(p.PID); err == nil && gc.Cycles > 0 && gc.CPU != nil {
		m.GCCycles, m.GCCPU = uint64(gc.Cycles), gc.CPU.Collecting.Seconds()
	}
	return m, nil
}

func (p *Program) State() (State, error) {
	x, err := p.look(p.mem)
	return p.state(x), err
}

func (p *Program) state(x block) State {
	return State{
		Allowed: x.state == stateAllowed, Procs: x.procs, Before: x.before, Most: x.most,
		Held: x.holder == p.lease, Taken: x.holder != 0 && x.holder != p.lease, Why: x.why, Refusal: x.refusal,
		Left: min(max(0, x.end-procstat.Monotonic()), LongestLease),
	}
}

// Lease has the program use a value for so long, of which LongestLease is the most. Called
// again, with the same value or another one, it renews the lease.
func (p *Program) Lease(ctx context.Context, procs int, d time.Duration) (Change, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x, err := p.ready()
	if err != nil {
		return Change{}, err
	}
	if procs < 1 || procs > x.most {
		return Change{}, p.refusal(OutOfRange, x)
	}
	was := x.when
	x, err = p.ask(ctx, uint64(procs), min(d, LongestLease))
	switch {
	case err != nil:
		return Change{}, err
	case x.why == OutOfRange && procs <= x.most: // the end was, when the program looked
		return Change{}, p.refusal(Late, x)
	case x.why != Obeyed:
		return Change{}, p.refusal(x.why, x)
	}
	c := Change{Before: x.before}
	if x.when != was {
		c.Took = x.took
	}
	return c, nil
}

// Release ends the lease: the program restores its own value, which it then uses.
func (p *Program) Release(ctx context.Context) (procs int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x, err := p.look(p.mem)
	if err != nil || x.holder != p.lease {
		return x.procs, err
	}
	if x, err = p.ask(ctx, 0, 0); err != nil {
		return 0, err
	}
	return x.procs, nil
}

// ready says why a request would not be obeyed, or nothing.
func (p *Program) ready() (x block, err error) {
	if p.write == nil {
		if p.write, err = memory(p.PID, os.O_RDWR); err != nil {
			return x, &Refusal{p.PID, Denied, err.Error()}
		}
	}
	if x, err = p.look(p.mem); err != nil { // it was opened first: after exec, write can be another program's
		return x, err
	}
	ahead := x.looked - procstat.Monotonic()
	switch {
	case x.state == stateOff:
		return x, p.refusal(SwitchedOff, x)
	case x.state != stateAllowed:
		return x, p.refusal(NotAllowed, x)
	case x.holder != 0 && x.holder != p.lease:
		return x, p.refusal(Taken, x)
	case ahead > early || ahead < -late:
		return x, &Refusal{p.PID, OtherClock, "apart by " + number.Short(number.Duration(ahead.Abs()))}
	}
	return x, nil
}

func (p *Program) refusal(why Why, x block) error {
	detail := map[Why]string{OutOfRange: fmt.Sprint(x.most), Refused: x.refusal, SetByOther: fmt.Sprint(x.procs), Silent: number.Short(number.Duration(patience))}[why]
	return &Refusal{p.PID, why, detail}
}

// ask writes a request, and waits until the program has answered it. A request that is not
// answered in time is taken back.
func (p *Program) ask(ctx context.Context, procs uint64, d time.Duration) (block, error) {
	p.seq++
	if _, err := p.write.WriteAt(request(p.lease, p.seq, procs, procstat.Monotonic()+d), p.at+8*atWant); err != nil {
		return block{}, &Refusal{p.PID, Denied, err.Error()}
	}
	for since := time.Now(); ; {
		x, err := p.look(p.write)
		switch {
		case err != nil:
			return x, err
		case x.seq == p.seq: // what it says of that is written before
			return p.look(p.write)
		case ctx.Err() != nil || time.Since(since) > patience:
			_, _ = p.write.WriteAt(bytesOf(0, 0, 0, 0, 0), p.at+8*atWant)
			if err := ctx.Err(); err != nil {
				return x, err
			}
			if x, err = p.look(p.write); err == nil && x.seq != p.seq { // else it has answered just then
				err = p.refusal(Silent, x)
			}
			return x, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(between):
		}
	}
}
