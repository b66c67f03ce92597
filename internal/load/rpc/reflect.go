package rpc

import (
	"context"
	"errors"
	"fmt"

	"github.com/jhump/protoreflect/v2/grpcreflect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/procfit/procfit/internal/load"
)

// errNoReflection is that a server does not tell its types.
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
		return nil, fmt.Errorf("it knows of no such service (%w)", err)
	case err != nil:
		return nil, fmt.Errorf("ask the server for its types: %w", err)
	}
	files := new(protoregistry.Files)
	if err := register(files, file); err != nil {
		return nil, err
	}
	return typesOf(files), nil
}
