package meter

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/live"
)

// Client talks to a program's control endpoint.
type Client struct {
	name    string // the endpoint, as the user named it
	socket  string // empty: it is reached by a URL
	base    string // the URL before the last part of the path
	headers http.Header
	http    http.Client
	file    *os.File // the socket that was found for a process; while it is open, no other has its name
}

// mostAnswer is more than any answer has, in bytes, and slowest the time that one may take.
const (
	mostAnswer = 1 << 20
	slowest    = 10 * time.Second
)

// Open makes a client of a unix socket. It does not talk to the program yet.
func Open(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &Client{name: socket, socket: socket, base: "http://procfit/", http: http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: slowest}}
}

// IsSocket reports whether a name is that of a unix socket.
func IsSocket(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().Type() == fs.ModeSocket
}

// PID is the process behind a socket, as this process knows it; 0: it is not known.
func (c *Client) PID() int {
	if c.socket == "" {
		return 0
	}
	return server(context.Background(), c.socket)
}

// Name is the endpoint, as the user named it.
func (c *Client) Name() string { return c.name }

// State reads what the program is.
func (c *Client) State(ctx context.Context) (live.State, error) { return c.state(ctx, "state", nil) }

// mostAsked is how often Answering asks: two programs behind one address have answered by
// then.
const mostAsked = 20

// Answering reports whether another process answers than the one that started then, and
// whether several do in turn, as those behind a load balancer. Where no answer comes,
// nothing more is known.
func (c *Client) Answering(ctx context.Context, started int64) (another, several bool) {
	var first int64
	for n := 0; n < mostAsked && !several; n++ {
		c.http.CloseIdleConnections() // a balancer chooses once for each connection
		s, err := c.State(ctx)
		if err != nil {
			break
		}
		if n == 0 {
			first = s.Started
		}
		another, several = another || s.Started != started, s.Started != first
	}
	return another, several
}

// Metrics reads what the program has counted.
func (c *Client) Metrics(ctx context.Context) (m live.Metrics, err error) {
	return m, c.ask(ctx, "metrics", nil, &m)
}

// Lease begins a lease of this name, or renews it.
func (c *Client) Lease(ctx context.Context, name string, ttl time.Duration) (live.State, error) {
	return c.state(ctx, "lease", map[string]any{"lease": name, "ttl_ms": ttl.Milliseconds()})
}

// Procs sets GOMAXPROCS. The same seq again changes nothing, and has the same answer.
func (c *Client) Procs(ctx context.Context, lease string, procs int, seq int64) (s live.Switched, err error) {
	return s, c.ask(ctx, "procs", map[string]any{"lease": lease, "procs": procs, "seq": seq}, &s)
}

// Release ends a lease: the program restores its GOMAXPROCS.
func (c *Client) Release(ctx context.Context, lease string) (live.State, error) {
	return c.state(ctx, "release", map[string]any{"lease": lease})
}

// RefusedError is that the program answered, and does not do it.
type RefusedError struct {
	Code   string // of the protocol, such as leased; empty: it is not one of maxprocs/live
	Status string // of HTTP
	Detail string // in the program's words
	name   string
}

func (e *RefusedError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s: refused: %s %s", e.name, e.Status, e.Detail))
}

// GoneError is that no program serves the socket: it has ended, or has closed the socket.
type GoneError struct{ text string }

func (e *GoneError) Error() string { return e.text }

// ask sends a request, a POST where it has a body, and reads the answer.
func (c *Client) ask(ctx context.Context, what string, body, into any) error {
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		text, _ = json.Marshal(body) // of texts and numbers
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+what, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	r.Header = c.headers.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header["Idempotency-Key"] = nil // not sent: on a connection that has ended it may be sent again
	asked := time.Now()
	answer, err := c.http.Do(r)
	if err != nil {
		return c.unreached(err, time.Since(asked))
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer+1))
	switch {
	case err != nil:
		return c.unreached(err, time.Since(asked))
	case len(b) > mostAnswer:
		return fmt.Errorf("%s: its answer to %s has more than 1 MiB: it is not an endpoint of maxprocs/live", c.name, what)
	case answer.StatusCode != http.StatusOK:
		no := &RefusedError{Status: phrase.Clean(answer.Status), name: c.name}
		var refusal struct{ Error, Detail string }
		if json.Unmarshal(b, &refusal) == nil { // without a reason the status has to do
			no.Code, no.Detail = phrase.Clean(refusal.Error), phrase.Clean(refusal.Detail)
		}
		return no
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: its answer to %s is not valid: it is not an endpoint of maxprocs/live", c.name, what)
	}
	return nil
}

// unreached says why a program has not answered for some time, and what to do.
func (c *Client) unreached(err error, after time.Duration) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied; run as the program's user or as root", c.name)
	case errors.Is(err, fs.ErrNotExist):
		return &GoneError{c.name + ": no such socket; is the program running?"}
	case c.socket != "" && errors.Is(err, syscall.ECONNREFUSED):
		return &GoneError{c.name + ": no program serves this socket; is it running? An old socket may be left over"}
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("%s: the server does not speak TLS: write http:// in the URL", c.name)
	}
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && timeout.Timeout() {
		return fmt.Errorf("%s: no answer within %s", c.name, number.Short(number.Duration(after)))
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("%s: its certificate is not trusted: %s; --tls ca=FILE trusts the CA that signed it, --tls name=HOST asks for another name", c.name, phrase.Clean(bad.Err.Error()))
	}
	if remote, ok := errors.AsType[*net.OpError](err); ok && remote.Op == "remote error" {
		return fmt.Errorf("%s: the server refused: %w; --tls cert=FILE,key=FILE gives a client certificate", c.name, remote.Err)
	}
	return fmt.Errorf("%s: the program does not answer; is it running?", c.name)
}

// state is ask for what answers with a State.
func (c *Client) state(ctx context.Context, what string, body any) (live.State, error) {
	var s live.State
	if err := c.ask(ctx, what, body, &s); err != nil {
		return s, err
	}
	if s.Protocol != live.Protocol {
		return s, fmt.Errorf("%s: it speaks version %d of the protocol, expected %d; use the procfit and the maxprocs of the same release", c.name, s.Protocol, live.Protocol)
	}
	for _, text := range []*string{&s.Go, &s.Unit, &s.Ended, &s.LatencyBy} {
		*text = phrase.Clean(*text)
	}
	return s, nil
}
