package kube

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/measure/kube/agent"
)

// localLoad offers load from this machine, through the API server: what is measured is
// the tunnel too. It has the tunnels by the address of their pod.
type localLoad map[string]*tunnel

func (f localLoad) line(raw string) (*url.URL, *tunnel, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, nil, err
	}
	if line := f[u.Hostname()]; line != nil {
		return u, line, nil
	}
	return nil, nil, fmt.Errorf("no pod of this trial has the address %q", u.Hostname())
}

// forward opens a port here that leads to a port of a pod.
func forward(line *tunnel, port int) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			go join(here, line, port)
		}
	}()
	return l, nil
}

func join(here net.Conn, line *tunnel, port int) {
	defer here.Close()
	there, err := line.dial(context.Background(), port)
	if err != nil {
		return // the load sees a connection that breaks
	}
	defer there.Close()
	go func() {
		io.Copy(there, here)
		there.Close()
	}()
	io.Copy(here, there)
}

func (f localLoad) Load(ctx context.Context, o load.Options, ended func(late time.Duration)) (*load.Result, error) {
	o.URLs = slices.Clone(o.URLs) // the trial's next load has the same ones
	for i, raw := range o.URLs {
		u, line, err := f.line(raw)
		if err != nil {
			return nil, err
		}
		l, err := forward(line, portOf(u))
		if err != nil {
			return nil, err
		}
		defer l.Close()
		u.Host = l.Addr().String()
		o.URLs[i] = u.String()
	}
	o.Ended = func() { ended(0) }
	r, err := engine.Run(ctx, o)
	if err != nil && ctx.Err() == nil {
		return nil, &agent.RefusedError{Reason: err.Error()}
	}
	return r, err
}

func (f localLoad) Fetch(ctx context.Context, raw string) (agent.Answer, error) {
	u, line, err := f.line(raw)
	if err != nil {
		return agent.Answer{}, err
	}
	return agent.Fetch(ctx, line.transport(portOf(u)), raw), nil
}

// portOf is the port of a URL whose scheme may say it.
func portOf(u *url.URL) int {
	if n, err := strconv.Atoi(u.Port()); err == nil {
		return n
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}
