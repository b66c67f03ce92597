// Package loadtest is what servers of tests are made of: certificates, and a service
// of gRPC.
package loadtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
)

// SelfSigned is a certificate for a host that is valid from a time on for an hour,
// and the files of it and its key, which are made in dir.
func SelfSigned(dir, host string, from time.Time) (pair tls.Certificate, certFile, keyFile string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair, "", "", err
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
		return pair, "", "", err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair, "", "", err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, b := range map[string][]byte{certFile: certPEM, keyFile: keyPEM} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			return pair, "", "", err
		}
	}
	pair, err = tls.X509KeyPair(certPEM, keyPEM)
	return pair, certFile, keyFile, err
}

// MustSign is SelfSigned for a test, in a folder of its own.
func MustSign(t testing.TB, host string, from time.Time) (pair tls.Certificate, certFile, keyFile string) {
	t.Helper()
	pair, certFile, keyFile, err := SelfSigned(t.TempDir(), host, from)
	if err != nil {
		t.Fatal(err)
	}
	return pair, certFile, keyFile
}

// fussy is a health service that answers by the name that is asked for.
type fussy struct{ *health.Server }

func (f fussy) Check(ctx context.Context, r *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	switch r.Service {
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "metadata":
		if m, _ := metadata.FromIncomingContext(ctx); len(m.Get("x-y")) == 0 || m.Get("x-y")[0] != "z" {
			return nil, status.Error(codes.Unauthenticated, "no x-y")
		}
		return &healthpb.HealthCheckResponse{}, nil
	}
	return f.Server.Check(ctx, r)
}

// Watch sends three answers and ends, or never does.
func (f fussy) Watch(r *healthpb.HealthCheckRequest, s grpc.ServerStreamingServer[healthpb.HealthCheckResponse]) error {
	for range 3 {
		if err := s.Send(&healthpb.HealthCheckResponse{}); err != nil {
			return err
		}
	}
	if r.Service == "endless" {
		<-s.Context().Done()
	}
	return nil
}

// NewGRPC is a server with the health service, and reflection of the kind: "v1",
// "v1alpha", "both" or none.
func NewGRPC(reflects string, options ...grpc.ServerOption) *grpc.Server {
	s := grpc.NewServer(options...)
	healthpb.RegisterHealthServer(s, fussy{health.NewServer()})
	switch reflects {
	case "both":
		reflection.Register(s)
	case "v1":
		reflection.RegisterV1(s)
	case "v1alpha":
		alpha.RegisterServerReflectionServer(s, reflection.NewServer(reflection.ServerOptions{Services: s}))
	}
	return s
}
