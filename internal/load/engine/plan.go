// Package engine offers the load that package load describes, and measures what came
// back. One loop does it, on one of two networks: the raw engine waits for the kernel's
// sockets, on Linux; the portable one for connections of package net, on all systems. What
// is spoken is package wire's.
//
// # Model
//
// In a closed loop each connection sends its next request when its answer has
// come: the rate is the server's. In an open loop request i is intended at
// t0 + i/rate whatever the server does, and its latency counts from that
// moment, even while every connection is busy: the backlog waits for a free
// connection, and that wait is the server's. Send lag is kept apart: how late
// the engine itself sent, after both the intended moment and a free connection
// were there.
//
// When the duration is over nothing more is intended. What is under way or in
// the backlog may still end within as long again, 1 s at least and 2 s at most,
// which bounds every wait: a time-out that is longer than what is left cannot fire.
// A request that has no answer then is unanswered; it enters the latency histogram
// as "at least this long", so that a stall at the end shows.
//
// So does one that failed, by a time-out or a broken connection, at the time it
// waited, and a bad status is an answer like any other. vegeta and fortio count
// failed requests in the latency too; wrk, wrk2 and hey leave them out, and a
// server that breaks the slow ones then looks fast. One that fails fast looks
// fast here: its failures are to be read from the counts, in all and by URL.
//
// Settle is a stretch of the same load before the measured time, in none of its
// figures.
//
// The raw engine is one or a few loops, each a locked operating system thread with its own
// epoll, connections and histograms; nothing is shared while it runs and nothing is
// allocated per request. Most of its CPU time is the kernel's. A handshake of TLS is left to
// a goroutine, and the connection is the loop's from then on.
//
// The portable engine is one loop. Each connection has a goroutine, which waits for answers
// and then does what follows on them in the loop's place. Its CPU time is the process's.
//
// A connection that a server of HTTP/2 gives up in good order (GOAWAY) loses nothing, nor
// does a stream that it refuses (REFUSED_STREAM): what it had not started is sent again,
// and its latency continues.
//
// # Limits
//
// No pipelining, no redirects followed, no response body looked at beyond its
// length. A closed loop counts from the send, so it does not see the time to
// open a connection. With several threads the connections and the slots of the
// schedule are dealt to the threads in turn, and a slot waits for a connection
// of its own thread. Timers are as exact as the kernel's: on an idle machine a
// send is some tens of microseconds late, which the send lag shows.
package engine

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
)

type plan struct {
	*load.Prepared
	engine  engine
	targets []target
	mix     *mix    // nil: one request
	times   []int64 // of PacePoisson: when each request is intended, after the start; nil: evenly
}

// prepare checks the options and builds the requests; those of a call whose types the
// server reports are built once it has.
func prepare(o load.Options) (*plan, error) {
	checked, err := o.Prepare()
	if err != nil {
		return nil, err
	}
	p := &plan{Prepared: checked, engine: portable(new(net.Dialer).DialContext)}
	if checked.Engine == load.EngineRaw {
		p.engine = rawLoops
	}
	if len(p.Requests) > 1 {
		p.mix = newMix(p.Requests, p.Seed)
	}
	p.build()
	return p, nil
}

func (p *plan) build() {
	p.targets = nil
	for _, t := range p.Targets {
		made := target{Target: t}
		for _, m := range t.Messages {
			made.requests = append(made.requests, made.request(m))
		}
		p.targets = append(p.targets, made)
	}
}

// tlsFor is the configuration for one target; nil: plain.
func (p *plan) tlsFor(t load.Target) *tls.Config {
	if p.Security == nil {
		return nil
	}
	c := p.Security.Clone()
	c.ServerName = cmp.Or(c.ServerName, t.Host)
	c.NextProtos = []string{wire.ALPNHTTP2, wire.ALPNHTTP1}
	if p.GRPC != nil {
		c.NextProtos = []string{wire.ALPNHTTP2}
	}
	return c
}

func (p *plan) askTypes(ctx context.Context) error {
	t := p.Targets[0]
	s := load.CallServer{Address: t.Address, Authority: t.Authority, TLS: p.tlsFor(t), Metadata: map[string]string{}}
	for _, h := range p.Lines {
		s.Metadata[strings.ToLower(h.Name)] = h.Value
	}
	delete(s.Metadata, "host")
	bounded, cancel := context.WithTimeout(ctx, min(p.Timeout, maxSetup))
	defer cancel()
	types, err := p.GRPC.Calls.Reflect(bounded, s, p.Called.Service)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s: the types of %s: %w; name them with --proto FILE", t.URL, p.Called, err)
	}
	if err := p.MakeCall(types); err != nil {
		return err
	}
	p.build()
	return nil
}
