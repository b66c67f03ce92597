package target

import (
	"context"
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/supervisor"
)

const (
	firstPoll = 5 * time.Millisecond
	slowPoll  = 50 * time.Millisecond
	// attemptLimit lets a first answer take its time, but not a connection that
	// a half-started server lost.
	attemptLimit = 5 * time.Second
	quotedLines  = 10 // of output, in an error
)

// Reason is why a target was never ready.
type Reason string

const (
	Ended    Reason = "ended"     // it ended before it was
	Silent   Reason = "silent"    // nothing accepted a connection
	NoAnswer Reason = "no_answer" // a connection was accepted, but no answer came
	Status   Reason = "status"    // it answered, but that it cannot serve
	Lost     Reason = "lost"      // its supervisor was lost
)

// NotReadyError is that a target was not ready in time.
type NotReadyError struct {
	URL     string
	Reason  Reason
	Timeout time.Duration
	Status  string          // of the last answer: "503 Service Unavailable"
	Exit    supervisor.Exit // of one that has ended
	Cause   error           // of the last attempt, or of the loss
	Said    supervisor.Quote
}

func (e *NotReadyError) Unwrap() error { return e.Cause }

func (e *NotReadyError) Error() string {
	switch e.Reason {
	case Lost:
		return e.Cause.Error()
	case Ended:
		return fmt.Sprintf("the target %v before it answered at %s; %s", e.Exit, e.URL, e.Said)
	case Silent:
		return fmt.Sprintf("nothing listened at %s within %v (%v); %s", e.URL, e.Timeout, e.Cause, e.Said)
	case Status:
		return fmt.Sprintf("the target answered %s at %s until %v were over; %s", e.Status, e.URL, e.Timeout, e.Said)
	}
	return fmt.Sprintf("the target listened at %s, but gave no HTTP answer within %v (%v); %s", e.URL, e.Timeout, e.Cause, e.Said)
}

// Ready waits until the target is ready at the URL, and gives up at the timeout
// or as soon as the target has ended: then the error is a *NotReadyError. Ready is
//
//   - at http and https, any answer but a 5xx, redirects and 404 too, and the
//     frame with which a server of HTTP/2 alone begins (gRPC). The certificate is
//     not verified: nothing secret is sent, and the load verifies for itself. A
//     refusal in TLS, as for want of a client's certificate, is an answer.
//   - at any other scheme, a TCP connection that is accepted.
func (p *Process) Ready(ctx context.Context, url string, timeout time.Duration) error {
	ask, err := newPoller(url)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	go func() {
		select {
		case <-p.Done():
			cancel()
		case <-bounded.Done():
		}
	}()
	for pause := firstPoll; ; pause = min(pause*5/4, slowPoll) {
		a := ask.poll(bounded)
		if a.ready {
			return nil
		}
		// One that was cut off by the end of the time tells less than the one
		// before it.
		if !cutOff(bounded) || ask.last.err == nil {
			ask.last = a
		}
		ask.connected = ask.connected || a.connected
		select {
		case <-bounded.Done():
		case <-time.After(pause):
			continue
		}
		return p.notReady(ctx, ask, &NotReadyError{URL: url, Timeout: timeout})
	}
}

// cutOff tells whether the context's time is over. A dial ends at the deadline by a
// timer of its own, which can be sooner than the context's.
func cutOff(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// notReady finds out why the target was never ready.
func (p *Process) notReady(ctx context.Context, ask *poller, e *NotReadyError) error {
	select {
	case <-p.Done():
		e.Reason = Ended
		if e.Exit, e.Cause = p.Wait(); e.Cause != nil {
			e.Reason = Lost
		}
	default:
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for %s: %w", e.URL, ctx.Err())
		}
		e.Cause, e.Status = ask.last.err, ask.last.status
		switch {
		case e.Status != "":
			e.Reason = Status
		case ask.connected:
			e.Reason = NoAnswer
		default:
			e.Reason = Silent
		}
	}
	e.Said = p.LastWords(quotedLines)
	return e
}
