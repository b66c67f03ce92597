//go:build !portable

package supervisor

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// reap collects every child that has ended, orphans of the command too.
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
			if !p.Ended() {
				p.kill()
				left = append(left, p.PID)
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
