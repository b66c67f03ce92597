package engine

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/loadtest"
	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/internal/load/wire"
	"github.com/procfit/procfit/test/must"
)

// checkMethod is a call that every server here has; its types come with grpc-go.
const checkMethod = "grpc.health.v1.Health/Check"

// grpcServer serves health, and reflection of the kind: "v1", "v1alpha", "both" or none.
func grpcServer(t testing.TB, reflects string, options ...grpc.ServerOption) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := loadtest.NewGRPC(reflects, options...)
	t.Cleanup(s.Stop)
	go s.Serve(l)
	return l.Addr().String()
}

func call(address, method, data string) load.Options {
	return load.Options{
		URLs: []string{"h2c://" + address}, GRPC: &load.GRPC{Calls: rpc.Calls{}, Method: method, Data: []byte(data)},
		Connections: 2, Streams: 4, Duration: 200 * time.Millisecond, Timeout: 5 * time.Second,
	}
}

func TestGRPC(t *testing.T) {
	t.Parallel()
	own, ownFile, _ := loadtest.MustSign(t, "127.0.0.1", time.Now().Add(-time.Minute))
	protoset, protoFile := healthTypes(t)
	v1, bare := grpcServer(t, "v1"), grpcServer(t, "")
	for name, o := range map[string]load.Options{
		"reflection":       call(v1, checkMethod, ""),
		"reflection alpha": call(grpcServer(t, "v1alpha"), checkMethod, `{"service":""}`),
		"a point":          call(v1, "grpc.health.v1.Health.Check", ""),
		"http":             with(call(v1, checkMethod, ""), func(o *load.Options) { o.URLs[0] = "http://" + v1 + "/" }),
		"TLS": with(call(grpcServer(t, "v1", grpc.Creds(credentials.NewServerTLSFromCert(&own))), checkMethod, ""), func(o *load.Options) {
			o.URLs[0], o.TLS.CACert = "https"+strings.TrimPrefix(o.URLs[0], "h2c"), ownFile
		}),
		"protoset":      with(call(bare, checkMethod, ""), func(o *load.Options) { o.GRPC.Protoset = protoset }),
		"proto":         with(call(bare, checkMethod, ""), func(o *load.Options) { o.GRPC.Proto = []string{protoFile} }),
		"a stream":      call(v1, "grpc.health.v1.Health/Watch", ""),
		"metadata":      with(call(v1, checkMethod, `{"service":"metadata"}`), func(o *load.Options) { o.Headers = []string{"X-Y: z"} }),
		"an open loop":  with(call(v1, checkMethod, ""), func(o *load.Options) { o.Rate = 200 }),
		"two addresses": with(call(v1, checkMethod, ""), func(o *load.Options) { o.URLs = append(o.URLs, "h2c://"+grpcServer(t, "v1")) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mustRun(t, o)
			if r.Requests < 5 || r.Errors > 0 || r.Unanswered > 0 || r.Protocol != wire.ProtoRPC {
				t.Errorf("%d answers, errors %v (%v), %d unanswered, %s", r.Requests, r.ErrorKinds, r.FirstError, r.Unanswered, r.Protocol)
			}
		})
	}
}

func with(o load.Options, change func(*load.Options)) load.Options {
	change(&o)
	return o
}

// healthTypes are the types of the health service as files.
func healthTypes(t testing.TB) (protoset, protoFile string) {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(healthpb.File_grpc_health_v1_health_proto)}}
	b := must.Get(proto.Marshal(set))(t)
	source := `syntax = "proto3";
package grpc.health.v1;
message HealthCheckRequest { string service = 1; }
message HealthCheckResponse { int32 status = 1; }
service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); }
service Other { rpc Check(HealthCheckRequest) returns (HealthCheckResponse); } // which no server has
`
	dir := t.TempDir()
	protoset, protoFile = filepath.Join(dir, "health.pb"), filepath.Join(dir, "health.proto")
	for file, b := range map[string][]byte{protoset: b, protoFile: []byte(source)} {
		must.OK(t, os.WriteFile(file, b, 0o600))
	}
	return protoset, protoFile
}

// What is wrong with a call is reported before anything is measured.
func TestGRPCRefuses(t *testing.T) {
	t.Parallel()
	v1, bare := grpcServer(t, "v1"), grpcServer(t, "")
	plain := strings.TrimPrefix(raw(t, answer("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")), "http://")
	for name, tt := range map[string]struct {
		o     load.Options
		field load.Field // empty: no FieldError
		want  string
	}{
		"no reflection":  {call(bare, checkMethod, ""), "", "has no reflection; name them with --proto FILE"},
		"no service":     {call(v1, "a.B/C", ""), "", `does not know this service`},
		"no method":      {call(v1, "grpc.health.v1.Health/Nope", ""), load.FieldGRPC, `no method "Nope"; it has Check`},
		"no field":       {call(v1, checkMethod, `{"a":1}`), load.FieldBody, `unknown field "a"`},
		"a wrong type":   {call(v1, checkMethod, `{"service":1}`), load.FieldBody, "HealthCheckRequest"},
		"client streams": {call(v1, "grpc.reflection.v1.ServerReflection/ServerReflectionInfo", ""), load.FieldGRPC, "stream of requests"},
		"no gRPC":        {call(strings.TrimSuffix(plain, "/"), checkMethod, ""), "", "cannot read the types from the server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Run(t.Context(), tt.o)
			var bad *load.FieldError
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &bad) != (tt.field != "") || bad != nil && bad.Field != tt.field {
				t.Errorf("error %v, want %q of field %q", err, tt.want, tt.field)
			}
		})
	}
}

// Answers that are none, by the name of their status.
func TestGRPCStatus(t *testing.T) {
	t.Parallel()
	own, _, _ := loadtest.MustSign(t, "127.0.0.1", time.Now().Add(-time.Minute))
	v1, bare := grpcServer(t, "v1"), grpcServer(t, "")
	protoset, protoFile := healthTypes(t)
	elsewhere := secured(t, &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"h2"}})
	for name, tt := range map[string]struct {
		o    load.Options
		kind load.Kind
	}{
		"not found":       {call(v1, checkMethod, `{"service":"nobody"}`), "grpc_not_found"},
		"unauthenticated": {call(v1, checkMethod, `{"service":"metadata"}`), "grpc_unauthenticated"},
		"unimplemented":   {with(call(bare, "grpc.health.v1.Other/Check", ""), func(o *load.Options) { o.GRPC.Proto = []string{protoFile} }), "grpc_unimplemented"},
		"plain HTTP":      {with(call(bare, checkMethod, ""), func(o *load.Options) { o.URLs[0], o.GRPC.Protoset, o.TLS.Insecure = elsewhere, protoset, true }), load.KindMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mustRun(t, tt.o)
			if r.ErrorKinds[tt.kind] == 0 || r.ErrorKinds[tt.kind] != r.Errors || r.AchievedPerSecond > 0 {
				t.Errorf("errors %v (%v), %v a second; want %s", r.ErrorKinds, r.FirstError, r.AchievedPerSecond, tt.kind)
			}
		})
	}
}

// A call that is never answered, and one whose stream never ends, are given up at the time-out.
func TestGRPCTimeout(t *testing.T) {
	t.Parallel()
	protoset, _ := healthTypes(t)
	for kind, of := range map[load.Kind]struct{ method, data string }{
		load.KindTimeout:    {checkMethod, `{"service":"slow"}`},
		load.KindUnfinished: {"grpc.health.v1.Health/Watch", `{"service":"endless"}`},
	} {
		inMemory(t, func(t *testing.T, n *lan) {
			o := callIn(t, n.listen(), of.method, of.data, protoset)
			o.Timeout = 100 * time.Millisecond
			r := n.mustRun(t, o)
			if r.ErrorKinds[kind] == 0 || r.ErrorKinds[kind] != r.Errors || r.AchievedPerSecond > 0 {
				t.Errorf("errors %v (%v), %v a second; want %s", r.ErrorKinds, r.FirstError, r.AchievedPerSecond, kind)
			}
		})
	}
}

// callIn is a call of a server without reflection at the listener.
func callIn(t *testing.T, l net.Listener, method, data, protoset string) load.Options {
	s := loadtest.NewGRPC("")
	t.Cleanup(s.Stop)
	go s.Serve(l)
	o := call(l.Addr().String(), method, data)
	o.GRPC.Protoset = protoset
	return o
}
