package target

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// answerLimit bounds what is read of an answer; only its head is looked at.
const answerLimit = 64 << 10

// poller asks an URL whether its server is ready. It speaks HTTP by itself, as
// net/http's transport logs to standard error what it does not expect.
type poller struct {
	url     *url.URL
	address string

	connected bool // some connection was accepted
	last      answer
}

// answer is what one attempt came to.
type answer struct {
	ready     bool
	connected bool
	status    string // of HTTP; empty: none
	err       error  // why it is not ready
}

func newPoller(raw string) (*poller, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("%q is no URL to wait for, such as http://127.0.0.1:8080/", raw)
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	case u.Scheme == "https":
		port = "443"
	default:
		return nil, fmt.Errorf("%q names no port to wait at: write one, as in %s://127.0.0.1:8080", raw, u.Scheme)
	}
	return &poller{url: u, address: net.JoinHostPort(u.Hostname(), port)}, nil
}

// poll makes one attempt over a connection of its own.
func (p *poller) poll(ctx context.Context) answer {
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.address)
	if err != nil {
		return answer{err: err}
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	a := p.ask(ctx, conn)
	a.connected = true
	return a
}

func (p *poller) ask(ctx context.Context, conn net.Conn) answer {
	switch p.url.Scheme {
	case "http":
		return p.get(conn)
	case "https":
		// Readiness alone: see Ready.
		secure := tls.Client(conn, &tls.Config{ServerName: p.url.Hostname(), InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
		if err := secure.HandshakeContext(ctx); err != nil {
			return answer{ready: refusedByTLS(err), err: err}
		}
		a := p.get(secure)
		a.ready = a.ready || refusedByTLS(a.err)
		return a
	}
	return answer{ready: true}
}

// refusedByTLS tells an alert that the server sent: it is up, and wants something
// that we do not offer.
func refusedByTLS(err error) bool {
	remote, ok := errors.AsType[*net.OpError](err)
	return ok && remote.Op == "remote error"
}

// get sends a GET and reads the head of the answer.
func (p *poller) get(conn net.Conn) answer {
	r := &http.Request{Method: http.MethodGet, URL: p.url, Host: p.url.Host, Header: http.Header{"User-Agent": {"procfit"}}, Close: true}
	if user := p.url.User; user != nil {
		password, _ := user.Password()
		r.SetBasicAuth(user.Username(), password)
	}
	writeErr := r.Write(conn) // one that answers without reading may still have answered
	from := bufio.NewReader(io.LimitReader(conn, answerLimit))
	head, err := from.Peek(frameHead)
	if isSettings(head) {
		return answer{ready: true}
	}
	if len(head) == 0 {
		return answer{err: errors.Join(writeErr, err)}
	}
	response, err := http.ReadResponse(from, r)
	if err != nil {
		return answer{err: err}
	}
	response.Body.Close()
	if response.StatusCode >= 500 {
		return answer{status: response.Status, err: errors.New("it answered " + response.Status)}
	}
	return answer{ready: true}
}

// frameHead is the length of what comes before a frame of HTTP/2: its length,
// type, flags and stream (RFC 9113, section 4.1).
const frameHead = 9

// isSettings tells the SETTINGS frame of the connection, with which every server
// of HTTP/2 begins.
func isSettings(head []byte) bool {
	return len(head) == frameHead && bytes.Equal(head[3:], []byte{4, 0, 0, 0, 0, 0})
}
