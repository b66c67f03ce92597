//go:build !portable && (amd64 || arm64)

package steer

import (
	"bytes"
	"errors"
	"go/version"
	"runtime"
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

// perform does what is asked, in an operating-system thread of its own. The program is let go
// with the end of that thread, or of the process: the end of a goroutine that is locked to the main
// thread does not end that thread, so a guard can keep the program traced. That is a known fault.
func perform(r Request) (Result, error) {
	type outcome struct {
		result Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked
		// A thread of the program stands still for as long as this one waits for a CPU.
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20)    // needs CAP_SYS_NICE
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // ns
		result, err := trace(r)
		done <- outcome{result, err}
	}()
	o := <-done
	return o.result, o.err
}

// trace makes the call, or says why it is not made.
func trace(r Request) (Result, error) {
	var cache goproc.Cache
	t := &tracer{pid: r.PID}
	if err := t.check(&cache, r); err != nil {
		return Result{}, err
	}
	defer t.text.Close()
	before, err := cache.Live(r.PID)
	known := err == nil
	if err := t.seizeAll(); err != nil {
		return Result{}, err
	}
	if t.text.Same() != nil { // from here on the kernel reports exec
		return Result{}, t.gone()
	}
	threads := len(t.seized)
	var result Result
	// A place that debugCallCheck refuses is one of a few instructions, and the next is tried.
	for tries := 0; ; tries++ {
		p, err := t.find()
		if err != nil {
			return Result{}, err
		}
		var refused string
		if result, refused, err = t.inject(p, r.Value); err != nil {
			return Result{}, err
		}
		if refused == "" {
			break
		}
		if tries == maxTries {
			return Result{}, t.refuse(Refused, "%s", refused)
		}
	}
	result.Threads = threads
	if r.Value.Auto && t.setDefault != 0 && known {
		result.Old = before.Procs
	}
	if now, err := cache.Live(r.PID); err == nil {
		result.New = now.Procs
		if now.Custom != nil {
			auto := !*now.Custom
			result.Auto = &auto
		}
	}
	return result, nil
}

// maxTries bounds how many places are tried that debugCallCheck refuses.
const maxTries = 100

// check asks all that can be known before the program is touched.
func (t *tracer) check(cache *goproc.Cache, r Request) error {
	s, err := procstat.ReadStat(r.PID)
	switch {
	case err != nil || s.Ended():
		return t.refuse(Ended, "")
	case r.Started != 0 && s.Started != r.Started:
		return t.refuse(Replaced, "")
	case s.State == 'T':
		return t.refuse(Halted, "by a signal such as SIGSTOP")
	}
	if t.text, err = cache.Text(r.PID); err != nil {
		return t.unreadable(cache, err)
	}
	if err := t.program(); err != nil {
		t.text.Close()
		return err
	}
	if s, err := procstat.ReadTracing(r.PID); err == nil && s.Ignored&trapBit != 0 {
		t.text.Close()
		return t.refuse(NoTraps, "")
	}
	return nil
}

// unreadable is why the code of a program cannot be read: for one that is too old the
// release says more.
func (t *tracer) unreadable(cache *goproc.Cache, err error) error {
	p, failed := cache.Program(t.pid)
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
		return t.refuse(why, "%s", p.GoVersion)
	}
	if release, _ := goproc.Release(p.GoVersion); version.Compare(release, oldest) < 0 {
		return t.refuse(TooOld, "%s", p.GoVersion)
	}
	found, err := t.text.Find(debugCall, set, setDefault)
	switch {
	case t.text.Same() != nil:
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

// call is one call on its way.
type call struct {
	*tracer
	value   Value
	saved   registers // as they are to be again
	vectors []byte
	stack   uint64 // where the goroutine's stack begins: it cannot move meanwhile

	result   Result
	called   time.Time
	refused  string
	returned bool
	cleared  error // why the runtime's note that the value was set stays
}

// inject makes the call in a thread that stands at a place. It is refused if the runtime
// says so. Until registers are written, an error leaves the thread as it was.
func (t *tracer) inject(p place, v Value) (result Result, refused string, err error) {
	c := &call{tracer: t, value: v, saved: p.registers, result: Result{AfterRead: p.afterRead}}
	m := memory{p: t.text}
	c.stack = m.word(p.registers.thread(p.tid).g + gStackLo)
	c.vectors, err = readVectors(p.tid)
	if err != nil || m.failed || len(c.vectors) == vectorRoom {
		t.resume(p.tid, 0)
		return Result{}, "", t.refuse(Denied, "the vector registers cannot be saved: %v", err)
	}
	r := p.registers
	push := r.begin(t.debugCall)
	if err := write(p.tid, push); err != nil { // below SP, where Go keeps nothing
		t.resume(p.tid, 0)
		return Result{}, "", t.refuse(Denied, "%v", err)
	}
	if err := writeRegisters(p.tid, r); err != nil {
		t.resume(p.tid, 0)
		return Result{}, "", t.refuse(Denied, "%v", err)
	}
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
		done, err := c.answer(s.tid)
		if err != nil || done {
			c.result.Held = time.Since(p.since)
			return c.result, c.refused, err
		}
	}
}

// answer serves one trap of the protocol, in whichever thread the call is now: below Go 1.21
// its goroutine may move. It is done once the registers are restored. A trap that is the
// program's own is passed on.
func (c *call) answer(tid int) (done bool, err error) {
	r, err := readRegisters(tid)
	if err != nil {
		return false, nil // it has ended, which the next wait tells
	}
	if !c.ours(r.thread(tid).pc) {
		c.resume(tid, unix.SIGTRAP)
		return false, nil
	}
	var push []word
	switch status := r.status(); status {
	case statusCall:
		function, argument := c.set, uint64(c.value.Procs)
		if c.value.Auto && c.setDefault != 0 {
			function, argument = c.setDefault, 0
		}
		push = r.call(function, argument)
		c.called = time.Now()
	case statusReturned:
		c.result.Old, c.result.Stopped, c.returned = int(int32(r.result())), time.Since(c.called), true
		if c.value.Auto && c.setDefault == 0 && c.text.Custom != 0 {
			c.cleared = clearByte(c.pid, c.text.Custom)
		}
		m := memory{p: c.text}
		r.resume(m.word(r.thread(tid).sp))
	case statusPanicked:
		c.refused = "the call panicked"
		r.resume(0)
	case statusRefused:
		c.refused = c.reason(r.reason())
		r.resume(0)
	case statusRestore:
		return true, c.restore(tid, r)
	default:
		return false, c.refuse(Broken, "status %d in thread %d", status, tid)
	}
	if err := write(tid, push); err != nil {
		return false, c.refuse(Broken, "%v", err)
	}
	if err := writeRegisters(tid, r); err != nil {
		return false, c.refuse(Broken, "%v", err)
	}
	c.resume(tid, 0)
	return false, nil
}

// ours reports whether a trap is one of debugCallV2 and the functions that it calls.
func (c *call) ours(pc uint64) bool {
	b := make([]byte, trapSize)
	f, ok := c.text.At(pc - trapBack)
	return ok && strings.HasPrefix(strings.TrimPrefix(f.Name, "runtime."), "debugCall") &&
		c.text.ReadAt(b, pc-trapBack) == nil && bytes.Equal(b, trap)
}

// restore gives all registers back, PC, SP and flags among them, at once. What debugCallV2
// itself would do from here on is to load the registers from its frame and to return. It
// promises not to change the flags but adds to SP, which does: a call between a comparison
// and its jump would lose the comparison. And it loads registers from its frame since stacks
// may have moved; this one has not, since a goroutine at such a point keeps its stack
// (isShrinkStackSafe), and debugCallV2 and debugCallWrap run without a check of it.
func (c *call) restore(tid int, now registers) error {
	m := memory{p: c.text}
	saved, here := c.saved.thread(tid), now.thread(tid)
	const frame = 512 // bytes: more than debugCallV2 has
	if m.word(saved.g+gStackLo) != c.stack || m.failed || here.sp > saved.sp || saved.sp-here.sp > frame {
		return c.refuse(Broken, "the stack of the goroutine has moved")
	}
	if err := putSet(tid, vectorSet, c.vectors); err != nil {
		return c.refuse(Broken, "the vector registers: %v", err)
	}
	if err := writeRegisters(tid, c.saved.restored(now)); err != nil {
		return c.refuse(Broken, "%v", err)
	}
	c.resume(tid, 0)
	if c.cleared != nil {
		return c.refuse(Broken, "the value is set, but the runtime does not follow the limits again: %v", c.cleared)
	}
	if !c.returned && c.refused == "" {
		c.refused = "nothing was called"
	}
	return nil
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
