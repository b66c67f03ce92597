// Command grpc is a server of grpc-go whose answer is computed each time.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"sort"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
)

type service struct {
	grpc_health_v1.UnimplementedHealthServer
}

var words = strings.Fields(strings.Repeat("one two three four five six seven eight nine ten ", 100))

func (service) Check(_ context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	list := append([]string{}, words...)
	sort.Strings(list)
	if i := sort.SearchStrings(list, r.Service); i == len(list) || list[i] != r.Service {
		return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN}, nil
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

func main() {
	s := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(s, service{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	fmt.Fprintln(os.Stderr, s.Serve(l))
	os.Exit(1)
}
