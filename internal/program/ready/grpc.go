package ready

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// health asks the gRPC health service of the whole server.
func (a *Asker) health(ctx context.Context, conn net.Conn, secure bool) Answer {
	security := insecure.NewCredentials()
	if secure {
		security = credentials.NewTLS(a.insecure())
	}
	var taken atomic.Bool
	client, err := grpc.NewClient("passthrough:///"+a.address, grpc.WithTransportCredentials(security), grpc.WithNoProxy(),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if taken.Swap(true) { // it would dial again and again: an attempt has one connection
				return nil, errors.New("the connection was given up")
			}
			return conn, nil
		}))
	if err != nil {
		return Answer{Err: err}
	}
	defer client.Close()
	got, err := grpc_health_v1.NewHealthClient(client).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	switch code := status.Code(err); code {
	case codes.OK:
		if got.Status == grpc_health_v1.HealthCheckResponse_SERVING {
			return Answer{Ready: true}
		}
		return Answer{Status: got.Status.String(), Err: fmt.Errorf("it answered %s", got.Status)}
	case codes.Unimplemented, codes.Unauthenticated, codes.PermissionDenied:
		return Answer{Ready: true}
	default: // Unavailable is also what grpc calls a connection that broke
		return Answer{Err: err}
	}
}
