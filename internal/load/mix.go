package load

import (
	"fmt"
	"math"
	"math/bits"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/load/wire"
)

const (
	maxRequests = 100_000 // of a mix
	// mostNames is how many requests of a mix have results of their own; those beyond
	// share Others.
	mostNames = 40
)

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

func newMix(requests []Request, seed uint64) *mix {
	m := &mix{seed: seed, of: make([]int32, len(requests))}
	weights := make([]float64, len(requests))
	for i, r := range requests {
		weights[i] = r.Weight
		if r.Weight == 0 {
			weights[i] = 1
		}
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
			m.names = append(m.names, Others)
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

// prepareMix gives each target the requests of the mix.
func (p *plan) prepareMix() error {
	switch {
	case len(p.Requests) > maxRequests:
		return invalid(FieldRequests, strconv.Itoa(len(p.Requests)), "at most %d requests", maxRequests)
	case p.Method != "" || len(p.Body) > 0:
		return invalid(FieldRequests, "", "each request of a mix has a method and a body of its own")
	}
	for i := range p.Requests {
		m, err := p.Requests[i].message(p.headers)
		if err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
		for k := range p.targets {
			p.targets[k].requests = append(p.targets[k].requests, p.targets[k].request(m))
		}
	}
	if len(p.Requests) > 1 {
		p.mix = newMix(p.Requests, p.Seed)
	}
	return nil
}

// message checks a request. all are headers that every request has.
func (r Request) message(all []header) (message, error) {
	method := r.EffectiveMethod()
	if err := wrongMethod(method); err != nil {
		return message{}, err
	}
	if !(r.Weight >= 0) || math.IsInf(r.Weight, 0) {
		return message{}, invalid(FieldWeight, strconv.FormatFloat(r.Weight, 'g', -1, 64), "want a share above 0")
	}
	u, err := url.ParseRequestURI(r.Path)
	if err != nil || !strings.HasPrefix(r.Path, "/") || strings.ContainsAny(u.RequestURI(), " \r\n\t\x00") {
		return message{}, invalid(FieldURL, r.Path, "not a path such as /a?b=c")
	}
	own, err := parseHeaders(r.Headers)
	if err != nil {
		return message{}, err
	}
	headers := slices.DeleteFunc(slices.Clone(all), func(h header) bool {
		return slices.ContainsFunc(own, func(o header) bool { return strings.EqualFold(o.name, h.name) })
	})
	return message{method: method, path: u.RequestURI(), headers: append(headers, own...), body: r.Body}, nil
}

// wrongMethod refuses what no request can have.
func wrongMethod(method string) error {
	switch {
	case !isToken(method):
		return invalid(FieldMethod, method, "not an HTTP method")
	case method == "CONNECT":
		return invalid(FieldMethod, method, "a tunnel cannot be loaded")
	}
	return nil
}

// single is the request of Options without a mix.
func (p *plan) single(urls []*url.URL) error {
	p.Method = Request{Method: p.Method, Body: p.Body}.EffectiveMethod()
	if err := wrongMethod(p.Method); err != nil {
		return err
	}
	for i := range p.targets {
		t := &p.targets[i]
		t.requests = []*wire.Request{t.request(message{method: p.Method, path: urls[i].RequestURI(), headers: p.headers, body: p.Body})}
	}
	return nil
}

// Check says what is wrong with a request.
func (r Request) Check() error {
	_, err := r.message(nil)
	return err
}
