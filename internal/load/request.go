package load

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Target is one URL made ready.
type Target struct {
	URL       string
	Scheme    string
	Host      string // without the port
	Address   string // host:port
	Authority string
	Messages  []Message // that may be sent to it, as many for all targets
}

// The schemes of URL that are spoken.
const (
	SchemeHTTP  = "http"
	SchemeHTTPS = "https"
	SchemeH2C   = "h2c" // HTTP/2 without TLS and without asking
)

// Header is one line of a request.
type Header struct{ Name, Value string }

// parseHeaders splits "Name: value" lines and refuses what would break the
// request's framing.
func parseHeaders(lines []string) ([]Header, error) {
	var headers []Header
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
		headers = append(headers, Header{name, strings.TrimSpace(value)})
	}
	return headers, nil
}

// newTarget reads a URL.
func newTarget(raw string) (Target, *url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return Target{}, nil, invalid(FieldURL, raw, "%w", cause(err))
	}
	port := "80"
	switch u.Scheme {
	case SchemeHTTP, SchemeH2C:
	case SchemeHTTPS:
		port = "443"
	case "grpc", "grpcs":
		return Target{}, nil, invalid(FieldURL, raw, "a gRPC server is at h2c:// or, with TLS, at https://; --grpc names the call")
	default:
		if u.Host != "" {
			return Target{}, nil, beyond(FieldURL, raw, "procfit's load generator supports http, https and h2c, not %s", u.Scheme)
		}
		return Target{}, nil, invalid(FieldURL, raw, "must start with http://, https:// or h2c://")
	}
	switch {
	case u.Hostname() == "":
		return Target{}, nil, invalid(FieldURL, raw, "the host is missing")
	case u.User != nil:
		return Target{}, nil, invalid(FieldURL, raw, "give credentials as a header: 'Authorization: Basic …'")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Target{}, nil, invalid(FieldURL, raw, "port %q is not between 1 and 65535", port)
	}
	if strings.ContainsAny(u.RequestURI()+u.Host, " \r\n\t\x00") {
		return Target{}, nil, invalid(FieldURL, raw, "spaces must be percent-encoded")
	}
	return Target{URL: raw, Scheme: u.Scheme, Host: u.Hostname(), Address: net.JoinHostPort(u.Hostname(), port), Authority: u.Host}, u, nil
}

// Message is a request before it is in the form of a protocol.
type Message struct {
	Method  string
	Path    string
	Headers []Header
	Body    []byte
	GRPC    bool
	Stream  bool // of gRPC: its answer has any number of messages
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
