package engine

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/loadtest"
	"github.com/procfit/procfit/test/must"
)

// secured is a server with a certificate; its address.
func secured(t testing.TB, c *tls.Config) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	return securedAt(t, l, c)
}

func securedAt(t testing.TB, l net.Listener, c *tls.Config) string {
	s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ErrorLog: quietLog()}
	t.Cleanup(func() { s.Close() })
	go s.Serve(tls.NewListener(l, c))
	return "https://" + l.Addr().String() + "/"
}

// What of a certificate fails is reported by a kind, with what helps; and that helps.
func TestVerification(t *testing.T) {
	t.Parallel()
	now := time.Now().Add(-time.Minute)
	own, ownFile, keyFile := loadtest.MustSign(t, "127.0.0.1", now)
	old, oldFile, _ := loadtest.MustSign(t, "127.0.0.1", now.Add(-2*time.Hour))
	foreign, foreignFile, _ := loadtest.MustSign(t, "service.example", now)
	pool := x509.NewCertPool()
	pool.AddCert(own.Leaf)
	for name, tt := range map[string]struct {
		server *tls.Config
		tls    load.TLS
		kind   load.Kind // empty: none
		helps  string
	}{
		"self-signed":             {&tls.Config{Certificates: []tls.Certificate{own}}, load.TLS{}, load.KindTLSAuthority, "--tls ca"},
		"self-signed, trusted":    {&tls.Config{Certificates: []tls.Certificate{own}}, load.TLS{CACert: ownFile}, "", ""},
		"self-signed, unverified": {&tls.Config{Certificates: []tls.Certificate{own}}, load.TLS{Insecure: true}, "", ""},
		"expired":                 {&tls.Config{Certificates: []tls.Certificate{old}}, load.TLS{CACert: oldFile}, load.KindTLSExpired, "--tls insecure"},
		"wrong host":              {&tls.Config{Certificates: []tls.Certificate{foreign}}, load.TLS{CACert: foreignFile}, load.KindTLSName, "--tls name"},
		"wrong host, named":       {&tls.Config{Certificates: []tls.Certificate{foreign}}, load.TLS{CACert: foreignFile, ServerName: "service.example"}, "", ""},
		"wants ours": {&tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool},
			load.TLS{CACert: ownFile}, load.KindTLSCertificate, "--tls cert=FILE"},
		"has ours": {&tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool},
			load.TLS{CACert: ownFile, Cert: ownFile, Key: keyFile}, "", ""},
		"wants ours, TLS 1.2": {&tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MaxVersion: tls.VersionTLS12},
			load.TLS{CACert: ownFile}, load.KindTLSCertificate, "--tls cert=FILE"},
		"other protocols": {&tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"acme-tls/1"}}, load.TLS{Insecure: true}, load.KindProtocol, "ALPN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := load.Options{URLs: []string{secured(t, tt.server)}, Connections: 2, Duration: 100 * time.Millisecond, Timeout: 5 * time.Second, TLS: tt.tls}
			r, err := Run(t.Context(), o)
			if tt.kind == "" {
				if err != nil || r.Errors > 0 || r.Requests == 0 {
					t.Fatalf("%v, %+v", err, r)
				}
				return
			}
			// With TLS 1.3 the server refuses our certificate after the handshake.
			text := ""
			if err != nil {
				text = err.Error()
			} else {
				text = r.FirstError.String()
				if r.ErrorKinds[tt.kind] == 0 || r.ErrorKinds[tt.kind] != r.Errors {
					t.Errorf("errors %v", r.ErrorKinds)
				}
			}
			must.Say(t, text, tt.kind.Words(), tt.helps)
		})
	}
}
