package ready

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
)

// attemptLimit lets a first answer take its time, but not a connection that a
// half-started server lost. A command may take as long as there is.
const attemptLimit = 5 * time.Second

// Answer is what one attempt came to.
type Answer struct {
	Ready     bool
	Connected bool            // a connection was accepted
	Status    string          // what was answered: "503 Service Unavailable", "NOT_SERVING"; empty: nothing
	Exit      supervisor.Exit // of a command that ended
	Ran       bool            // it did
	Said      supervisor.Quote
	Err       error // why it is not ready
}

// Asker makes the attempts of one probe, for one goroutine at a time.
type Asker struct {
	Probe   Probe
	Environ []string // of a command

	url     *url.URL
	address string
	http2   bool      // it has shown that it speaks nothing else, without TLS
	faulty  time.Time // when it first ended a handshake for a fault of its own; zero: it has not
}

// NewAsker makes an Asker of a probe that For has filled in.
func NewAsker(p Probe, environ []string) (*Asker, error) {
	a := &Asker{Probe: p, Environ: environ}
	if p.Way == WayCommand {
		return a, nil
	}
	var err error
	if a.address, err = p.address(); err != nil {
		return nil, err
	}
	a.url, err = url.Parse(p.URL)
	return a, err
}

// Ask makes one attempt.
func (a *Asker) Ask(ctx context.Context) Answer {
	if a.Probe.Way == WayCommand {
		return a.run(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", a.address)
	if err != nil {
		return Answer{Err: err}
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	answer := a.over(ctx, conn)
	answer.Connected = true
	return answer
}

// over asks on an open connection.
func (a *Asker) over(ctx context.Context, conn net.Conn) Answer {
	switch {
	case a.Probe.Way == WayTCP:
		return Answer{Ready: true}
	case a.Probe.Way == WayGRPC:
		return a.health(ctx, conn, a.url.Scheme == schemeHTTPS || a.url.Scheme == schemeGRPCS)
	}
	switch a.url.Scheme {
	case schemeGRPC, schemeGRPCS:
		return a.health(ctx, conn, a.url.Scheme == schemeGRPCS)
	case schemeHTTP:
		if a.http2 {
			return a.getHTTP2(ctx, conn)
		}
		return a.get(conn)
	case schemeH2C:
		return a.getHTTP2(ctx, conn)
	case schemeHTTPS:
		return a.getTLS(ctx, conn)
	}
	return Answer{Ready: true}
}

// Health asks the gRPC health service of the whole server, on a connection that is open.
// Package health has one.
type Health interface {
	// Ask returns no error if the server serves, or has no health service. status is the
	// one that it answered where it does not; secure is nil without TLS.
	Ask(ctx context.Context, conn net.Conn, address string, secure *tls.Config) (status string, err error)
}

func (a *Asker) health(ctx context.Context, conn net.Conn, secure bool) Answer {
	if a.Probe.Health == nil {
		return Answer{Err: errors.New("the gRPC health service cannot be asked here")}
	}
	var how *tls.Config
	if secure {
		how = a.insecure()
	}
	status, err := a.Probe.Health.Ask(ctx, conn, a.address, how)
	return Answer{Ready: err == nil, Status: status, Err: err}
}

// run runs the command.
func (a *Asker) run(ctx context.Context) Answer {
	const kept, lines = 64 << 10, 5
	out, err := supervisor.Run(ctx, supervisor.Spec{Command: a.Probe.Command, Env: a.Environ, LogLimit: kept})
	if err != nil {
		return Answer{Err: err}
	}
	said := supervisor.QuoteOutput(append(out.Stdout, out.Stderr...), lines)
	return Answer{Ready: !out.Exit.Failed(), Exit: out.Exit, Ran: true, Said: said}
}
