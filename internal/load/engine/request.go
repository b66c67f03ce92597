package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
)

// target is one URL with the requests that may be sent to it, the same in all targets.
type target struct {
	load.Target
	requests []*wire.Request
}

// hasLength reports whether the length of the body is given, of an empty one too.
func hasLength(m load.Message) bool {
	return len(m.Body) > 0 || m.Method == "POST" || m.Method == "PUT" || m.Method == "PATCH"
}

// request makes one ready in the forms of both protocols. They hold the least that
// a server needs, as wrk's do, so that the load is comparable.
func (t target) request(m load.Message) *wire.Request {
	host := t.Authority
	var lines strings.Builder
	var fields []hpack.HeaderField
	for _, h := range m.Headers {
		name := strings.ToLower(h.Name)
		if name == "host" {
			host = h.Value
			continue
		}
		fmt.Fprintf(&lines, "%s: %s\r\n", h.Name, h.Value)
		if !oneHop(name) || m.GRPC && name == "te" {
			fields = append(fields, hpack.HeaderField{Name: name, Value: h.Value, Sensitive: name == "authorization"})
		}
	}
	if hasLength(m) && !m.GRPC {
		length := strconv.Itoa(len(m.Body))
		fmt.Fprintf(&lines, "Content-Length: %s\r\n", length)
		fields = append(fields, hpack.HeaderField{Name: "content-length", Value: length})
	}
	scheme := load.SchemeHTTP
	if t.Scheme == load.SchemeHTTPS {
		scheme = load.SchemeHTTPS
	}
	whole := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", m.Method, m.Path, host, lines.String())
	return &wire.Request{
		Bytes: append(whole, m.Body...), Body: m.Body, Head: m.Method == "HEAD", GRPC: m.GRPC, Stream: m.Stream,
		Fields: append([]hpack.HeaderField{
			{Name: ":method", Value: m.Method}, {Name: ":scheme", Value: scheme}, {Name: ":authority", Value: host}, {Name: ":path", Value: m.Path},
		}, fields...),
	}
}

// oneHop tells headers of one connection, which HTTP/2 does not have (RFC 9113,
// section 8.2.2).
func oneHop(name string) bool {
	return slices.Contains([]string{"connection", "keep-alive", "proxy-connection", "te"}, name)
}
