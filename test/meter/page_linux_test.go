package meter

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"
)

// row is all slices of one kind below saturation.
type row struct {
	slices, saturated int
	near              [2]int       // slices whose percentile is within 10% of the clients'
	bias              [2][]float64 // of each slice
	behind            []float64    // seconds that the clients' p50 is longer
	handler           [2][]float64 // bias of the time in the handler
}

func (r *row) add(s slice) {
	r.slices++
	r.behind = append(r.behind, s.clients[0]-s.arrival[0])
	for i := range percentiles {
		if math.Abs(s.bias(i)) <= near {
			r.near[i]++
		}
		r.bias[i] = append(r.bias[i], s.bias(i))
		r.handler[i] = append(r.handler[i], s.handler[i]/s.clients[i]-1)
	}
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

// page is docs/evidence/meter.md.
func page(rows map[string]*row, total *row) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# The Meter against the clients

Made on %s by a test on a virtual machine with %d CPUs, %s. Servers of seven kinds answered an open loop of 100 and 200 requests per second at GOMAXPROCS 1, 2 and 4, over %d connections. In slices of %d seconds, the percentiles of the [Meter](../reference/library.md#measure-requests-from-their-arrival), which counts from the kernel's receipt of a request, are compared with those of the clients, which count from the intended send. The load generator ran with real-time priority, so that its clock was not what waited.

**p50 is within %.0f%% of the clients' in %d of %d slices, p99 in %d** (the goal was 95%%), below saturation and without HTTP/2. Saturated are slices in which the server used more than %.0f%% of its CPUs, or in which requests waited for a free connection: no program sees that wait.

| server | slices | saturated | p50 within %.0f%% | p99 within %.0f%% | p50, median | p99, median | clients' p50 is longer by | handler's p50 | handler's p99 |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`, time.Now().UTC().Format("2 January 2006"), runtime.NumCPU(), runtime.Version(), connections, long,
		100*near, total.near[0], total.slices, total.near[1], 100*saturated, 100*near, 100*near)
	percent := func(x float64) string {
		return strings.NewReplacer("-0%", "0%", "+0%", "0%", "-", "−").Replace(fmt.Sprintf("%+.0f%%", 100*x))
	}
	for _, kind := range slices.Sorted(maps.Keys(rows)) {
		r := rows[kind]
		if r.slices == 0 {
			fmt.Fprintf(&b, "| %s | 0 | %d | – | – | – | – | – | – | – |\n", kind, r.saturated)
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s | %s | %.2f ms | %s | %s |\n", kind, r.slices, r.saturated, r.near[0], r.near[1],
			percent(median(r.bias[0])), percent(median(r.bias[1])), 1000*median(r.behind), percent(median(r.handler[0])), percent(median(r.handler[1])))
	}
	b.WriteString(`
The last two columns are what a middleware that starts its clock in the handler would report: it omits the wait before the handler. *quota* is the computing server under a CPU limit of 0.8. Over HTTP/2 the latency counts from the last read of the connection, so that requests which arrived together look shorter than they were. A tenth of a millisecond of the clients' time is their own: a send that is late by its timer, and the way through the loopback interface.

To make this page again (16 minutes):

    PROCFIT_FULL=1 go test ./test/meter -count 1 -timeout 40m -v -update
`)
	return []byte(b.String())
}
