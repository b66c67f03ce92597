// A service of grpc-go behind net/http, whose answer is made of a sorted list of words.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"example.com/agree/metered"
)

type service struct {
	grpc_health_v1.UnimplementedHealthServer
}

// words are those of the answer's "database".
var words = strings.Fields(strings.Repeat("one two three four five six seven eight nine ten ", 100))

func (service) Check(_ context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	list := slices.Clone(words)
	slices.Sort(list)
	if _, found := slices.BinarySearch(list, r.Service); !found {
		return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN}, nil
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

func main() {
	address := flag.String("addr", "", "where to serve")
	flag.Parse()
	metered.Allow()
	s := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(s, service{})
	reflection.Register(s)
	l, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	var h2c http.Protocols
	h2c.SetUnencryptedHTTP2(true)
	log.Fatal(metered.Server(&http.Server{Handler: s, Protocols: &h2c}).Serve(metered.Meter.Listener(l)))
}
