// Package meter compares what the Meter of package maxprocs/live says of a program's
// latency with what its clients see.
package meter

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/engine"
	program "github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/maxprocs/live"
	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// What this test program is when it has these variables: a server, or a client.
const (
	asServer = "PROCFIT_METER_SERVER" // kind
	asClient = "PROCFIT_METER_CLIENT" // load.Options as JSON
)

func TestMain(m *testing.M) {
	var err error
	switch kind := os.Getenv(asServer); {
	case kind != "":
		err = serve(kind)
	case os.Getenv(asClient) != "":
		err = send(os.Getenv(asClient))
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// second is what the client saw in one second.
type second struct {
	Start   int64 // Unix nanoseconds
	Latency []byte
}

// send is the process of the client: a line for each second.
func send(text string) error {
	var o load.Options
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	var failed error
	o.Each = func(i load.Interval) {
		b, err := i.Latency.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err == nil {
			err = out.Encode(second{i.Start.UnixNano(), b})
		}
		if err != nil {
			failed = err
		}
	}
	if _, err := engine.Run(context.Background(), o); err != nil {
		return err
	}
	return failed
}

// A cell is one server under one load.
type cell struct {
	kind  string
	procs int
	rate  float64
}

// slice is a few seconds of a cell, as the Meter and the clients have them.
type slice struct {
	cell
	use              float64 // of the CPUs that the server may use
	clients, arrival [2]float64
	handler          [2]float64
}

var percentiles = [2]float64{0.5, 0.99}

// bias is how much the Meter's percentile differs from the clients'.
func (s slice) bias(i int) float64 { return s.arrival[i]/s.clients[i] - 1 }

var update = flag.Bool("update", false, "write docs/evidence/meter.md")

const quota = 0.8 // CPUs

func (c cell) cpus() float64 {
	n := math.Min(float64(c.procs), 2)
	if c.kind == "quota" {
		n = math.Min(n, quota)
	}
	return n
}

// run measures a cell.
func (c cell) run(t *testing.T, seconds int) (list []slice) {
	t.Helper()
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), asServer+"="+c.kind, "GOMAXPROCS="+strconv.Itoa(c.procs))
	server.Stderr = os.Stderr
	started := child.Start(t, server)
	defer started.End()
	address := started.Line()
	if c.kind == "quota" {
		limit(t, server.Process.Pid)
	}
	o := load.Options{URLs: []string{address}, Connections: connections, Rate: c.rate, Pace: load.PacePoisson, Seed: 1, Settle: 2 * time.Second, Duration: time.Duration(seconds) * time.Second}
	if strings.HasPrefix(o.URLs[0], "https:") {
		o.TLS.Insecure = true
	}
	if c.kind == "HTTP/2" {
		o.Connections, o.Streams = connections/8, 8
	}
	b := must.Get(json.Marshal(o))(t)
	// The client runs before all other processes: its clock is what the Meter is held to.
	client := exec.Command("chrt", "-f", "1", os.Args[0])
	client.Env = append(os.Environ(), asClient+"="+string(b), "GOMAXPROCS=1")
	client.Stderr = os.Stderr
	seen := must.Get(client.StdoutPipe())(t)
	must.OK(t, client.Start())
	over := make(chan []second)
	go func() {
		var all []second
		for lines := json.NewDecoder(seen); ; {
			var s second
			if lines.Decode(&s) != nil {
				over <- all
				return
			}
			all = append(all, s)
		}
	}()
	counters := must.Get(new(program.Reader).Open(server.Process.Pid))(t)
	defer counters.Close()
	var read []live.Metrics
	for all := []second(nil); all == nil; {
		select {
		case all = <-over:
			if err := client.Wait(); err != nil {
				t.Fatal(c, err)
			}
			list = c.slices(t, all, read)
		case <-time.After(50 * time.Millisecond):
			m := must.Get(counters.Metrics())(t)
			read = append(read, m)
		}
	}
	return list
}

// connections are enough for all requests that are under way, unless the server is
// saturated: then requests wait for a free connection, which no server sees.
const connections = 128

// long is how many seconds a slice has.
const long = 10

// slices joins both sides of the same seconds.
func (c cell) slices(t *testing.T, all []second, read []live.Metrics) (list []slice) {
	t.Helper()
	at := func(ns int64) (live.Metrics, bool) {
		i, _ := slices.BinarySearchFunc(read, ns, func(m live.Metrics, ns int64) int { return int(m.At - ns) })
		if i > 0 && (i == len(read) || read[i].At-ns > ns-read[i-1].At) {
			i--
		}
		off := time.Duration(read[i].At - ns).Abs()
		return read[i], off < 200*time.Millisecond
	}
	for i := 0; i+long < len(all); i += long {
		from, ok := at(all[i].Start)
		to, ok2 := at(all[i+long].Start)
		if !ok || !ok2 {
			t.Logf("%v: no reading of the Meter near second %d", c, i)
			continue
		}
		clients := hdrhistogram.New(1, int64(time.Minute), 3)
		for _, s := range all[i : i+long] {
			h := must.Get(hdrhistogram.Decode(s.Latency))(t)
			clients.Merge(h)
		}
		s := slice{cell: c, use: (to.CPU - from.CPU) / time.Duration(to.At-from.At).Seconds() / c.cpus()}
		arrival, handler := to.Arrival.Since(from.Arrival), to.Handler.Since(from.Handler)
		for j, q := range percentiles {
			s.clients[j] = time.Duration(clients.ValueAtQuantile(100 * q)).Seconds()
			s.arrival[j], s.handler[j] = arrival.Quantile(q).Seconds(), handler.Quantile(q).Seconds()
		}
		list = append(list, s)
	}
	return list
}

// limit puts a process into a cgroup with the quota.
func limit(t *testing.T, pid int) {
	t.Helper()
	need.Root(t)
	parent := must.Get(cgroup.Find())(t)
	g := must.Get(parent.New())(t)
	t.Cleanup(func() { g.Kill(); g.Remove() })
	must.OK(t, g.SetQuota(quota))
	must.OK(t, os.WriteFile(g.ProcsFile(), []byte(strconv.Itoa(pid)), 0o644))
}

// saturated is the share of its CPUs from which on a server is near saturation, where the
// waits that no program sees begin.
const saturated = 0.8

// near is how much a percentile may differ.
const near = 0.10

// cells are the servers and loads: two, or all.
func cells(all bool) (list []cell) {
	if !all {
		return []cell{{"HTTP/2", 2, 150}, {"waiting", 2, 150}}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		for _, procs := range []int{1, 2, 4} {
			for _, rate := range []float64{100, 200} {
				list = append(list, cell{kind, procs, rate})
			}
		}
	}
	return list
}

func TestAgreement(t *testing.T) {
	need.Everything(t, "servers under load take both CPUs for half a minute")
	need.Command(t, "chrt")
	all := need.Whole()
	seconds := 1 + long
	if all {
		seconds = 1 + 2*long
	}
	rows, total := map[string]*row{}, &row{}
	for _, c := range cells(all) {
		if rows[c.kind] == nil {
			rows[c.kind] = &row{}
		}
		for _, s := range c.run(t, seconds) {
			t.Logf("%-10s %d %4.0f req/s: %3.0f%% of its CPUs; p50 %.3f ms, %+.0f%%; p99 %.3f ms, %+.0f%%", s.kind, s.procs, s.rate, 100*s.use,
				1000*s.clients[0], 100*s.bias(0), 1000*s.clients[1], 100*s.bias(1))
			if s.use >= saturated || s.clients[1]*s.rate >= connections {
				rows[c.kind].saturated++
				continue
			}
			rows[c.kind].add(s)
			if c.kind != "HTTP/2" { // its latency counts from the connection's last read
				total.add(s)
			}
		}
	}
	share := func(i int) float64 { return float64(total.near[i]) / float64(max(1, total.slices)) }
	t.Logf("%d slices below saturation: p50 within %.0f%% in %.0f%%, p99 in %.0f%%", total.slices, 100*near, 100*share(0), 100*share(1))
	switch {
	case !all && total.slices == 0:
		t.Log("other tests saturated every server")
	case !all && share(0) < 0.3: // next to other tests, where a percentile may jump within a slice
		t.Error("expected p50 to agree in 30% of the slices")
	case all && (share(0) < 0.95 || share(1) < 0.95):
		t.Error("expected 95% of the slices")
	}
	if *update {
		must.OK(t, os.WriteFile("../../docs/evidence/meter.md", page(rows, total), 0o644))
	}
}
