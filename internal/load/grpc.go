package load

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/internal/show/phrase"
)

// GRPC is a call of gRPC. Without files the server tells the types, by reflection.
type GRPC struct {
	Method   string // package.Service/Method
	Data     []byte // the message in JSON; empty: {}
	Proto    []string
	Protoset string
}

// prepareCall reads what the user wrote, and with files all of the call.
func (p *Prepared) prepareCall(urls []*url.URL) error {
	g := p.GRPC
	var err error
	if p.name, err = rpc.ParseName(g.Method); err != nil {
		return invalid(FieldGRPC, g.Method, "%w", err)
	}
	switch {
	case p.Method != "":
		return invalid(FieldMethod, p.Method, "calls of gRPC are all POST: leave it out")
	case len(p.Body) > 0:
		return invalid(FieldBody, "", "the message of the call is all that it sends: leave the body out")
	case len(g.Proto) > 0 && g.Protoset != "":
		return invalid(FieldProtoset, g.Protoset, "the types are in %s already: leave one out", strings.Join(g.Proto, ", "))
	case len(g.Data) > 0 && !json.Valid(g.Data):
		return invalid(FieldData, clipped(g.Data), "not JSON; write a message as in '{\"name\":\"x\"}', or @FILE")
	}
	for i, u := range urls {
		if u.RequestURI() != "/" {
			return invalid(FieldURL, p.URLs[i], "the method says where calls go: leave the path out")
		}
	}
	if p.types, err = p.givenTypes(); err != nil || p.types == nil {
		return err
	}
	return p.MakeCall(p.types)
}

// givenTypes are those of the user's files; nil: there are none.
func (p *Prepared) givenTypes() (rpc.Types, error) {
	g := p.GRPC
	switch {
	case len(g.Proto) > 0:
		types, err := rpc.Compile(context.Background(), g.Proto)
		if err != nil {
			return nil, invalid(FieldProto, strings.Join(g.Proto, ", "), "%w", err)
		}
		return types, nil
	case g.Protoset != "":
		types, err := rpc.ReadSet(g.Protoset)
		if err != nil {
			return nil, invalid(FieldProtoset, g.Protoset, "%w", pathCause(err))
		}
		return types, nil
	}
	return nil, nil
}

// Called is the method that is called.
func (p *Prepared) Called() rpc.Name { return p.name }

// Undefined tells that the types of the call are still to be asked for.
func (p *Prepared) Undefined() bool { return p.GRPC != nil && p.types == nil }

// MakeCall makes the request of the call, with its types.
func (p *Prepared) MakeCall(types rpc.Types) error {
	p.types = types
	method, err := p.name.Find(p.types)
	if err != nil {
		return invalid(FieldGRPC, p.GRPC.Method, "%w", err)
	}
	body, err := p.message(method)
	if err != nil {
		return err
	}
	m := Message{
		Method: "POST", Path: p.name.Path(), Body: body, GRPC: true,
		Headers: append([]Header{{"te", "trailers"}, {"content-type", "application/grpc"}}, p.headers...),
	}
	for i := range p.Targets {
		p.Targets[i].Messages = []Message{m}
	}
	return nil
}

func (p *Prepared) message(method protoreflect.MethodDescriptor) ([]byte, error) {
	data := p.GRPC.Data
	if len(data) == 0 {
		data = []byte("{}")
	}
	body, err := rpc.Message(method, p.types, data)
	if err != nil {
		return nil, invalid(FieldData, clipped(data), "%w", err)
	}
	return body, nil
}

// clipped keeps an error message short.
func clipped(data []byte) string { return phrase.Clip(string(data), 60) }
