package rpc

import (
	"strings"
	"testing"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/procfit/procfit/internal/load"
)

func healthSet(t testing.TB) []byte {
	t.Helper()
	b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(healthpb.File_grpc_health_v1_health_proto)}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMessage(t *testing.T) {
	types, err := parseSet(healthSet(t))
	if err != nil {
		t.Fatal(err)
	}
	check, err := types.Method(load.CallName{Service: "grpc.health.v1.Health", Method: "Check"})
	if err != nil || check.Stream {
		t.Fatal(check.Stream, err)
	}
	if watch, err := types.Method(load.CallName{Service: "grpc.health.v1.Health", Method: "Watch"}); err != nil || !watch.Stream {
		t.Error("a stream of answers is none", err)
	}
	got, err := check.Body([]byte(`{"service": "abc"}`))
	if err != nil || string(got) != "\x00\x00\x00\x00\x05\x0a\x03abc" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := types.Method(load.CallName{Service: "grpc.health.v1.HealthCheckRequest", Method: "x"}); err == nil || !strings.Contains(err.Error(), "is not a service") {
		t.Errorf("a message for a service: %v", err)
	}
}

func FuzzParseName(f *testing.F) {
	f.Add("a.B/C")
	f.Add("/a.B.C")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Calls{}.ParseName(text)
		if err != nil {
			return
		}
		if again, err := (Calls{}).ParseName(n.String()); err != nil || again != n || strings.Count(n.Path(), "/") != 2 {
			t.Fatalf("%q: %+v, %v", text, n, err)
		}
	})
}

// FuzzParseSet: whatever a file or a server holds, there are types or an error.
func FuzzParseSet(f *testing.F) {
	f.Add(healthSet(f), []byte(`{"service":"x"}`))
	f.Fuzz(func(t *testing.T, set, data []byte) {
		types, err := parseSet(set)
		if err != nil {
			return
		}
		method, err := types.Method(load.CallName{Service: "grpc.health.v1.Health", Method: "Check"})
		if err != nil {
			return
		}
		if b, err := method.Body(data); err == nil && len(b) < 5 {
			t.Fatalf("a message of %d bytes", len(b))
		}
	})
}
