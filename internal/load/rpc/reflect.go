package rpc

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/procfit/procfit/internal/load"
)

// ErrNoReflection is that a server does not tell its types.
var ErrNoReflection = errors.New("the server has no reflection")

// maxFiles bounds what a server may make us ask for.
const maxFiles = 10_000

// Reflect implements load.Calls: it asks the server for the files of a service.
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
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(ctx, metadata.New(s.Metadata)))
	defer cancel()
	var set *descriptorpb.FileDescriptorSet
	for _, open := range []func(context.Context, *grpc.ClientConn) (asker, error){newV1, newAlpha} {
		var ask asker
		if ask, err = open(ctx, conn); err == nil {
			set, err = collect(ask, service)
		}
		if status.Code(err) != codes.Unimplemented {
			break
		}
	}
	switch {
	case status.Code(err) == codes.Unimplemented:
		return nil, ErrNoReflection
	case err != nil:
		return nil, fmt.Errorf("ask the server for its types: %w", err)
	}
	return link(set)
}

// asker asks for the files that define a symbol, or for one by its name.
type asker func(symbol, file string) ([][]byte, error)

// collect asks for a service's file and all that it imports.
func collect(ask asker, service string) (*descriptorpb.FileDescriptorSet, error) {
	set, have := &descriptorpb.FileDescriptorSet{}, map[string]bool{}
	var missing []string
	take := func(raw [][]byte) error {
		for _, b := range raw {
			file := &descriptorpb.FileDescriptorProto{}
			if err := proto.Unmarshal(b, file); err != nil {
				return fmt.Errorf("not a descriptor: %w", err)
			}
			if have[file.GetName()] {
				continue
			}
			have[file.GetName()] = true
			set.File = append(set.File, file)
			missing = append(missing, file.GetDependency()...)
		}
		return nil
	}
	raw, err := ask(service, "")
	if err == nil {
		err = take(raw)
	}
	for err == nil && len(missing) > 0 {
		name := missing[0]
		if missing = missing[1:]; have[name] {
			continue
		}
		if len(set.File) > maxFiles {
			return nil, fmt.Errorf("more than %d files", maxFiles)
		}
		if raw, err = ask("", name); err == nil {
			err = take(raw)
		}
		have[name] = true // whatever it sent, it is not asked again
	}
	return set, err
}

// notFound is what a server says where it knows no such symbol or file.
func notFound(code int32, message string) error {
	if codes.Code(code) == codes.NotFound {
		return fmt.Errorf("it knows of no such service (%s)", message)
	}
	return status.Error(codes.Code(code), message)
}

func newV1(ctx context.Context, conn *grpc.ClientConn) (asker, error) {
	stream, err := v1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		return nil, err
	}
	return func(symbol, file string) ([][]byte, error) {
		q := &v1.ServerReflectionRequest{MessageRequest: &v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol}}
		if file != "" {
			q.MessageRequest = &v1.ServerReflectionRequest_FileByFilename{FileByFilename: file}
		}
		_ = stream.Send(q) // what is wrong comes with the answer
		a, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if e := a.GetErrorResponse(); e != nil {
			return nil, notFound(e.ErrorCode, e.ErrorMessage)
		}
		return a.GetFileDescriptorResponse().GetFileDescriptorProto(), nil
	}, nil
}

func newAlpha(ctx context.Context, conn *grpc.ClientConn) (asker, error) {
	stream, err := alpha.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		return nil, err
	}
	return func(symbol, file string) ([][]byte, error) {
		q := &alpha.ServerReflectionRequest{MessageRequest: &alpha.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol}}
		if file != "" {
			q.MessageRequest = &alpha.ServerReflectionRequest_FileByFilename{FileByFilename: file}
		}
		_ = stream.Send(q) // what is wrong comes with the answer
		a, err := stream.Recv()
		if err != nil {
			return nil, err
		}
		if e := a.GetErrorResponse(); e != nil {
			return nil, notFound(e.ErrorCode, e.ErrorMessage)
		}
		return a.GetFileDescriptorResponse().GetFileDescriptorProto(), nil
	}, nil
}
