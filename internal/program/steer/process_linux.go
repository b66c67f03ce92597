//go:build !portable && (amd64 || arm64)

package steer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
)

// Supported reports whether this procfit can call programs on this machine.
const Supported = true

// What procfit, its guard and their tracers tell each other, as JSON, which keeps false apart
// from unknown: all are the same executable.

// message is what a tracer or a guard gets first. A guard gets further values to set, and
// with an empty message that the old value is to come back now.
type message struct {
	Request Request // to a tracer
	Pause   step    // of a test: the tracer stops itself there
	Loan    Loan    // to a guard
	Given   bool    // the value of the loan is set already
	Unsure  bool    // it may be, or a tracer that has lost its guard may set it yet
	Lent    []Value // to a guard that follows another one: what may be set; nil: the loan's value
}

// answer is what a tracer and a guard say.
type answer struct {
	Result  Result
	Refusal *Refusal
	Error   string
	Trying  bool // the guard tries again
	Idle    bool // the call waits for Go code that runs; another answer follows
}

func answerOf(r Result, err error) answer {
	a := answer{Result: r}
	if err != nil && !errors.As(err, &a.Refusal) {
		a.Error = err.Error()
	}
	return a
}

func (a answer) err() error {
	switch {
	case a.Refusal != nil:
		return a.Refusal
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// guardName is a guard's name to the kernel, which has room for 15 bytes.
const guardName = "procfit (guard)"

// own is what this process was started as.
func own() part {
	if len(os.Args) < 2 {
		return ""
	}
	return part(os.Args[1])
}

// Stage runs the tracer or the guard, when this process was started as one: then ok is true,
// and the caller exits with the code. main, and the TestMain of every package that calls into
// programs, calls it before all else.
func Stage(args []string) (code int, ok bool) {
	if len(args) < 2 || part(args[1]) != tracerPart && part(args[1]) != guardPart {
		return 0, false
	}
	runtime.LockOSThread() // all requests of ptrace have to come from one thread
	// All that can be ignored: a tracer that ends in the middle of a call ends the program. Not
	// SIGCHLD, since children that it ignores cannot be waited for.
	for n := range 65 {
		if s := syscall.Signal(n); n > 0 && s != unix.SIGCHLD && s != unix.SIGURG && s != unix.SIGPROF {
			signal.Ignore(s)
		}
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("-1000"), 0) // needs CAP_SYS_RESOURCE
	unix.CloseOnExec(socket)
	conn := os.NewFile(socket, "procfit")
	messages, say := json.NewDecoder(conn), json.NewEncoder(conn)
	var m message
	if part(args[1]) == tracerPart {
		_ = os.WriteFile("/proc/self/comm", []byte("procfit tracer"), 0) // the name that ps shows for what traces a program
		// A thread of the program stands still for as long as this one waits for a CPU.
		// A nice value is within a session where the kernel groups by session, and this one is alone
		// in its own. Both need CAP_SYS_NICE.
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20)
		_ = os.WriteFile("/proc/self/autogroup", []byte("-20"), 0)
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // ns
	}
	switch {
	case messages.Decode(&m) != nil: // procfit is gone already, and nothing is to be done
	case part(args[1]) == guardPart:
		_ = os.WriteFile("/proc/self/comm", []byte(guardName), 0) // by which it is found
		guard(m, messages, say)
	default:
		m.Request.Idle = idle(say)
		// The program is let go with the end of this process: the end of a goroutine would not
		// do, since one that is locked to the main thread does not end that.
		_ = say.Encode(answerOf(trace(m.Request, m.Pause))) // nobody may be left to be told
	}
	return 0, true
}

// socket is the file of a tracer or a guard through which it talks to the process that started it.
const socket = 3

// unwanted reports whether nobody waits for the call any more: who started this process has
// ended, or said so. One that has begun is finished all the same.
func unwanted() bool {
	end := []unix.PollFd{{Fd: socket, Events: unix.POLLRDHUP}}
	_, err := unix.Poll(end, 0)
	return err == nil && end[0].Revents&(unix.POLLRDHUP|unix.POLLHUP) != 0
}

// idle tells who started this process that the call waits.
func idle(say *json.Encoder) func() {
	return func() { _ = say.Encode(answer{Idle: true}) } // nobody may be left to be told
}

// child is a tracer or a guard, as seen by who started it.
type child struct {
	cmd     *exec.Cmd
	conn    *os.File
	send    *json.Encoder
	receive *json.Decoder
	idle    func()       // of the Request; may be nil
	said    bytes.Buffer // of a crash
}

func start(p part, m message) (*child, error) {
	if o := own(); o == tracerPart || o == p {
		return nil, errors.New("this program does not call steer.Stage first")
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	_ = unix.SetNonblock(ends[0], true) // for its deadline
	ours, theirs := os.NewFile(uintptr(ends[0]), "tracer"), os.NewFile(uintptr(ends[1]), "procfit")
	defer theirs.Close()
	c := &child{cmd: exec.Command("/proc/self/exe", string(p)), conn: ours, send: json.NewEncoder(ours), receive: json.NewDecoder(ours)}
	c.cmd.Args[0], c.cmd.Dir = "procfit", "/"
	if p == guardPart {
		c.cmd.Args = append(c.cmd.Args, strconv.Itoa(m.Loan.PID), time.Now().Add(m.Loan.For-m.Loan.Spare).UTC().Format(time.RFC3339), strconv.FormatUint(m.Loan.Started, 10))
	}
	c.cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=single"}
	if p == tracerPart { // no collection while a thread of the program stands still, unless it looks for very long
		c.cmd.Env = append(c.cmd.Env, "GOGC=off", "GOMEMLIMIT=256MiB")
	}
	c.cmd.ExtraFiles, c.cmd.Stderr = []*os.File{theirs}, &c.said
	c.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true} // out of reach of the terminal's Ctrl-C
	if err := c.cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("start the %s: %w", p, err)
	}
	if err := c.send.Encode(m); err != nil {
		_ = c.end()
		return nil, fmt.Errorf("instruct the %s: %w", p, err)
	}
	return c, nil
}

// hangUp tells the process that nothing more is asked of it. It answers all the same.
func (c *child) hangUp() {
	if raw, err := c.conn.SyscallConn(); err == nil { // else it is closed
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) })
	}
}

// end waits for the process after its end of the socket is closed.
func (c *child) end() error {
	c.conn.Close()
	return c.cmd.Wait()
}

// callLimit is how long a caller waits for a call. A tracer that found a place within its own
// limits needs longer only while the program cannot run, as in a frozen cgroup. It then has to
// stay, but nobody has to wait for it.
const callLimit = watching + time.Minute

// answer waits for the process to say something, until a time. A Refusal of its own is Lost:
// it is gone, or Late: the time is over.
func (c *child) answer(pid int, until time.Time) (a answer, none *Refusal) {
	_ = c.conn.SetReadDeadline(until) // it is a socket, which has one
	err := c.receive.Decode(&a)
	for ; err == nil && a.Idle; err = c.receive.Decode(&a) {
		if a = (answer{}); c.idle != nil {
			c.idle()
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return a, &Refusal{pid, Late, fmt.Sprintf("%v by process %d", callLimit, c.cmd.Process.Pid)}
	case err != nil:
		return a, &Refusal{pid, Lost, fmt.Sprintf("%v %s", c.end(), bytes.TrimSpace(c.said.Bytes()))}
	}
	return a, nil
}

// Set has a process set its GOMAXPROCS, to Most at most. It returns when the process is let go, or
// with Late. The end of ctx, or of this process, ends the wait for a place, with Unwanted; nothing
// ends a call on its way.
func Set(ctx context.Context, r Request) (Result, error) {
	if r.Value.Procs > Most {
		return Result{}, &Refusal{r.PID, Unsupported, fmt.Sprintf("GOMAXPROCS=%d is above %d, the most that procfit sets", r.Value.Procs, Most)}
	}
	return r.send(ctx)
}

// send is Set of any value, as of one that the program had before.
func (r Request) send(ctx context.Context) (Result, error) {
	c, err := start(tracerPart, message{Request: r})
	if err != nil {
		return Result{}, err
	}
	c.idle = r.Idle
	defer context.AfterFunc(ctx, c.hangUp)()
	return c.result(r.PID)
}

// result is what a tracer says, once it has ended.
func (c *child) result(pid int) (Result, error) {
	a, none := c.answer(pid, time.Now().Add(callLimit))
	if none != nil {
		if none.Why == Lost {
			urge(pid)
		}
		return Result{}, none
	}
	_ = c.end() // the program is let go then
	return a.Result, a.err()
}

// urge sends all threads of a program the signal by which the runtime preempts goroutines. A
// tracer that was killed may have delayed one, and the runtime sends a thread no other before
// it has got that. One too many does nothing.
func urge(pid int) {
	tids, _ := procstat.IDs("/proc/" + strconv.Itoa(pid) + "/task") // none once it has ended
	for _, tid := range tids {
		_ = unix.Tgkill(pid, tid, unix.SIGURG) // else it has ended
	}
}

// Guard is a process that sets a value, and gives the old one back when the time is over, when
// it is asked to, and when procfit dies.
type Guard struct {
	child *child
	loan  Loan
}

// Lend has a guard set a value. An error is that it was not set, or with Lost, Broken and Late
// that it may have been: the guard then gives the old one back, or another one if it is gone. If
// ctx ends before it returns, the value is not set, or comes back now.
func Lend(ctx context.Context, l Loan) (*Guard, Result, error) {
	c, err := start(guardPart, message{Loan: l})
	if err != nil {
		return nil, Result{}, err
	}
	c.idle = l.Idle
	defer context.AfterFunc(ctx, c.hangUp)()
	a, none := c.answer(l.PID, time.Now().Add(2*callLimit))
	if none == nil && a.err() == nil {
		l.found(a.Result)
		return &Guard{c, l}, a.Result, nil
	}
	c.conn.Close()
	switch {
	case none == nil:
		if a.Refusal == nil || !a.Refusal.unsure() {
			_ = c.cmd.Wait() // it ends then, so that the next one does not find it
		}
		return nil, Result{}, a.err()
	case none.Why == Lost: // its tracer may live, and set the value yet
		c, err := start(guardPart, message{Loan: l, Given: true, Unsure: true})
		if err != nil {
			return nil, Result{}, errors.Join(none, err)
		}
		c.conn.Close() // the value is to come back now
	}
	return nil, Result{}, none
}

// Change has the guard set another value. The value that comes back stays the one before the
// loan. After Lost, Broken and Late, and at the end of ctx, the guard gives that back, and changes
// nothing any more.
func (g *Guard) Change(ctx context.Context, v Value) (Result, error) {
	none := &Refusal{g.loan.PID, Lost, "before the call"}
	var a answer
	if g.child.send.Encode(message{Request: Request{Program: g.loan.Program, Value: v}}) == nil {
		defer context.AfterFunc(ctx, g.child.hangUp)()
		a, none = g.child.answer(g.loan.PID, time.Now().Add(2*callLimit))
	}
	switch {
	case none == nil && a.err() == nil:
		g.loan.Value = v
		return a.Result, nil
	case none == nil:
		return Result{}, a.err()
	case none.Why == Lost: // its tracer may live, and set the value yet
		c, err := start(guardPart, message{Loan: g.loan, Given: true, Unsure: true, Lent: []Value{g.loan.Value, v}})
		if err != nil {
			return Result{}, errors.Join(none, err)
		}
		g.child = c
	}
	return Result{}, none
}

// Before is what the guard gives back: what the first call found, where that is a number.
func (g *Guard) Before() Value { return g.loan.Before }

func (g *Guard) PID() int { return g.child.cmd.Process.Pid }

// Wait waits until the old value is back; the end of ctx has it come back now. trying is that
// it could not be given back yet, and that the guard tries for an hour.
func (g *Guard) Wait(ctx context.Context) (r Result, trying bool, err error) {
	stop := context.AfterFunc(ctx, func() { _ = g.child.send.Encode(message{}) }) // else it is gone, which the answer tells
	defer stop()
	a, none := g.child.answer(g.loan.PID, time.Now().Add(g.loan.For+2*callLimit))
	if none != nil && none.Why == Lost { // another one gives the value back, now
		c, err := start(guardPart, message{Loan: g.loan, Given: true})
		if err != nil {
			return Result{}, false, errors.Join(none, err)
		}
		g.child = c
		_ = c.send.Encode(message{}) // else it is gone, too
		a, none = c.answer(g.loan.PID, time.Now().Add(2*callLimit))
	}
	switch {
	case none != nil:
		return Result{}, none.Why == Late, none
	case a.Trying:
		g.child.conn.Close()
	default:
		_ = g.child.end()
	}
	return a.Result, a.Trying, a.err()
}

// Guards are the processes of this name. Anyone may have it.
func Guards() (list []int) {
	pids, _ := procstat.IDs("/proc") // without them nothing is known
	for _, pid := range pids {
		if s, err := procstat.ReadStat(pid); err == nil && s.Name == guardName {
			list = append(list, pid)
		}
	}
	return list
}

// LentUntil is when the last of these guards that lend a process a value is to give the old one
// back; zero: none lends it one. A guard that cannot do so then tries again. A guard of a user who is
// neither root nor the process's own is ignored. One in a PID namespace below this one, as in a
// container, knows the process by another PID, and by when it started. All users get the same answer: only
// what all may read is read.
func LentUntil(pid int, guards []int) (until time.Time) {
	if len(guards) == 0 {
		return until
	}
	inner, _ := procstat.Status(pid, "NSpid") // its PIDs from the namespace of /proc down to its own; unknown counts as none below
	pids := strings.Fields(inner)
	for _, guard := range guards {
		var user unix.Stat_t
		if unix.Stat("/proc/"+strconv.Itoa(pid), &user) != nil || !guardOf(guard, user.Uid) {
			continue
		}
		own, _ := procstat.Status(guard, "NSpid")
		said, _ := os.ReadFile("/proc/" + strconv.Itoa(guard) + "/cmdline")
		words := strings.Split(string(said), "\x00")
		if len(words) < 4 || part(words[1]) != guardPart {
			continue
		}
		meant := words[2] == strconv.Itoa(pid)
		if below := len(strings.Fields(own)) - 1; below > 0 {
			s, err := procstat.ReadStat(pid)
			meant = err == nil && below < len(pids) && words[2] == pids[below] && slices.Contains(words[4:], strconv.FormatUint(s.Started, 10))
		}
		if !meant {
			continue
		}
		if at, err := time.Parse(time.RFC3339, words[3]); err == nil && at.After(until) {
			until = at
		}
	}
	return until
}

// guardOf reports whether a process may be a guard that root or this user started. Anyone can start a
// program with the setuid bit under a guard's name and with its command line: that one keeps an ID of
// its user, or handles his signals, as sudo does at its prompt. A guard ignores them before it has its
// name.
func guardOf(pid int, user uint32) bool {
	ids, _ := procstat.Status(pid, "Uid") // real, effective, saved, of the file system
	ignored, _ := procstat.Status(pid, "SigIgn")
	id := slices.Compact(strings.Fields(ids))
	signals, _ := strconv.ParseUint(ignored, 16, 64) // one that cannot be read ignores none
	const all = 1<<(unix.SIGHUP-1) | 1<<(unix.SIGINT-1) | 1<<(unix.SIGTERM-1)
	return len(id) == 1 && (id[0] == "0" || id[0] == strconv.Itoa(int(user))) && signals&all == all
}

// Adopt makes this process the parent of the guards below it that outlive their procfit, which
// else is the first process of the PID namespace. wait waits for them, and for all other children.
func Adopt() (wait func(), err error) {
	wait = func() {
		for err := error(nil); err == nil || errors.Is(err, unix.EINTR); {
			_, err = unix.Wait4(-1, nil, 0, nil)
		}
	}
	return wait, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// Identify reads which program a process runs.
func Identify(pid int) (Program, error) {
	p := Program{PID: pid}
	s, err := procstat.ReadStat(pid)
	if err != nil {
		return p, err
	}
	p.Started = s.Started
	dir := "/proc/" + strconv.Itoa(pid)
	var st unix.Stat_t
	if err := unix.Stat(dir+"/exe", &st); err != nil {
		return p, &os.PathError{Op: "stat", Path: dir + "/exe", Err: err}
	}
	p.Dev, p.Inode = st.Dev, st.Ino
	told, err := os.ReadFile(dir + "/auxv")
	if err == nil && len(told) == 0 {
		err = fmt.Errorf("process %d runs no program now", pid)
	}
	p.Told = sha256.Sum256(told)
	return p, err
}

// same is nil while the process runs the program.
func (p Program) same() error {
	now, err := Identify(p.PID)
	switch {
	case err == nil && now == p:
		return nil
	case procstat.HasEnded(p.PID):
		return &Refusal{p.PID, Ended, ""}
	case now.Started != p.Started:
		return &Refusal{p.PID, Replaced, ""}
	case err != nil:
		return &Refusal{p.PID, Unreadable, err.Error()}
	}
	return &Refusal{p.PID, Executed, ""}
}
