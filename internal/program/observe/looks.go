package observe

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/show/number"
)

const (
	// answerIn is how long a Scan waits for a process: ten thousand times what a look takes,
	// and longer than Learn takes for a file. It waits for longer than that only where the
	// program or its memory is on a file system that does not answer: of a server that is
	// gone (NFS, SSHFS), or a FUSE file system that somebody made for that.
	answerIn = 3 * time.Second
	// answerAtEnd is how long it waits for one when the time of the whole Scan is over.
	answerAtEnd = 250 * time.Millisecond
	// mostHung bounds the threads that such reads hold. No signal ends one.
	mostHung = 64
)

var errHung = fmt.Errorf("no answer within %s: its program or its memory is on a file system that does not answer", number.Minutes(answerIn))

// looks are those that have not ended, of this Scan and of earlier ones. The zero value is
// ready.
type looks struct {
	answerIn time.Duration // 0: the constant
	mu       sync.Mutex
	of       map[Identity]bool
}

// try waits for a look at a process, but not for ever; the error is that it has not ended. It does
// not start another one before that ends, nor while very many have not.
func (l *looks) try(ctx context.Context, id Identity, look func() sight) (sight, error) {
	if err := l.begin(id); err != nil {
		return sight{}, err
	}
	seen := make(chan sight, 1)
	go func() {
		one := look()
		l.end(id)
		seen <- one
	}()
	timer := time.NewTimer(cmp.Or(l.answerIn, answerIn))
	defer timer.Stop()
	for over := ctx.Done(); ; {
		select {
		case one := <-seen:
			return one, nil
		case <-over:
			over = nil
			timer.Reset(answerAtEnd)
		case <-timer.C:
			return sight{}, errHung
		}
	}
}

func (l *looks) begin(id Identity) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.of[id]:
		return errHung
	case len(l.of) >= mostHung+runtime.GOMAXPROCS(0): // it may be well
		return fmt.Errorf("not looked at: %d other processes do not answer", len(l.of))
	case l.of == nil:
		l.of = make(map[Identity]bool)
	}
	l.of[id] = true
	return nil
}

func (l *looks) end(id Identity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, id)
}
