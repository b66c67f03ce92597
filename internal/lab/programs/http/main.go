// An HTTP client and server in one process, in the place of document 002's http:
// requests over loopback from several clients at once, each as small as can be,
// so that the time is that of net/http, of the network and of scheduling.
package http

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
	"sync/atomic"
	"time"
)

const answer = "Hello world.\n"

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
	flags := flag.NewFlagSet("http", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Int("n", 20000, "`requests` in all (the document leaves it to its driver)")
	perP := flags.Int("clients", 4, "at once for each P (the document does not say; its program has four)")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "http: %q: want flags only\n", flags.Arg(0))
		return 2
	}
	if *n < 1 || *perP < 1 {
		fmt.Fprintln(stderr, "http: -n and -clients must be at least 1")
		return 2
	}
	clients := *perP * runtime.GOMAXPROCS(0)
	log.New(stderr, "", log.LstdFlags).Printf("http: GOMAXPROCS=%d NumCPU=%d Version=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version())

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintf(stderr, "http: %v\n", err)
		return 1
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, answer)
	})}
	go server.Serve(listener)
	defer server.Close()
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client, url := &http.Client{Transport: transport}, "http://"+listener.Addr().String()+"/"

	failed := make(chan error, clients)
	var sent atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for c := 0; c < clients; c++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for sent.Add(1) <= int64(*n) {
				if err := fetch(client, url); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	wg.Wait()
	elapsed := time.Since(start)
	if len(failed) > 0 {
		fmt.Fprintf(stderr, "http: %d of %d clients failed: %v\n", len(failed), clients, <-failed)
		return 1
	}
	fmt.Fprintf(stdout, "BenchmarkHTTP %d %.0f ns/op\n", *n, float64(elapsed.Nanoseconds())/float64(*n))
	return 0
}

func main() {
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}
