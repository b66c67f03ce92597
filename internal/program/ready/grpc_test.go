package ready

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/procfit/procfit/test/must"
)

// grpcServer listens and serves what register adds.
func grpcServer(t *testing.T, register func(*grpc.Server), options ...grpc.ServerOption) (address string) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := grpc.NewServer(options...)
	if register != nil {
		register(s)
	}
	go s.Serve(l)
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

func TestReadyByGRPC(t *testing.T) {
	service := health.NewServer()
	add := func(s *grpc.Server) { grpc_health_v1.RegisterHealthServer(s, service) }
	plain := grpcServer(t, add)
	borrowed := httptest.NewTLSServer(http.NotFoundHandler())
	defer borrowed.Close()
	secure := grpcServer(t, add, grpc.Creds(credentials.NewServerTLSFromCert(&borrowed.TLS.Certificates[0])))
	probes := []Probe{{URL: "grpc://" + plain}, {Way: WayGRPC, URL: "http://" + plain}, {URL: "grpcs://" + secure}, {Way: WayGRPC, URL: "https://" + secure}}
	for _, p := range probes {
		if a := askOnce(t, p); !a.Ready {
			t.Errorf("%+v: %+v", p, a)
		}
	}
	service.SetServingStatus("", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	for _, p := range probes {
		if a := askOnce(t, p); a.Ready || a.Status != "NOT_SERVING" {
			t.Errorf("not serving: %+v: %+v", p, a)
		}
	}
	if a := askOnce(t, Probe{URL: "grpc://" + grpcServer(t, nil)}); !a.Ready {
		t.Errorf("a server without the health service: %+v", a)
	}
	old := strings.TrimPrefix(borrowed.URL, "https://")
	older := must.Get(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: borrowed.TLS.Certificates}))(t) // without ALPN
	defer older.Close()
	go http.Serve(older, http.NotFoundHandler())
	for what, url := range map[string]string{"no gRPC": "grpc://" + rawServer(t, "220 hello, this is mail\r\n"), "TLS asked in the clear": "grpc://" + secure, "HTTP/1.1": "grpc://" + old, "HTTP/1.1 over TLS": "grpcs://" + old, "no ALPN": "grpcs://" + older.Addr().String()} {
		if a := askOnce(t, Probe{URL: url}); a.Ready || a.Err == nil || !a.Connected {
			t.Errorf("%s: %+v", what, a)
		}
	}
}

// A server that speaks HTTP/2 alone has statuses too.
func TestReadyOverHTTP2(t *testing.T) {
	status := http.StatusOK
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) })
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	clear := httptest.NewUnstartedServer(handler)
	clear.Config.Protocols = &protocols
	clear.Start()
	defer clear.Close()
	secure := httptest.NewUnstartedServer(handler)
	secure.EnableHTTP2 = true
	secure.TLS = &tls.Config{NextProtos: []string{"h2"}}
	secure.StartTLS()
	defer secure.Close()
	urls := []string{strings.Replace(clear.URL, "http:", "h2c:", 1), secure.URL}
	for _, url := range urls {
		if a := askOnce(t, Probe{URL: url, Statuses: Statuses{{200, 299}}}); !a.Ready {
			t.Errorf("%s: %+v", url, a)
		}
	}
	status = http.StatusServiceUnavailable
	for _, url := range urls {
		if a := askOnce(t, Probe{URL: url}); a.Ready || a.Status != "503 Service Unavailable" {
			t.Errorf("%s: %+v", url, a)
		}
	}
}

// One that greets in HTTP/2 at an http URL is asked for its status in HTTP/2.
func TestReadyGoesOnInHTTP2(t *testing.T) {
	ask := must.Get(NewAsker(Probe{URL: "http://" + grpcServer(t, nil) + "/", Statuses: Statuses{{400, 499}}}, nil))(t)
	a := ask.Ask(t.Context())
	if a.Ready || !ask.http2 {
		t.Fatalf("the greeting: %+v", a)
	}
	if a = ask.Ask(t.Context()); !a.Ready { // grpc-go answers 415 to what is no gRPC
		t.Errorf("the status: %+v", a)
	}
}
