package load

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const maxRequests = 100_000 // of a mix

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

// prepareMix gives each target the requests of the mix.
func (p *Prepared) prepareMix() error {
	switch {
	case len(p.Requests) > maxRequests:
		return invalid(FieldRequests, strconv.Itoa(len(p.Requests)), "at most %d requests", maxRequests)
	case p.Method != "" || len(p.Body) > 0:
		return invalid(FieldRequests, "", "each request of a mix has its own method and body")
	}
	for i := range p.Requests {
		m, err := p.Requests[i].message(p.headers)
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
	if err := wrongMethod(method); err != nil {
		return Message{}, err
	}
	if !(r.Weight >= 0) || math.IsInf(r.Weight, 0) {
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

// wrongMethod refuses what no request can have.
func wrongMethod(method string) error {
	switch {
	case !isToken(method):
		return invalid(FieldMethod, method, "not an HTTP method")
	case method == "CONNECT":
		return invalid(FieldMethod, method, "CONNECT opens a tunnel, which cannot be measured")
	}
	return nil
}

// single is the request of Options without a mix.
func (p *Prepared) single(urls []*url.URL) error {
	p.Method = Request{Method: p.Method, Body: p.Body}.EffectiveMethod()
	if err := wrongMethod(p.Method); err != nil {
		return err
	}
	for i := range p.Targets {
		p.Targets[i].Messages = []Message{{Method: p.Method, Path: urls[i].RequestURI(), Headers: p.headers, Body: p.Body}}
	}
	return nil
}

// Check says what is wrong with a request.
func (r Request) Check() error {
	_, err := r.message(nil)
	return err
}
