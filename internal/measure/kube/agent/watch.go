package agent

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/program/observe"
)

// Ran is what a batch program did from its start to its end.
type Ran struct {
	WallSeconds float64 `json:"wall_seconds"`
	Look        Look    `json:"look"`
	Counted     Counted `json:"counted"`
}

const (
	// looksPerRun bounds how much of the program's time passes between two looks at its
	// processes: one part of that many.
	looksPerRun   = 400
	shortestPause = 2 * time.Millisecond
	longestPause  = 20 * time.Millisecond
	firstLook     = 10 * time.Millisecond  // at its GOMAXPROCS and its limits: a runtime starts by setting it
	procsLook     = 100 * time.Millisecond // the next ones, which cost more
)

// Watch follows the programs of the pod next to it, whose processes it must see, from
// their start to their end, and writes what they did as one line of JSON. It returns
// when ctx ends: what is next to the program in a pod is ended with it.
func Watch(ctx context.Context, out io.Writer) error {
	w := watcher{observer: observer{list: otherPrograms}}
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

// otherPrograms are the processes of the pod's other containers: neither the one that holds its
// namespaces, nor one that a container runtime has not started a program in yet.
func otherPrograms() (list []int) {
	for _, pid := range pids() {
		s, err := observe.ReadStat(pid)
		if pid != 1 && err == nil && !s.Ended() && !strings.HasPrefix(s.Name, "runc:[") {
			list = append(list, pid)
		}
	}
	return list
}

// watcher follows one run. What takes long, to read which program it is and its live
// GOMAXPROCS, is done next to the counting: a program may be over before it is.
type watcher struct {
	observer observer
	span     *span
	seen     Look
	stop     context.CancelFunc
	over     sync.WaitGroup
}

func (w *watcher) follow(ctx context.Context) (Ran, error) {
	w.observer.open()
	for {
		now := time.Now()
		there := len(w.observer.list()) > 0
		switch {
		case there && w.span == nil:
			w.begin(now)
		case !there && w.span != nil:
			return w.end(), nil
		case there:
			w.span.follow()
		}
		pause := shortestPause
		if w.span != nil {
			pause = min(max(pause, now.Sub(w.span.began)/looksPerRun), longestPause)
		}
		switch err := wait.For(ctx, pause); {
		case err != nil && w.span != nil: // it is over, or whoever ends this ends the program too
			return w.end(), nil
		case err != nil:
			return Ran{}, err
		}
	}
}

func (w *watcher) begin(now time.Time) {
	w.span = &span{observer: &w.observer, began: now, err: w.observer.err}
	w.span.count()
	looking, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.over.Go(func() {
		for pause := firstLook; wait.For(looking, pause) == nil; pause = procsLook {
			w.look()
		}
	})
}

func (w *watcher) end() Ran {
	wall := time.Since(w.span.began).Seconds()
	w.span.close()
	w.stop()
	w.over.Wait()
	if w.seen.Procs == 0 && w.seen.Error == "" {
		w.seen.Error = "the program ended before procfit could read it"
	}
	r := Ran{WallSeconds: wall, Look: w.seen, Counted: w.span.end()}
	r.Counted.MeasuredSeconds = wall
	return r
}

// look keeps the last that told anything.
func (w *watcher) look() {
	look := w.observer.look
	if w.seen.Error == "" && w.seen.Procs == 0 { // nothing has been seen: of several looks that see no Go program the first is kept
		look = w.observer.named
	}
	if l := look(0); l.Error == "" || w.seen.Procs == 0 && (w.seen.Error == "" || l.UID != nil) {
		w.seen = l
	}
	w.span.readLimits()
}

func (s *span) follow() {
	if s.err == nil {
		s.counts.Look(s.observer.list())
	}
}

// readLimits reads the limits while there is a process to see them by.
func (s *span) readLimits() {
	if s.limits == nil {
		if pid, err := s.observer.target(0, s.observer.list()); err == nil {
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
