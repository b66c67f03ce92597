//go:build !portable

package supervisor

import (
	"encoding/gob"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cgroup"
)

const (
	// killPatience is how long the supervisor kills before it reports what is
	// left. It goes on killing after that.
	killPatience = 10 * time.Second
	// drainPatience is how long it waits for the end of the output once no
	// descendant is left: somebody else may hold the pipe.
	drainPatience = time.Second
	// stageGrows is how much larger the stage may become after its report, and by how much the
	// kernel's count of its pages may be off.
	stageGrows = 2 << 20
)

// supervisor is the state of the supervisor's process. Its descriptor 3 is the
// socket to procfit; those from firstFile on may be the log or the command's.
type supervisor struct {
	request   request
	events    *gob.Encoder
	sigchld   chan os.Signal
	pid       int // of the command
	stage     usage
	started   time.Time
	ended     time.Time // zero while the command runs
	status    unix.WaitStatus
	childless bool
	logs
	pipes    []*os.File     // from which the streams come
	draining sync.WaitGroup // until the end of the output
}

// supervise always ends with exit code 0: what goes wrong it tells procfit.
// Another code is that of a crash.
func supervise() int {
	runtime.LockOSThread() // the death signal of the command goes by this thread
	unix.CloseOnExec(3)
	if err := unix.SetNonblock(3, true); err != nil {
		return 1
	}
	conn := os.NewFile(3, "procfit")
	s := &supervisor{events: gob.NewEncoder(conn), sigchld: make(chan os.Signal, 1)}
	commands := gob.NewDecoder(conn)
	if commands.Decode(&s.request) != nil {
		return 0 // procfit is gone already
	}
	if s.request.Path == "" {
		keep(receive(commands))
		return 0
	}
	if s.request.Log || s.request.Streams {
		for fd := range 3 { // to close what is not there does no harm
			unix.CloseOnExec(firstFile + fd)
		}
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	signal.Notify(s.sigchld, unix.SIGCHLD)
	received := receive(commands)
	if err := s.start(received, ends); err != nil {
		s.killAll(time.Now().Add(killPatience))
		removeFolders(s.request.Folders)
		if s.events.Encode(event{Error: err.Error()}) != nil { // procfit died meanwhile
			removeGroups(s.request.ProcsFiles)
		}
		return 0
	}
	_ = s.events.Encode(event{PID: s.pid}) // procfit's death shows below
	s.run(received, ends)
	return 0
}

// receive passes procfit's commands on; the channel closes when procfit is gone.
func receive(from *gob.Decoder) <-chan command {
	to := make(chan command)
	go func() {
		defer close(to)
		for {
			var c command
			if from.Decode(&c) != nil {
				return
			}
			to <- c
		}
	}()
	return to
}

// run lasts until the command has ended and nothing of it is left.
func (s *supervisor) run(commands <-chan command, ends <-chan os.Signal) {
	var grace <-chan time.Time
	var deadline time.Time // of the grace
	killed, stopping := false, false
	for !killed && !s.over(stopping) {
		select {
		case <-s.sigchld:
			s.reap()
		case c, ok := <-commands:
			switch {
			case !ok:
				s.abandon()
				return
			case c.Op == opTail:
				_ = s.events.Encode(event{Output: s.output.Output()})
			case c.Op == opStop:
				if end := time.Now().Add(c.Grace); !stopping || end.Before(deadline) {
					deadline, grace = end, time.After(c.Grace)
				}
				if !stopping {
					_ = unix.Kill(-s.pid, unix.SIGTERM) // fails if all are gone
				}
				stopping = true
			}
		case <-grace:
			killed = true
		case <-ends: // somebody ends the supervisor: the command with it
			killed = true
		case <-s.poll(stopping):
		}
	}
	left := s.killAll(time.Now().Add(killPatience))
	removeFolders(s.request.Folders)
	exit := s.exit()
	exit.Killed, exit.Left = killed, left
	err := s.events.Encode(event{Output: s.output.Output(), Exit: &exit})
	if len(left) > 0 {
		s.killAll(time.Time{})
	}
	if err != nil { // procfit died meanwhile
		removeGroups(s.request.ProcsFiles)
	}
}

// over reports whether the command has ended and, when it was asked to, the rest of
// its process group too, which was asked with it. The group keeps its number from being
// used again for as long as it has members.
func (s *supervisor) over(stopping bool) bool {
	return !s.ended.IsZero() && (!stopping || errors.Is(unix.Kill(-s.pid, 0), unix.ESRCH))
}

// poll watches for the end of the command's process group, which no signal tells
// when its members are not our own children.
func (s *supervisor) poll(stopping bool) <-chan time.Time {
	if stopping && !s.ended.IsZero() {
		return time.After(2 * time.Millisecond)
	}
	return nil
}

// abandon is the end when procfit is gone.
func (s *supervisor) abandon() {
	s.killAll(time.Time{})
	removeGroups(s.request.ProcsFiles)
	removeFolders(s.request.Folders)
	_ = s.finishLog() // nobody is left to be told
}

// exit says how the command ended; all that could be waited for has been.
func (s *supervisor) exit() Exit {
	e := Exit{Code: -1, Wall: s.ended.Sub(s.started)}
	switch {
	case s.ended.IsZero(): // not even SIGKILL ended it yet
		e.Wall = time.Since(s.started)
	case s.status.Exited():
		e.Code = s.status.ExitStatus()
	default:
		e.Signal = unix.SignalName(s.status.Signal())
	}
	if err := s.finishLog(); err != nil {
		if of, ok := errors.AsType[*fs.PathError](err); ok {
			err = of.Err // without the name of the file, which here is a descriptor
		}
		e.LogError = err.Error()
	}
	e.OutputBytes, e.LogCut = s.log.total, s.request.Log && s.log.cut()
	all := used(unix.RUSAGE_CHILDREN)
	e.User = max(0, all.User-s.stage.User)
	e.System = max(0, all.System-s.stage.System)
	e.VoluntarySwitches = max(0, all.Voluntary-s.stage.Voluntary)
	e.InvoluntarySwitches = max(0, all.Involuntary-s.stage.Involuntary)
	if all.MaxRSSBytes > s.stage.MaxRSSBytes+stageGrows {
		e.MaxRSSBytes = all.MaxRSSBytes // else it may be the stage's, which the command has from it
	}
	return e
}

// keep is the supervisor's part without a command: it waits for the end of
// procfit and removes what is left of what it was told of, groups first, since
// what runs in them may be a program of one of the folders.
func keep(commands <-chan command) {
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	kept := map[string]op{}
	for c := range commands {
		kept[c.Path] = c.Op
	}
	for path, how := range kept {
		if how == opGroup {
			_ = cgroup.Remove(path) // the next run tries again
		}
	}
	for path, how := range kept {
		if how == opFolder {
			_ = os.RemoveAll(path)
		}
	}
}

func startKeeper() (*line, error) {
	l, err := spawn(nil)
	if err != nil {
		return nil, err
	}
	if err := l.tell(request{}); err != nil {
		l.hangUp()
		if lost := l.wait(); lost != nil {
			return nil, lost
		}
		return nil, err
	}
	return l, nil
}
