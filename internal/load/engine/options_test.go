package engine

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/test/must"
)

func good() load.Options {
	return load.Options{URLs: []string{"http://127.0.0.1:8080/a?b=c"}, Connections: 2, Duration: time.Second}
}

func TestPrepareRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*load.Options)
		want   string
	}{
		"no URL":            {func(o *load.Options) { o.URLs = nil }, "url: none"},
		"no connections":    {func(o *load.Options) { o.Connections = 0 }, "at least 1"},
		"many connections":  {func(o *load.Options) { o.Connections = 1 << 30 }, "at most"},
		"fewer than URLs":   {func(o *load.Options) { o.URLs = []string{"http://a", "http://b", "http://c"} }, "3 URLs"},
		"negative rate":     {func(o *load.Options) { o.Rate = -1 }, `rate "-1"`},
		"no number":         {func(o *load.Options) { o.Rate = math.NaN() }, `rate "NaN"`},
		"endless rate":      {func(o *load.Options) { o.Rate = math.Inf(1) }, `rate "+Inf"`},
		"no request":        {func(o *load.Options) { o.Rate = 0.5 }, "less than one request"},
		"no duration":       {func(o *load.Options) { o.Duration = 0 }, `for "0s"`},
		"negative timeout":  {func(o *load.Options) { o.Timeout = -1 }, "timeout"},
		"negative threads":  {func(o *load.Options) { o.Threads = -1 }, `threads "-1"`},
		"many threads":      {func(o *load.Options) { o.Threads = 257 }, `threads "257": must be between 1 and 256`},
		"negative CPU":      {func(o *load.Options) { o.CPUs = []int{-1} }, `cpus load "-1"`},
		"method":            {func(o *load.Options) { o.Method = "GE T" }, `method "GE T"`},
		"connect":           {func(o *load.Options) { o.Method = "CONNECT" }, "CONNECT"},
		"header, no colon":  {func(o *load.Options) { o.Headers = []string{"Accept"} }, "no colon"},
		"header, injection": {func(o *load.Options) { o.Headers = []string{"A: b\r\nC: d"} }, "line breaks"},
		"header, bad name":  {func(o *load.Options) { o.Headers = []string{"A b: c"} }, `"A b" is not`},
		"header, no name":   {func(o *load.Options) { o.Headers = []string{": c"} }, "is not a header name"},
		"header, length":    {func(o *load.Options) { o.Headers = []string{"content-length: 3"} }, "sets the length"},
		"header, expect":    {func(o *load.Options) { o.Headers = []string{"Expect: 100-continue"} }, "header \"Expect: 100-continue\": procfit's load generator"},
		"scheme":            {func(o *load.Options) { o.URLs = []string{"ftp://a/"} }, "http, https and h2c, not ftp"},
		"two schemes":       {func(o *load.Options) { o.URLs = append(o.URLs, "https://a/") }, "need the same scheme"},
		"streams":           {func(o *load.Options) { o.Streams = 2 }, "write h2c:// or https://"},
		"no streams":        {func(o *load.Options) { o.Streams = -1 }, `streams "-1"`},
		"streams in all":    {func(o *load.Options) { o.Connections, o.Streams = 1000, 1001 }, `streams "1001": on 1000 connections, that is more than 1000000 requests`},
		"TLS without TLS":   {func(o *load.Options) { o.TLS.Insecure = true }, "only to https://"},
		"no authority":      {func(o *load.Options) { o.TLS.CACert, o.URLs = "no/such", []string{"https://a/"} }, `tls ca "no/such"`},
		"empty authority":   {func(o *load.Options) { o.TLS.CACert, o.URLs = "options_test.go", []string{"https://a/"} }, "no certificate in it"},
		"a device":          {func(o *load.Options) { o.TLS.CACert, o.URLs = os.DevNull, []string{"https://a/"} }, "not a regular file"},
		"no key":            {func(o *load.Options) { o.TLS.Cert, o.URLs = "x", []string{"https://a/"} }, "file of its private key"},
		"key alone":         {func(o *load.Options) { o.TLS.Key, o.URLs = "x", []string{"https://a/"} }, "file of its certificate"},
		"bad certificate": {func(o *load.Options) {
			o.TLS.Cert, o.TLS.Key, o.URLs = "options_test.go", "options_test.go", []string{"https://a/"}
		}, "cert "},
		"no method's name": {func(o *load.Options) { o.GRPC = &load.GRPC{Calls: rpc.Calls{}, Method: "Check"} }, "package.Service/Method"},
		"a call's path": {func(o *load.Options) {
			o.GRPC, o.URLs = &load.GRPC{Calls: rpc.Calls{}, Method: "a.B/C"}, []string{"http://a/b"}
		}, "determines the path"},
		"a call's method": {func(o *load.Options) { o.GRPC, o.Method = &load.GRPC{Calls: rpc.Calls{}, Method: "a.B/C"}, "GET" }, "always use POST"},
		"a call's body":   {func(o *load.Options) { o.GRPC, o.Body = &load.GRPC{Calls: rpc.Calls{}, Method: "a.B/C"}, []byte("x") }, "sends only its message"},
		"no JSON":         {func(o *load.Options) { o.GRPC = &load.GRPC{Calls: rpc.Calls{}, Method: "a.B/C", Data: []byte("{")} }, "not JSON"},
		"no protoset": {func(o *load.Options) {
			o.GRPC = &load.GRPC{Calls: rpc.Calls{}, Method: "a.B/C", Protoset: "no/such"}
			o.URLs = []string{"h2c://a"}
		}, `proto "no/such"`},
		"no proto": {func(o *load.Options) {
			o.GRPC = &load.GRPC{Calls: rpc.Calls{}, Method: "a.B/C", Proto: []string{"no/such"}}
			o.URLs = []string{"h2c://a"}
		}, `proto "no/such"`},
		"two sources": {func(o *load.Options) {
			o.GRPC = &load.GRPC{Calls: rpc.Calls{}, Method: "a.B/C", Proto: []string{"a"}, Protoset: "b"}
			o.URLs = []string{"h2c://a"}
		}, "use only one of them"},
		"no scheme":           {func(o *load.Options) { o.URLs = []string{"localhost:80"} }, "http://"},
		"the host is missing": {func(o *load.Options) { o.URLs = []string{"http:///x"} }, "the host is missing"},
		"port":                {func(o *load.Options) { o.URLs = []string{"http://a:99999/"} }, "99999"},
		"placeholder left":    {func(o *load.Options) { o.URLs = []string{"http://a:{port}/"} }, "{port}"},
		"credentials":         {func(o *load.Options) { o.URLs = []string{"http://u:p@a/"} }, "Authorization"},
		"blank in the host":   {func(o *load.Options) { o.URLs = []string{"http://a b/"} }, "invalid character"},
		"second URL is read":  {func(o *load.Options) { o.URLs = append(o.URLs, "ftp://a/") }, "ftp://a/"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good()
			tt.change(&o)
			_, err := prepare(o)
			var bad *load.FieldError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "--") {
				t.Fatalf("error %v, want a FieldError with %q", err, tt.want)
			}
			if beyond := []string{"scheme", "header, expect", "second URL is read"}; bad.Beyond != slices.Contains(beyond, name) {
				t.Errorf("%v: beyond this engine is %v", err, bad.Beyond)
			}
		})
	}
}

func TestPrepareRequest(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*load.Options)
		address string
		request string
	}{
		"get": {func(*load.Options) {}, "127.0.0.1:8080",
			"GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"},
		"no path, no port, fragment": {func(o *load.Options) { o.URLs = []string{"http://example.org#x"} }, "example.org:80",
			"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"},
		"body": {func(o *load.Options) { o.Body = []byte("a\r\n"); o.Headers = []string{"X:  y "} }, "127.0.0.1:8080",
			"POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX: y\r\nContent-Length: 3\r\n\r\na\r\n"},
		"empty post": {func(o *load.Options) { o.Method = "POST" }, "127.0.0.1:8080",
			"POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 0\r\n\r\n"},
		"host": {func(o *load.Options) { o.Headers = []string{"host: other"} }, "127.0.0.1:8080",
			"GET /a?b=c HTTP/1.1\r\nHost: other\r\n\r\n"},
		"IPv6": {func(o *load.Options) { o.URLs = []string{"http://[::1]:81/%20"} }, "[::1]:81",
			"GET /%20 HTTP/1.1\r\nHost: [::1]:81\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good()
			tt.change(&o)
			p := must.Get(prepare(o))(t)
			if got := p.targets[0]; got.Address != tt.address || string(got.requests[0].Bytes) != tt.request {
				t.Errorf("%s %q, want %s %q", got.Address, got.requests[0].Bytes, tt.address, tt.request)
			}
		})
	}
}

// FuzzPrepare: whatever is accepted is one request and nothing more.
func FuzzPrepare(f *testing.F) {
	f.Add("http://127.0.0.1/", "GET", "A: b")
	f.Add("http://h:1/x%0d%0ay?z", "PUT", "Host: c")
	f.Fuzz(func(t *testing.T, url, method, header string) {
		o := good()
		o.URLs, o.Method, o.Headers = []string{url}, method, []string{header}
		p, err := prepare(o)
		if err != nil {
			return
		}
		request := string(p.targets[0].requests[0].Bytes)
		head, rest, ok := strings.Cut(request, "\r\n\r\n")
		if !ok || rest != "" {
			t.Fatalf("not one request: %q", request)
		}
		lines := strings.Split(head, "\r\n")
		if len(strings.Split(lines[0], " ")) != 3 || len(lines) > 4 || strings.ContainsAny(strings.Join(lines, ""), "\r\n\x00") {
			t.Fatalf("broken out of its lines: %q", request)
		}
	})
}

func TestChooseThreads(t *testing.T) {
	for _, tt := range []struct {
		o           load.Options
		cpus, procs int
		want        int
	}{
		{load.Options{Connections: 64}, 2, 2, 1},
		{load.Options{Connections: 64}, 16, 16, 4},
		{load.Options{Connections: 2}, 16, 16, 2},
		{load.Options{Connections: 64}, 256, 256, 16},
		{load.Options{Connections: 64}, 16, 2, 2},
		{load.Options{Connections: 64, CPUs: []int{2, 3, 4}}, 8, 8, 3},
		{load.Options{Connections: 64, Rate: 1000}, 64, 64, 1},
		{load.Options{Connections: 64, Rate: 100_000}, 64, 64, 3},
		{load.Options{Connections: 64, Threads: 5}, 2, 2, 5},
		{load.Options{Connections: 1, Threads: 5}, 2, 2, 1},
	} {
		if got := chooseThreads(tt.o, tt.cpus, tt.procs); got != tt.want {
			t.Errorf("%+v on %d CPUs, %d Ps: %d threads, want %d", tt.o, tt.cpus, tt.procs, got, tt.want)
		}
	}
}
