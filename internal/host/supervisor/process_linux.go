//go:build !portable

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Process is a started command.
type Process struct {
	line    *line
	pid     int
	done    chan struct{}
	outputs chan output // answers to opTail
	abort   func()      // ends supervisor and command by force

	// Set before done is closed.
	exit   Exit
	output output
	err    error
}

// PID is the command's own process.
func (p *Process) PID() int { return p.pid }

// stopPatience is what the supervisor's own bounds add up to, and some more.
const stopPatience = 15 * time.Second

// Stop sends SIGTERM to the command's process group and, after the grace, SIGKILL
// to all its descendants; those that have left the group, daemons, are killed as
// soon as the group has ended. It returns as Wait does. Stopping what has ended
// is fine.
func (p *Process) Stop(grace time.Duration) (Exit, error) {
	_ = p.line.tell(command{Op: opStop, Grace: grace}) // fails when the supervisor is gone, and so Done
	watchdog := time.NewTimer(grace + stopPatience)
	defer watchdog.Stop()
	select {
	case <-p.done:
	case <-watchdog.C:
		p.abort()
	}
	return p.Wait()
}

func (p *Process) said() output {
	select {
	case <-p.done:
		return p.output
	default:
	}
	if p.line.tell(command{Op: opTail}) == nil {
		select {
		case now := <-p.outputs:
			return now
		case <-p.done:
			return p.output
		case <-time.After(time.Second): // a machine too busy for an error message's detail
		}
	}
	return output{}
}

// follow reads the supervisor's events until the command has ended. lost cleans
// up after a supervisor that ended before it could.
func (p *Process) follow(lost func(*LostError)) {
	var last event
	for last.Kind != evExited {
		last = event{}
		if err := p.line.events.Decode(&last); err != nil {
			break
		}
		if last.Kind == evOutput {
			select {
			case p.outputs <- last.Output:
			default: // nobody waits any more
			}
		}
	}
	switch {
	case last.Kind != evExited:
		p.abort()
		p.exit = Exit{Code: -1}
		fate := p.line.wait()
		if fate == nil {
			fate = &LostError{PID: p.line.pid, Fate: "it ended without a report"}
		}
		lost(fate)
		p.err = fate
	case len(last.Exit.Left) > 0:
		p.exit, p.output = last.Exit, last.Output
		p.err = fmt.Errorf("processes %v outlive SIGKILL", p.exit.Left)
		go p.line.wait() // the supervisor goes on alone with what is left
	default:
		p.exit, p.output = last.Exit, last.Output
		p.line.wait()
	}
	p.line.hangUp()
	close(p.done)
}

// begin sends the request and waits for exec.
func (p *Process) begin(ctx context.Context, r request) error {
	stop := context.AfterFunc(ctx, p.line.hangUp) // the supervisor then ends what it began
	defer stop()
	var first event
	err := p.line.tell(r)
	if err == nil {
		err = p.line.events.Decode(&first)
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
