// Package wire is one connection of a load: HTTP/1.1 or HTTP/2, over TLS or plain,
// on the standard library's TLS and on x/net's frames and header compression.
//
// A Conn has places, in each of which one request at a time is under way: one for
// HTTP/1.1, as many as streams for HTTP/2. Its owner's goroutine waits for bytes
// (Wait) and handles what came (Take); whoever holds the owner's lock may start
// requests, which leave together with Flush. So a batch of answers costs one read
// and the requests that follow on them one write, and no goroutine is woken for a
// single stream; that is why net/http's client, which has two goroutines a
// connection and one a request, is not used here. gRPC is HTTP/2 with another end
// of the answer.
//
// # Limits
//
// No pipelining, no push, no priorities, no compression, no trailers but gRPC's. Of
// a body only the length is looked at, of gRPC's messages how many there are and that
// they are whole. What a server may send without bound is bounded: headers by maxHead,
// bodies by the time-out of the request.
package wire

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"golang.org/x/net/http2/hpack"

	"github.com/procfit/procfit/internal/load"
)

// Protocols as results name them.
const (
	HTTP1    = "HTTP/1.1"
	HTTP2    = "HTTP/2"
	ProtoRPC = "gRPC"
)

// Request is one made ready to be sent many times.
type Request struct {
	Bytes  []byte              // of HTTP/1.1, head and body
	Fields []hpack.HeaderField // of HTTP/2, in the order in which they are sent
	Body   []byte              // of HTTP/2
	Head   bool                // its answer has no body
	GRPC   bool                // its answer ends with a status of gRPC
	Stream bool                // of gRPC: its answer may have any number of messages, not just one
}

// Event is what became of a request.
type Event struct {
	Place   int
	Status  Status   // of an answer
	Failure *Failure // nil: it was answered
	// Retry reports that the server has not started the request and never will, so that
	// sending it once more is safe (RFC 9113, section 8.7), on another connection if this
	// one is Spent. Status or Failure is what it is if it is not sent again; a server that
	// ends its connection in good order gives neither.
	Retry bool
}

// MostRetries is how often a request is sent again that the server refused to start: curl's
// CONN_MAX_RETRIES.
const MostRetries = 5

// Conn is an open connection. Its methods are for one goroutine at a time, but for
// Wait, which one goroutine may be in meanwhile, and Close.
type Conn interface {
	// Wait returns when there is something to Take, the connection's end too.
	Wait()
	// Take handles what came and reports what became of requests; done may start
	// others. An error ends the connection and with it what is under way.
	Take(done func(Event)) *Failure
	// Start starts a request in a free place; it leaves with the next Flush.
	Start(place int, r *Request)
	// Flush sends what is to be sent.
	Flush() *Failure
	// Cancel gives the request of a place up and reports how far it got.
	Cancel(place int) load.Kind
	// Spent reports that the connection takes no more requests; those under way may
	// still end.
	Spent() bool
	Protocol() string
	// Received is how many bytes came.
	Received() int64
	// Close may be called by any goroutine and more than once.
	Close() error
}

// metered counts what is read of a connection, TLS's own bytes not included.
type metered struct {
	net.Conn
	received int64
}

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	m.received += int64(n)
	return n, err
}

// Dialer opens connections to one server.
type Dialer struct {
	Address string // host:port
	// TLS is nil for a plain connection. Its ServerName is the host's, and its
	// NextProtos are what may be spoken.
	TLS *tls.Config
	// HTTP2 is spoken without asking: h2c, and gRPC.
	HTTP2   bool
	Places  int // requests at a time on a connection
	Timeout time.Duration
	Open    func(ctx context.Context, network, address string) (net.Conn, error)
}

// ALPN's names (RFC 7301, RFC 9113).
const (
	ALPNHTTP2 = "h2"
	ALPNHTTP1 = "http/1.1"
)

// Dial opens a connection that is ready for requests.
func (d *Dialer) Dial(ctx context.Context) (Conn, *Failure) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	below, err := d.Open(ctx, "tcp", d.Address)
	if err != nil {
		return nil, &Failure{DialKind(err), innermost(err)}
	}
	// The handshake of HTTP/2 knows no context.
	stop := context.AfterFunc(ctx, func() { _ = below.SetDeadline(time.Unix(1, 0)) })
	c, f := d.speak(ctx, below)
	if !stop() && f == nil {
		f = &Failure{Kind: load.KindConnectTimeout}
	}
	if f != nil {
		below.Close()
		if ctx.Err() != nil && f.Kind != load.KindStreams {
			f = &Failure{load.KindConnectTimeout, "the server accepted the connection but sent nothing"}
		}
		return nil, f
	}
	return c, nil
}

func (d *Dialer) speak(ctx context.Context, below net.Conn) (Conn, *Failure) {
	stream, modern := below, d.HTTP2
	if d.TLS != nil {
		config, asked := d.TLS, false
		if len(config.Certificates) == 0 {
			config = config.Clone()
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				asked = true
				return new(tls.Certificate), nil
			}
		}
		secure := tls.Client(below, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, handshake(err, asked)
		}
		chosen := secure.ConnectionState().NegotiatedProtocol
		if d.HTTP2 && chosen != ALPNHTTP2 {
			return nil, &Failure{load.KindProtocol, "the server does not offer h2 by ALPN, which gRPC needs"}
		}
		stream, modern = secure, chosen == ALPNHTTP2
	}
	if !modern {
		if d.Places > 1 {
			return nil, &Failure{load.KindStreams, "the server speaks HTTP/1.1, which allows one request at a time; remove --streams"}
		}
		return newHTTP1(stream, below), nil
	}
	c := newHTTP2(stream, below, d.Places)
	return c, c.open()
}
