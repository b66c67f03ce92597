package load

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
)

// GRPC is a call of gRPC. Without files the server tells the types, by reflection.
type GRPC struct {
	Method   string // package.Service/Method
	Data     []byte // the message in JSON; empty: {}
	Proto    []string
	Protoset string

	// Calls reads all of this. Package rpc has one, which links gRPC; who makes the call
	// hands it in, so that who only describes a load does not link gRPC.
	Calls Calls `json:"-"`
}

// Calls makes the messages of calls.
type Calls interface {
	// Compile reads .proto files.
	Compile(ctx context.Context, paths []string) (CallTypes, error)
	// ReadSet reads a set of compiled descriptors.
	ReadSet(path string) (CallTypes, error)
	// Reflect asks the server for the types of a service.
	Reflect(ctx context.Context, s CallServer, service string) (CallTypes, error)
}

// CallName is a method's: package.Service/Method.
type CallName struct{ Service, Method string }

func (n CallName) String() string { return n.Service + "/" + n.Method }

// fullName is a method's: the names of protobuf have letters, digits and underscores.
var fullName = pattern.Of(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*/[A-Za-z_]\w*$`)

// parseCallName reads a method's name; a point may stand for the stroke.
func parseCallName(text string) (CallName, error) {
	at := strings.LastIndexByte(text, '/')
	if at < 0 {
		at = strings.LastIndexByte(text, '.')
	}
	n := CallName{Service: strings.TrimPrefix(text[:max(at, 0)], "/"), Method: text[at+1:]}
	if !fullName().MatchString(n.String()) {
		return CallName{}, errors.New("expected package.Service/Method")
	}
	return n, nil
}

// Path is where calls go in HTTP.
func (n CallName) Path() string { return "/" + n.String() }

// CallTypes finds a method in what files or a server define.
type CallTypes func(CallName) (CallMethod, error)

// CallMethod is one that can be called.
type CallMethod struct {
	Stream bool                              // its answer has any number of messages; else one
	Body   func(data []byte) ([]byte, error) // of a call, from a message in JSON
}

// CallServer is one that is asked for its types.
type CallServer struct {
	Address   string
	Authority string            // of a plain connection
	TLS       *tls.Config       // nil: plain
	Metadata  map[string]string // sent with the question, as with the calls
}

func (p *Prepared) prepareCall(urls []*url.URL) error {
	g := p.GRPC
	if g.Calls == nil {
		return invalid(FieldGRPC, g.Method, "gRPC calls are not available here")
	}
	var err error
	if p.Called, err = parseCallName(g.Method); err != nil {
		return invalid(FieldGRPC, g.Method, "%w", err)
	}
	switch {
	case p.Method != "":
		return invalid(FieldMethod, p.Method, "gRPC calls always use POST; remove it")
	case len(p.Body) > 0:
		return invalid(FieldBody, "", "a gRPC call sends only its message; remove the body")
	case len(g.Proto) > 0 && g.Protoset != "":
		return invalid(FieldProto, g.Protoset, "%s already gives the types; use only one of them", strings.Join(g.Proto, ", "))
	case len(g.Data) > 0 && !json.Valid(g.Data):
		return invalid(FieldBody, clipped(g.Data), "not JSON; write a message as in '{\"name\":\"x\"}', or @FILE")
	}
	for i, u := range urls {
		if u.RequestURI() != "/" {
			return invalid(FieldURL, p.URLs[i], "the gRPC method determines the path; remove it from the URL")
		}
	}
	if p.types, err = p.givenTypes(); err != nil || p.types == nil {
		return err
	}
	return p.MakeCall(p.types)
}

// givenTypes are those of the user's files; nil: there are none.
func (p *Prepared) givenTypes() (CallTypes, error) {
	g := p.GRPC
	switch {
	case len(g.Proto) > 0:
		types, err := g.Calls.Compile(context.Background(), g.Proto)
		if err != nil {
			return nil, invalid(FieldProto, strings.Join(g.Proto, ", "), "%w", err)
		}
		return types, nil
	case g.Protoset != "":
		types, err := g.Calls.ReadSet(g.Protoset)
		if err != nil {
			return nil, invalid(FieldProto, g.Protoset, "%w", cause(err))
		}
		return types, nil
	}
	return nil, nil
}

// Undefined reports that the types of the call are still to be asked for.
func (p *Prepared) Undefined() bool { return p.GRPC != nil && p.types == nil }

// MakeCall makes the request of the call, with its types.
func (p *Prepared) MakeCall(types CallTypes) error {
	p.types = types
	method, err := types(p.Called)
	if err != nil {
		return invalid(FieldGRPC, p.GRPC.Method, "%w", err)
	}
	data := p.GRPC.Data
	if len(data) == 0 {
		data = []byte("{}")
	}
	body, err := method.Body(data)
	if err != nil {
		return invalid(FieldBody, clipped(data), "%w", err)
	}
	m := Message{
		Method: "POST", Path: p.Called.Path(), Body: body, GRPC: true, Stream: method.Stream,
		Headers: append([]Header{{"te", "trailers"}, {"content-type", "application/grpc"}}, p.Lines...),
	}
	for i := range p.Targets {
		p.Targets[i].Messages = []Message{m}
	}
	return nil
}

func clipped(data []byte) string { return phrase.Clip(string(data), 60) }
