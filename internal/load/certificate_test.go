package load

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load/wire"
)

// selfSigned is a certificate for a host that is valid from a time on for an hour,
// and the file of it and its key.
func selfSigned(t testing.TB, host string, from time.Time) (pair tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, NotBefore: from, NotAfter: from.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, b := range map[string][]byte{certFile: certPEM, keyFile: keyPEM} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return pair, certFile, keyFile
}

// secured is a server with a certificate; its address.
func secured(t testing.TB, c *tls.Config) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ErrorLog: quietLog()}
	t.Cleanup(func() { s.Close() })
	go s.Serve(l)
	return "https://" + l.Addr().String() + "/"
}

// What of a certificate fails is told by a kind, with what helps; and that helps.
func TestVerification(t *testing.T) {
	t.Parallel()
	now := time.Now().Add(-time.Minute)
	own, ownFile, keyFile := selfSigned(t, "127.0.0.1", now)
	old, oldFile, _ := selfSigned(t, "127.0.0.1", now.Add(-2*time.Hour))
	foreign, foreignFile, _ := selfSigned(t, "service.example", now)
	pool := x509.NewCertPool()
	pool.AddCert(own.Leaf)
	for name, tt := range map[string]struct {
		server *tls.Config
		tls    TLS
		kind   wire.Kind // empty: none
		helps  string
	}{
		"self-signed":             {&tls.Config{Certificates: []tls.Certificate{own}}, TLS{}, wire.KindTLSAuthority, "--cacert"},
		"self-signed, trusted":    {&tls.Config{Certificates: []tls.Certificate{own}}, TLS{CACert: ownFile}, "", ""},
		"self-signed, unverified": {&tls.Config{Certificates: []tls.Certificate{own}}, TLS{Insecure: true}, "", ""},
		"expired":                 {&tls.Config{Certificates: []tls.Certificate{old}}, TLS{CACert: oldFile}, wire.KindTLSExpired, "--insecure"},
		"wrong host":              {&tls.Config{Certificates: []tls.Certificate{foreign}}, TLS{CACert: foreignFile}, wire.KindTLSName, "--server-name"},
		"wrong host, named":       {&tls.Config{Certificates: []tls.Certificate{foreign}}, TLS{CACert: foreignFile, ServerName: "service.example"}, "", ""},
		"wants ours": {&tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool},
			TLS{CACert: ownFile}, wire.KindTLSCertificate, "--cert and --key"},
		"has ours": {&tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool},
			TLS{CACert: ownFile, Cert: ownFile, Key: keyFile}, "", ""},
		"wants ours, TLS 1.2": {&tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MaxVersion: tls.VersionTLS12},
			TLS{CACert: ownFile}, wire.KindTLSCertificate, "--cert and --key"},
		"other protocols": {&tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"acme-tls/1"}}, TLS{Insecure: true}, wire.KindProtocol, "ALPN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{URLs: []string{secured(t, tt.server)}, Connections: 2, Duration: 100 * time.Millisecond, Timeout: 5 * time.Second, TLS: tt.tls}
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
			if !strings.Contains(text, tt.kind.Words()) || !strings.Contains(text, tt.helps) {
				t.Errorf("%q, want %q and %q", text, tt.kind.Words(), tt.helps)
			}
		})
	}
}
