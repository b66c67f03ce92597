// A load balancer, in the place of the one that the README of automaxprocs
// measures under a quota of two CPUs (Uber's own, which is not public). Like that
// one it computes little and passes much on: each request goes to the next of
// three backends and its answer comes back, over kept connections. The backends,
// which echo, are part of the same process here, so that one quota holds for all
// of it; a request costs some 60 µs of CPU where Uber's took 35 by the table. The
// shape of the curves is what to compare.
package uber

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"

	"github.com/procfit/procfit/internal/lab/programs/harness"
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
// the middle of the answer. So both continue at once.
func balance(urls []*url.URL, transport http.RoundTripper, logger *log.Logger) http.Handler {
	var next atomic.Uint64
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(urls[next.Add(1)%uint64(len(urls))])
		},
		Transport: transport,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil { // a client that hangs up is not an error
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

// Program is the load balancer and its backends.
func Program(logger *log.Logger) (handler http.Handler, stop func(), err error) {
	transport := &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}
	var urls []*url.URL
	var servers []*http.Server
	stop = func() {
		transport.CloseIdleConnections()
		for _, s := range servers {
			s.Close()
		}
	}
	for i := 0; i < backends; i++ {
		behind, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			stop()
			return nil, nil, err
		}
		backend := &http.Server{Handler: http.HandlerFunc(echo)}
		go backend.Serve(behind)
		servers = append(servers, backend)
		urls = append(urls, &url.URL{Scheme: "http", Host: behind.Addr().String()})
	}
	return balance(urls, transport, logger), stop, nil
}

func main() { harness.Server("uber", "127.0.0.1:8080", Program) }
