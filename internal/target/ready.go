package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	firstPoll = 5 * time.Millisecond
	slowPoll  = 50 * time.Millisecond
	// attemptLimit lets a first answer take its time, but not a connection that
	// a half-started server lost.
	attemptLimit = 5 * time.Second
	tailLines    = 10 // of output, in an error
)

// Ready waits until the URL gives any HTTP answer, whatever its status. It gives
// up at the timeout, or as soon as the target has ended.
func (p *Process) Ready(ctx context.Context, url string, timeout time.Duration) error {
	answer, err := newPoller(url)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	go func() {
		select {
		case <-p.done:
			cancel()
		case <-bounded.Done():
		}
	}()
	for pause := firstPoll; ; pause = min(pause*5/4, slowPoll) {
		last := answer.poll(bounded)
		if last == nil {
			return nil
		}
		select {
		case <-bounded.Done():
		case <-time.After(pause):
			continue
		}
		return p.notReady(ctx, answer, url, timeout, last)
	}
}

// notReady puts into words why the target never answered.
func (p *Process) notReady(ctx context.Context, answer *poller, url string, timeout time.Duration, last error) error {
	select {
	case <-p.done:
		if p.err != nil {
			return p.err
		}
		return p.withTail(fmt.Errorf("the target %v before it answered at %s", p.exit, url))
	default:
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("waiting for %s: %w", url, ctx.Err())
	case !answer.connected.Load():
		return p.withTail(fmt.Errorf("nothing listened at %s within %v (%w)", url, timeout, cause(last)))
	}
	return p.withTail(fmt.Errorf("the target listened at %s, but gave no HTTP answer within %v (%w)", url, timeout, cause(last)))
}

// cause is the error below net/http's, which repeats the URL.
func cause(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func (p *Process) withTail(err error) error {
	if tail := p.Tail(tailLines); tail != "" {
		return fmt.Errorf("%w; its last output:\n%s", err, tail)
	}
	return fmt.Errorf("%w; it printed nothing", err)
}

// poller asks an URL, each time over a new connection.
type poller struct {
	url       string
	client    *http.Client
	connected atomic.Bool // some connection was accepted
}

func newPoller(raw string) (*poller, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q is no URL to wait for, such as http://127.0.0.1:8080/", raw)
	}
	a := &poller{url: raw}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			a.connected.Store(true)
		}
		return conn, err
	}
	a.client = &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}, // and no proxy
		Timeout:   attemptLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // a redirect is an answer
		},
	}
	return a, nil
}

func (a *poller) poll(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url, nil)
	if err != nil {
		return err
	}
	response, err := a.client.Do(r)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
