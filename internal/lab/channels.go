package lab

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/chain"
	"github.com/procfit/procfit/internal/lab/programs/chainbuf"
	"github.com/procfit/procfit/internal/lab/programs/garbage"
	"github.com/procfit/procfit/internal/lab/programs/handoff"
	"github.com/procfit/procfit/internal/lab/programs/http"
	"github.com/procfit/procfit/internal/lab/programs/json"
	"github.com/procfit/procfit/internal/lab/programs/powser"
	"github.com/procfit/procfit/internal/lab/programs/sieve"
	"github.com/procfit/procfit/internal/show/number"
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
				ID: "test_gains", Says: "Go 1.5: go test -c takes 15 to 30% less with four Ps, and is 1.18 to 1.43 times as fast as with one",
				Document: "2.5 ÷ 1.9 s = 1.32", Value: 2.5 / 1.9, On: OnServer, Needs: 2, Measure: cost.At("1").in("test_1_5").over("4"), AtLeast: 1 / (1 - 0.15), AtMost: 1 / (1 - 0.30),
			},
			{
				ID: "test_gains_today", Today: true, Says: "today's Go: 1.18 times as fast, or faster",
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

// table is the document's of a program: times by release of Go and machine, by GOMAXPROCS.
type table struct {
	metric figure
	unit   string
	times  map[ranWith]map[int]float64

	most  float64 // "under 1.1x": of two Ps with Go 1.5
	about string  // "about 2x": the same with Go 1.4
	since string  // what it says of the releases before
}

// ranWith is a release of Go and one of the document's machines. The release is "" where it has one.
type ranWith struct{ release, on string }

const reducedTo2 = "“by Go 1.1 (not shown) it had been reduced to about 2x, where it has stayed through Go 1.4”"

var (
	chainTable = table{metric: "Chain ns/op", unit: "µs", most: 1.1, about: "about 2", since: reducedTo2, times: map[ranWith]map[int]float64{
		{"1.4", OnLaptop}: {1: 28.8, 2: 57, 4: 66},
		{"1.5", OnLaptop}: {1: 27.1, 2: 29, 4: 29},
		{"1.4", OnServer}: {1: 38.8, 2: 110, 4: 119, 8: 120, 12: 111, 16: 106},
		{"1.5", OnServer}: {1: 36.1, 2: 37, 4: 37, 8: 38, 12: 37, 16: 37},
	}}
	chainbufTable = table{metric: "ChainBuf ns/op", unit: "µs", most: 1.1, about: "about 2", since: reducedTo2, times: map[ranWith]map[int]float64{
		{"1.4", OnLaptop}: {1: 32.4, 2: 60, 4: 69},
		{"1.5", OnLaptop}: {1: 30.2, 2: 33, 4: 33},
		{"1.4", OnServer}: {1: 40.8, 2: 116, 4: 121, 8: 125, 12: 115, 16: 109},
		{"1.5", OnServer}: {1: 39.7, 2: 41, 4: 41, 8: 41, 12: 41, 16: 41},
	}}
	powserTable = table{
		metric: "Powser ns/op", unit: "s", most: 1.2, about: "about 2.5", since: "“Go 1.1 through Go 1.4 reduced that overhead to about 2.5x”",
		times: map[ranWith]map[int]float64{
			{"1.4", OnLaptop}: {1: 3.34, 2: 8.1, 4: 8.3},
			{"1.5", OnLaptop}: {1: 3.10, 2: 3.3, 4: 3.5},
			{"1.4", OnServer}: {1: 4.18, 2: 11.2, 4: 13.5, 8: 13.2, 12: 12.3, 16: 11.6},
			{"1.5", OnServer}: {1: 4.05, 2: 4.2, 4: 4.7, 8: 4.7, 12: 4.7, 16: 4.7},
		},
	}
	sieveTable = table{metric: "Sieve ns/op", unit: "s", times: map[ranWith]map[int]float64{
		{"1.4", OnLaptop}: {1: 21.8, 2: 18.9, 4: 12.7},
		{"1.5", OnLaptop}: {1: 21.1, 2: 17.0, 4: 10.6},
		{"1.4", OnServer}: {1: 27.8, 2: 18.9, 4: 10.2, 8: 5.4, 12: 4.5, 16: 3.6},
		{"1.5", OnServer}: {1: 27.3, 2: 15.3, 4: 8.1, 8: 4.7, 12: 3.9, 16: 3.7},
	}}
	garbageTable = table{metric: "Garbage ns/op", unit: "ns", times: map[ranWith]map[int]float64{{"", OnServer}: {1: 31461838, 4: 10427806, 16: 5754040}}}
	httpTable    = table{metric: "HTTP ns/op", unit: "ns", times: map[ranWith]map[int]float64{{"", OnServer}: {1: 146737, 4: 32853, 16: 12652}}}
	jsonTable    = table{metric: "JSON ns/op", unit: "ns", times: map[ranWith]map[int]float64{{"", OnServer}: {1: 145014842, 4: 44788720, 16: 21817571}}}
)

// Curve is a document's figure by GOMAXPROCS.
type Curve struct {
	Metric  string // as the program prints it
	Go      string // release; empty: the program has one version
	On      string // machine
	Seconds map[int]float64
}

func (t table) curves() (list []Curve) {
	unit := map[string]float64{"s": 1, "µs": 1e-6, "ns": 1e-9}[t.unit]
	for _, release := range []string{"", "1.4", "1.5"} {
		for _, on := range []string{OnLaptop, OnServer} {
			c := Curve{string(t.metric), release, on, map[int]float64{}}
			for procs, x := range t.times[ranWith{release, on}] {
				c.Seconds[procs] = unit * x
			}
			if len(c.Seconds) > 0 {
				list = append(list, c)
			}
		}
	}
	return list
}

// cost is a hypothesis about what some Ps cost of one P's time, without its bounds.
func (t table) cost(id, says, release, on string, procs int) Hypothesis {
	times := t.times[ranWith{cmp.Or(release, "1.5"), on}]
	return Hypothesis{
		ID: id, Says: says, Document: over(times[procs], times[1], t.unit), Value: times[procs] / times[1], On: on, Needs: float64(procs),
		Today: release == "", Measure: t.metric.At(ps(strconv.Itoa(procs))).built(release).over("1"),
	}
}

// over is a quotient as a hypothesis's Document has it.
func over(a, b float64, unit string) string {
	write := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	return fmt.Sprintf("%s ÷ %s %s = %s", write(a), write(b), unit, number.Count(a/b))
}

// What two Ps cost before Go 1.5 is the waking of threads on CPUs that are idle. The document's
// machines had 4 CPUs and 16; where two Ps are all CPUs, there is none to wake.
const idleCPU = 4

// switching are the hypotheses of programs that gain nothing from a second P. The
// document's words are the bounds: "under 1.1x"; of "about 2x", what its two
// machines have and a quarter beyond, since they differ by that themselves.
func switching(t table) []Hypothesis {
	then := t.cost("go1_4_two_ps", "", "1.4", OnLaptop, 2)
	server := t.cost("", "", "1.4", OnServer, 2).Value
	then.AtLeast, then.AtMost, then.Needs = min(then.Value, server)/1.25, max(then.Value, server)*1.25, idleCPU
	about := fmt.Sprintf("two Ps cost %s times one P (%.3g to %.3g)", t.about, then.AtLeast, then.AtMost)
	then.Says = "Go 1.4: " + about
	before := then
	before.ID, before.Says, before.Document, before.Value, before.On = "go1_2_two_ps", "Go 1.2: "+about, t.since, 0, ""
	before.Measure = t.metric.At("2").built("1.2").over("1")
	under := func(id, says, release, on string, procs int) Hypothesis {
		h := t.cost(id, fmt.Sprintf("%s under %g times%s", says, t.most, map[bool]string{true: " one P"}[procs == 2]), release, on, procs)
		h.AtMost = t.most
		return h
	}
	return []Hypothesis{
		under("go1_5_two_ps", "Go 1.5: two Ps cost", "1.5", OnLaptop, 2),
		under("go1_5_four_ps", "Go 1.5: four Ps do so too,", "1.5", OnServer, 4),
		then,
		before,
		under("today_two_ps", "today's Go: two Ps still cost", "", OnServer, 2),
		under("today_four_ps", "today's Go: four Ps do so too,", "", OnLaptop, 4),
		under("go1_5_eight_ps", "Go 1.5: 8 Ps do so too,", "1.5", OnServer, 8),
		under("go1_5_twelve_ps", "Go 1.5: 12 Ps do so too,", "1.5", OnServer, 12),
		under("go1_5_sixteen_ps", "Go 1.5: 16 Ps do so too,", "1.5", OnServer, 16),
	}
}

// sieving are the sieve's. The lower bound is the document's other machine: its laptop gains least,
// and its CPUs are threads of two cores. Of two Ps the laptop's runs spread over 0.79 to 1.31 times
// their median, which is 0.95 to 1.6 times one P: there only the direction is the document's. There
// is no second machine of 8 and more: less a quarter, which the runs' own spread comes to (0.80 to
// 1.36 at two Ps).
func sieving(t table) (list []Hypothesis) {
	for _, q := range []struct {
		id, says, release, on string
		procs                 int
		least                 float64
	}{
		{"go1_5_two_ps", "Go 1.5: two Ps are faster than one", "1.5", OnLaptop, 2, 1},
		{"go1_5_four_ps", "Go 1.5: four Ps are at least 1.99 times as fast as one", "1.5", OnServer, 4, 21.1 / 10.6},
		{"go1_5_eight_ps", "Go 1.5: 8 Ps are at least 4.4 times as fast as one", "1.5", OnServer, 8, 27.3 / 4.7 * 0.75},
		{"go1_5_twelve_ps", "Go 1.5: 12 Ps are at least 5.2 times as fast as one", "1.5", OnServer, 12, 27.3 / 3.9 * 0.75},
		{"go1_5_sixteen_ps", "Go 1.5: 16 Ps are at least 5.5 times as fast as one", "1.5", OnServer, 16, 27.3 / 3.7 * 0.75},
		{"go1_4_two_ps", "Go 1.4: two Ps are at least 1.15 times as fast as one (as on the laptop)", "1.4", OnServer, 2, 21.8 / 18.9},
		{"today_two_ps", "today's Go: two Ps are faster than one", "", OnLaptop, 2, 1},
		{"today_four_ps", "today's Go: four Ps are at least 1.99 times as fast as one", "", OnLaptop, 4, 21.1 / 10.6},
	} {
		times := t.times[ranWith{cmp.Or(q.release, "1.5"), q.on}]
		list = append(list, Hypothesis{
			ID: q.id, Says: q.says, Document: over(times[1], times[q.procs], t.unit), Value: times[1] / times[q.procs], On: q.on, Needs: float64(q.procs), Today: q.release == "",
			Measure: t.metric.At("1").built(q.release).over(ps(strconv.Itoa(q.procs))), AtLeast: q.least,
		})
	}
	return list
}

// parallelProgram are the hypotheses of programs with inherent parallelism, at 1, 4 and 16 on the
// server. Its 4 Ps leave 12 CPUs to the kernel and the collector, so a fifth less is still the same.
func parallelProgram(t table) []Hypothesis {
	times := t.times[ranWith{"", OnServer}]
	ask := func(id, name string, procs int) Hypothesis {
		gain := times[1] / times[procs]
		return Hypothesis{
			ID: id, Says: name + " Ps are " + number.Count(gain) + " times as fast as one, or a fifth less",
			Document: over(times[1], times[procs], t.unit), Value: gain, On: OnServer, Needs: float64(procs),
			Measure: t.metric.At("1").over(ps(strconv.Itoa(procs))), AtLeast: gain * 0.8,
		}
	}
	return []Hypothesis{ask("four_ps", "four", 4), ask("sixteen_ps", "16", 16), t.eachCPU("each CPU adds %s of what one does", 4)}
}

// eachCPU is the same by CPU, for a machine of any size: the share of the document's at some Ps.
func (t table) eachCPU(says string, procs int) Hypothesis {
	times := t.times[ranWith{"", OnServer}]
	gain := times[1] / times[procs]
	share := gain / float64(procs)
	return Hypothesis{
		ID: "each_cpu", Says: fmt.Sprintf(says, number.Count(share)) + ", or a fifth less",
		Document: fmt.Sprintf("%s ÷ %d times = %s", number.Count(gain), procs, number.Count(share)), Value: share, On: OnServer, Needs: 2,
		Measure: speedup(t.metric.At("n")), AtLeast: share * 0.8,
	}
}

// httpHypotheses are those of the program that spends most of its time in the kernel.
// The document's four Ps left it 12 CPUs, so that what each CPU adds where all are used
// is only its 16 of 16 to tell. As many clients as are needed run in the same process, and the kernel's
// part of a request has no CPU to itself where two Ps are all of a machine.
func httpHypotheses() []Hypothesis {
	list := parallelProgram(httpTable)
	each := httpTable.eachCPU("with a P for each CPU, each adds %s of what one alone does", 16)
	each.Needs = idleCPU
	list[len(list)-1] = each
	return list
}
