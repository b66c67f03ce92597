package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Name is a method's: package.Service/Method.
type Name struct{ Service, Method string }

// ParseName reads one; a point may stand for the stroke.
func ParseName(text string) (Name, error) {
	at := strings.LastIndexByte(text, '/')
	if at < 0 {
		at = strings.LastIndexByte(text, '.')
	}
	if at <= 0 {
		return Name{}, errors.New("want package.Service/Method")
	}
	n := Name{Service: strings.TrimPrefix(text[:at], "/"), Method: text[at+1:]}
	if !protoreflect.FullName(n.Service).IsValid() || !protoreflect.Name(n.Method).IsValid() {
		return Name{}, errors.New("want package.Service/Method")
	}
	return n, nil
}

func (n Name) String() string { return n.Service + "/" + n.Method }

// Path is where calls go in HTTP.
func (n Name) Path() string { return "/" + n.String() }

// Types is a set of files with what they define.
type Types interface {
	FindDescriptorByName(protoreflect.FullName) (protoreflect.Descriptor, error)
	protoregistry.MessageTypeResolver
	protoregistry.ExtensionTypeResolver
}

// typesOf resolves what files define.
func typesOf(files *protoregistry.Files) Types {
	return struct {
		*protoregistry.Files
		*dynamicpb.Types
	}{files, dynamicpb.NewTypes(files)}
}

// Find is the method among the types.
func (n Name) Find(types Types) (protoreflect.MethodDescriptor, error) {
	d, err := types.FindDescriptorByName(protoreflect.FullName(n.Service))
	if err != nil {
		return nil, fmt.Errorf("there is no service %q", n.Service)
	}
	service, ok := d.(protoreflect.ServiceDescriptor)
	if !ok {
		return nil, fmt.Errorf("%q is not a service", n.Service)
	}
	methods := service.Methods()
	m := methods.ByName(protoreflect.Name(n.Method))
	if m == nil {
		return nil, fmt.Errorf("service %q has no method %q; it has %s", n.Service, n.Method, listed(methods))
	}
	if m.IsStreamingClient() {
		return nil, fmt.Errorf("method %q takes a stream of requests; only one request a call is supported", n.Method)
	}
	return m, nil
}

// Message is the body of a call: the message of JSON, with the length before it
// that gRPC wants.
func Message(m protoreflect.MethodDescriptor, types Types, data []byte) ([]byte, error) {
	message := dynamicpb.NewMessage(m.Input())
	if err := (protojson.UnmarshalOptions{Resolver: types}).Unmarshal(data, message); err != nil {
		return nil, fmt.Errorf("not a %s: %w", m.Input().FullName(), err)
	}
	b, err := proto.Marshal(message)
	if err != nil {
		return nil, err
	}
	// Not compressed, and its length (PROTOCOL-HTTP2.md of gRPC).
	framed := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(b)))
	return append(framed, b...), nil
}
