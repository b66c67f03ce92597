package wire

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
)

// Kind is why a request or a connection failed: a code that may be kept.
type Kind string

// The kinds besides those of a status, which Status.Kind makes.
const (
	KindRefused        Kind = "refused"         // nobody listens
	KindConnectTimeout Kind = "connect_timeout" // no connection within the time-out
	KindConnect        Kind = "connect"         // no connection for another reason
	KindClosed         Kind = "closed"          // by the server before the answer was complete
	KindReset          Kind = "reset"           // by the server
	KindBroken         Kind = "broken"          // a send or a receive failed for another reason
	KindTimeout        Kind = "timeout"         // no answer within the time-out
	KindUnfinished     Kind = "unfinished"      // an answer began, and did not end within the time-out
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
		KindConnectTimeout: "no connection within the time-out",
		KindConnect:        "could not connect",
		KindClosed:         "connection closed before the answer was complete",
		KindReset:          "connection reset",
		KindBroken:         "connection broken",
		KindTimeout:        "timed out",
		KindUnfinished:     "an answer that did not end within the time-out",
		KindUnsent:         "a request that was not taken within the time-out",
		KindMalformed:      "malformed answer",
		KindTooLarge:       "headers too large",
		KindProtocol:       "another protocol",
		KindStreams:        "too few streams allowed",
		KindGoAway:         "connection given up by the server (GOAWAY)",
		KindStreamReset:    "request given up by the server (RST_STREAM)",
		KindTLS:            "no TLS handshake",
		KindTLSAuthority:   "certificate of an unknown authority",
		KindTLSName:        "certificate for another host",
		KindTLSExpired:     "certificate not valid now",
		KindTLSCertificate: "the server asks for a certificate",
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

// Status is how an answer ended: HTTP's status, or GRPC and the code of gRPC.
type Status int

// GRPC is where the codes of gRPC begin, above all of HTTP's: GRPC itself is OK.
const GRPC Status = 600

// MostStatus is above every Status.
const MostStatus = 700

// grpcNames are gRPC's codes by number (grpc.io/docs/guides/status-codes).
func grpcNames() []string {
	return []string{
		"ok", "cancelled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists",
		"permission_denied", "resource_exhausted", "failed_precondition", "aborted", "out_of_range",
		"unimplemented", "internal", "unavailable", "data_loss", "unauthenticated",
	}
}

// Good tells an answer that did what was asked: 2xx and 3xx, gRPC's OK.
func (s Status) Good() bool { return s >= 200 && s < 400 || s == GRPC }

// Redirect leaves out 304, which is a full answer to a conditional request.
func (s Status) Redirect() bool { return s >= 300 && s < 400 && s != 304 }

// Kind is that of a bad status: status_503, grpc_unavailable.
func (s Status) Kind() Kind {
	if s < GRPC {
		return Kind(statusPrefix + strconv.Itoa(int(s)))
	}
	code := int(s - GRPC)
	if names := grpcNames(); code < len(names) {
		return Kind(grpcPrefix + names[code])
	}
	return Kind(grpcPrefix + strconv.Itoa(code))
}

// Failure is a kind with what the kernel said or what was wrong; it is an error.
type Failure struct {
	Kind   Kind
	Detail string // may be empty
}

func (f *Failure) Error() string {
	if f.Detail == "" {
		return f.Kind.Words()
	}
	return f.Kind.Words() + ": " + f.Detail
}

// DialKind is the kind of a failed connection attempt.
func DialKind(err error) Kind {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) || isRefused(err):
		return KindRefused
	case errors.Is(err, syscall.ETIMEDOUT), errors.As(err, &timeout) && timeout.Timeout():
		return KindConnectTimeout
	}
	return KindConnect
}

// BrokenKind is the kind of a failed send or receive.
func BrokenKind(err error) Kind {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || isReset(err) {
		return KindReset
	}
	return KindBroken
}
