//go:build !portable && (amd64 || arm64)

package steer

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/show/number"
)

const (
	eventStop = 128 // PTRACE_EVENT_STOP
	// options: new threads are traced from their first instruction, the kernel reports exec, and stops
	// at system calls differ from a SIGTRAP.
	options = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD
	// callTrap is the signal of such a stop.
	callTrap = unix.SIGTRAP | 0x80
)

// tracer has all threads of a process for one call. It does not detach from those that run:
// when the tracer's process ends, the kernel lets them go without stopping them.
type tracer struct {
	Program
	idle  func() // called once while no Go code runs; nil: nobody asks
	pause step
	tid   int // of this thread, which is the tracer for the kernel
	text  *goproc.Text
	// mem is the memory of the program that it was opened on, and of no other: the kernel lets
	// go of that at exec.
	mem *os.File
	offsets
	debugCall, set, setDefault uint64

	seized   map[int]bool
	active   map[int]bool // threads that were seen to run: of 5,000 only a few do
	watching bool         // threads run to their next system call
	calling  bool         // a call is on its way
	executed bool
	halted   bool // a signal such as SIGSTOP has stopped the program
}

// step is a point of a call, for tests.
type step string

const (
	atSeized   step = "attached"
	atPlace    step = "place found"
	atStep     step = "stepping after a read"
	atDelayed  step = "stepping after a read, a signal delayed"
	atBegun    step = "registers changed"
	atCall     step = "call"
	atReturn   step = "return"
	atRestore  step = "before the registers are restored"
	atVectors  step = "vector registers restored"
	atRestored step = "registers restored"
)

// at stops the tracer where a test wants to do something to the program or the tracer.
func (t *tracer) at(s step) {
	if s == t.pause {
		t.pause = "" // once
		_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	}
}

// alive reports whether the program is there that was opened.
func (t *tracer) alive() bool {
	var b [1]byte
	n, err := t.mem.ReadAt(b[:], int64(t.debugCall))
	return n == 1 && err == nil
}

// stop is a thread that stands still, or has ended.
type stop struct {
	tid   int
	sig   unix.Signal
	event int
	ended bool
	at    time.Time
}

func (t *tracer) refuse(why Why, format string, values ...any) error {
	return &Refusal{t.PID, why, fmt.Sprintf(format, values...)}
}

// tasks are the threads of the process, in random order.
func (t *tracer) tasks() ([]int, error) {
	all, err := procstat.IDs("/proc/" + strconv.Itoa(t.PID) + "/task")
	if err != nil {
		return nil, t.refuse(Ended, "")
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all, nil
}

// seizeAll lets all threads run on. Those that a seized thread makes are seized by the kernel;
// those that another one makes meanwhile are seen in the next round.
func (t *tracer) seizeAll() error {
	t.seized, t.active = map[int]bool{}, map[int]bool{}
	until := time.Now().Add(watching)
	for denied, more := 0, true; more; {
		tasks, err := t.tasks()
		if err != nil {
			return err
		}
		more = false
		for _, tid := range tasks {
			if t.seized[tid] {
				continue
			}
			err := t.seize(tid)
			switch {
			case err == nil:
				more = true
			case errors.Is(err, unix.ESRCH) || procstat.HasEnded(tid):
			case tracedBy(tid) == t.tid:
				t.seized[tid] = true
			case !t.alive():
				return t.gone()
			case denied < patience: // as a thread is while it ends
				denied, more = denied+1, true
				doze()
			default:
				return t.denied(tid, err)
			}
		}
		if time.Now().After(until) {
			return t.refuse(Refused, "it starts threads faster than they can be attached to")
		}
	}
	return nil
}

// seize attaches to a thread. Its number may be that of a thread of another process by now,
// which is let go again: for the kernel to do so it has to stop.
func (t *tracer) seize(tid int) error {
	if err := ptrace(unix.PTRACE_SEIZE, tid, 0, options); err != nil {
		return err
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d", t.PID, tid)); err == nil {
		t.seized[tid] = true
		return nil
	}
	if ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) == nil { // else it has ended
		for until := time.Now().Add(answering); tracedBy(tid) == t.tid && time.Now().Before(until); {
			if s, ok := t.next(-1, time.Now()); ok { // lets it go
				t.pass(s)
			}
		}
	}
	return unix.ESRCH
}

// patience is how often a thread is tried again that cannot be seized.
const patience = 100

// gone is why the process does not run the program any more that was read. One that ends runs
// none for a moment.
func (t *tracer) gone() error {
	for until := time.Now().Add(time.Second); !t.executed && time.Now().Before(until); doze() {
		if procstat.HasEnded(t.PID) {
			break
		}
		if now, err := Identify(t.PID); err == nil && now != t.Program {
			break
		}
	}
	if procstat.HasEnded(t.PID) {
		return t.refuse(Ended, "")
	}
	return t.refuse(Executed, "")
}

// tracedBy is the thread that traces another one; 0: none, or it is not known.
func tracedBy(tid int) int {
	s, err := procstat.ReadTracing(tid)
	if err != nil {
		return 0
	}
	return s.Tracer
}

func (t *tracer) denied(tid int, err error) error {
	if tracer := tracedBy(tid); tracer != 0 {
		if pid, err := procstat.ThreadGroup(tracer); err == nil {
			tracer = pid
		}
		name := "process " + strconv.Itoa(tracer)
		if of, err := procstat.ReadStat(tracer); err == nil {
			name += " (" + of.Name + ")"
		}
		return t.refuse(Traced, "%s", name)
	}
	return t.refuse(Denied, "ptrace: %v", err)
}

// next waits for a thread, -1: for any, until a time; zero: for as long as it takes.
func (t *tracer) next(tid int, until time.Time) (stop, bool) {
	var status unix.WaitStatus
	flags := unix.WALL
	if !until.IsZero() {
		flags |= unix.WNOHANG
	}
	for {
		got, err := unix.Wait4(tid, &status, flags, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil: // ECHILD: no thread is left
			return stop{ended: true}, true
		case got == 0 && time.Now().After(until):
			return stop{}, false
		case got == 0:
			doze()
			continue
		}
		s := stop{tid: got, at: time.Now()}
		if status.Exited() || status.Signaled() {
			delete(t.seized, got)
			delete(t.active, got)
			s.ended = true
			return s, true
		}
		s.sig, s.event = unix.Signal(status.StopSignal()), int(status)>>16
		if s.event == unix.PTRACE_EVENT_EXEC {
			t.executed = true
		}
		if !t.seized[got] && !t.threadOf(got) {
			// A process that clone made with another signal for its end than SIGCHLD, or one
			// that has the number of a thread that has ended. It gets its signal.
			sig := s.sig
			if s.event != 0 {
				sig = 0
			}
			_ = ptrace(unix.PTRACE_DETACH, got, 0, uintptr(sig))
			continue
		}
		t.seized[got] = true
		return s, true
	}
}

// threadOf reports whether a thread is one of the program.
func (t *tracer) threadOf(tid int) bool {
	pid, err := procstat.ThreadGroup(tid)
	return err != nil || pid == t.PID
}

// await waits for one thread until a time, while the others run on. To ask for any thread, the
// kernel looks at all of them; to ask for one costs the same however many there are.
func (t *tracer) await(tid int, until time.Time) (stop, bool) {
	const others = 8 // one question in so many is for any
	for n := 1; ; n++ {
		of, limit := tid, until
		if n%others == 0 || until.IsZero() {
			of = -1
		}
		if !until.IsZero() {
			limit = time.Now()
		}
		s, ok := t.next(of, limit)
		switch {
		case ok && (s.tid == tid || s.tid == 0):
			return s, true
		case ok:
			t.pass(s)
		case time.Now().After(until):
			return stop{}, false
		default:
			doze()
		}
	}
}

// pause is between two looks at what has stopped.
const pause = 20 * time.Microsecond

// doze is a short sleep of this thread itself. A timer of Go's would need another thread, which
// has no precedence over the program's and waits for a CPU.
func doze() {
	ts := unix.NsecToTimespec(int64(pause))
	_ = unix.Nanosleep(&ts, nil)
}

// pass lets a thread continue after a stop that is not for us, with the signal that it is to
// get. One that a signal such as SIGSTOP has stopped stays so, except during a call: that is
// finished first, and the kernel stops the thread when the tracer ends.
func (t *tracer) pass(s stop) {
	switch {
	case s.ended, s.tid == 0: // or none has stopped
	case s.event == eventStop && s.sig != unix.SIGTRAP && t.calling:
		t.resume(s.tid, 0)
	case s.event == eventStop && s.sig != unix.SIGTRAP:
		t.halted = true
		_ = ptrace(unix.PTRACE_LISTEN, s.tid, 0, 0) // else it has ended
	case s.event != 0 || s.sig == callTrap:
		t.resume(s.tid, 0)
	default:
		t.resume(s.tid, s.sig)
	}
}

func (t *tracer) resume(tid int, sig unix.Signal) {
	request := unix.PTRACE_CONT
	if t.watching {
		request = unix.PTRACE_SYSCALL
	}
	_ = ptrace(request, tid, 0, uintptr(sig)) // fails if it has ended, which the next wait tells
}

// lost is why no more can be done: the program is not the one that was seized, or nobody wants
// the call any more.
func (t *tracer) lost() error {
	switch {
	case t.executed, !t.alive():
		return t.gone()
	case t.halted && !t.calling:
		return t.refuse(Halted, "by a signal such as SIGSTOP")
	case len(t.seized) == 0:
		return t.refuse(Ended, "")
	case !t.calling && unwanted():
		return t.refuse(Unwanted, "")
	}
	return nil
}

// The search for a place.
const (
	looking  = 300 * time.Millisecond // of which a look at 5,000 threads takes a third
	allEvery = 32                     // looks: the others are at active threads alone. At least so many are made, since one at all may take all the time
	longest  = 3 * time.Second        // of looking while there are threads that run Go code, or wait for a CPU to do so
	watching = Waits
	longer   = 20 * time.Second // more of it while there are threads that run Go code
	// mostStops is how many ends of reads and writes are looked at before threads that run are
	// looked at again.
	mostStops = 100
	// atOnce is how many threads that wait in the kernel are interrupted at once, each of which
	// starts its system call again, and atOnceFor is until the next ones. Thousands at once would
	// take the CPUs from the program for seconds.
	atOnce    = 100
	atOnceFor = 100 * time.Millisecond
	// answering is how long a thread may take to stop. One that can run stops as soon as it gets
	// a CPU, which takes long on a machine that has none free.
	answering = 200 * time.Millisecond
	// farthest is how many instructions a thread is stepped from the end of its system call,
	// where 80 to 200 are usual, and slowest is for how long: on a machine without a free CPU a
	// step takes a thousand times as long as on another, and the thread stands still meanwhile.
	farthest = 3000
	slowest  = 500 * time.Millisecond
)

// place is a thread that stands where a call is safe.
type place struct {
	tid       int
	registers registers
	since     time.Time // it has stood still since then
	afterRead bool
}

// find looks for a place: at threads that run, and then at what comes back from the kernel,
// in turn until the time is over. While threads run Go code it takes more time: where CPUs are
// short each look takes long, and of few looks all may be at code of the runtime.
func (t *tracer) find(until time.Time) (place, error) {
	for began := time.Now(); ; {
		p, busy, err := t.looks()
		if err != nil || p.tid != 0 {
			return p, err
		}
		now := time.Now()
		if now.After(until) && (!busy || now.After(until.Add(longer))) {
			return place{}, t.refuse(NoPlace, "%s", number.Duration(now.Sub(began)))
		}
		idle := t.idle
		if busy {
			idle = nil
		}
		end := until
		if least := now.Add(looking); least.After(end) {
			end = least
		}
		if p, err := t.watch(end, idle); err != nil || p.tid != 0 {
			return p, err
		}
	}
}

// looks stops threads that run, for as long as some do. It reports whether one ran Go code.
func (t *tracer) looks() (p place, busy bool, err error) {
	began := time.Now()
	for seen, n := began, 0; (n < allEvery || time.Since(seen) < looking) && time.Since(began) < longest; n++ {
		among := t.active
		if n%allEvery == 0 {
			among = t.seized
		}
		p, ran, err := t.look(among, began.Add(longest))
		if err != nil || p.tid != 0 {
			return p, true, err
		}
		if ran {
			seen, busy = time.Now(), true
		}
		if err := t.serve(5 * pause); err != nil {
			return place{}, busy, err
		}
	}
	return place{}, busy, nil
}

// serve lets all that stops continue, until nothing has stopped for a while.
func (t *tracer) serve(quiet time.Duration) error {
	for end := time.Now().Add(answering); time.Now().Before(end); {
		s, ok := t.next(-1, time.Now().Add(quiet))
		if !ok {
			break
		}
		t.pass(s)
		if err := t.lost(); err != nil {
			return err
		}
	}
	return nil
}

// look stops each thread that runs, one after the other, and reports whether one ran Go code.
func (t *tracer) look(among map[int]bool, until time.Time) (p place, ran bool, err error) {
	tids := slices.Collect(maps.Keys(among)) // in no order
	// The first thread comes last: its number is that of another one after exec, so that
	// registers could be written to that in the microsecond after the last check.
	if i := slices.Index(tids, t.PID); i >= 0 {
		tids = append(slices.Delete(tids, i, i+1), t.PID)
	}
	for _, tid := range tids {
		if time.Now().After(until) {
			break
		}
		if !t.runs(tid) {
			continue
		}
		t.active[tid] = true
		if ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) != nil {
			continue
		}
		for {
			s, ok := t.await(tid, time.Now().Add(answering))
			if !ok || s.ended {
				ran = ran || !ok
				break
			}
			if s.event != eventStop || s.sig != unix.SIGTRAP {
				t.pass(s)
				if s.event == eventStop {
					break
				}
				continue
			}
			r, err := readRegisters(tid)
			if err == nil && t.safe(tid, r) {
				return place{tid: tid, registers: r, since: s.at}, true, nil
			}
			ran = ran || err == nil && t.text.Holds(r.thread(tid).pc)
			t.resume(tid, 0)
			break
		}
		if err := t.lost(); err != nil {
			return place{}, ran, err
		}
	}
	return place{}, ran, nil
}

// runs reports whether a thread runs or waits for a CPU. It reads the thread's own file: that
// of the same name below /proc sums up all threads of the process, which takes 3 s for 5,000.
func (t *tracer) runs(tid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", t.PID, tid))
	if err != nil {
		return false
	}
	s, err := procstat.ParseStat(b)
	return err == nil && s.State == 'R'
}

// safe reports whether a call can be made where the thread stands.
func (t *tracer) safe(tid int, r registers) bool {
	if t.unsafe(t.text, r.thread(tid)) != "" {
		return false
	}
	// A trap that is blocked makes the kernel reset how the program handles SIGTRAP.
	s, err := procstat.ReadTracing(tid)
	return err == nil && s.Blocked&trapBit == 0
}

const trapBit = 1 << (unix.SIGTRAP - 1)

// watch has threads run to their next system call, those that ran lately first, and steps the
// first one that comes back from a read or a write, instruction by instruction, to a place. What
// waits in C is not interrupted: a call such as epoll_wait would return early there. It ends
// without a place when the time is over, and after many stops, each of which slows a busy program
// down. idle, which may be nil, is called where it takes long.
func (t *tracer) watch(until time.Time, idle func()) (place, error) {
	t.watching = true
	defer func() { t.watching = false }()
	asleep, next, tell := slices.Collect(maps.Keys(t.active)), time.Time{}, time.Now().Add(looking)
	for tid := range t.seized {
		if !t.active[tid] {
			asleep = append(asleep, tid)
		}
	}
	for stops := 0; stops < mostStops; {
		end := until
		if soon := time.Now().Add(answering); soon.Before(end) { // whether the call is wanted still
			end = soon
		}
		if now := time.Now(); len(asleep) > 0 && now.After(next) {
			asleep, next = t.interrupt(asleep), now.Add(atOnceFor)
		}
		if len(asleep) > 0 && next.Before(end) {
			end = next
		}
		if idle != nil && time.Now().After(tell) {
			idle()
			idle, t.idle = nil, nil
		}
		if idle != nil && tell.Before(end) {
			end = tell
		}
		s, ok := t.next(-1, end)
		if err := t.lost(); err != nil {
			t.pass(s)
			return place{}, err
		}
		if !ok && end.Before(until) {
			continue
		}
		if !ok {
			break
		}
		if !s.ended && s.event == 0 && s.sig == callTrap {
			r, err := readRegisters(s.tid)
			if err == nil && r.transferred() && !t.inRuntime(r.thread(s.tid).pc) {
				stops++ // others are those of threads that start their call again, once each
				t.active[s.tid] = true
				if p, ok := t.step(s); ok {
					return p, nil
				}
				if err := t.lost(); err != nil {
					return place{}, err
				}
				continue
			}
		}
		t.pass(s)
		if time.Now().After(until) {
			break
		}
	}
	return place{}, nil
}

// interrupt has the first threads of the list start their system calls again, and returns the
// others.
func (t *tracer) interrupt(asleep []int) (others []int) {
	n := min(atOnce, len(asleep))
	for _, tid := range asleep[:n] {
		if !t.waitsInC(tid) {
			_ = ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) // fails if it has ended
		}
	}
	return asleep[n:]
}

// waitsInC reports whether a thread waits in a system call that C code made.
func (t *tracer) waitsInC(tid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/syscall", t.PID, tid))
	if err != nil || len(b) == 0 {
		return false
	}
	words := strings.Fields(string(b)) // the call, six arguments, SP and PC; or "running"
	pc, err := strconv.ParseUint(words[len(words)-1], 0, 64)
	return err == nil && len(words) == 9 && !t.text.Holds(pc)
}

// inRuntime reports whether the runtime itself made a system call, as it does to wake
// another thread.
func (t *tracer) inRuntime(pc uint64) bool {
	f, ok := t.text.At(pc)
	return !ok || strings.HasPrefix(f.Name, "runtime.")
}

// stepped waits for the end of a step. A thread that does not run, as in a cgroup that is
// frozen, is interrupted when the time for stepping is over, and false is that it stands still
// without having made the step.
func (t *tracer) stepped(s stop) (now stop, ok bool) {
	if now, ok = t.await(s.tid, s.at.Add(slowest)); !ok {
		_ = ptrace(unix.PTRACE_INTERRUPT, s.tid, 0, 0) // fails if it has ended, which the wait tells
		now, _ = t.await(s.tid, time.Time{})
	}
	// The trap of a step has to be seen, however late: delivered as a signal it would end the
	// program. It may be pending behind the interruption.
	for !now.ended && now.event == eventStop && now.sig == unix.SIGTRAP {
		if p, err := procstat.ReadTracing(s.tid); err == nil && p.Pending&trapBit == 0 {
			return now, false
		}
		t.resume(s.tid, 0)
		now, _ = t.await(s.tid, time.Time{})
	}
	return now, true
}

// step steps a thread from the end of a system call to the first place. Where there is none
// before its next call, or it gets a signal, it goes on.
func (t *tracer) step(s stop) (place, bool) {
	code := make([]byte, len(systemCall))
	preempted := false
	defer func() {
		if preempted {
			_ = unix.Tgkill(t.PID, s.tid, unix.SIGURG) // fails if it has ended
		}
	}()
	for n := range farthest {
		if time.Since(s.at) > slowest {
			break
		}
		if n == 1 {
			t.at(atStep)
		}
		if ptrace(unix.PTRACE_SINGLESTEP, s.tid, 0, 0) != nil {
			return place{}, false
		}
		now, stepped := t.stepped(s)
		if !stepped {
			break
		}
		// The runtime preempts a goroutine that has run for 10 ms, as one that is stepped on a
		// busy machine has, by a signal: that comes when the stepping is over.
		if !now.ended && now.event == 0 && now.sig == unix.SIGURG {
			preempted = true
			continue
		}
		if now.event == eventStop && now.sig != unix.SIGTRAP {
			// Only this ends the stepping of a thread that does not continue.
			_ = ptrace(unix.PTRACE_DETACH, s.tid, 0, 0)
			delete(t.seized, s.tid)
			t.halted = true
			return place{}, false
		}
		if now.ended || now.event != 0 || now.sig != unix.SIGTRAP {
			t.pass(now)
			return place{}, false
		}
		if preempted {
			t.at(atDelayed)
		}
		r, err := readRegisters(s.tid)
		if err != nil {
			break
		}
		if t.safe(s.tid, r) {
			return place{s.tid, r, s.at, true}, true
		}
		if err := t.text.ReadAt(code, r.thread(s.tid).pc); err != nil || bytes.Equal(code, systemCall) {
			break
		}
	}
	t.resume(s.tid, 0)
	return place{}, false
}
