package load

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/pattern"
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
		if !token().MatchString(name) {
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

func newTarget(raw string) (Target, *url.URL, error) {
	u, err := url.Parse(raw)
	if !strings.Contains(raw, "://") && raw != "" {
		return Target{}, nil, invalid(FieldURL, raw, "http:// is missing; write http://%s", raw)
	}
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
	port = cmp.Or(u.Port(), port)
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

// token is one of RFC 9110, section 5.6.2.
var token = pattern.Of("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

const MostRequests = 100_000 // of a mix

// Others is the name of the requests that have no results of their own.
const Others = "others"

// Request is one of a mix.
type Request struct {
	Weight  float64  // its share against the others'; 0: 1
	Method  string   // empty: GET, or POST with a body
	Path    string   // with the query: /a?b=c
	Headers []string // "Name: value", in place of those of Options of the same name
	Body    []byte
}

// EffectiveMethod is the HTTP method that is sent.
func (r Request) EffectiveMethod() string {
	switch {
	case r.Method != "":
		return r.Method
	case len(r.Body) > 0:
		return "POST"
	}
	return "GET"
}

// Name is what the results of the request are called: its method and path. Requests
// that differ in the query, headers or body alone share them.
func (r Request) Name() string {
	path, _, _ := strings.Cut(r.Path, "?")
	return r.EffectiveMethod() + " " + path
}

func (p *Prepared) prepareMix() error {
	switch {
	case len(p.Requests) > MostRequests:
		return invalid(FieldRequests, strconv.Itoa(len(p.Requests)), "at most %d requests", MostRequests)
	case p.Method != "" || len(p.Body) > 0:
		return invalid(FieldRequests, "", "each request of a mix has its own method and body")
	}
	for i := range p.Requests {
		m, err := p.Requests[i].message(p.Lines)
		if err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
		for k := range p.Targets {
			p.Targets[k].Messages = append(p.Targets[k].Messages, m)
		}
	}
	return nil
}

// message checks a request. all are headers that every request has.
func (r Request) message(all []Header) (Message, error) {
	method := r.EffectiveMethod()
	switch {
	case !token().MatchString(method):
		return Message{}, invalid(FieldMethod, method, "not an HTTP method")
	case method == "CONNECT":
		return Message{}, invalid(FieldMethod, method, "CONNECT opens a tunnel, which cannot be measured")
	case !(r.Weight >= 0) || math.IsInf(r.Weight, 0):
		return Message{}, invalid(FieldRequests, strconv.FormatFloat(r.Weight, 'g', -1, 64), "expected a share above 0")
	}
	u, err := url.ParseRequestURI(r.Path)
	if err != nil || !strings.HasPrefix(r.Path, "/") || strings.ContainsAny(u.RequestURI(), " \r\n\t\x00") {
		return Message{}, invalid(FieldURL, r.Path, "expected a path such as /a?b=c")
	}
	own, err := parseHeaders(r.Headers)
	if err != nil {
		return Message{}, err
	}
	headers := slices.DeleteFunc(slices.Clone(all), func(h Header) bool {
		return slices.ContainsFunc(own, func(o Header) bool { return strings.EqualFold(o.Name, h.Name) })
	})
	return Message{Method: method, Path: u.RequestURI(), Headers: append(headers, own...), Body: r.Body}, nil
}

func (p *Prepared) single(urls []*url.URL) error {
	p.Method = Request{Method: p.Method, Body: p.Body}.EffectiveMethod()
	for i := range p.Targets {
		m, err := Request{Method: p.Method, Path: urls[i].RequestURI(), Body: p.Body}.message(p.Lines)
		if err != nil {
			return err
		}
		p.Targets[i].Messages = []Message{m}
	}
	return nil
}

// Check says what is wrong with a request.
func (r Request) Check() error {
	_, err := r.message(nil)
	return err
}
