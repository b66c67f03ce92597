package agent

import (
	"context"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/load"
)

// job is a load under way, or what came of it.
type job struct {
	measured, done chan struct{} // closed when its measured time is over, and when all is
	ended          time.Time     // its measured time
	result         *result
	failed         string
}

func newJob() *job { return &job{measured: make(chan struct{}), done: make(chan struct{})} }

func (j *job) run(ctx context.Context, o load.Options, offer Offer) {
	defer close(j.done)
	o.Ended = sync.OnceFunc(func() {
		j.ended = time.Now()
		close(j.measured)
	})
	r, err := offer(ctx, o)
	if err == nil {
		j.result, err = pack(r)
	}
	if err != nil {
		j.failed, j.result = err.Error(), nil
	}
}

// wait returns when the job is done, or with ended its measured time is over, or ctx ends.
func (j *job) wait(ctx context.Context, ended bool) (p progress) {
	var measured chan struct{} // nil: not waited for
	if ended {
		measured = j.measured
	}
	select {
	case <-measured:
	case <-j.done:
	case <-ctx.Done():
	}
	if over(j.measured) {
		p.EndedAgo = new(time.Since(j.ended))
	}
	if over(j.done) {
		p.Done, p.Error, p.Result = true, j.failed, j.result
	}
	return p
}

func over(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
