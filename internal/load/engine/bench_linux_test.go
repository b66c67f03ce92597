//go:build !portable

package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// BenchmarkCPUPerRequest compares the client CPU time a request in a closed loop
// with that of others: 64 requests at a time, a small answer, one server process, in
// turns. The CPU time is that of the whole client process, its start included,
// as the kernel counts it for a child that has ended. Each iteration is one
// round; the figures are medians over the rounds:
//
//	go test ./internal/load/engine -run '^$' -bench CPUPerRequest -benchtime 7x
//
// h2load is Debian's nghttp2-client. ghz is to be on PATH:
//
//	GOBIN=$(mktemp -d) go install github.com/bojand/ghz/cmd/ghz@v0.93.0
func BenchmarkCPUPerRequest(b *testing.B) {
	for _, server := range []string{"epoll", "nethttp", overTLS, overModern, overH2C, overRPC} {
		b.Run("server="+server, func(b *testing.B) { benchCPU(b, server) })
	}
}

const benchSeconds = 2

// client is a load generator as a process: its command, and how many requests it
// says that it made. It ends the benchmark where some failed.
type client struct {
	name  string
	cmd   func() *exec.Cmd
	count func(b *testing.B, out []byte) float64
}

// clients are procfit and those that can speak to the server. The second is the one
// that it is held against.
func clients(b *testing.B, server, url string) []client {
	seconds := fmt.Sprintf("%ds", benchSeconds)
	program := func(name string, count func(*testing.B, []byte) float64, args ...string) client {
		return client{name, func() *exec.Cmd { return exec.Command(need.Command(b, name), args...) }, count}
	}
	hey := func(args ...string) client {
		return program("hey", heyCount, append(args, "-c", "64", "-z", seconds, url)...)
	}
	ours := func(name, engine string) client {
		return client{name, func() *exec.Cmd {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PROCFIT_LOAD_TEST=client", "PROCFIT_LOAD_URL="+url, "PROCFIT_LOAD_WAY="+server, "PROCFIT_LOAD_ENGINE="+engine)
			return cmd
		}, ourCount}
	}
	duration := strconv.Itoa(benchSeconds)
	modern := program("h2load", h2loadCount, "-c", "1", "-m", "64", "-D", duration, strings.Replace(url, "h2c:", "http:", 1))
	wrk := program("wrk", wrkCount, "-t1", "-c64", "-d"+seconds, url)
	switch server {
	case overTLS:
		return []client{ours("procfit", ""), hey(), wrk}
	case overModern:
		return []client{ours("procfit", ""), hey("-h2"), modern}
	case overH2C:
		return []client{ours("procfit", ""), modern}
	case overRPC:
		return []client{ours("procfit", ""), program("ghz", ghzCount, "--insecure", "--call", checkMethod, "-c", "64", "--connections", "1",
			"-z", seconds, "-O", "json", strings.Trim(strings.TrimPrefix(url, "h2c:"), "/"))}
	}
	return []client{ours("procfit", ""), wrk, hey(), ours("portable", load.EnginePortable)}
}

func ourCount(b *testing.B, out []byte) float64 {
	var r load.Result
	if err := json.Unmarshal(out, &r); err != nil || r.Errors > 0 {
		b.Fatalf("procfit: %v, errors %v, %s", err, r.ErrorKinds, out)
	}
	return float64(r.Requests)
}

func wrkCount(b *testing.B, out []byte) float64 {
	if bytes.Contains(out, []byte("Non-2xx")) || bytes.Contains(out, []byte("Socket errors")) {
		b.Fatalf("wrk:\n%s", out)
	}
	return printed(b, out, `(\d+) requests in`)
}

func heyCount(b *testing.B, out []byte) float64 {
	if bytes.Contains(out, []byte("Error distribution:")) {
		b.Fatalf("hey:\n%s", out)
	}
	return printed(b, out, `\[200\]\s+(\d+) responses`)
}

// h2loadCount reads "requests: 99 total, 99 started, 99 done, 99 succeeded, 0 failed,
// 0 errored, 0 timeout". It gives up what is under way at the end.
func h2loadCount(b *testing.B, out []byte) float64 {
	var total, started, done, succeeded int
	i := bytes.Index(out, []byte("requests: "))
	if i < 0 {
		b.Fatalf("h2load: %s", out)
	}
	if _, err := fmt.Sscanf(string(out[i:]), "requests: %d total, %d started, %d done, %d succeeded", &total, &started, &done, &succeeded); err != nil || succeeded == 0 {
		b.Fatalf("h2load: %v\n%s", err, out)
	}
	return float64(succeeded)
}

// ghzCount leaves out what ghz itself ended with its duration.
func ghzCount(b *testing.B, out []byte) float64 {
	var r struct {
		StatusCodeDistribution map[string]float64
	}
	if err := json.Unmarshal(out, &r); err != nil || r.StatusCodeDistribution["OK"] == 0 {
		b.Fatalf("ghz: %v\n%s", err, out)
	}
	return r.StatusCodeDistribution["OK"]
}

func benchCPU(b *testing.B, server string) {
	_, o := toProcess(b, server)
	clients := clients(b, server, o.URLs[0])
	micros := map[string][]float64{} // CPU time a request
	own := map[string][]float64{}    // of it in the client's own code, the rest is the kernel's
	pace := map[string][]float64{}
	var ratios []float64
	for round := 0; b.Loop(); round++ {
		for i := range clients {
			c := clients[(i+round)%len(clients)]
			cmd := c.cmd()
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); err != nil {
				b.Fatalf("%s: %v: %s", c.name, err, &stderr)
			}
			cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			n := c.count(b, stdout.Bytes())
			micros[c.name] = append(micros[c.name], cpu.Seconds()*1e6/n)
			own[c.name] = append(own[c.name], cmd.ProcessState.UserTime().Seconds()*1e6/n)
			pace[c.name] = append(pace[c.name], n/benchSeconds)
		}
		ratios = append(ratios, micros["procfit"][round]/micros[clients[1].name][round])
	}
	for _, c := range clients {
		b.ReportMetric(median(micros[c.name]), c.name+"-µs/req")
		b.ReportMetric(median(own[c.name]), c.name+"-user-µs/req")
		b.ReportMetric(median(pace[c.name]), c.name+"-req/s")
	}
	b.ReportMetric(median(ratios), "procfit/"+clients[1].name)
	b.ReportMetric(0, "ns/op")
}

// printed is a figure of a generator's output. Package foreign, which reads such
// outputs, builds on this one.
func printed(b *testing.B, out []byte, pattern string) float64 {
	b.Helper()
	m := must.Get(load.ParseMetric("figure=" + pattern))(b)
	found, err := load.FindMetrics(load.Output{Head: out}, []load.Metric{m})
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return found["figure"].Value
}

// benchClient is the engine as a process of its own.
func benchClient() error {
	o := load.Options{
		URLs: strings.Fields(os.Getenv("PROCFIT_LOAD_URL")), Engine: os.Getenv("PROCFIT_LOAD_ENGINE"), Connections: 64, Threads: 1,
		Duration: benchSeconds * time.Second,
	}
	switch os.Getenv("PROCFIT_LOAD_WAY") {
	case overTLS:
		o.TLS.Insecure = true
	case overModern:
		o.TLS.Insecure, o.Connections, o.Streams = true, 1, 64
	case overH2C:
		o.Connections, o.Streams = 1, 64
	case overRPC:
		o.Connections, o.Streams, o.GRPC = 1, 64, &load.GRPC{Calls: rpc.Calls{}, Method: checkMethod}
	}
	r, err := Run(context.Background(), o)
	if err != nil {
		return err
	}
	r.Latency = nil
	return json.NewEncoder(os.Stdout).Encode(r)
}

func median[T cmp.Ordered](v []T) T {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
