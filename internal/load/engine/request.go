package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
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

// mostNames is how many requests of a mix have results of their own; those beyond
// share Others.
const mostNames = 40

// mix is which request is sent when. It does not change while a run sends.
type mix struct {
	seed  uint64
	names []string
	of    []int32 // by request: which name is its
	// An alias table (Walker, 1974): a request is drawn evenly, and stays below its
	// cut, else its alias is taken.
	cut   []uint64
	alias []int32
}

func newMix(requests []load.Request, seed uint64) *mix {
	m := &mix{seed: seed, of: make([]int32, len(requests))}
	weights := make([]float64, len(requests))
	for i, r := range requests {
		weights[i] = cmp.Or(r.Weight, 1)
		m.of[i] = m.index(r.Name())
	}
	m.draw(weights)
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

// draw makes the alias table (Vose, 1991).
func (m *mix) draw(weights []float64) {
	n := len(weights)
	var sum float64
	for _, w := range weights {
		sum += w
	}
	m.cut, m.alias = make([]uint64, n), make([]int32, n)
	share := make([]float64, n)
	var small, large []int32
	for i, w := range weights {
		share[i] = w / sum * float64(n)
		m.cut[i], m.alias[i] = math.MaxUint64, int32(i)
		if share[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		m.cut[s], m.alias[s] = uint64(share[s]*(1<<53))<<11, l
		if share[l] -= 1 - share[s]; share[l] < 1 {
			small, large = append(small, l), large[:len(large)-1]
		}
	}
}

// pick is the request of a number in the schedule: random, and the same for the same
// seed.
func (m *mix) pick(number int64) int32 {
	which := scatter(m.seed + uint64(number))
	i, _ := bits.Mul64(which, uint64(len(m.cut)))
	if scatter(which) < m.cut[i] {
		return int32(i)
	}
	return m.alias[i]
}

// scatter is SplitMix64 (Steele, Lea and Flood, 2014): neighbours give numbers that
// have nothing in common.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
