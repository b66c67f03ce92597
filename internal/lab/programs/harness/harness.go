// Package harness is what the practice programs have in common: their flags, their first
// line and exit codes, servers, and work that several of them do. procfit lab source prints
// a program as one file, with the parts of this package that it uses.
//
// The programs of document 002, preempt and defaults are compiled by every release since
// Go 1.2, and so is what they use: all of this file.
package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// A Batch is a batch program's command line and outputs.
type Batch struct {
	Args           []string
	Flags          *flag.FlagSet
	Stdout, Stderr io.Writer
	Log            *log.Logger // to Stderr

	// Instead is called when the flags are read, and before the first line is written.
	// The program ends there if it returns true or an error.
	Instead func() (done bool, err error)

	procs   *int
	refused []func() string
}

// Check refuses the command line with a message unless ok returns true.
func (b *Batch) Check(ok func() bool, format string, a ...interface{}) {
	b.refused = append(b.refused, func() string {
		if ok() {
			return ""
		}
		return fmt.Sprintf(format, a...)
	})
}

// Int defines a flag for a number that has a least value.
func (b *Batch) Int(name string, value, least int, usage string) *int {
	n := b.Flags.Int(name, value, usage)
	b.Check(func() bool { return *n >= least }, "-%s must be at least %d", name, least)
	return n
}

// Duration defines a flag for a time that is longer than 0.
func (b *Batch) Duration(name string, value time.Duration, usage string) *time.Duration {
	d := b.Flags.Duration(name, value, usage)
	b.Check(func() bool { return *d > 0 }, "-%s must be more than 0", name)
	return d
}

// Wait defines a flag for a time that may be 0.
func (b *Batch) Wait(name string, value time.Duration, usage string) *time.Duration {
	d := b.Flags.Duration(name, value, usage)
	b.Check(func() bool { return *d >= 0 }, "-%s must not be negative", name)
	return d
}

// Procs defines a flag that sets GOMAXPROCS while the program runs; 0 leaves it.
func (b *Batch) Procs(name string, value int, usage string) {
	b.procs = b.Int(name, value, 0, usage)
}

func (b *Batch) Result(format string, a ...interface{}) {
	fmt.Fprintf(b.Stdout, format+"\n", a...)
}

// Run runs a batch program: define defines its flags and returns the rest of it. It
// returns the exit code: 1 if the program fails, 2 if the arguments are wrong.
func Run(name string, args []string, stdout, stderr io.Writer, define func(*Batch) func() error) int {
	b := &Batch{Args: args, Flags: flag.NewFlagSet(name, flag.ContinueOnError), Stdout: stdout, Stderr: stderr, Log: log.New(stderr, "", log.LstdFlags)}
	b.Flags.SetOutput(stderr)
	run := define(b)
	switch err := b.Flags.Parse(args); {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	case b.Flags.NArg() > 0:
		fmt.Fprintf(stderr, "%s: %q: expected only flags\n", name, b.Flags.Arg(0))
		return 2
	}
	for _, refused := range b.refused {
		if why := refused(); why != "" {
			fmt.Fprintf(stderr, "%s: %s\n", name, why)
			return 2
		}
	}
	err := error(nil)
	done := false
	if b.Instead != nil {
		done, err = b.Instead()
	}
	if !done && err == nil {
		if b.procs != nil && *b.procs > 0 {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(*b.procs)) //procfit:ignore PF024 the setting that the experiment is about
		}
		b.Log.Printf("%s: GOMAXPROCS=%d NumCPU=%d Version=%s", name, runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())
		err = run()
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

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

// Main is the main function of a batch program.
func Main(name string, define func(*Batch) func() error) {
	os.Exit(Run(name, os.Args[1:], os.Stdout, os.Stderr, define))
}

// Server is the main function of a server.
func Server(name, addr string, service Service) {
	Main(name, func(b *Batch) func() error {
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
