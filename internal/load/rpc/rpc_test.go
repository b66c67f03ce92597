package rpc

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bufbuild/protocompile"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

func healthSet(t testing.TB) []byte {
	t.Helper()
	return must.Get(proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(healthpb.File_grpc_health_v1_health_proto)}}))(t)
}

func TestMessage(t *testing.T) {
	types := must.Get(parseSet(healthSet(t)))(t)
	check, err := types(load.CallName{Service: "grpc.health.v1.Health", Method: "Check"})
	if err != nil || check.Stream {
		t.Fatal(check.Stream, err)
	}
	if watch, err := types(load.CallName{Service: "grpc.health.v1.Health", Method: "Watch"}); err != nil || !watch.Stream {
		t.Error("a stream of answers is none", err)
	}
	got, err := check.Body([]byte(`{"service": "abc"}`))
	if err != nil || string(got) != "\x00\x00\x00\x00\x05\x0a\x03abc" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := types(load.CallName{Service: "grpc.health.v1.HealthCheckRequest", Method: "x"}); err == nil || !strings.Contains(err.Error(), "is not a service") {
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
	types := must.Get(Calls{}.Reflect(t.Context(), server, "grpc.health.v1.Health"))(t)
	if _, err := types(load.CallName{Service: "grpc.health.v1.Health", Method: "Check"}); err != nil {
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
		f.Add(framed(must.Get(proto.Marshal(m))(f)))
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

// Files in all three syntaxes, with what the kind, the name and the packing of a field depend
// on.
var compiled = map[string]string{
	"three.proto": `syntax = "proto3";
package a.b;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/any.proto";
import public "public.proto";
option go_package = "x/y;z";
message Outer {
  enum Kind { NONE = 0; SOME = 1; }
  message Inner { Kind kind = 1; Outer up = 2; .a.b.Outer top = 3; Deep deep = 4; a.b.Outer.Deep full = 5; }
  message Deep { repeated int32 packed = 1; repeated int32 loose = 2 [packed = false]; repeated Kind kinds = 3; repeated string texts = 4; }
  map<string, Inner> by_name = 1;
  map<int64, Kind> kinds = 2;
  oneof choice { Inner one = 3; string two = 4 [json_name = "zwei"]; }
  optional int32 maybe = 5;
  google.protobuf.Timestamp some_time = 6 [deprecated = true];
  google.protobuf.StringValue wrapped = 7;
  repeated google.protobuf.Any any = 8;
  shared.Item item = 9;
  Kind kind = 10 [(shared.note) = "x", (shared.deep).name = "y"];
  reserved 20 to 30, 40;
}
service S { option deprecated = true; rpc Call(Outer.Inner) returns (stream Outer) { option idempotency_level = NO_SIDE_EFFECTS; } }
`,
	"public.proto": `syntax = "proto3";
import public "shared.proto";
`,
	"shared.proto": `syntax = "proto3";
package shared;
import "google/protobuf/descriptor.proto";
message Item { string name = 1; }
extend google.protobuf.FieldOptions { string note = 50001; Item deep = 50002; }
`,
	"two.proto": `syntax = "proto2";
package two;
message M {
  required int32 must = 1;
  optional string text = 2 [default = "a", json_name = "TEXT"];
  optional E e = 3 [default = B];
  repeated group Old = 4 { optional int64 n = 1; }
  repeated int32 packed = 5 [packed = true];
  repeated int32 loose = 6;
  extensions 100 to 200;
}
enum E { option allow_alias = true; A = 0; B = 1; C = 1; }
extend M { optional M more = 100; }
`,
	"editions.proto": `edition = "2023";
package e;
option features.field_presence = IMPLICIT;
option features.repeated_field_encoding = EXPANDED;
option features.enum_type = CLOSED;
message M {
  int32 plain = 1;
  int32 kept = 2 [features.field_presence = EXPLICIT];
  repeated int32 loose = 3;
  repeated int32 packed = 4 [features.repeated_field_encoding = PACKED];
  M nested = 5;
  M group = 6 [features.message_encoding = DELIMITED];
  E e = 7 [features.field_presence = EXPLICIT];
  N delimited = 8;
  message N { repeated E e = 1 [features = { repeated_field_encoding: PACKED }]; string s = 2; }
}
enum E { A = 0; B = 1; }
`,
}

// shapeOf is what of messages makes a difference to what is sent.
func shapeOf(messages protoreflect.MessageDescriptors) (shape []string) {
	for i := range messages.Len() {
		m := messages.Get(i)
		for k := range m.Fields().Len() {
			f := m.Fields().Get(k)
			s := fmt.Sprint(f.FullName(), f.Number(), f.JSONName(), f.Kind(), f.Cardinality(), f.IsPacked(), f.HasPresence(), f.IsMap(), f.ContainingOneof() != nil)
			if f.Message() != nil {
				s += " " + string(f.Message().FullName())
			}
			if f.Enum() != nil {
				s += fmt.Sprint(" ", f.Enum().FullName(), f.Enum().IsClosed(), f.Enum().Values().Len())
			}
			shape = append(shape, s)
		}
		shape = append(shape, shapeOf(m.Messages())...)
	}
	return shape
}

// What is compiled here is what the whole of protocompile makes of it.
func TestCompileIsThatOfProtocompile(t *testing.T) {
	dir := t.TempDir()
	for name, source := range compiled {
		must.Write(t, filepath.Join(dir, name), source)
	}
	whole := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}})}
	fields := 0
	for name := range compiled {
		want := must.Get(whole.Compile(t.Context(), name))(t)
		made := must.Get(compile(t.Context(), []string{filepath.Join(dir, name)}))(t)
		got := must.Get(made.FindFileByPath(name))(t)
		a, b := shapeOf(got.Messages()), shapeOf(want[0].Messages())
		fields += len(a)
		if !slices.Equal(a, b) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
		for i := range got.Services().Len() {
			if m := got.Services().Get(i).Methods().Get(0); m.Input().FullName() != "a.b.Outer.Inner" || m.Output().FullName() != "a.b.Outer" || !m.IsStreamingServer() {
				t.Errorf("%s: method %v", name, m)
			}
		}
	}
	if fields < 40 {
		t.Errorf("only %d fields were compared", fields)
	}
}

// What is wrong with a file is reported with its name.
func TestCompileRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ source, want string }{
		"no syntax":       {"this is none", "x.proto:1:1"},
		"no type":         {`syntax = "proto3"; message M { Nobody n = 1; }`, "x.proto:1:32: message field \"M.n\" cannot resolve type: \"Nobody\" not found"},
		"no import":       {`syntax = "proto3"; import "nobody.proto";`, " or ."},
		"itself":          {`syntax = "proto3"; import "x.proto";`, "it imports itself"},
		"no option":       {`syntax = "proto3"; option java_pakage = "x";`, "option java_pakage: unknown field"},
		"a number twice":  {`syntax = "proto3"; message M { int32 a = 1; int32 b = 1; }`, "x.proto"},
		"a second M":      {`syntax = "proto3"; message M {} message M {}`, "x.proto"},
		"no input":        {"syntax = \"proto3\";\npackage p;\nservice S {\n  rpc Call(Nobody) returns (Nobody);\n}", "x.proto:4:3: service method \"p.S.Call\" cannot resolve input"},
		"not imported":    {`syntax = "proto3"; message M { google.protobuf.Any a = 1; }`, "cannot resolve type"},
		"a wrong default": {`syntax = "proto3"; option go_package = 1;`, "option go_package: invalid value"},
	} {
		path := filepath.Join(t.TempDir(), "x.proto")
		must.Write(t, path, tt.source)
		if _, err := (Calls{}).Compile(t.Context(), []string{path}); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), ": proto:") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// A file that is named is the one that is read, and what it imports is looked for next to it first.
func TestCompileReadsTheNamedFile(t *testing.T) {
	t.Chdir(t.TempDir())
	must.OK(t, os.Mkdir("v2", 0o700))
	for name, source := range map[string]string{
		"x.proto": "", "of.proto": "", "v2/x.proto": `import "of.proto"; message M { Of of = 1; }`, "v2/of.proto": "message Of {}",
	} {
		must.Write(t, filepath.FromSlash(name), `syntax = "proto3"; `+source)
	}
	for _, paths := range [][]string{{"v2/x.proto"}, {"v2/x.proto", "./v2/x.proto"}, {"v2/of.proto", "v2/x.proto"}} {
		made := must.Get(compile(t.Context(), paths))(t)
		if got := must.Get(made.FindFileByPath("x.proto"))(t); got.Messages().Len() != 1 {
			t.Errorf("%q: another file of that name was read", paths)
		}
	}
	if _, err := (Calls{}).Compile(t.Context(), []string{"x.proto", "v2/x.proto"}); err == nil || !strings.Contains(err.Error(), "x.proto and v2/x.proto have the same name") {
		t.Errorf("two of one name: %v", err)
	}
}

// FuzzCompile: whatever a file has, there are types or an error.
func FuzzCompile(f *testing.F) {
	for _, source := range compiled {
		f.Add(source)
	}
	path := filepath.Join(f.TempDir(), "x.proto")
	f.Fuzz(func(t *testing.T, source string) {
		must.Write(t, path, source)
		types, err := Calls{}.Compile(t.Context(), []string{path})
		if (types == nil) == (err == nil) {
			t.Fatalf("%v, %v", types, err)
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
		method, err := types(load.CallName{Service: "grpc.health.v1.Health", Method: "Check"})
		if err != nil {
			return
		}
		if b, err := method.Body(data); err == nil && len(b) < 5 {
			t.Fatalf("a message of %d bytes", len(b))
		}
	})
}
