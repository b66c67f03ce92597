// A load balancer, in the place of the one that the README of automaxprocs
// measures under a quota of two CPUs (Uber's own, which is not public). Like that
// one it computes little and passes much on: each request goes to the next of
// three backends and its answer comes back, over kept connections. The backends,
// which echo, are part of the same process here, so that one quota holds for all
// of it; a request costs some 60 µs of CPU where Uber's took 35 by the table. The
// shape of the curves is what to compare.
package uber

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
)

const backends = 3

func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(body)
}

// balance passes each request to the next of the backends. Before a server answers
// it reads what is left of the request; here the transport may still look for its
// end, would find the body closed, and would end the connection to the backend in
// the middle of the answer. So both go on at once.
func balance(urls []*url.URL, transport http.RoundTripper, logger *log.Logger) http.Handler {
	var next atomic.Uint64
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(urls[next.Add(1)%uint64(len(urls))])
		},
		Transport: transport,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil { // a client that hangs up is no error
				logger.Printf("uber: %v", err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			logger.Printf("uber: %v", err)
		}
		proxy.ServeHTTP(w, r)
	})
}

// Serve answers at the address until ctx ends. It says at the start which
// GOMAXPROCS it runs with: the cheapest insurance there is.
func Serve(ctx context.Context, addr string, stderr io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	var urls []*url.URL
	for i := 0; i < backends; i++ {
		behind, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			listener.Close()
			return err
		}
		backend := &http.Server{Handler: http.HandlerFunc(echo)}
		go backend.Serve(behind)
		defer backend.Close()
		urls = append(urls, &url.URL{Scheme: "http", Host: behind.Addr().String()})
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}
	defer transport.CloseIdleConnections()
	logger := log.New(stderr, "", log.LstdFlags)
	logger.Printf("uber: GOMAXPROCS=%d NumCPU=%d Version=%s Addr=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), listener.Addr())
	server := &http.Server{Handler: balance(urls, transport, logger)}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen at")
	if flag.Parse(); flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "uber: %q: want flags only\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := Serve(ctx, *addr, os.Stderr); err != nil {
		log.Fatal(err)
	}
}
