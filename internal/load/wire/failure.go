package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strconv"
	"syscall"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Status is how an answer ended: HTTP's status, or GRPC and the code of gRPC.
type Status int

// GRPC is where the codes of gRPC start, above all of HTTP's: GRPC itself is OK.
const GRPC Status = 1000

// MostStatus is above every Status.
const MostStatus = GRPC + 100

// grpcNames are gRPC's codes by number (grpc.io/docs/guides/status-codes).
func grpcNames() []string {
	return []string{
		"ok", "cancelled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists",
		"permission_denied", "resource_exhausted", "failed_precondition", "aborted", "out_of_range",
		"unimplemented", "internal", "unavailable", "data_loss", "unauthenticated",
	}
}

// Good reports whether an answer did what was asked: 2xx and 3xx, gRPC's OK.
func (s Status) Good() bool { return s >= 200 && s < 400 || s == GRPC }

// Redirect leaves out 304, which is a full answer to a conditional request.
func (s Status) Redirect() bool { return s >= 300 && s < 400 && s != 304 }

// Kind is that of a bad status: status_503, grpc_unavailable.
func (s Status) Kind() load.Kind {
	if s < GRPC {
		return load.StatusKind(int(s))
	}
	code := int(s - GRPC)
	if names := grpcNames(); code < len(names) {
		return load.CallKind(names[code])
	}
	return load.CallKind(strconv.Itoa(code))
}

// Failure is a kind with what the kernel said or what was wrong; it is an error.
type Failure struct {
	Kind   load.Kind
	Detail string // may be empty
}

func (f *Failure) Error() string { return phrase.Join(": ", f.Kind.Words(), f.Detail) }

// Numbers of Windows for the same errors (winsock2.h), which mean nothing on other systems.
const (
	wsaAborted = syscall.Errno(10053)
	wsaReset   = syscall.Errno(10054)
	wsaRefused = syscall.Errno(10061)
)

// Undialled is the failure of an attempt to connect.
func Undialled(err error) *Failure {
	kind := load.KindConnect
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, wsaRefused):
		kind = load.KindRefused
	case errors.Is(err, syscall.ETIMEDOUT), errors.As(err, &timeout) && timeout.Timeout():
		kind = load.KindConnectTimeout
	}
	return &Failure{kind, innermost(err)}
}

// Broken is the failure of a connection that an error ended.
func Broken(err error) *Failure {
	if f, ok := alert(err); ok {
		return f
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return &Failure{Kind: load.KindClosed}
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, wsaReset), errors.Is(err, wsaAborted):
		return &Failure{load.KindReset, innermost(err)}
	}
	return &Failure{load.KindBroken, innermost(err)}
}

// Malformed is the failure of an answer that is none, unless the error says more.
func Malformed(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	if f, ok := alert(err); ok {
		return f
	}
	return &Failure{load.KindMalformed, err.Error()}
}

func tooLarge() *Failure {
	return &Failure{load.KindTooLarge, fmt.Sprintf("more than %s, or one of more than %s", number.Short(number.Bytes(maxHead)), number.Short(number.Bytes(maxLine)))}
}

// innermost is an error without the addresses of both ends before it.
func innermost(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return err.Error()
}

// Alerts of TLS that ask for a certificate of ours (RFC 8446, section 6.2).
const (
	alertBadCertificate      = 42
	alertCertificateRequired = 116
	alertNoProtocol          = 120
)

// alert is what the server said of the handshake, which may come after it.
func alert(err error) (*Failure, bool) {
	remote, ok := errors.AsType[*net.OpError](err)
	if !ok || remote.Op != "remote error" {
		return nil, false
	}
	var code uint64 // the type of an alert has no name outside of crypto/tls, its kind is uint8
	if v := reflect.ValueOf(remote.Err); v.CanUint() {
		code = v.Uint()
	}
	switch code {
	case alertCertificateRequired, alertBadCertificate:
		return wantsOurs(remote.Err), true
	case alertNoProtocol:
		return &Failure{load.KindProtocol, "the server offers neither h2 nor http/1.1 by ALPN"}, true
	}
	return &Failure{load.KindTLS, "the server refused: " + remote.Err.Error()}, true
}

func wantsOurs(err error) *Failure {
	return &Failure{load.KindTLSCertificate, err.Error() + "; --tls cert=FILE,key=FILE gives one"}
}

// handshake is the failure of a TLS handshake, with what helps. asked reports that the
// server asked for a certificate and there was none: TLS 1.2 has no alert for that.
func handshake(err error, asked bool) *Failure {
	if f, ok := alert(err); ok {
		if asked && f.Kind == load.KindTLS {
			return wantsOurs(err)
		}
		return f
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return &Failure{load.KindTLSAuthority, "--tls ca=FILE trusts the CA that signed it; --tls insecure skips verification"}
	}
	if host, ok := errors.AsType[x509.HostnameError](err); ok {
		return &Failure{load.KindTLSName, host.Error() + "; --tls name=HOST asks for one that it has, --tls insecure skips verification"}
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if invalid.Reason == x509.Expired {
			return &Failure{load.KindTLSExpired, invalid.Detail + "; --tls insecure skips verification"}
		}
		return &Failure{load.KindTLS, invalid.Error() + "; --tls insecure skips verification"}
	}
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		detail := "the server does not speak TLS"
		if string(plain.RecordHeader[:5]) == "HTTP/" {
			detail += ": write http:// in the URL"
		} else if plain.RecordHeader[3] == 4 { // the type of a SETTINGS frame
			detail += ": write h2c:// in the URL"
		}
		return &Failure{load.KindProtocol, detail}
	}
	if errors.Is(err, io.EOF) {
		return &Failure{load.KindTLS, "the server closed the connection"}
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return &Failure{load.KindConnectTimeout, "in the TLS handshake"}
	}
	return &Failure{load.KindTLS, innermost(err)}
}
