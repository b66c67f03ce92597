package wire

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/procfit/procfit/internal/load"
)

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
	below, err := new(net.Dialer).DialContext(ctx, "tcp", d.Address)
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
