package lab

import (
	"time"

	"github.com/procfit/procfit/internal/lab/programs/chain"
	"github.com/procfit/procfit/internal/lab/programs/chainbuf"
	"github.com/procfit/procfit/internal/lab/programs/garbage"
	"github.com/procfit/procfit/internal/lab/programs/handoff"
	"github.com/procfit/procfit/internal/lab/programs/http"
	"github.com/procfit/procfit/internal/lab/programs/json"
	"github.com/procfit/procfit/internal/lab/programs/powser"
	"github.com/procfit/procfit/internal/lab/programs/sieve"
)

// channels is document 002, "Go 1.5 GOMAXPROCS Default": medians of 20 runs on a laptop of 4
// CPUs (2 cores × 2 threads) and on a server of 16 (2 × 4 × 2).
var channels = []Experiment{
	{
		ID: "chain", Document: "002", Kind: Batch, Language: ancient, program: chain.Program,
		Title: "a message through 100 goroutines, by unbuffered channels",
		Claim: "GOMAXPROCS 1 2 4: Go 1.0 22.1, 299, 300 µs; Go 1.4 28.8, 57, 66 µs; Go 1.5 27.1, 29, 29 µs",
		// A chain of 100 goroutines at 1 2 4 on the laptop, 1 2 4 8 12 16 on the server; 20 runs.
		stages: []sweep{{
			quick: size{takes: 80 * ms, args: "-n 5000", procs: laptopProcs},
			full:  size{takes: 600 * ms, args: "-n 40000", procs: serverProcs, versions: releases},
		}},
		Hypotheses: switching(chainTable), Curves: chainTable.curves(),
	},
	{
		ID: "chainbuf", Document: "002", Kind: Batch, Language: ancient, program: chainbuf.Program,
		Title: "a message through 100 goroutines, by buffered channels",
		Claim: "GOMAXPROCS 1 2 4: Go 1.0 24.2, 290, 289 µs; Go 1.4 32.4, 60, 69 µs; Go 1.5 30.2, 33, 33 µs",
		stages: []sweep{{
			quick: size{takes: 80 * ms, args: "-n 5000", procs: laptopProcs},
			full:  size{takes: 600 * ms, args: "-n 40000", procs: serverProcs, versions: releases},
		}},
		Hypotheses: switching(chainbufTable), Curves: chainbufTable.curves(),
	},
	{
		ID: "sieve", Document: "002", Kind: Batch, Language: ancient, program: sieve.Program,
		Title: "the prime sieve: a chain with one goroutine for each prime",
		Claim: "16 CPUs, GOMAXPROCS 1 2 4 8 12 16: Go 1.4 27.8, 18.9, 10.2, 5.4, 4.5, 3.6 s; Go 1.5 27.3, 15.3, 8.1, 4.7, 3.9, 3.7 s",
		// At 1 2 4 on the laptop and 1 2 4 8 12 16 on the server.
		stages: []sweep{{
			quick: size{takes: 200 * ms, args: "-n 1000", procs: laptopProcs, scaled: "runs of some 20 s there, of 1000 primes here"},
			full:  size{takes: 400 * ms, args: "-n 2000", procs: serverProcs, versions: releases, scaled: "runs of some 20 s there, of 2000 primes here"},
		}},
		Hypotheses: sieving(sieveTable), Curves: sieveTable.curves(),
	},
	{
		ID: "powser", Document: "002", Kind: Batch, Language: ancient, program: powser.Program,
		Title: "McIlroy's power series: many goroutines, nothing in parallel",
		Claim: "GOMAXPROCS 1 2 4: Go 1.0 2.54, 24.1, 32.8 s; Go 1.4 3.34, 8.1, 8.3 s; Go 1.5 3.10, 3.3, 3.5 s",
		// "creates many ephemeral goroutines, arranges the communication pattern in a tree,
		// and has no use for parallelism".
		stages: []sweep{{
			quick: size{takes: 200 * ms, args: "-n 20", procs: laptopProcs, scaled: "runs of some 3 s there, of some 0.2 s here"},
			full:  size{takes: 350 * ms, args: "-n 30", procs: serverProcs, versions: releases, scaled: "runs of some 3 s there, of some 0.3 s here"},
		}},
		Hypotheses: switching(powserTable), Curves: powserTable.curves(),
	},
	{
		ID: "handoff", Document: "002", Kind: Batch, Language: modern, program: handoff.Program,
		Title: "two goroutines that hand over to each other, in one thread and in two",
		// The document's reason for a default of 1, without a program and without a number. What
		// it cost its programs in Go 1.1 to 1.4, "about 2x", is the least of "much cheaper".
		stages: []sweep{{
			quick: size{takes: 150 * ms, args: "-n 200000 -threads 4000", procs: "1 n"},
			full:  size{takes: 600 * ms, args: "-n 500000 -threads 20000", procs: "1 n"},
		}},
		Hypotheses: []Hypothesis{
			{
				ID: "threads_cost", Says: "with one P, a switch between two goroutines with a thread each costs at least twice one in the same thread",
				Document: "“It is much cheaper to switch between two goroutines in the same thread than to switch between two goroutines in different threads”",
				Measure:  ratio(figure("Handoff/threads ns/op").At("1"), figure("Handoff/goroutines ns/op").At("1")), AtLeast: 2,
			},
			{
				ID: "a_thread_sleeps", Says: "with a thread each, at least one thread goes to sleep at every switch",
				Document: "“The GOMAXPROCS setting controls how many operating systems threads attempt to execute code simultaneously”",
				Measure:  count(figure("Handoff/threads sleeps/op").At("1"), 1), AtLeast: 1,
			},
			{
				// “Largely” is nine of ten.
				ID: "kept_in_one_thread", Says: "with one P per CPU, at most at every tenth switch a thread goes to sleep: both goroutines stay in one thread",
				Document: "“Goroutine scheduling affinity … have largely addressed the problem, by keeping goroutines that are concurrent but not parallel in the same thread”", Needs: 2,
				Measure: count(figure("Handoff/goroutines sleeps/op").At("n"), 1), AtMost: 0.1,
			},
		},
	},
	{
		ID: "build", Document: "002", Kind: Command,
		Title: "the go command itself: a clean build, go list, go test -c",
		Claim: "4 CPUs, GOMAXPROCS 1 4: 51.4, 48.3 s; 0.21, 0.21 s; 1.9, 1.6 s; 16 CPUs, 1 4 16: 39.5, 34.5, 34.1 s; 0.27, 0.22, 0.22 s; 2.5, 1.9, 1.8 s",
		// make.bash, go list and an incremental go test -c, of the document's Go 1.5 and of
		// today's. What the document calls incremental is that one package has changed: there a
		// line is added to it before each run. In 2015 GOMAXPROCS did not show how many processes
		// a build has, as it does today, and make.bash leaves that to itself.
		stages: []sweep{{
			id: "list_1_5", title: "go list -json std, Go 1.5", tree: "1.5", command: []string{GoPlaceholder, "list", "-json", "std"},
			full: size{takes: 400 * ms, procs: "1 4 16"},
		}, {
			id: "list", title: "go list -json std", command: []string{"go", "list", "-json", "std"},
			quick: size{takes: 400 * ms, procs: "1 4", scaled: "--quick skips make.bash, go test -c and Go 1.5"},
			full:  size{takes: 400 * ms, procs: "1 4 16"},
		}, {
			id: "test_1_5", title: "go test -c html/template after a change in its source, Go 1.5", tree: "1.5", command: testOfChanged,
			full: size{takes: 2 * time.Second, procs: "1 4 16"},
		}, {
			id: "test", title: "go test -c html/template after a change in its source, today's Go", tree: "1.26", command: testOfChanged,
			full: size{takes: 1500 * ms, procs: "1 4 16"},
		}, {
			id: "make_1_5", title: "make.bash, Go 1.5 by Go 1.4", tree: "1.5", bootstrap: "1.4", command: makeBash,
			full: size{takes: 70 * time.Second, procs: "1 4"},
		}, {
			id: "make", title: "make.bash, today's Go by Go 1.24", tree: "1.26", bootstrap: "1.24", command: makeBash,
			full: size{takes: 4 * time.Minute, procs: "1 4"},
		}},
		Hypotheses: []Hypothesis{
			{
				// Its two machines gain 6 and 14%; to be met within 5% on either side.
				ID: "make_gains_little", Says: "Go 1.5: make.bash is 1.0 to 1.2 times as fast with four Ps as with one: its processes run in parallel anyway",
				Document: "39.5 ÷ 34.5 s = 1.14", Value: 39.5 / 34.5, On: OnServer, Needs: 2, Measure: whole(cost.At("1").in("make_1_5").over("4")), AtLeast: 1.0, AtMost: 1.2,
			},
			{
				ID: "make_gains_little_today", Today: true, Says: "today's Go: make.bash gains just as little",
				Document: "51.4 ÷ 48.3 s = 1.06", Value: 51.4 / 48.3, On: OnLaptop, Needs: 2, Measure: whole(cost.At("1").in("make").over("4")), AtLeast: 1.0, AtMost: 1.2,
			},
			{
				ID: "list_io_bound", Says: "Go 1.5: go list is as fast with four Ps as with one within 5%: it is primarily I/O-bound",
				Document: "0.21 ÷ 0.21 s = 1", Value: 1, On: OnLaptop, Needs: 2, Measure: cost.At("1").in("list_1_5").over("4"), AtLeast: flatLess, AtMost: flatMore,
			},
			{
				ID: "list_io_bound_today", Today: true, Says: "today's Go: this is still true",
				Document: "“The go list command is primarily I/O bound”", Needs: 2, Measure: cost.At("1").in("list").over("4"), AtLeast: flatLess, AtMost: flatMore,
			},
			{
				ID: "list_gains", Says: "Go 1.5: go list is at least 1.1 times as fast with four Ps as with one, as on the server (half of its gain)",
				Document: "0.27 ÷ 0.22 s = 1.23", Value: 0.27 / 0.22, On: OnServer, Needs: 4, Measure: cost.At("1").in("list_1_5").over("4"), AtLeast: 1.1,
			},
			{
				// "In this case the time taken improves by 15-30%": the bounds, as a ratio.
				ID: "test_gains", Says: "Go 1.5: go test -c takes 15 to 30% less with four Ps than with one",
				Document: "2.5 ÷ 1.9 s = 1.32", Value: 2.5 / 1.9, On: OnServer, Needs: 2, Measure: cost.At("1").in("test_1_5").over("4"), AtLeast: 1 / (1 - 0.15), AtMost: 1 / (1 - 0.30),
			},
			{
				ID: "test_gains_today", Today: true, Says: "today's Go: the same, or even less",
				Document: "“In this case the time taken improves by 15-30%”", Needs: 2, Measure: cost.At("1").in("test").over("4"), AtLeast: 1 / (1 - 0.15),
			},
		},
	},
	{
		ID: "garbage", Document: "002", Kind: Batch, Language: modern, program: garbage.Program,
		Title: "a program that allocates: it parses Go source again and again",
		Claim: "16 CPUs, GOMAXPROCS 1 4 16: 31.5, 10.4, 5.8 ms/op",
		stages: []sweep{{
			quick: size{takes: 250 * ms, args: "-n 100 -functions 100", procs: "1 4 n", scaled: textHere},
			full:  size{takes: 650 * ms, args: "-n 50", procs: "1 4 16 n", scaled: textHere},
		}},
		Hypotheses: parallelProgram(garbageTable), Curves: garbageTable.curves(),
	},
	{
		ID: "http", Document: "002", Kind: Batch, Language: modern, program: http.Program,
		Title: "an HTTP client and server in one process",
		Claim: "16 CPUs, GOMAXPROCS 1 4 16: 147, 32.9, 12.7 µs/op",
		stages: []sweep{{
			quick: size{takes: 200 * ms, args: "-n 5000", procs: "1 4 n"},
			full:  size{takes: 550 * ms, args: "-n 20000", procs: "1 4 16 n"},
		}},
		Hypotheses: httpHypotheses(), Curves: httpTable.curves(),
	},
	{
		ID: "json", Document: "002", Kind: Batch, Language: modern, program: json.Program,
		Title: "JSON encoded and decoded",
		Claim: "16 CPUs, GOMAXPROCS 1 4 16: 145, 44.8, 21.8 ms/op",
		stages: []sweep{{
			quick: size{takes: 280 * ms, args: "-n 25 -levels 5", procs: "1 4 n", scaled: "145 ms a round trip there, some 10 here"},
			full:  size{takes: 1600 * ms, procs: "1 4 16 n"},
		}},
		Hypotheses: parallelProgram(jsonTable), Curves: jsonTable.curves(),
	},
}

const (
	// The values that the document has of its two machines, of its laptop those of the
	// server too.
	laptopProcs, serverProcs = "1 2 4", "1 2 4 8 12 16"

	// releases are the document's Go 1.4 and 1.5, the oldest that can be had in the place of
	// its Go 1.0, and some since. Quick is procfit's own Go alone.
	releases = "1.2 1.4 1.5 1.13 1.21 1.26"

	textHere = "net/http parsed there, text of our own here"
)

var (
	testOfChanged = []string{"sh", "-c", `echo // >>"$1/src/html/template/doc.go" && exec "$1/bin/go" test -c -o "$1/template.test" html/template`, "sh", TreePlaceholder}
	makeBash      = []string{"sh", "-c", `cd "$1/src" && exec bash make.bash --no-banner`, "sh", TreePlaceholder}
)

// whole measures stages that there are with --make-bash alone.
func whole(m measure) measure {
	return m.then(func(r Results, e Estimate) Estimate {
		if _, all := r["make"]; !all {
			return Estimate{absent: true, Why: "make.bash takes an hour and more: --make-bash runs it"}
		}
		return e
	})
}
