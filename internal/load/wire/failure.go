package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/number"
)

// broken is the failure of a connection that an error ended.
func broken(err error) *Failure {
	if f, ok := alert(err); ok {
		return f
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return &Failure{Kind: load.KindClosed}
	}
	return &Failure{BrokenKind(err), innermost(err)}
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
