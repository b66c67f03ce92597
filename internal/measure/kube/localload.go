package kube

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
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

// line leads to the pod of a URL.
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

// Load implements generator.
func (f *localLoad) Load(ctx context.Context, o load.Options, m agent.Moments) (*load.Result, error) {
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
	o.Began = func() { call(m.Began) }
	o.Ended = func() { call(m.Ended) }
	r, err := engine.Run(ctx, o)
	if err != nil && ctx.Err() == nil {
		return nil, &agent.RefusedError{Reason: err.Error()}
	}
	return r, err
}

func call(moment func(time.Duration)) {
	if moment != nil {
		moment(0)
	}
}

// Fetch implements generator.
func (f *localLoad) Fetch(ctx context.Context, raw string) (agent.Answer, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return agent.Answer{}, err
	}
	line, err := f.line(u)
	if err != nil {
		return agent.Answer{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, raw, nil)
	if err != nil {
		return agent.Answer{}, err
	}
	request.Close = true // a pod that is not ready is asked again and again
	response, err := line.transport(portOf(u)).RoundTrip(request)
	if err != nil {
		return agent.Answer{Error: err.Error()}, nil
	}
	defer response.Body.Close()
	b, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	a := agent.Answer{Status: response.StatusCode, Body: string(b)}
	if err != nil {
		a.Error = err.Error()
	}
	return a, nil
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
