package rpc

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
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

// describing is a server whose reflection answers each question with the files that answer
// makes of its text.
func describing(t *testing.T, answer func(asked string) *reflectionpb.ServerReflectionResponse) load.CallServer {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		body, err := io.ReadAll(r.Body)
		questions, bad := unframed(body)
		if err != nil || bad != nil {
			t.Errorf("%v, %v", err, bad)
		}
		for _, b := range questions {
			var q reflectionpb.ServerReflectionRequest
			if err := proto.Unmarshal(b, &q); err != nil {
				t.Error(err)
			}
			b, err := proto.Marshal(answer(q.GetFileContainingSymbol() + q.GetFileByFilename()))
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write(framed(b))
		}
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	address := strings.TrimPrefix(server.URL, "http://")
	return load.CallServer{Address: address, Authority: address}
}

func fileNamed(t *testing.T, name string, imports ...string) *descriptorpb.FileDescriptorProto {
	t.Helper()
	f := protodesc.ToFileDescriptorProto(healthpb.File_grpc_health_v1_health_proto)
	if name != f.GetName() {
		f = &descriptorpb.FileDescriptorProto{Name: proto.String(name)}
	}
	f.Dependency = imports
	return f
}

// A server may send a file without those that it imports, and then they are asked for.
func TestReflectAsksForImports(t *testing.T) {
	files := map[string]*descriptorpb.FileDescriptorProto{
		"grpc.health.v1.Health": fileNamed(t, "grpc/health/v1/health.proto", "a.proto", "b.proto"),
		"a.proto":               fileNamed(t, "a.proto", "b.proto", "c.proto"), "b.proto": fileNamed(t, "b.proto"), "c.proto": fileNamed(t, "c.proto"),
	}
	asked := map[string]int{}
	answer := func(name string) *reflectionpb.ServerReflectionResponse {
		asked[name]++
		f := files[name]
		if f == nil {
			return &reflectionpb.ServerReflectionResponse{MessageResponse: &reflectionpb.ServerReflectionResponse_ErrorResponse{ErrorResponse: &reflectionpb.ErrorResponse{ErrorCode: codeNotFound, ErrorMessage: "no " + name}}}
		}
		b, err := proto.Marshal(f)
		if err != nil {
			t.Error(err)
		}
		return &reflectionpb.ServerReflectionResponse{MessageResponse: &reflectionpb.ServerReflectionResponse_FileDescriptorResponse{FileDescriptorResponse: &reflectionpb.FileDescriptorResponse{FileDescriptorProto: [][]byte{b}}}}
	}
	server := describing(t, answer)
	types, err := Calls{}.Reflect(t.Context(), server, "grpc.health.v1.Health")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := types.Method(load.CallName{Service: "grpc.health.v1.Health", Method: "Check"}); err != nil {
		t.Error(err)
	}
	if fmt.Sprint(asked) != "map[a.proto:1 b.proto:1 c.proto:1 grpc.health.v1.Health:1]" {
		t.Errorf("asked for %v, want each once", asked)
	}
	delete(files, "c.proto")
	if _, err := (Calls{}).Reflect(t.Context(), server, "grpc.health.v1.Health"); err == nil || !strings.Contains(err.Error(), "no c.proto") {
		t.Errorf("without an import: %v", err)
	}
}

// What a server sends ends: files that import ever more of them, and none at all.
func TestReflectEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	endless := describing(t, func(name string) *reflectionpb.ServerReflectionResponse {
		var files [][]byte
		for i := range 1000 {
			b, err := proto.Marshal(fileNamed(t, fmt.Sprintf("%s-%d", name, i), fmt.Sprintf("%s-%d", name, 1000)))
			if err != nil {
				t.Error(err)
			}
			files = append(files, b)
		}
		return &reflectionpb.ServerReflectionResponse{MessageResponse: &reflectionpb.ServerReflectionResponse_FileDescriptorResponse{FileDescriptorResponse: &reflectionpb.FileDescriptorResponse{FileDescriptorProto: files}}}
	})
	if _, err := (Calls{}).Reflect(ctx, endless, "a.B"); err == nil || !strings.Contains(err.Error(), "more than 10000 files") {
		t.Errorf("endless files: %v", err)
	}
	empty := describing(t, func(string) *reflectionpb.ServerReflectionResponse { return &reflectionpb.ServerReflectionResponse{} })
	if _, err := (Calls{}).Reflect(ctx, empty, "a.B"); err == nil || !strings.Contains(err.Error(), "there are no types") {
		t.Errorf("no files: %v", err)
	}
}

// FuzzReadFiles: whatever a server answers, there are files or an error.
func FuzzReadFiles(f *testing.F) {
	for _, m := range []proto.Message{
		&reflectionpb.ServerReflectionResponse{ValidHost: "x", MessageResponse: &reflectionpb.ServerReflectionResponse_ErrorResponse{ErrorResponse: &reflectionpb.ErrorResponse{ErrorCode: 5, ErrorMessage: "no"}}},
		&reflectionpb.ServerReflectionResponse{MessageResponse: &reflectionpb.ServerReflectionResponse_FileDescriptorResponse{FileDescriptorResponse: &reflectionpb.FileDescriptorResponse{FileDescriptorProto: [][]byte{{}}}}},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(framed(b))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		messages, err := unframed(body)
		if err != nil {
			return
		}
		for _, m := range messages {
			var want reflectionpb.ServerReflectionResponse
			files, err := readFiles(m)
			if err == nil && proto.Unmarshal(m, &want) == nil && want.GetFileDescriptorResponse() != nil && len(files) < len(want.GetFileDescriptorResponse().FileDescriptorProto) {
				t.Fatalf("%d files, want %d", len(files), len(want.GetFileDescriptorResponse().FileDescriptorProto))
			}
		}
	})
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
