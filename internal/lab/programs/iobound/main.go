// The I/O-bound benchmark of document 001: clients that each send three requests,
// one after the other, to a server that takes a second over each. A goroutine
// that waits holds no P, so the time is that of the waiting with any GOMAXPROCS.
// The document asks httpbin.org; here the server is in the same process.
package iobound

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"
)

const answer = "after a while"

func fetch(client *http.Client, url string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && string(body) != answer {
		err = fmt.Errorf("%s: %s, %q", url, resp.Status, body)
	}
	return err
}

// Main runs the program.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("iobound", flag.ContinueOnError)
	flags.SetOutput(stderr)
	wait := flags.Duration("d", time.Second, "how long the server takes; the document's is 1s")
	requests := flags.Int("requests", 3, "of each client, in turn; the document's are 3")
	clients := flags.Int("n", 100, "`clients` at once (the document leaves it to go test -bench)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "iobound: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *wait < 0 || *requests < 1 || *clients < 1 {
		fmt.Fprintln(stderr, "iobound: -d must not be negative, -requests and -n at least 1")
		return 2
	}
	log.New(stderr, "", log.LstdFlags).Printf("iobound: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintf(stderr, "iobound: %v\n", err)
		return 1
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(*wait)
		io.WriteString(w, answer)
	})}
	go server.Serve(listener)
	defer server.Close()
	transport := &http.Transport{MaxIdleConnsPerHost: *clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}

	failed := make(chan error, *clients)
	var wg sync.WaitGroup
	start := time.Now()
	for i := 0; i < *clients; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < *requests; i++ {
				if err := fetch(client, "http://"+listener.Addr().String()); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if len(failed) > 0 {
		fmt.Fprintf(stderr, "iobound: %d of %d clients failed: %v\n", len(failed), *clients, <-failed)
		return 1
	}
	if least := time.Duration(*requests) * *wait; elapsed < least {
		fmt.Fprintf(stderr, "iobound: took %v, less than the %v of waiting\n", elapsed, least)
		return 1
	}
	fmt.Fprintf(stdout, "BenchmarkIOBound 1 %d ns/op\n", elapsed.Nanoseconds())
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}
