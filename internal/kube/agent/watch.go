package agent

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/observe"
)

// Ran is what a batch program did from its start to its end.
type Ran struct {
	WallSeconds float64 `json:"wall_seconds"`
	Look        Look    `json:"look"`
	Counted     Counted `json:"counted"`
}

const (
	// fewestLooks bounds how much of the program's time passes between two looks at its
	// processes: one part of so many.
	fewestLooks = 400
	soonestLook = 2 * time.Millisecond
	latestLook  = 20 * time.Millisecond
	firstLook   = 10 * time.Millisecond  // at its GOMAXPROCS and its limits: a runtime begins by setting it
	procsLook   = 100 * time.Millisecond // the next ones, which cost more
)

// Watch follows the programs of the pod beside it, whose processes it must see, from
// their start to their end, and writes what they did as one line of JSON. It returns
// when ctx ends: what is beside the program in a pod is ended with it.
func Watch(ctx context.Context, out io.Writer) error {
	w := watcher{eye: eye{list: beside}}
	ran, err := w.follow(ctx)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(ran); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// beside are the processes of the pod's other containers: neither the one that holds its
// namespaces, nor one that a container runtime has not made a program of yet.
func beside() (list []int) {
	for _, pid := range pids() {
		s, err := observe.ReadStat(pid)
		if pid != 1 && err == nil && !s.Ended() && !strings.HasPrefix(s.Name, "runc:[") {
			list = append(list, pid)
		}
	}
	return list
}

// watcher follows one run.
type watcher struct {
	eye  eye
	span *span
	ran  Ran
}

func (w *watcher) follow(ctx context.Context) (Ran, error) {
	var began, looked time.Time
	for {
		now := time.Now()
		there := len(w.eye.list()) > 0
		switch {
		case there && w.span == nil:
			began, w.span = now, w.eye.start(0)
		case !there && w.span != nil:
			return w.end(now.Sub(began)), nil
		case there:
			w.span.follow()
		}
		if there && now.Sub(began) >= firstLook && now.Sub(looked) >= procsLook {
			w.look()
			looked = now
		}
		pause := soonestLook
		if w.span != nil {
			pause = min(max(pause, now.Sub(began)/fewestLooks), latestLook)
		}
		select {
		case <-ctx.Done():
			if w.span != nil { // it is over, or whoever ends this ends the program too
				return w.end(time.Since(began)), nil
			}
			return Ran{}, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (w *watcher) end(wall time.Duration) Ran {
	w.ran.WallSeconds, w.ran.Counted = wall.Seconds(), w.span.end()
	w.ran.Counted.MeasuredSeconds = w.ran.WallSeconds
	return w.ran
}

// look keeps the last that told anything.
func (w *watcher) look() {
	if l := w.eye.look(0); l.Error == "" || w.ran.Look.Procs == 0 {
		w.ran.Look = l
	}
	w.span.readLimits()
}

// follow looks at the processes once more.
func (s *span) follow() {
	if s.err == nil {
		s.counts.Look(s.eye.pids())
	}
}

// readLimits reads the limits while there is a process to see them by.
func (s *span) readLimits() {
	if s.limits == nil {
		if pid, err := s.eye.target(0, s.eye.pids()); err == nil {
			s.limits = limitsOf(pid)
		}
		return
	}
	last := observe.Reread(s.limits)
	for i := range last {
		if _, ok := last[i].Since(s.limits[i]); !ok {
			return // it has ended meanwhile
		}
	}
	s.last = last
}
