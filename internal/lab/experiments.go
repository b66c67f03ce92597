package lab

import (
	"github.com/procfit/procfit/internal/lab/programs/busyworker"
	"github.com/procfit/procfit/internal/lab/programs/chain"
	"github.com/procfit/procfit/internal/lab/programs/chainbuf"
	"github.com/procfit/procfit/internal/lab/programs/contention"
	"github.com/procfit/procfit/internal/lab/programs/cpubound"
	"github.com/procfit/procfit/internal/lab/programs/cpuserver"
	"github.com/procfit/procfit/internal/lab/programs/defaults"
	"github.com/procfit/procfit/internal/lab/programs/garbage"
	"github.com/procfit/procfit/internal/lab/programs/harness"
	"github.com/procfit/procfit/internal/lab/programs/http"
	"github.com/procfit/procfit/internal/lab/programs/iobound"
	"github.com/procfit/procfit/internal/lab/programs/json"
	"github.com/procfit/procfit/internal/lab/programs/k8sbench"
	"github.com/procfit/procfit/internal/lab/programs/parallel"
	"github.com/procfit/procfit/internal/lab/programs/powser"
	"github.com/procfit/procfit/internal/lab/programs/preempt"
	"github.com/procfit/procfit/internal/lab/programs/schedtrace"
	"github.com/procfit/procfit/internal/lab/programs/sieve"
	"github.com/procfit/procfit/internal/lab/programs/stealing"
	"github.com/procfit/procfit/internal/lab/programs/threads"
	"github.com/procfit/procfit/internal/lab/programs/tinyserver"
	"github.com/procfit/procfit/internal/lab/programs/uber"
	"github.com/procfit/procfit/internal/lab/programs/workload"
)

// List is every experiment, in the documents' order.
func List() []Experiment {
	const modern, ancient = "1.21", "1.2"
	list := []Experiment{
		{
			ID: "cpuserver", Document: "000", Kind: Server, Language: modern, service: harness.Handle(cpuserver.Answer),
			Title: "an HTTP server that only computes: SHA-256 over 256 KiB a request",
			Claim: "8 cores, GOMAXPROCS 1 2 4 8 16: 1.00, 1.96, 3.77, 6.51, 6.37 times the throughput of 1; p99 28.7, 15.1, 8.4, 5.2, 6.1 ms",
		},
		{
			ID: "tinyserver", Document: "000", Kind: Server, Language: modern, service: harness.Handle(tinyserver.Answer),
			Title: "an HTTP server that waits 2 ms, then hashes the body that it was sent",
		},
		{
			ID: "parallel", Document: "000", Kind: Batch, Language: modern, program: parallel.Program,
			Title: "16 goroutines that compute and share nothing",
			Claim: "8 cores, GOMAXPROCS 1 and 8: 4.2 s, 0.6 s (7 times as fast)",
		},
		{
			ID: "workload", Document: "001", Kind: Batch, Language: modern, program: workload.Program,
			Title: "goroutines that compute, that wait, or both, for a given time",
		},
		{
			ID: "cpubound", Document: "001", Kind: Batch, Language: modern, program: cpubound.Program,
			Title: "tasks that only compute, as many at once as there are Ps",
			Claim: "4 cores, GOMAXPROCS 1 2 4 8: 4.2, 2.1, 1.0, 1.1 s",
		},
		{
			ID: "iobound", Document: "001", Kind: Batch, Language: modern, program: iobound.Program,
			Title: "HTTP requests that wait a second each",
			Claim: "4 cores, GOMAXPROCS 1 2 4 8: 15.3, 15.2, 15.1, 15.0 s: flat",
		},
		{
			ID: "contention", Document: "001", Kind: Batch, Language: modern, program: contention.Program,
			Title: "a counter under a mutex, by one goroutine and by 16",
			Claim: "one goroutine 56.2 ns/op, 16 goroutines 523 ns/op (9 times as much)",
		},
		{
			ID: "preempt", Document: "001", Kind: Batch, Language: ancient, program: preempt.Program,
			Title: "a tight loop beside a goroutine that must still run",
			Claim: "hangs with Go 1.13, runs since Go 1.14",
		},
		{
			ID: "stealing", Document: "001", Kind: Batch, Language: modern, program: stealing.Program, Trace: Execution,
			Title: "16 goroutines made on one P, which the others steal",
			Claim: "GOMAXPROCS=4: every P runs some of the 16",
		},
		{
			ID: "schedtrace", Document: "001", Kind: Batch, Language: modern, program: schedtrace.Program, Trace: Scheduler,
			Title: "idle, then busy, then crowded: to be read in the scheduler's own trace",
		},
		{
			ID: "chain", Document: "002", Kind: Batch, Language: ancient, program: chain.Program,
			Title: "a message through 100 goroutines, by unbuffered channels",
			Claim: "GOMAXPROCS 1 2 4: Go 1.0 22.1, 299, 300 µs; Go 1.4 28.8, 57, 66 µs; Go 1.5 27.1, 29, 29 µs",
		},
		{
			ID: "chainbuf", Document: "002", Kind: Batch, Language: ancient, program: chainbuf.Program,
			Title: "a message through 100 goroutines, by buffered channels",
			Claim: "GOMAXPROCS 1 2 4: Go 1.0 24.2, 290, 289 µs; Go 1.4 32.4, 60, 69 µs; Go 1.5 30.2, 33, 33 µs",
		},
		{
			ID: "sieve", Document: "002", Kind: Batch, Language: ancient, program: sieve.Program,
			Title: "the prime sieve: a goroutine for each prime, in a row",
			Claim: "16 CPUs, GOMAXPROCS 1 2 4 8 12 16: Go 1.4 27.8, 18.9, 10.2, 5.4, 4.5, 3.6 s; Go 1.5 27.3, 15.3, 8.1, 4.7, 3.9, 3.7 s",
		},
		{
			ID: "powser", Document: "002", Kind: Batch, Language: ancient, program: powser.Program,
			Title: "McIlroy's power series: many goroutines, nothing in parallel",
			Claim: "GOMAXPROCS 1 2 4: Go 1.0 2.54, 24.1, 32.8 s; Go 1.4 3.34, 8.1, 8.3 s; Go 1.5 3.10, 3.3, 3.5 s",
		},
		{
			ID: "build", Document: "002", Kind: Command,
			Title: "the go command itself: a clean build, go list, go test -c",
			Claim: "4 CPUs, GOMAXPROCS 1 4: 51.4, 48.3 s; 0.21, 0.21 s; 1.9, 1.6 s; 16 CPUs, 1 4 16: 39.5, 34.5, 34.1 s; 0.27, 0.22, 0.22 s; 2.5, 1.9, 1.8 s",
		},
		{
			ID: "garbage", Document: "002", Kind: Batch, Language: modern, program: garbage.Program,
			Title: "a program that allocates: Go source parsed over and over",
			Claim: "16 CPUs, GOMAXPROCS 1 4 16: 31.5, 10.4, 5.8 ms/op",
		},
		{
			ID: "http", Document: "002", Kind: Batch, Language: modern, program: http.Program,
			Title: "an HTTP client and server in one process",
			Claim: "16 CPUs, GOMAXPROCS 1 4 16: 147, 32.9, 12.7 µs/op",
		},
		{
			ID: "json", Document: "002", Kind: Batch, Language: modern, program: json.Program,
			Title: "JSON encoded and decoded",
			Claim: "16 CPUs, GOMAXPROCS 1 4 16: 145, 44.8, 21.8 ms/op",
		},
		{
			ID: "threads", Document: "003", Kind: Batch, Language: modern, program: threads.Program,
			Title: "how many threads 10,000 goroutines take",
		},
		{
			ID: "busyworker", Document: "003", Kind: Batch, Language: modern, program: busyworker.Program,
			Title: "busy goroutines beside others, to be run under a fraction of a CPU",
			Claim: "quota 0.2 CPU: much faster with GOMAXPROCS at what the quota allows",
		},
		{
			ID: "k8sbench", Document: "004", Kind: Server, Language: modern, service: k8sbench.Program,
			Title: "an HTTP server that computes as much as /cpu?n= says, to be run as many pods",
			Claim: "6 pods on 6 CPUs, n=1, GOMAXPROCS 1: 96962 requests/s, average 10.3 ms, maximum 272 ms; 10 pods, n=20, GOMAXPROCS 1 and 32: 50213, 40356 requests/s; average 20, 33 ms; maximum 255, 465 ms; 6.5k, 30k context switches a second",
		},
		{
			ID: "defaults", Document: "000, 001, 003, 004", Kind: Batch, Language: ancient, program: defaults.Program,
			Title: "what each Go version chooses by itself",
			Claim: "they disagree: NumCPU follows the quota since Go 1.18 (000); the runtime does not see it (001, 003, 004)",
		},
		{
			ID: "uber", Document: "automaxprocs' README", Kind: Server, Language: modern, service: uber.Program,
			Title: "a load balancer, to be run under a quota of two CPUs",
			Claim: "quota 2 CPUs, GOMAXPROCS 1 2 3 4 8 24: 28.9, 44.7, 44.2, 41.1, 33.1, 22.2 thousand requests/s; p50 1.46, 0.84, 0.66, 0.57, 0.43, 0.45 ms; p99.9 19.7, 26.4, 30.1, 42.9, 64.3, 76.2 ms",
		},
	}
	list = append(list, statements()...)
	described := documents()
	for i := range list {
		d := described[list[i].ID]
		list[i].Stages, list[i].Hypotheses = d.stages, d.hypotheses
	}
	return list
}
