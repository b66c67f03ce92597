package target

import (
	"encoding/gob"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// killPatience is how long the supervisor kills before it reports what is
	// left. It goes on killing after that.
	killPatience = 10 * time.Second
	// drainPatience is how long it waits for the end of the output once no
	// descendant is left: somebody else may hold the pipe.
	drainPatience = time.Second
)

// supervisor is the state of the supervisor's process. Its descriptor 3 is the
// socket to procfit; those from firstStream on may be the target's.
type supervisor struct {
	request   request
	events    *gob.Encoder
	sigchld   chan os.Signal
	pid       int // of the target
	stage     usage
	started   time.Time
	ended     time.Time // zero while the target runs
	status    unix.WaitStatus
	childless bool
	output    *headTail
	logFile   io.Closer
	drained   chan struct{} // closed at the end of the output
	outPipe   *os.File
}

func supervise() int {
	runtime.LockOSThread() // the death signal of the target goes by this thread
	unix.CloseOnExec(3)
	if err := unix.SetNonblock(3, true); err != nil {
		return 1
	}
	conn := os.NewFile(3, "procfit")
	s := &supervisor{events: gob.NewEncoder(conn), sigchld: make(chan os.Signal, 1)}
	commands := gob.NewDecoder(conn)
	if commands.Decode(&s.request) != nil {
		return 1
	}
	if s.request.Streams {
		for fd := range 3 {
			unix.CloseOnExec(firstStream + fd)
		}
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	signal.Notify(s.sigchld, unix.SIGCHLD)
	if err := s.start(); err != nil {
		_ = s.events.Encode(event{Kind: evFailed, Error: err.Error()})
		s.killAll(time.Time{})
		return 1
	}
	_ = s.events.Encode(event{Kind: evStarted, PID: s.pid}) // procfit's death shows below
	s.run(receive(commands), ends)
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

// run lasts until the target has ended and nothing of it is left.
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
				_ = s.events.Encode(event{Kind: evTail, Tail: s.output.Tail()})
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
		case <-ends: // somebody ends the supervisor: the target with it
			killed = true
		case <-s.poll(stopping):
		}
	}
	left := s.killAll(time.Now().Add(killPatience))
	exit := s.exit()
	exit.Killed, exit.Left = killed, left
	err := s.events.Encode(event{Kind: evExited, Tail: s.output.Tail(), Exit: exit})
	if len(left) > 0 {
		s.killAll(time.Time{})
	}
	if err != nil { // procfit died meanwhile
		s.removeGroups()
	}
}

// over tells that the target has ended and, when it was asked to, the rest of
// its process group too, which was asked with it.
func (s *supervisor) over(stopping bool) bool {
	return !s.ended.IsZero() && !(stopping && s.groupLives())
}

// poll watches for the end of the target's process group, which no signal tells
// when its members are not our own children.
func (s *supervisor) poll(stopping bool) <-chan time.Time {
	if stopping && !s.ended.IsZero() {
		return time.After(2 * time.Millisecond)
	}
	return nil
}

// groupLives tells whether the target's process group has members. The group
// keeps its number from being used again for as long as it has.
func (s *supervisor) groupLives() bool {
	return !errors.Is(unix.Kill(-s.pid, 0), unix.ESRCH)
}

// abandon is the end when procfit is gone.
func (s *supervisor) abandon() {
	s.killAll(time.Time{})
	s.removeGroups()
	_ = s.finishLog() // nobody is left to be told
}

// removeGroups removes the cgroups, now empty. The kernel lets go of a dead
// process a moment after it is out of sight.
func (s *supervisor) removeGroups() {
	for _, file := range s.request.ProcsFiles {
		for deadline := time.Now().Add(killPatience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if !errors.Is(unix.Rmdir(filepath.Dir(file)), unix.EBUSY) {
				break
			}
		}
	}
}

// reap collects every child that has ended, orphans of the target too.
func (s *supervisor) reap() {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD): // none: nor any descendant, as orphans come to us
			s.childless = true
			return
		case err != nil || pid == 0:
			s.childless = false
			return
		case pid == s.pid && s.ended.IsZero():
			s.ended, s.status = time.Now(), status
		}
	}
}

// killAll kills every descendant, again and again since they may fork, until
// none is left, and returns those that are at the deadline; zero: no deadline.
func (s *supervisor) killAll(deadline time.Time) (left []int) {
	pause := time.Millisecond
	for s.reap(); !s.childless; s.reap() {
		all, _ := descendants(os.Getpid()) // /proc unreadable: the next round may do better
		left = nil
		for _, p := range all {
			if !p.zombie {
				p.kill()
				left = append(left, p.pid)
			}
		}
		if !deadline.IsZero() && time.Now().After(deadline) {
			return left
		}
		select {
		case <-s.sigchld:
		case <-time.After(pause):
			pause = min(2*pause, 50*time.Millisecond)
		}
	}
	return nil
}

// exit says how the target ended; all that could be waited for has been.
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
		e.LogError = err.Error()
	}
	e.OutputBytes = s.output.total
	all := used(unix.RUSAGE_CHILDREN)
	e.User = max(0, all.User-s.stage.User)
	e.System = max(0, all.System-s.stage.System)
	e.VoluntarySwitches = max(0, all.Voluntary-s.stage.Voluntary)
	e.InvoluntarySwitches = max(0, all.Involuntary-s.stage.Involuntary)
	e.MaxRSSBytes = all.MaxRSSBytes
	return e
}
