// Package rpc makes a call of gRPC from what a user writes: a method's name and its
// message in JSON. Where the message's type comes from is the user's choice: .proto
// files, a set of compiled descriptors, or the server itself by reflection, which is
// asked in its version 1 and then in the alpha one.
//
// The result is bytes. They are sent by package wire, which knows of gRPC no more
// than how its messages and an answer end. Health asks whether a server is ready. No
// other package of load and program links protobuf: both are handed this one.
//
// The two questions, of the types and of the health, are calls over net/http: grpc-go has
// 75 packages, and is linked by tests alone.
//
// # Limits
//
// One request message: unary methods and those whose server streams. No
// compression. An answer's messages are not decoded.
package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Calls implements load.Calls.
type Calls struct{}

type types struct {
	*protoregistry.Files
	*dynamicpb.Types
}

func typesOf(files *protoregistry.Files) load.CallTypes {
	t := types{files, dynamicpb.NewTypes(files)}
	return func(n load.CallName) (load.CallMethod, error) {
		m, err := t.find(n)
		if err != nil {
			return load.CallMethod{}, err
		}
		return load.CallMethod{
			Stream: m.IsStreamingServer(),
			Body:   func(data []byte) ([]byte, error) { return t.message(m, data) },
		}, nil
	}
}

func (t types) find(n load.CallName) (protoreflect.MethodDescriptor, error) {
	d, err := t.FindDescriptorByName(protoreflect.FullName(n.Service))
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

// message is the body of a call: the message of JSON, with the length before it
// that gRPC wants.
func (t types) message(m protoreflect.MethodDescriptor, data []byte) ([]byte, error) {
	message := dynamicpb.NewMessage(m.Input())
	if err := (protojson.UnmarshalOptions{Resolver: t}).Unmarshal(data, message); err != nil {
		return nil, fmt.Errorf("not a %s: %w", m.Input().FullName(), err)
	}
	b, err := proto.Marshal(message)
	if err != nil {
		return nil, err
	}
	return framed(b), nil
}

// framed is a message as gRPC sends it: not compressed, and its length before it
// (PROTOCOL-HTTP2.md of gRPC).
func framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

func listed(methods protoreflect.MethodDescriptors) string {
	var names []string
	for i := range methods.Len() {
		names = append(names, string(methods.Get(i).Name()))
	}
	return phrase.And(names)
}

// ReadSet implements load.Calls: it reads a set of descriptors, as protoc --descriptor_set_out
// --include_imports and buf build write it.
func (Calls) ReadSet(path string) (load.CallTypes, error) {
	b, err := folder.ReadRegular(path, mostTypes)
	if err != nil {
		return nil, err
	}
	return parseSet(b)
}

func parseSet(b []byte) (load.CallTypes, error) {
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(b, &set); err != nil {
		return nil, fmt.Errorf("not a descriptor set: %w", err)
	}
	types, err := link(&set)
	if err != nil {
		return nil, fmt.Errorf("%w; protoc writes a whole set with --include_imports", err)
	}
	return types, nil
}

// link makes types of descriptors that may refer to one another.
func link(set *descriptorpb.FileDescriptorSet) (load.CallTypes, error) {
	if len(set.File) == 0 {
		return nil, errors.New("there are no types")
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	return typesOf(files), nil
}
