package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/jhump/protoreflect/v2/grpcreflect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/phrase"
)

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
	conn, err := grpc.NewClient("passthrough:///"+s.Address, how...)
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
