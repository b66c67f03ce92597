package loadtest

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
)

// fussy is a health service that answers by the name that is asked for.
type fussy struct{ *health.Server }

func (f fussy) Check(ctx context.Context, r *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	switch r.Service {
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "metadata":
		if m, _ := metadata.FromIncomingContext(ctx); len(m.Get("x-y")) == 0 || m.Get("x-y")[0] != "z" {
			return nil, status.Error(codes.Unauthenticated, "no x-y")
		}
		return &healthpb.HealthCheckResponse{}, nil
	}
	return f.Server.Check(ctx, r)
}

// Watch sends three answers and ends, or never does.
func (f fussy) Watch(r *healthpb.HealthCheckRequest, s grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	for range 3 {
		if err := s.Send(&healthpb.HealthCheckResponse{}); err != nil {
			return err
		}
	}
	if r.Service == "endless" {
		<-s.Context().Done()
	}
	return nil
}

// NewGRPC is a server with the health service, and reflection of the kind: "v1",
// "v1alpha", "both" or none.
func NewGRPC(reflects string, options ...grpc.ServerOption) *grpc.Server {
	s := grpc.NewServer(options...)
	healthpb.RegisterHealthServer(s, fussy{health.NewServer()})
	switch reflects {
	case "both":
		reflection.Register(s)
	case "v1":
		reflection.RegisterV1(s)
	case "v1alpha":
		alpha.RegisterServerReflectionServer(s, reflection.NewServer(reflection.ServerOptions{Services: s}))
	}
	return s
}
