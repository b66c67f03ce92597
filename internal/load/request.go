package load

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// target is one URL made ready.
type target struct {
	url     string
	address string // host:port
	request []byte // the whole request, sent as it is
}

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
			return nil, invalid(FieldHeader, line, "the engine sets the length of the body itself")
		case "expect", "upgrade":
			return nil, beyond(FieldHeader, line, "the engine does not support it")
		}
		headers = append(headers, header{name, strings.TrimSpace(value)})
	}
	return headers, nil
}

// newTarget builds the bytes of one request. They hold the least that a server
// needs, as wrk's do, so that the load is comparable.
func newTarget(raw, method string, headers []header, body []byte) (target, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return target{}, invalid(FieldURL, raw, "%w", cause(err))
	}
	switch {
	case u.Scheme != "http" && u.Host != "":
		return target{}, beyond(FieldURL, raw, "the engine speaks plain http, not %s", u.Scheme)
	case u.Scheme != "http":
		return target{}, invalid(FieldURL, raw, "must start with http://")
	case u.Hostname() == "":
		return target{}, invalid(FieldURL, raw, "no host")
	case u.User != nil:
		return target{}, invalid(FieldURL, u.Redacted(), "give credentials as a header: 'Authorization: Basic …'")
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return target{}, invalid(FieldURL, raw, "port %q is not between 1 and 65535", port)
	}
	path := u.RequestURI()
	if strings.ContainsAny(path+u.Host, " \r\n\t\x00") {
		return target{}, invalid(FieldURL, raw, "blanks must be percent-encoded")
	}
	host := u.Host
	var rest strings.Builder
	for _, h := range headers {
		if strings.EqualFold(h.name, "Host") {
			host = h.value
			continue
		}
		fmt.Fprintf(&rest, "%s: %s\r\n", h.name, h.value)
	}
	if len(body) > 0 || method == "POST" || method == "PUT" || method == "PATCH" {
		fmt.Fprintf(&rest, "Content-Length: %d\r\n", len(body))
	}
	request := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", method, path, host, rest.String())
	return target{
		url:     raw,
		address: net.JoinHostPort(u.Hostname(), port),
		request: append(request, body...),
	}, nil
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
