package scripts

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/procfit/procfit/internal/load/loadtest"
)

// fakeModern is a server of HTTPS with HTTP/2, of HTTP/2 without TLS or of gRPC.
func fakeModern() {
	addr := flag.String("addr", "", "where to listen")
	dir := flag.String("tls", "", "speak TLS, and leave the certificate here as cert.pem")
	age := flag.Duration("age", time.Minute, "of the certificate, which is valid for an hour")
	h2 := flag.Bool("h2", true, "HTTP/2")
	rpc := flag.String("grpc", "", "serve health by gRPC, with reflection: v1, v1alpha, none")
	flag.Parse()
	var own tls.Certificate
	var err error
	if *dir != "" { // before it listens: who finds it there finds the certificate too
		own, _, _, err = loadtest.SelfSigned(*dir, "127.0.0.1", time.Now().Add(-*age))
		must(err)
	}
	l, err := net.Listen("tcp", *addr)
	must(err)
	if *rpc != "" {
		var how []grpc.ServerOption
		if *dir != "" {
			how = append(how, grpc.Creds(credentials.NewServerTLSFromCert(&own)))
		}
		must(loadtest.NewGRPC(*rpc, how...).Serve(l))
	}
	s := &http.Server{Protocols: new(http.Protocols), ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "ok")
	})}
	s.Protocols.SetHTTP1(!*h2)
	if *dir != "" {
		s.Protocols.SetHTTP1(true)
		s.Protocols.SetHTTP2(*h2)
		s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{own}}
		must(s.ServeTLS(l, "", ""))
	}
	s.Protocols.SetUnencryptedHTTP2(*h2)
	must(s.Serve(l))
}

// must ends a stand-in that cannot do its part.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
