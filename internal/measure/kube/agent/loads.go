package agent

import (
	"context"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/load"
)

// job is a load under way, or what came of it.
type job struct {
	mu      sync.Mutex
	ended   time.Time // its measured time
	result  *result
	failed  string
	changed chan struct{} // closed, and made again, at each step
	done    bool
}

func newJob() *job { return &job{changed: make(chan struct{})} }

// step changes the job and wakes who waits for it.
func (j *job) step(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
	close(j.changed)
	j.changed = make(chan struct{})
}

func (j *job) run(ctx context.Context, o load.Options, offer Offer) {
	o.Ended = func() { j.step(func() { j.ended = time.Now() }) }
	r, err := offer(ctx, o)
	packed, packErr := pack(r)
	j.step(func() {
		j.done, j.result = true, packed
		for _, err := range []error{err, packErr} {
			if err != nil {
				j.failed, j.result = err.Error(), nil
			}
		}
	})
}

// wait returns when the job is done, or with ended its measured time is over, or ctx ends.
func (j *job) wait(ctx context.Context, ended bool) progress {
	for {
		j.mu.Lock()
		p := progress{Done: j.done, Error: j.failed, Result: j.result}
		if !j.ended.IsZero() {
			p.EndedAgo = new(time.Since(j.ended))
		}
		changed := j.changed
		j.mu.Unlock()
		if p.Done || ended && p.EndedAgo != nil {
			return p
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return p
		}
	}
}
