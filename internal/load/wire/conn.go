// Package wire is what is spoken on one connection of a load: HTTP/1.1 or HTTP/2, on x/net's
// frames and header compression. It reads and writes nothing itself, so that the same code
// serves an event loop on the kernel's sockets and connections of package net.
//
// A Conn has places, in each of which one request at a time is under way: one for
// HTTP/1.1, as many as streams for HTTP/2. Its owner hands it the bytes that came (Take)
// and sends what it has to say (Unsent); what is started in between leaves together. So a
// batch of answers costs one read and the requests that follow on them one write. gRPC is
// HTTP/2 with another end of the answer.
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

// Conn is what is spoken on a connection. Its methods are for one goroutine at a time.
type Conn interface {
	// Take handles bytes that came, and the connection's end, if that is what the error
	// says. It reports what became of requests. A failure ends the connection and with it
	// what is under way.
	Take(b []byte, end error, done func(Event)) *Failure
	// Ready reports that the connection takes requests: the server has said how many.
	Ready() bool
	// Start starts a request in a free place.
	Start(place int, r *Request)
	// Unsent is what is to be sent; it stays as it is until Sent, which gets how much of it was sent.
	Unsent() []byte
	Sent(n int)
	// Cancel gives the request of a place up and reports how far it got.
	Cancel(place int) load.Kind
	// Spent reports that the connection takes no more requests; those under way may
	// still end.
	Spent() bool
	// Strayed reports that bytes came that belong to no answer. Such a connection is reset:
	// ended in good order by us it would keep its port for a minute.
	Strayed() bool
	Protocol() string
}

// Speaker is what one server is spoken to in.
type Speaker struct {
	// TLS is nil for a plain connection. Its ServerName is the host's, and its
	// NextProtos are what may be spoken.
	TLS *tls.Config
	// HTTP2 is spoken without asking: h2c, and gRPC.
	HTTP2  bool
	Places int // requests at a time on a connection
}

// ALPN's names (RFC 7301, RFC 9113).
const (
	ALPNHTTP2 = "h2"
	ALPNHTTP1 = "http/1.1"
)

// Secure makes the handshake on a connection, and what is spoken on it then.
func (s *Speaker) Secure(ctx context.Context, below net.Conn) (*tls.Conn, Conn, *Failure) {
	config, asked := s.TLS, false
	if len(config.Certificates) == 0 {
		config = config.Clone()
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			asked = true
			return new(tls.Certificate), nil
		}
	}
	secure := tls.Client(below, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, nil, handshake(err, asked)
	}
	chosen := secure.ConnectionState().NegotiatedProtocol
	if s.HTTP2 && chosen != ALPNHTTP2 {
		return nil, nil, &Failure{load.KindProtocol, "the server does not offer h2 by ALPN, which gRPC needs"}
	}
	c, f := s.speak(chosen == ALPNHTTP2)
	return secure, c, f
}

// Plain is what is spoken without TLS.
func (s *Speaker) Plain() (Conn, *Failure) { return s.speak(s.HTTP2) }

func (s *Speaker) speak(modern bool) (Conn, *Failure) {
	switch {
	case modern:
		return newHTTP2(s.Places), nil
	case s.Places > 1:
		return nil, &Failure{load.KindStreams, "the server speaks HTTP/1.1, which allows one request at a time; remove --streams"}
	}
	return new(http1), nil
}
