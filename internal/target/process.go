package target

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Process is a started target.
type Process struct {
	pid        int
	supervisor int
	done       chan struct{}
	tails      chan []byte // answers to opTail

	mu   sync.Mutex // guards conn's writing side
	conn io.WriteCloser
	send *gob.Encoder

	abort func() // ends supervisor and target by force

	// Set before done is closed.
	exit Exit
	tail []byte
	err  error
}

// PID is the target's own process.
func (p *Process) PID() int { return p.pid }

// SupervisorPID is the process below which all of the target is found.
func (p *Process) SupervisorPID() int { return p.supervisor }

// Done is closed when the target has ended and nothing of it is left.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for Done and returns how the target ended. The error says that this
// is not known, or that something outlives SIGKILL.
func (p *Process) Wait() (Exit, error) {
	<-p.done
	return p.exit, p.err
}

// stopPatience is what the supervisor's own bounds add up to, and some more.
const stopPatience = 15 * time.Second

// Stop sends SIGTERM to the target's process group and, after the grace, SIGKILL
// to all its descendants; those that have left the group, daemons, are killed as
// soon as the group has ended. It returns as Wait does. Stopping what has ended
// is fine.
func (p *Process) Stop(grace time.Duration) (Exit, error) {
	_ = p.tell(command{Op: opStop, Grace: grace}) // fails when the supervisor is gone, and so Done
	watchdog := time.NewTimer(grace + stopPatience)
	defer watchdog.Stop()
	select {
	case <-p.done:
	case <-watchdog.C:
		p.abort()
	}
	return p.Wait()
}

// Tail returns the last n lines of the target's output, of its last 8 KiB, with
// control characters made visible.
func (p *Process) Tail(n int) string {
	select {
	case <-p.done:
		return lastLines(p.tail, n)
	default:
	}
	if p.tell(command{Op: opTail}) == nil {
		select {
		case output := <-p.tails:
			return lastLines(output, n)
		case <-p.done:
			return lastLines(p.tail, n)
		case <-time.After(time.Second): // a machine too busy for an error message's detail
		}
	}
	return ""
}

func (p *Process) tell(c command) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.send.Encode(c)
}

// follow reads the supervisor's events until the target has ended. reaped waits
// for the supervisor and says what it printed, which is nothing unless it
// crashed.
func (p *Process) follow(events *gob.Decoder, reaped func() string) {
	var last event
	for last.Kind != evExited {
		last = event{}
		if err := events.Decode(&last); err != nil {
			break
		}
		if last.Kind == evTail {
			select {
			case p.tails <- last.Tail:
			default: // nobody waits any more
			}
		}
	}
	if last.Kind == evExited {
		p.exit, p.tail = last.Exit, last.Tail
		if len(p.exit.Left) > 0 {
			p.err = fmt.Errorf("processes %v of the target outlive SIGKILL", p.exit.Left)
		}
		// The supervisor goes on alone with what is left.
		if p.err == nil {
			reaped()
		} else {
			go reaped()
		}
	} else {
		p.abort()
		p.exit = Exit{Code: -1}
		p.err = fmt.Errorf("the target's supervisor, process %d, ended unexpectedly, and the target with it: %s", p.supervisor, lastLines([]byte(reaped()), 20))
	}
	p.mu.Lock()
	p.conn.Close()
	p.mu.Unlock()
	close(p.done)
}

// begin sends the request and waits for exec.
func (p *Process) begin(ctx context.Context, r request, events *gob.Decoder) error {
	stop := context.AfterFunc(ctx, func() { p.conn.Close() }) // the supervisor then ends what it began
	defer stop()
	var first event
	err := p.send.Encode(r)
	if err == nil {
		err = events.Decode(&first)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("the supervisor did not answer: %w", err)
	case first.Kind != evStarted:
		return errors.New(first.Error)
	}
	p.pid = first.PID
	return nil
}
