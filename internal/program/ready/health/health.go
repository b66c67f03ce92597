// Package health asks a server's gRPC health service whether it serves. It is apart from
// package ready since it links gRPC, and is handed to it.
package health

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	grpcstatus "google.golang.org/grpc/status"
)

// Service implements ready.Health.
type Service struct{}

// Ask implements ready.Health.
func (Service) Ask(ctx context.Context, conn net.Conn, address string, secure *tls.Config) (status string, err error) {
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
	switch code := grpcstatus.Code(err); code {
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
