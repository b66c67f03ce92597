package load

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/need"
)

// BenchmarkCPUPerRequest compares the client CPU time a request in a closed loop
// with wrk's and hey's: 64 connections, a small answer, one server process, in
// turns. The CPU time is that of the whole client process, its start included,
// as the kernel counts it for a child that has ended. Each iteration is one
// round; the figures are medians over the rounds:
//
//	go test ./internal/load -run '^$' -bench CPUPerRequest -benchtime 7x
func BenchmarkCPUPerRequest(b *testing.B) {
	for _, server := range []string{"epoll", "nethttp"} {
		b.Run("server="+server, func(b *testing.B) { benchCPU(b, server) })
	}
}

const benchSeconds = 2

func benchCPU(b *testing.B, server string) {
	wrk, hey := need.Command(b, "wrk"), need.Command(b, "hey")
	_, url := serverProcess(b, server)
	seconds := fmt.Sprintf("%ds", benchSeconds)
	clients := []struct {
		name  string
		cmd   func() *exec.Cmd
		count func(out []byte) float64
	}{
		{"procfit", func() *exec.Cmd {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PROCFIT_LOAD_TEST=client", "PROCFIT_LOAD_URL="+url)
			return cmd
		}, func(out []byte) float64 {
			var r Result
			if err := json.Unmarshal(out, &r); err != nil || r.Errors > 0 {
				b.Fatalf("procfit: %v, errors %v, %s", err, r.ErrorKinds, out)
			}
			return float64(r.Requests)
		}},
		{"wrk", func() *exec.Cmd { return exec.Command(wrk, "-t1", "-c64", "-d"+seconds, url) }, func(out []byte) float64 {
			f, err := ParseWrk(out)
			if err != nil || *f.Errors > 0 {
				b.Fatalf("wrk: %v\n%s", err, out)
			}
			return *f.Requests
		}},
		{"hey", func() *exec.Cmd { return exec.Command(hey, "-c", "64", "-z", seconds, url) }, func(out []byte) float64 {
			f, err := ParseHey(out)
			if err != nil || *f.Errors > 0 {
				b.Fatalf("hey: %v\n%s", err, out)
			}
			return *f.Requests
		}},
	}
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
			n := c.count(stdout.Bytes())
			micros[c.name] = append(micros[c.name], cpu.Seconds()*1e6/n)
			own[c.name] = append(own[c.name], cmd.ProcessState.UserTime().Seconds()*1e6/n)
			pace[c.name] = append(pace[c.name], n/benchSeconds)
		}
		ratios = append(ratios, micros["procfit"][round]/micros["wrk"][round])
	}
	for _, c := range clients {
		b.ReportMetric(median(micros[c.name]), c.name+"-µs/req")
		b.ReportMetric(median(own[c.name]), c.name+"-user-µs/req")
		b.ReportMetric(median(pace[c.name]), c.name+"-req/s")
	}
	b.ReportMetric(median(ratios), "procfit/wrk")
	b.ReportMetric(0, "ns/op")
}

// benchClient is the engine as a process of its own.
func benchClient() error {
	r, err := Run(context.Background(), Options{
		URLs: strings.Fields(os.Getenv("PROCFIT_LOAD_URL")), Connections: 64, Threads: 1,
		Duration: benchSeconds * time.Second,
	})
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
