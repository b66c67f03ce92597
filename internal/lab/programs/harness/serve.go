package harness

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// A Service makes what answers a server's requests, and what ends that; stop may be nil.
type Service func(*log.Logger) (handler http.Handler, stop func(), err error)

// Handle is the service of one function.
func Handle(handle http.HandlerFunc) Service {
	return func(*log.Logger) (http.Handler, func(), error) { return handle, nil, nil }
}

// Serve answers at the address until ctx ends. Its first line says which GOMAXPROCS it
// runs with.
func Serve(ctx context.Context, name, addr string, stderr io.Writer, service Service) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	logger := log.New(stderr, "", log.LstdFlags)
	handler, end, err := service(logger)
	if err != nil {
		return err
	}
	if end != nil {
		defer end()
	}
	logger.Printf("%s: GOMAXPROCS=%d NumCPU=%d Version=%s Addr=%s",
		name, runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), listener.Addr())
	server := &http.Server{Handler: handler}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Server is the main function of a server, and returns its exit code.
func Server(name, addr string, service Service) int {
	return Run(name, os.Args[1:], os.Stdout, os.Stderr, func(b *Batch) func() error {
		addr := b.Flags.String("addr", addr, "`address` to listen at")
		b.Instead = func() (bool, error) {
			ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer cancel()
			return true, Serve(ctx, name, *addr, os.Stderr, service)
		}
		return nil
	})
}

// Loopback serves one answer in this process, after a call of before, and returns how a
// client with that many connections fetches it.
func Loopback(connections int, answer string, before func()) (fetch func() error, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before()
		io.WriteString(w, answer)
	})}
	go server.Serve(listener)
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
	client, url := &http.Client{Transport: transport}, "http://"+listener.Addr().String()+"/"
	fetch = func() error {
		resp, err := client.Get(url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err == nil && string(body) != answer {
			err = errors.New(url + ": " + resp.Status + ", another answer: " + string(body))
		}
		return err
	}
	return fetch, func() {
		transport.CloseIdleConnections()
		server.Close()
	}, nil
}
