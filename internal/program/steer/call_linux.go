//go:build !portable && (amd64 || arm64)

package steer

import (
	"bytes"
	"cmp"
	"errors"
	"go/version"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
)

// What debugCallV2 asks.
const (
	statusCall     = 0
	statusReturned = 1
	statusPanicked = 2
	statusRefused  = 8
	statusRestore  = 16
)

const (
	debugCall  = "runtime.debugCallV2"
	set        = "runtime.GOMAXPROCS"
	setDefault = "runtime.SetDefaultGOMAXPROCS"
)

// trace makes the call, or says why it is not made.
func trace(r Request, pause step) (Result, error) {
	var cache goproc.Cache
	t := &tracer{Program: r.Program, idle: r.Idle, pause: pause, tid: unix.Gettid()}
	if err := t.open(&cache); err != nil {
		return Result{}, err // what is open is closed with the end of the tracer
	}
	defer t.text.Close()
	defer t.mem.Close()
	before, _ := cache.Live(r.PID) // 0 where it cannot be read
	if err := t.seizeAll(); err != nil {
		return Result{}, err
	}
	t.at(atSeized)
	if !t.alive() { // from here on the kernel reports exec
		return Result{}, t.gone()
	}
	result, err := t.call(r.Value)
	if err != nil {
		return Result{}, err
	}
	if r.Value.Auto && t.setDefault != 0 { // SetDefaultGOMAXPROCS returns nothing
		result.Old = before.Procs
	}
	if now, err := cache.Live(r.PID); err == nil && t.alive() {
		result.New = now.Procs
		result.Auto = follows(now)
	}
	return result, nil
}

// call finds a place and makes the call there. Where debugCallCheck refuses one all the same,
// the next is tried until the time is over.
func (t *tracer) call(v Value) (Result, error) {
	threads := len(t.seized)
	refused, until := "", time.Now().Add(watching)
	for tries := 1; ; tries++ {
		p, err := t.find(until)
		if Because(err) == NoPlace && refused != "" {
			return Result{}, t.refuse(Refused, "%s", refused)
		}
		if err != nil {
			return Result{}, err
		}
		t.at(atPlace)
		if err := t.lost(); err != nil {
			t.resume(p.tid, 0)
			return Result{}, err
		}
		var result Result
		if result, refused, err = t.inject(p, v); err != nil {
			return Result{}, err
		}
		if refused == "" {
			t.at(atRestored)
			result.Threads = threads
			return result, nil
		}
		if err := t.serve(time.Duration(min(tries, 10)) * time.Millisecond); err != nil {
			return Result{}, err
		}
	}
}

// open opens the memory of the program, and asks all that can be known before it is touched.
func (t *tracer) open(cache *goproc.Cache) error {
	s, err := procstat.ReadStat(t.PID)
	switch {
	case err != nil || s.Ended():
		return t.refuse(Ended, "")
	case s.Started != t.Started:
		return t.refuse(Replaced, "")
	case s.State == 'T':
		return t.refuse(Halted, "by a signal such as SIGSTOP")
	}
	var denied error
	t.mem, denied = os.OpenFile("/proc/"+strconv.Itoa(t.PID)+"/mem", os.O_RDWR, 0)
	if t.text, err = cache.Text(t.PID); err != nil {
		return t.unreadable(cache, err)
	}
	if denied != nil {
		return t.refuse(Denied, "%v", denied)
	}
	if err := t.program(); err != nil {
		return err
	}
	if s, err := procstat.ReadTracing(t.PID); err == nil && s.Ignored&trapBit != 0 {
		return t.refuse(NoTraps, "")
	}
	// What was opened first is there after all was read, and is what was asked for.
	if err := t.same(); err != nil {
		return err
	}
	if !t.alive() {
		return t.gone()
	}
	return nil
}

// unreadable is why the code of a program cannot be read: for one that is too old the
// release says more.
func (t *tracer) unreadable(cache *goproc.Cache, err error) error {
	p, failed := cache.Program(t.PID)
	if failed == nil {
		if _, why := offsetsOf(p.GoVersion); why == TooOld {
			return t.refuse(TooOld, "%s", p.GoVersion)
		}
	}
	if errors.Is(err, goproc.ErrGone) {
		return t.refuse(Ended, "")
	}
	if inner := errors.Unwrap(err); inner != nil { // without the process, which the Refusal names
		err = inner
	}
	return t.refuse(Unreadable, "%v", err)
}

// program looks up the functions and the offsets.
func (t *tracer) program() error {
	p := t.text.Program
	if t.text.Machine != machine {
		return t.refuse(OtherMachine, "%v", t.text.Machine)
	}
	var why Why
	if t.offsets, why = offsetsOf(p.GoVersion); why != "" {
		return t.refuse(why, "%s", cmp.Or(p.GoVersion, "an unknown Go version"))
	}
	if release, _ := goproc.Release(p.GoVersion); version.Compare(release, oldest) < 0 {
		return t.refuse(TooOld, "%s", p.GoVersion)
	}
	found, err := t.text.Find(debugCall, set, setDefault)
	switch {
	case t.same() != nil:
		return t.gone()
	case err != nil:
		return t.refuse(Unreadable, "%v", err)
	}
	for name, to := range map[string]*uint64{debugCall: &t.debugCall, set: &t.set} {
		if *to = found[name]; *to == 0 {
			return t.refuse(NotLinked, "no %s", name)
		}
	}
	t.setDefault = found[setDefault]
	return nil
}

type call struct {
	*tracer
	value   Value
	saved   registers // as they are to be again
	vectors []byte
	stack   uint64 // where the goroutine's stack begins: it cannot move meanwhile

	result  Result
	called  time.Time // zero: nothing was called
	refused string
	returns bool
	failed  error // what went wrong; the protocol is gone through to its end all the same
}

// inject makes the call in a thread that stands at a place. It is refused if the runtime
// says so. Until registers are written, an error leaves the thread as it was; from then on
// only the last step of the protocol does.
func (t *tracer) inject(p place, v Value) (result Result, refused string, err error) {
	c := &call{tracer: t, value: v, saved: p.registers, result: Result{AfterRead: p.afterRead}}
	m := memory{p: t.text}
	c.stack = m.word(p.registers.thread(p.tid).g + gStackLo)
	c.vectors, err = readVectors(p.tid)
	if err == nil && (m.failed || len(c.vectors) == vectorRoom) {
		err = errors.New("there are too many, or the stack cannot be read")
	}
	r := p.registers
	if push := r.begin(t.debugCall); err == nil {
		err = t.write(push) // below SP, where Go keeps nothing
	}
	if err == nil {
		err = t.setRegisters(p.tid, r)
	}
	switch {
	case !t.alive():
		return Result{}, "", t.gone()
	case errors.Is(err, unix.ESRCH):
		return Result{}, "a thread ended", nil
	case err != nil:
		t.resume(p.tid, 0)
		return Result{}, "", t.refuse(Denied, "the registers cannot be saved and set: %v", err)
	}
	t.at(atBegun)
	t.calling = true
	defer func() { t.calling = false }()
	t.resume(p.tid, 0)
	for {
		s, _ := t.next(-1, time.Time{})
		if err := t.lost(); err != nil {
			t.pass(s)
			return Result{}, "", err
		}
		if s.ended || s.event != 0 || s.sig != unix.SIGTRAP {
			t.pass(s)
			continue
		}
		if c.answer(s.tid) {
			c.result.Held = time.Since(p.since)
			return c.result, c.refused, c.failed
		}
	}
}

// fail notes what went wrong first.
func (c *call) fail(format string, values ...any) {
	if c.failed == nil {
		c.failed = c.refuse(Broken, format, values...)
	}
}

// answer serves one trap of the protocol, in whichever thread the call is now: below Go 1.21
// its goroutine may move. It is done once the registers are restored. A trap that is the
// program's own is passed on.
func (c *call) answer(tid int) (done bool) {
	now, err := readRegisters(tid)
	if err != nil {
		return false // it has ended, which the next wait tells
	}
	if !c.ours(now.thread(tid).pc) {
		c.resume(tid, unix.SIGTRAP)
		return false
	}
	r, push := now, []word(nil)
	switch status := now.status(); status {
	case statusCall:
		c.at(atCall)
		function, argument := c.set, uint64(c.value.Procs)
		if c.value.Auto && c.setDefault != 0 {
			function, argument = c.setDefault, 0
		}
		push = r.call(function, argument)
		c.called = time.Now()
	case statusReturned:
		c.at(atReturn)
		c.returned(now)
		m := memory{p: c.text}
		r.resume(m.word(now.thread(tid).sp))
	case statusPanicked:
		c.refused = "the call panicked"
		r.resume(0)
	case statusRefused:
		c.refused = c.reason(now.reason())
		r.resume(0)
	case statusRestore:
		c.at(atRestore)
		return c.restore(tid, now)
	default:
		c.fail("status %d in thread %d", status, tid)
		r.resume(0)
	}
	if err := c.write(push); err != nil {
		c.fail("%v", err)
		c.called = time.Time{}
		r = now // the protocol goes on without the call
		r.resume(0)
	}
	if c.setRegisters(tid, r) == nil {
		c.resume(tid, 0)
	}
	return false
}

func (c *call) returned(r registers) {
	if c.called.IsZero() {
		return
	}
	c.result.Old, c.result.Stopped, c.returns = int(int32(r.result())), time.Since(c.called), true
	if c.value.Auto && c.setDefault == 0 && c.text.Custom != 0 {
		// One byte, and no other: its neighbours may change at any time.
		if _, err := c.mem.WriteAt([]byte{0}, int64(c.text.Custom)); err != nil {
			c.fail("the value is set, but the runtime does not follow the limits again: %v", err)
		}
	}
}

// ours reports whether a trap is one of debugCallV2 and the functions that it calls.
func (c *call) ours(pc uint64) bool {
	b := make([]byte, trapSize)
	f, ok := c.text.At(pc - trapBack)
	return ok && strings.HasPrefix(strings.TrimPrefix(f.Name, "runtime."), "debugCall") &&
		c.text.ReadAt(b, pc-trapBack) == nil && bytes.Equal(b, trap)
}

// restore gives all registers back: those for vectors first, and then the general ones at
// once, PC, SP and flags among them. If the tracer dies between the two, the thread goes on in
// debugCallV2, which loads its own copy of the general registers: only the flags may be
// others. It keeps no vectors: in the other order they would be another goroutine's. What debugCallV2
// itself would do from here on is to load the registers from its frame and to return. It
// promises not to change the flags but adds to SP, which does: a call between a comparison
// and its jump would lose the comparison. And it loads registers from its frame since stacks
// may have moved; this one has not, since a goroutine at such a point keeps its stack
// (isShrinkStackSafe), and debugCallV2 and debugCallWrap run without a check of it. Were it
// otherwise, its own end would be the lesser evil.
func (c *call) restore(tid int, now registers) (done bool) {
	m := memory{p: c.text}
	saved, here := c.saved.thread(tid), now.thread(tid)
	const frame = 512 // bytes: more than debugCallV2 has
	back := c.saved.restored(now)
	if m.word(saved.g+gStackLo) != c.stack || m.failed || here.sp > saved.sp || saved.sp-here.sp > frame {
		c.fail("the stack of the goroutine has moved")
		back = now
		back.resume(0)
	}
	if !c.alive() {
		return false // as after exec, which the next wait tells
	}
	if err := putSet(tid, vectorSet, c.vectors); err != nil && !errors.Is(err, unix.ESRCH) {
		c.fail("the vector registers: %v", err)
	}
	c.at(atVectors)
	if err := c.setRegisters(tid, back); err != nil {
		return false // it has ended, which the next wait tells
	}
	c.resume(tid, 0)
	if !c.returns && c.refused == "" {
		c.refused = "nothing was called"
	}
	return true
}

// reason reads a string of the program: its address and its length are at a place.
func (c *call) reason(at uint64) string {
	const longest = 100
	m := memory{p: c.text}
	b := make([]byte, min(m.word(at+8), longest))
	if m.failed || c.text.ReadAt(b, m.word(at)) != nil {
		return "for a reason that cannot be read"
	}
	return string(b)
}
