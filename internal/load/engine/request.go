package engine

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/wire"
	"github.com/procfit/procfit/internal/show/phrase"
)

// target is one URL with the requests that may be sent to it, the same in all targets.
type target struct {
	load.Target
	requests []*wire.Request
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
		// HTTP/2 does not have headers of one connection (RFC 9113, section 8.2.2).
		oneHop := slices.Contains([]string{"connection", "keep-alive", "proxy-connection", "te"}, name)
		if !oneHop || m.GRPC && name == "te" {
			fields = append(fields, hpack.HeaderField{Name: name, Value: h.Value, Sensitive: name == "authorization"})
		}
	}
	// The length of an empty body is given too, where a body is expected.
	if !m.GRPC && (len(m.Body) > 0 || slices.Contains([]string{"POST", "PUT", "PATCH"}, m.Method)) {
		length := strconv.Itoa(len(m.Body))
		fmt.Fprintf(&lines, "Content-Length: %s\r\n", length)
		fields = append(fields, hpack.HeaderField{Name: "content-length", Value: length})
	}
	scheme := phrase.If(t.Scheme == load.SchemeHTTPS, load.SchemeHTTPS, load.SchemeHTTP)
	whole := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", m.Method, m.Path, host, lines.String())
	return &wire.Request{
		Bytes: append(whole, m.Body...), Body: m.Body, Head: m.Method == "HEAD", GRPC: m.GRPC, Stream: m.Stream,
		Fields: append([]hpack.HeaderField{
			{Name: ":method", Value: m.Method}, {Name: ":scheme", Value: scheme}, {Name: ":authority", Value: host}, {Name: ":path", Value: m.Path},
		}, fields...),
	}
}

// mostNames is how many requests of a mix have results of their own; those beyond
// share Others.
const mostNames = 40

// mix is which request is sent when. It does not change while a run sends.
type mix struct {
	seed  uint64
	names []string
	of    []int32   // by request: which name is its
	sums  []float64 // by request: its weight and those of all before it
}

func newMix(requests []load.Request, seed uint64) *mix {
	m := &mix{seed: seed, of: make([]int32, len(requests)), sums: make([]float64, len(requests))}
	sum := 0.0
	for i, r := range requests {
		sum += cmp.Or(r.Weight, 1)
		m.sums[i] = sum
		m.of[i] = m.index(r.Name())
	}
	return m
}

// index is the place of a name among those that have results.
func (m *mix) index(name string) int32 {
	i := slices.Index(m.names, name)
	switch {
	case i >= 0:
	case len(m.names) < mostNames:
		m.names = append(m.names, name)
		i = len(m.names) - 1
	default:
		if len(m.names) == mostNames {
			m.names = append(m.names, load.Others)
		}
		i = mostNames
	}
	return int32(i)
}

// pick is the request of a number in the schedule: random, and the same for the same
// seed.
func (m *mix) pick(number int64) int32 {
	last := len(m.sums) - 1
	at := float64(scatter(m.seed+uint64(number))>>11) / (1 << 53) * m.sums[last] // from 0 up to the sum of all
	return int32(sort.Search(last, func(i int) bool { return at < m.sums[i] }))
}

// scatter is SplitMix64 (Steele, Lea and Flood, 2014): neighbours give numbers that
// have nothing in common.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
