package load

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// DefaultTimeout is how long a request may take where Options says nothing.
const DefaultTimeout = 10 * time.Second

const (
	maxRate        = 1e6       // requests a second; one thread carries about a tenth
	maxConnections = 1_000_000 // a bound against typing errors; the kernel's are lower
)

// Options is the load to offer.
type Options struct {
	URLs        []string      // one a replica; connections are dealt to them in turn
	Method      string        // empty: GET, or POST with a body
	Headers     []string      // "Name: value"; Host replaces the URL's
	Body        []byte        // sent with each request
	Connections int           // kept open
	Rate        float64       // intended requests a second; 0: closed loop
	Duration    time.Duration // in which measured requests are intended
	Settle      time.Duration // the same load before it, in no figure but Counted
	Timeout     time.Duration // for one request from its send, and for connecting; 0: DefaultTimeout
	CPUs        []int         // the engine's threads run on these only; empty: anywhere
	Threads     int           // event loops; 0: chosen

	// Progress, if any, is called twice a second from one goroutine.
	Progress func(Progress)
	// Began, if any, is called when all connections are open, before the first request
	// of the settling; Ended at the end of Duration, when nothing more is sent, before
	// what is under way is waited for. Between their calls came Result.Counted answers.
	// Settle keeps what Began leaves behind, cold caches and a collection of its
	// garbage, out of the latency.
	Began, Ended func()
}

// Progress is how far a run is.
type Progress struct {
	Elapsed  time.Duration // since the first request
	Requests int64         // answered so far
	Errors   int64
}

// target is one URL made ready.
type target struct {
	url     string
	address string // host:port
	request []byte // the whole request, sent as it is
}

// plan is Options checked and made ready.
type plan struct {
	Options
	targets []target
	head    bool // answers carry no body
}

// Check says what is wrong with the options, as Run would.
func (o Options) Check() error {
	if _, err := prepare(o); err != nil {
		return err
	}
	return checkFiles(o.Connections)
}

// prepare checks the options and builds the requests.
func prepare(o Options) (*plan, error) {
	switch {
	case len(o.URLs) == 0:
		return nil, errors.New("no URL to load")
	case o.Connections < 1:
		return nil, fmt.Errorf("connections %d: at least 1 is needed", o.Connections)
	case o.Connections > maxConnections:
		return nil, fmt.Errorf("connections %d: at most %d", o.Connections, maxConnections)
	case o.Connections < len(o.URLs):
		return nil, fmt.Errorf("connections %d: %d URLs need at least one each", o.Connections, len(o.URLs))
	case !(o.Rate >= 0 && o.Rate <= maxRate): // NaN fails too
		return nil, fmt.Errorf("rate %v: must be between 0 (closed loop) and %.0f requests a second", o.Rate, float64(maxRate))
	case o.Duration <= 0:
		return nil, fmt.Errorf("duration %v: must be more than 0", o.Duration)
	case o.Rate > 0 && o.Rate*o.Duration.Seconds() < 1:
		return nil, fmt.Errorf("rate %v: less than one request in %v", o.Rate, o.Duration)
	case o.Settle < 0:
		return nil, fmt.Errorf("settling %v: must not be negative", o.Settle)
	case o.Timeout < 0:
		return nil, fmt.Errorf("timeout %v: must not be negative", o.Timeout)
	case o.Threads < 0:
		return nil, fmt.Errorf("threads %d: must not be negative", o.Threads)
	}
	for _, cpu := range o.CPUs {
		if cpu < 0 {
			return nil, fmt.Errorf("CPU %d: must not be negative", cpu)
		}
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Method == "" {
		o.Method = "GET"
		if len(o.Body) > 0 {
			o.Method = "POST"
		}
	}
	if !isToken(o.Method) {
		return nil, fmt.Errorf("method %q: not an HTTP method", o.Method)
	}
	if o.Method == "CONNECT" {
		return nil, errors.New("method CONNECT: a tunnel cannot be loaded")
	}
	headers, err := parseHeaders(o.Headers)
	if err != nil {
		return nil, err
	}
	p := &plan{Options: o, head: o.Method == "HEAD"}
	for _, raw := range o.URLs {
		t, err := newTarget(raw, o.Method, headers, o.Body)
		if err != nil {
			return nil, err
		}
		p.targets = append(p.targets, t)
	}
	return p, nil
}

type header struct{ name, value string }

// parseHeaders splits "Name: value" lines and refuses what would break the
// request's framing.
func parseHeaders(lines []string) ([]header, error) {
	var headers []header
	for _, line := range lines {
		if strings.ContainsAny(line, "\r\n\x00") {
			return nil, fmt.Errorf("header %q: line breaks and NUL are not allowed", line)
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("header %q: no colon; write 'Name: value'", line)
		}
		if !isToken(name) {
			return nil, fmt.Errorf("header %q: %q is not a header name", line, name)
		}
		switch strings.ToLower(name) {
		case "content-length", "transfer-encoding":
			return nil, fmt.Errorf("header %q: the engine sets the length of the body itself", line)
		case "expect", "upgrade":
			return nil, fmt.Errorf("header %q: not supported by the engine; use --load with another generator", line)
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
		return target{}, fmt.Errorf("URL: %w", err) // url.Error quotes the input
	}
	switch {
	case u.Scheme == "https":
		return target{}, fmt.Errorf("URL %q: the engine speaks plain http; for TLS use --load with an external generator, such as --load 'wrk -c{connections} -d{duration} --latency {url}'", raw)
	case u.Scheme != "http":
		return target{}, fmt.Errorf("URL %q: must start with http://", raw)
	case u.Hostname() == "":
		return target{}, fmt.Errorf("URL %q: no host", raw)
	case u.User != nil:
		return target{}, fmt.Errorf("URL %q: give credentials as a header: 'Authorization: Basic …'", raw)
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return target{}, fmt.Errorf("URL %q: port %q is not between 1 and 65535", raw, port)
	}
	path := u.RequestURI()
	if strings.ContainsAny(path+u.Host, " \r\n\t\x00") {
		return target{}, fmt.Errorf("URL %q: blanks must be percent-encoded", raw)
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

// chooseThreads is the number of event loops. One thread carries about 100,000
// requests a second and leaves the other CPUs to the server, so the load takes
// a quarter of a shared machine, all CPUs that were set aside for it, and in an
// open loop no more than the rate asks for. procs bounds it since each running
// loop holds a P.
func chooseThreads(o Options, cpus, procs int) int {
	n := cpus / 4
	if len(o.CPUs) > 0 {
		n = len(o.CPUs)
	}
	if o.Rate > 0 {
		n = min(n, int(o.Rate/40_000)+1)
	}
	n = min(n, procs, 16)
	if o.Threads > 0 {
		n = o.Threads
	}
	return max(1, min(n, o.Connections))
}
