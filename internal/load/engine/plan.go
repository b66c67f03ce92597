package engine

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
)

// plan is a load made ready to be sent.
type plan struct {
	*load.Prepared
	engine  engine
	targets []target
	mix     *mix    // nil: one request
	times   []int64 // of PacePoisson: when each request is intended, after the start; nil: evenly
}

// prepare checks the options and builds the requests; those of a call whose types the
// server tells are built once it has.
func prepare(o load.Options) (*plan, error) {
	checked, err := o.Prepare()
	if err != nil {
		return nil, err
	}
	p := &plan{Prepared: checked, engine: engineOf(checked.Engine)}
	if len(p.Requests) > 1 {
		p.mix = newMix(p.Requests, p.Seed)
	}
	p.build()
	return p, nil
}

// build makes the requests to all targets.
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
	if c.ServerName == "" {
		c.ServerName = t.Host
	}
	c.NextProtos = []string{wire.ALPNHTTP2, wire.ALPNHTTP1}
	if p.GRPC != nil {
		c.NextProtos = []string{wire.ALPNHTTP2}
	}
	return c
}

// askTypes asks the first server for the types.
func (p *plan) askTypes(ctx context.Context) error {
	t := p.Targets[0]
	s := load.CallServer{Address: t.Address, Authority: t.Authority, TLS: p.tlsFor(t), Metadata: map[string]string{}}
	for _, h := range p.Lines() {
		s.Metadata[strings.ToLower(h.Name)] = h.Value
	}
	delete(s.Metadata, "host")
	bounded, cancel := context.WithTimeout(ctx, min(p.Timeout, maxSetup))
	defer cancel()
	types, err := p.GRPC.Calls.Reflect(bounded, s, p.Called().Service)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s: the types of %s: %w; name them with --proto FILE", t.URL, p.Called(), err)
	}
	if err := p.MakeCall(types); err != nil {
		return err
	}
	p.build()
	return nil
}

// place is where one request at a time is under way on a link.
type place struct {
	exchange
	link  *link
	index int

	busy  bool // has a request; under the pool's lock, as are again and the exchange
	again bool // which is to be sent on the link's next connection
	sent  bool // which is on the connection; under the link's lock
}

// places is a queue of the idle ones, in the order in which they became free, so
// that the replicas share the load evenly.
type places struct {
	ring    []*place
	head, n int
}

func (q *places) push(x *place) {
	q.ring[(q.head+q.n)%len(q.ring)] = x
	q.n++
}

func (q *places) pop() *place {
	x := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return x
}

// drop takes a link's places out. That is rare, so it walks.
func (q *places) drop(l *link) {
	for range q.n {
		if x := q.pop(); x.link != l {
			q.push(x)
		}
	}
}
