//go:build !portable && (amd64 || arm64)

package steer

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
)

// What procfit and its tracer or guard tell each other, as gob: both are the same
// executable.

// message is what procfit sends: one Request to a tracer; to a guard first what to give
// back, then that all is well.
type message struct {
	Request Request
	Back    *Back
	Done    bool
}

// answer is what a tracer sends.
type answer struct {
	Result  Result
	Refusal *Refusal
	Error   string
}

// part is the hidden first argument. It is in ps, so it says what the process is.
const part = "(tracer)"

// Stage runs the tracer or the guard, when this process was started as one: then ok is true,
// and the caller exits with the code. main, and the TestMain of every package that calls into
// programs, calls it before all else.
func Stage(args []string) (code int, ok bool) {
	if len(args) != 2 || args[1] != part {
		return 0, false
	}
	// All that can be ignored: a tracer that ends in the middle of a call ends the program. Not
	// SIGCHLD, since children that it ignores cannot be waited for.
	for n := range 65 {
		if s := syscall.Signal(n); n > 0 && s != unix.SIGCHLD && s != unix.SIGURG && s != unix.SIGPROF {
			signal.Ignore(s)
		}
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("-1000"), 0) // needs CAP_SYS_RESOURCE
	unix.CloseOnExec(3)
	conn := os.NewFile(3, "procfit")
	messages := gob.NewDecoder(conn)
	var m message
	if messages.Decode(&m) != nil {
		return 0, true // procfit is gone already, and nothing is to be done
	}
	if m.Back != nil {
		guard(*m.Back, messages)
		return 0, true
	}
	result, err := perform(m.Request)
	a := answer{Result: result}
	if err != nil && !errors.As(err, &a.Refusal) {
		a.Error = err.Error()
	}
	_ = gob.NewEncoder(conn).Encode(a) // nobody is left to be told
	return 0, true
}

// child is a tracer or a guard, as procfit sees it.
type child struct {
	cmd  *exec.Cmd
	conn *os.File
	send *gob.Encoder
	said bytes.Buffer // of a crash
}

func start(m message) (*child, error) {
	if slices.Contains(os.Args[1:min(2, len(os.Args))], part) {
		return nil, errors.New("this program does not call steer.Stage first")
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "tracer"), os.NewFile(uintptr(ends[1]), "procfit")
	defer theirs.Close()
	c := &child{cmd: exec.Command("/proc/self/exe", part), conn: ours, send: gob.NewEncoder(ours)}
	c.cmd.Args[0], c.cmd.Dir = "procfit", "/"
	c.cmd.Env = []string{"GOMAXPROCS=1", "GOTRACEBACK=single"}
	c.cmd.ExtraFiles, c.cmd.Stderr = []*os.File{theirs}, &c.said
	c.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true} // out of reach of the terminal's Ctrl-C
	if err := c.cmd.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("start the tracer: %w", err)
	}
	if err := c.tell(m); err != nil {
		c.end()
		return nil, fmt.Errorf("instruct the tracer: %w", err)
	}
	return c, nil
}

func (c *child) tell(m message) error { return c.send.Encode(m) }

// end waits for the process after its end of the socket is closed.
func (c *child) end() error {
	c.conn.Close()
	return c.cmd.Wait()
}

// Set has a process set its GOMAXPROCS. It returns when the process is let go; nothing ends a
// call on its way.
func Set(r Request) (Result, error) {
	c, err := start(message{Request: r})
	if err != nil {
		return Result{}, err
	}
	var a answer
	err = gob.NewDecoder(c.conn).Decode(&a)
	ended := c.end()
	switch {
	case err != nil:
		return Result{}, &Refusal{r.PID, Lost, fmt.Sprintf("%v %s", ended, bytes.TrimSpace(c.said.Bytes()))}
	case a.Refusal != nil:
		return Result{}, a.Refusal
	case a.Error != "":
		return Result{}, errors.New(a.Error)
	}
	return a.Result, nil
}

// Guard is a process that gives a value back when procfit dies.
type Guard struct{ child *child }

// Watch starts one. It is to be there before the value is set.
func Watch(b Back) (*Guard, error) {
	c, err := start(message{Back: &b})
	if err != nil {
		return nil, err
	}
	return &Guard{c}, nil
}

// PID is the guard's process.
func (g *Guard) PID() int { return g.child.cmd.Process.Pid }

// Done ends the guard, which then changes nothing.
func (g *Guard) Done() error {
	err := g.child.tell(message{Done: true})
	return errors.Join(err, g.child.end())
}

// Leave has the guard give the value back, and does not wait for it.
func (g *Guard) Leave() error { return g.child.conn.Close() }

const (
	// guardSettles is how long a guard waits for the value that it is to give back: the tracer
	// of it may be on its way while procfit dies.
	guardSettles = looking + watching + 5*time.Second
	// guardTries is how long it tries again where a program has nothing to do.
	guardTries = time.Hour
	guardPause = 100 * time.Millisecond
)

// guard is the process of a Guard.
func guard(b Back, messages *gob.Decoder) {
	var m message
	for messages.Decode(&m) == nil {
		if m.Done {
			return
		}
	}
	var cache goproc.Cache
	settled, end := time.Now().Add(guardSettles), time.Now().Add(guardTries)
	for time.Now().Before(end) {
		s, err := procstat.ReadStat(b.PID)
		if err != nil || s.Ended() || s.Started != b.Started {
			return
		}
		live, err := cache.Live(b.PID)
		switch {
		case err == nil && live.Procs == b.Set:
			if _, err := perform(b.Request); err == nil {
				return
			}
		case time.Now().After(settled):
			return
		}
		time.Sleep(guardPause)
	}
}
