// Package rpc makes a call of gRPC from what a user writes: a method's name and its
// message in JSON. Where the message's type comes from is the user's choice: .proto
// files, a set of compiled descriptors, or the server itself by reflection, which is
// asked in its version 1 and then in the alpha one.
//
// The result is bytes. They are sent by package wire, which knows of gRPC no more
// than how its messages and an answer end. Health asks whether a server is ready. No
// other package of load and program links gRPC: both are handed this one.
//
// # Limits
//
// One request message: unary methods and those whose server streams. No
// compression. An answer's messages are not decoded.
package rpc

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/bufbuild/protocompile"
	"github.com/jhump/protoreflect/v2/grpcreflect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
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

// ParseName implements load.Calls.
func (Calls) ParseName(text string) (load.CallName, error) {
	at := strings.LastIndexByte(text, '/')
	if at < 0 {
		at = strings.LastIndexByte(text, '.')
	}
	if at <= 0 {
		return load.CallName{}, errors.New("expected package.Service/Method")
	}
	n := load.CallName{Service: strings.TrimPrefix(text[:at], "/"), Method: text[at+1:]}
	if !protoreflect.FullName(n.Service).IsValid() || !protoreflect.Name(n.Method).IsValid() {
		return load.CallName{}, errors.New("expected package.Service/Method")
	}
	return n, nil
}

// types is a set of files with what they define.
type types struct {
	*protoregistry.Files
	*dynamicpb.Types
}

// typesOf resolves what files define.
func typesOf(files *protoregistry.Files) load.CallTypes {
	return types{files, dynamicpb.NewTypes(files)}
}

// Method implements load.CallTypes.
func (t types) Method(n load.CallName) (load.CallMethod, error) {
	m, err := t.find(n)
	if err != nil {
		return load.CallMethod{}, err
	}
	return load.CallMethod{
		Stream: m.IsStreamingServer(),
		Body:   func(data []byte) ([]byte, error) { return t.message(m, data) },
	}, nil
}

// find is the method among the types.
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
	// Not compressed, and its length (PROTOCOL-HTTP2.md of gRPC).
	framed := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(b)))
	return append(framed, b...), nil
}

func listed(methods protoreflect.MethodDescriptors) string {
	var names []string
	for i := range methods.Len() {
		names = append(names, string(methods.Get(i).Name()))
	}
	return phrase.And(names)
}

// Compile implements load.Calls: it reads .proto files. What they import is looked for next to them and from
// the current directory on.
func (Calls) Compile(ctx context.Context, paths []string) (load.CallTypes, error) {
	from := []string{"."}
	var names []string
	for _, path := range paths {
		from, names = append(from, filepath.Dir(path)), append(names, filepath.Base(path))
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: from, Accessor: open}),
	}
	compiled, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	files := new(protoregistry.Files)
	for _, file := range compiled {
		if err := register(files, file); err != nil {
			return nil, err
		}
	}
	return typesOf(files), nil
}

// mostTypes bounds a file of types, in bytes.
const mostTypes = 64 << 20

func open(path string) (io.ReadCloser, error) {
	b, err := folder.ReadRegular(path, mostTypes)
	return io.NopCloser(bytes.NewReader(b)), err
}

// register adds a file after those that it imports.
func register(files *protoregistry.Files, file protoreflect.FileDescriptor) error {
	if _, err := files.FindFileByPath(file.Path()); err == nil {
		return nil
	}
	imports := file.Imports()
	for i := range imports.Len() {
		if err := register(files, imports.Get(i).FileDescriptor); err != nil {
			return err
		}
	}
	return files.RegisterFile(file)
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
	return link(&set)
}

// link makes types of descriptors that may refer to one another.
func link(set *descriptorpb.FileDescriptorSet) (load.CallTypes, error) {
	if len(set.File) == 0 {
		return nil, errors.New("the descriptor set is empty")
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, fmt.Errorf("%w; protoc writes a whole set with --include_imports", err)
	}
	return typesOf(files), nil
}

// errNoReflection is the error of a server that does not describe its types.
var errNoReflection = errors.New("the server has no reflection")

// Reflect implements load.Calls: it asks the server for the files of a service. The
// context bounds how many a server may make us ask for.
func (Calls) Reflect(ctx context.Context, s load.CallServer, service string) (load.CallTypes, error) {
	how := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority(s.Authority)}
	if s.TLS != nil { // the authority is then the name in the certificate
		how = []grpc.DialOption{grpc.WithTransportCredentials(credentials.NewTLS(s.TLS))}
	}
	conn, err := grpc.NewClient("passthrough:///"+s.Address, append(how, grpc.WithNoProxy())...) // the load goes to the server itself
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	client := grpcreflect.NewClientAuto(metadata.NewOutgoingContext(ctx, metadata.New(s.Metadata)), conn)
	defer client.Reset()
	file, err := client.FileContainingSymbol(protoreflect.FullName(service))
	switch {
	case status.Code(err) == codes.Unimplemented:
		return nil, errNoReflection
	case grpcreflect.IsElementNotFoundError(err):
		return nil, fmt.Errorf("the server does not know this service (%w)", err)
	case err != nil:
		return nil, fmt.Errorf("cannot read the types from the server: %s", status.Convert(err).Message()) // without gRPC's frame
	}
	files := new(protoregistry.Files)
	if err := register(files, file); err != nil {
		return nil, err
	}
	return typesOf(files), nil
}

// Health asks a server's gRPC health service whether it serves. It is a ready.Health.
type Health struct{}

// Ask implements ready.Health.
func (Health) Ask(ctx context.Context, conn net.Conn, address string, secure *tls.Config) (answer string, err error) {
	security := insecure.NewCredentials()
	if secure != nil {
		security = credentials.NewTLS(secure)
	}
	var taken atomic.Bool
	client, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(security), grpc.WithNoProxy(),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if taken.Swap(true) { // it would dial again and again: an attempt has one connection
				return nil, errors.New("the connection was given up")
			}
			return conn, nil
		}))
	if err != nil {
		return "", err
	}
	defer client.Close()
	got, err := grpc_health_v1.NewHealthClient(client).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	switch code := status.Code(err); code {
	case codes.OK:
		if got.Status == grpc_health_v1.HealthCheckResponse_SERVING {
			return "", nil
		}
		return got.Status.String(), fmt.Errorf("it answered %s", got.Status)
	case codes.Unimplemented, codes.Unauthenticated, codes.PermissionDenied:
		return "", nil
	default: // Unavailable is also what grpc calls a connection that broke
		return "", err
	}
}
