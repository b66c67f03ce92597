package kube

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	"github.com/procfit/procfit/internal/measure/kube/agent"
)

// localLoad offers load from this machine, through the API server: what is measured is
// the tunnel too.
type localLoad struct {
	lines map[string]*tunnel // by the pod's address

	mu        sync.Mutex
	listeners []net.Listener
}

func (f *localLoad) line(u *url.URL) (*tunnel, error) {
	if line := f.lines[u.Hostname()]; line != nil {
		return line, nil
	}
	return nil, fmt.Errorf("no pod of this trial has the address %q", u.Hostname())
}

// forward opens a port here that leads to a port of a pod.
func (f *localLoad) forward(line *tunnel, port int) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	f.mu.Lock()
	f.listeners = append(f.listeners, l)
	f.mu.Unlock()
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			go join(here, line, port)
		}
	}()
	return l.Addr().String(), nil
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

func (f *localLoad) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.listeners {
		l.Close()
	}
	f.listeners = nil
}

func (f *localLoad) Load(ctx context.Context, o load.Options, ended func(late time.Duration)) (*load.Result, error) {
	defer f.close()
	o.URLs = slices.Clone(o.URLs) // the trial's next load has the same ones
	for i, raw := range o.URLs {
		u, err := url.Parse(raw)
		if err != nil {
			return nil, err
		}
		line, err := f.line(u)
		if err != nil {
			return nil, err
		}
		if u.Host, err = f.forward(line, portOf(u)); err != nil {
			return nil, err
		}
		o.URLs[i] = u.String()
	}
	o.Ended = func() { ended(0) }
	r, err := engine.Run(ctx, o)
	if err != nil && ctx.Err() == nil {
		return nil, &agent.RefusedError{Reason: err.Error()}
	}
	return r, err
}

func (f *localLoad) Fetch(ctx context.Context, raw string) (agent.Answer, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return agent.Answer{}, err
	}
	line, err := f.line(u)
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
