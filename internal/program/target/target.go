// Package target is the program under test: the port that it listens
// at, how long it is waited for until it is ready to be measured, and why it never
// was.
//
// How it is kept within reach, in its cgroups and on its CPUs, and how nothing of
// it is left, is package supervisor's. What counts as ready is package ready's.
package target

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/program/ready"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

const (
	firstPoll   = time.Millisecond
	slowPoll    = 50 * time.Millisecond
	commandPoll = 250 * time.Millisecond // of a command, which takes CPU from the start
)

// Reason is why a target was never ready.
type Reason string

const (
	Ended    Reason = "ended"     // it ended before it was
	Silent   Reason = "silent"    // nothing accepted a connection
	NoAnswer Reason = "no_answer" // a connection was accepted, but no answer came
	Status   Reason = "status"    // it answered, but that it cannot serve
	Command  Reason = "command"   // the command that is to tell never ended well
	Lost     Reason = "lost"      // its supervisor was lost
)

// NotReadyError is that a target was not ready in time.
type NotReadyError struct {
	Asked   string // the URL or the command
	Reason  Reason
	Timeout time.Duration
	Last    ready.Answer
	Exit    supervisor.Exit // of a target that has ended
	Cause   error           // of the last attempt, or of the loss
	Said    supervisor.Quote
}

func (e *NotReadyError) Unwrap() error { return e.Cause }

func (e *NotReadyError) Error() string {
	timeout := number.Chosen(e.Timeout)
	switch e.Reason {
	case Lost:
		return e.Cause.Error()
	case Ended:
		return fmt.Sprintf("the target %v before it answered at %s; %s", e.Exit, e.Asked, e.Said)
	case Silent:
		return fmt.Sprintf("nothing listened at %s within %s (%s); %s", e.Asked, timeout, phrase.Plain(e.Cause), e.Said)
	case Status:
		return fmt.Sprintf("the target answered %s at %s until %s were over; %s", e.Last.Status, e.Asked, timeout, e.Said)
	case Command:
		if !e.Last.Ran {
			return fmt.Sprintf("the command %s had not ended when %s were over (%s); the target: %s", e.Asked, timeout, phrase.Plain(e.Cause), e.Said)
		}
		return fmt.Sprintf("the command %s %v until %s were over; %s; the target: %s", e.Asked, e.Last.Exit, timeout, e.Last.Said, e.Said)
	}
	return fmt.Sprintf("the target listened at %s, but gave no answer within %s (%s); %s", e.Asked, timeout, phrase.Plain(e.Cause), e.Said)
}

// Ready waits until the asker learns that the target is ready, and gives up at the
// timeout or as soon as the target has ended: then the error is a *NotReadyError.
func Ready(ctx context.Context, p *supervisor.Process, ask *ready.Asker, timeout time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	go func() {
		select {
		case <-p.Done():
			cancel()
		case <-bounded.Done():
		}
	}()
	slowest := slowPoll
	if ask.Probe.Way == ready.WayCommand {
		slowest = commandPoll
	}
	e := &NotReadyError{Asked: ask.Probe.String(), Timeout: timeout}
	connected := false
	for pause := firstPoll; ; pause = min(pause*5/4, slowest) {
		a := ask.Ask(bounded)
		if a.Ready {
			return nil
		}
		// One that was cut off by the end of the time tells less than the one
		// before it.
		if !cutOff(bounded) || !e.Last.Ran && e.Last.Err == nil {
			e.Last = a
		}
		connected = connected || a.Connected
		select {
		case <-bounded.Done():
		case <-time.After(pause):
			continue
		}
		return notReady(ctx, p, ask, connected, e)
	}
}

// cutOff reports whether the context's time is over. A dial ends at the deadline by a
// timer of its own, which can be sooner than the context's.
func cutOff(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

func notReady(ctx context.Context, p *supervisor.Process, ask *ready.Asker, connected bool, e *NotReadyError) error {
	select {
	case <-p.Done():
		e.Reason = Ended
		if e.Exit, e.Cause = p.Wait(); e.Cause != nil {
			e.Reason = Lost
		}
	default:
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for %s: %w", e.Asked, ctx.Err())
		}
		e.Cause = e.Last.Err
		switch {
		case ask.Probe.Way == ready.WayCommand:
			e.Reason = Command
		case e.Last.Status != "":
			e.Reason = Status
		case connected:
			e.Reason = NoAnswer
		default:
			e.Reason = Silent
		}
	}
	e.Said = p.LastWords(supervisor.QuotedLines)
	return e
}

// portMark is what a free port is put in place of.
const portMark = "{port}"

// Free ports are drawn from below the range that systems take for the local end
// of outgoing connections (Linux: 32768 up), where the load's own connections
// might take a port between its choice and the target's start.
const (
	portLow  = 20000
	portHigh = 30000
)

// FreePorts returns n different TCP ports on which nothing listens.
func FreePorts(n int) ([]int, error) {
	var ports []int
	for range 100 * n {
		if len(ports) == n {
			return ports, nil
		}
		port := portLow + rand.IntN(portHigh-portLow)
		if !slices.Contains(ports, port) && listenable(fmt.Sprintf(":%d", port)) == nil {
			ports = append(ports, port)
		}
	}
	return nil, fmt.Errorf("found only %d of %d free ports from %d to %d", len(ports), n, portLow, portHigh)
}

// PortInUse returns an error when something listens at the host and port
// already, so that a target there could not, or something else would be
// measured in its place.
func PortInUse(hostport string) error {
	if err := listenable(hostport); errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("something listens on %s already: stop it, or let procfit choose a free port by writing %s in the command and the URL", hostport, portMark)
	}
	return nil // what else is wrong with it, the target will say
}

func listenable(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}

// HasPort reports whether {port} is in one of the arguments.
func HasPort(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, portMark) })
}

// ExpandPort returns the arguments with the port in place of {port}.
func ExpandPort(args []string, port int) []string {
	expanded := slices.Clone(args)
	for i := range expanded {
		expanded[i] = strings.ReplaceAll(expanded[i], portMark, strconv.Itoa(port))
	}
	return expanded
}
