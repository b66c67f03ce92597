package load

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/procfit/procfit/internal/load/wire"
)

// target is one URL made ready.
type target struct {
	url       string
	scheme    string
	host      string // without the port
	address   string // host:port
	authority string
	// requests are those that may be sent to it, the same in all targets.
	requests []*wire.Request
}

const (
	schemeHTTP  = "http"
	schemeHTTPS = "https"
	schemeH2C   = "h2c" // HTTP/2 without TLS and without asking
)

type header struct{ name, value string }

// parseHeaders splits "Name: value" lines and refuses what would break the
// request's framing.
func parseHeaders(lines []string) ([]header, error) {
	var headers []header
	for _, line := range lines {
		if strings.ContainsAny(line, "\r\n\x00") {
			return nil, invalid(FieldHeader, line, "line breaks and NUL are not allowed")
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, invalid(FieldHeader, line, "no colon; write 'Name: value'")
		}
		if !isToken(name) {
			return nil, invalid(FieldHeader, line, "%q is not a header name", name)
		}
		switch strings.ToLower(name) {
		case "content-length", "transfer-encoding":
			return nil, invalid(FieldHeader, line, "the load generator sets the length of the body itself")
		case "expect", "upgrade":
			return nil, beyond(FieldHeader, line, "procfit's load generator does not support it")
		}
		headers = append(headers, header{name, strings.TrimSpace(value)})
	}
	return headers, nil
}

// newTarget reads a URL.
func newTarget(raw string) (target, *url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, nil, invalid(FieldURL, raw, "%w", cause(err))
	}
	port := "80"
	switch u.Scheme {
	case schemeHTTP, schemeH2C:
	case schemeHTTPS:
		port = "443"
	default:
		if u.Host != "" {
			return target{}, nil, beyond(FieldURL, raw, "procfit's load generator speaks http, https and h2c, not %s", u.Scheme)
		}
		return target{}, nil, invalid(FieldURL, raw, "must start with http://, https:// or h2c://")
	}
	switch {
	case u.Hostname() == "":
		return target{}, nil, invalid(FieldURL, raw, "no host")
	case u.User != nil:
		return target{}, nil, invalid(FieldURL, u.Redacted(), "give credentials as a header: 'Authorization: Basic …'")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return target{}, nil, invalid(FieldURL, raw, "port %q is not between 1 and 65535", port)
	}
	if strings.ContainsAny(u.RequestURI()+u.Host, " \r\n\t\x00") {
		return target{}, nil, invalid(FieldURL, raw, "blanks must be percent-encoded")
	}
	return target{url: raw, scheme: u.Scheme, host: u.Hostname(), address: net.JoinHostPort(u.Hostname(), port), authority: u.Host}, u, nil
}

// message is a request before it is made ready for a target.
type message struct {
	method  string
	path    string
	headers []header
	body    []byte
	grpc    bool
}

// hasLength tells whether the length of the body is told, of an empty one too.
func (m message) hasLength() bool {
	return len(m.body) > 0 || m.method == "POST" || m.method == "PUT" || m.method == "PATCH"
}

// request makes one ready in the forms of both protocols. They hold the least that
// a server needs, as wrk's do, so that the load is comparable.
func (t target) request(m message) *wire.Request {
	host := t.authority
	var lines strings.Builder
	var fields []hpack.HeaderField
	for _, h := range m.headers {
		name := strings.ToLower(h.name)
		if name == "host" {
			host = h.value
			continue
		}
		fmt.Fprintf(&lines, "%s: %s\r\n", h.name, h.value)
		if !oneHop(name) || m.grpc && name == "te" {
			fields = append(fields, hpack.HeaderField{Name: name, Value: h.value, Sensitive: name == "authorization"})
		}
	}
	if m.hasLength() && !m.grpc {
		length := strconv.Itoa(len(m.body))
		fmt.Fprintf(&lines, "Content-Length: %s\r\n", length)
		fields = append(fields, hpack.HeaderField{Name: "content-length", Value: length})
	}
	scheme := schemeHTTP
	if t.scheme == schemeHTTPS {
		scheme = schemeHTTPS
	}
	whole := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", m.method, m.path, host, lines.String())
	return &wire.Request{
		Bytes: append(whole, m.body...), Body: m.body, Head: m.method == "HEAD", GRPC: m.grpc,
		Fields: append([]hpack.HeaderField{
			{Name: ":method", Value: m.method}, {Name: ":scheme", Value: scheme}, {Name: ":authority", Value: host}, {Name: ":path", Value: m.path},
		}, fields...),
	}
}

// oneHop tells headers of one connection, which HTTP/2 does not have (RFC 9113,
// section 8.2.2).
func oneHop(name string) bool {
	return slices.Contains([]string{"connection", "keep-alive", "proxy-connection", "te"}, name)
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		case strings.ContainsRune("!#$%&'*+-.^_`|~", r):
		default:
			return false
		}
	}
	return s != ""
}
