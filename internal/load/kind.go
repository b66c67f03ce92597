package load

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/secret"
)

// Kind is why a request or a connection failed: a code that may be kept.
type Kind string

// The kinds in addition to those of a status, which StatusKind and CallKind make.
const (
	KindRefused        Kind = "refused"         // nobody listens
	KindConnectTimeout Kind = "connect_timeout" // no connection before the timeout
	KindConnect        Kind = "connect"         // no connection for another reason
	KindClosed         Kind = "closed"          // by the server before the answer was complete
	KindReset          Kind = "reset"           // by the server
	KindBroken         Kind = "broken"          // a send or a receive failed for another reason
	KindTimeout        Kind = "timeout"         // no answer within the time-out
	KindUnfinished     Kind = "unfinished"      // an answer started, and did not end within the time-out
	KindUnsent         Kind = "unsent"          // the server did not take the request within the time-out
	KindMalformed      Kind = "malformed"       // an answer that is none of the protocol
	KindTooLarge       Kind = "too_large"       // headers of an answer that pass all bounds
	KindProtocol       Kind = "protocol"        // the server speaks another protocol
	KindStreams        Kind = "streams"         // the server allows fewer streams a connection
	KindGoAway         Kind = "goaway"          // HTTP/2: the server gave the connection up
	KindStreamReset    Kind = "stream_reset"    // HTTP/2: the server gave the request up

	KindTLS            Kind = "tls"             // no handshake, for another reason than these
	KindTLSAuthority   Kind = "tls_authority"   // a certificate that nobody signed whom we trust
	KindTLSName        Kind = "tls_name"        // a certificate for another host
	KindTLSExpired     Kind = "tls_expired"     // a certificate that is not valid now
	KindTLSCertificate Kind = "tls_certificate" // the server wants a certificate of ours
)

// words are the kinds for readers.
func words() map[Kind]string {
	return map[Kind]string{
		KindRefused:        "connection refused",
		KindConnectTimeout: "no connection before the timeout",
		KindConnect:        "could not connect",
		KindClosed:         "connection closed before the answer was complete",
		KindReset:          "connection reset",
		KindBroken:         "connection broken",
		KindTimeout:        "timed out",
		KindUnfinished:     "answer not complete before the timeout",
		KindUnsent:         "request not read by the server before the timeout",
		KindMalformed:      "malformed answer",
		KindTooLarge:       "headers too large",
		KindProtocol:       "unexpected protocol",
		KindStreams:        "too few streams allowed",
		KindGoAway:         "connection closed by the server (GOAWAY)",
		KindStreamReset:    "request reset by the server (RST_STREAM)",
		KindTLS:            "TLS handshake failed",
		KindTLSAuthority:   "certificate signed by an unknown CA",
		KindTLSName:        "certificate for another host",
		KindTLSExpired:     "certificate expired or not valid yet",
		KindTLSCertificate: "the server requires a client certificate",
	}
}

// Words is the kind for readers: "connection refused", "status 503", "gRPC
// UNAVAILABLE".
func (k Kind) Words() string {
	if w, ok := words()[k]; ok {
		return w
	}
	if status, ok := strings.CutPrefix(string(k), statusPrefix); ok {
		return "status " + status
	}
	if code, ok := strings.CutPrefix(string(k), grpcPrefix); ok {
		return "gRPC " + strings.ToUpper(code)
	}
	return string(k)
}

const (
	statusPrefix = "status_"
	grpcPrefix   = "grpc_"
)

// StatusKind is that of a bad status of HTTP: status_503.
func StatusKind(status int) Kind { return Kind(statusPrefix + strconv.Itoa(status)) }

// CallKind is that of a code of gRPC, by its name: grpc_unavailable.
func CallKind(code string) Kind { return Kind(grpcPrefix + code) }

// Failure is one failure in full; the zero value is none.
type Failure struct {
	Kind   Kind
	URL    string
	Detail string // what the kernel said or what was wrong with the answer; may be empty
}

func (f Failure) String() string {
	address := secret.Text(f.URL)
	switch {
	case f.Kind == "":
		return ""
	case f.Detail == "":
		return fmt.Sprintf("%s: %s", address, f.Kind.Words())
	}
	return fmt.Sprintf("%s: %s: %s", address, f.Kind.Words(), f.Detail)
}
