// Package traffic watches a program under its own traffic: by the Meter of package
// maxprocs/live that the program has, it knows the requests, their latency from arrival
// and the CPU time of each. It sends no load and changes nothing.
package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/procfit/procfit/maxprocs/live"
)

// Client reads a program's control endpoint through its unix socket.
type Client struct {
	socket string
	http   http.Client
}

// mostAnswer is more than any answer has, in bytes, and slowest the time that one may take.
const (
	mostAnswer = 1 << 20
	slowest    = 10 * time.Second
)

// Open makes a client. It does not talk to the program yet.
func Open(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &Client{socket: socket, http: http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: slowest}}
}

// IsSocket reports whether a name is that of a unix socket.
func IsSocket(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().Type() == fs.ModeSocket
}

// get reads one answer of the endpoint.
func (c *Client) get(ctx context.Context, what string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://procfit/"+what, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", c.socket, err)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return c.unreached(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer+1))
	switch {
	case err != nil:
		return c.unreached(err)
	case len(b) > mostAnswer:
		return fmt.Errorf("%s: its answer to %s has more than 1 MiB: the socket is not one of maxprocs/live", c.socket, what)
	case answer.StatusCode != http.StatusOK:
		var no struct{ Detail string }
		_ = json.Unmarshal(b, &no) // without a reason the status has to do
		return fmt.Errorf("%s: refused: %s %s", c.socket, answer.Status, no.Detail)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: its answer to %s is not valid: the socket is not one of maxprocs/live", c.socket, what)
	}
	return nil
}

// unreached says why a program does not answer, and what to do.
func (c *Client) unreached(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied; run as the program's user or as root", c.socket)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such socket; is the program running?", c.socket)
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%s: no answer within %v", c.socket, slowest)
	}
	return fmt.Errorf("%s: the program does not answer; is it running? An old socket may be left over", c.socket)
}

// state reads what the program is.
func (c *Client) state(ctx context.Context) (live.State, error) {
	var s live.State
	if err := c.get(ctx, "state", &s); err != nil {
		return s, err
	}
	if s.Protocol != live.Protocol {
		return s, fmt.Errorf("%s: it speaks version %d of the protocol, expected %d; use the procfit and the maxprocs of the same release", c.socket, s.Protocol, live.Protocol)
	}
	return s, nil
}
