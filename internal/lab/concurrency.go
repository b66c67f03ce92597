package lab

import (
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/lab/programs/blocking"
	"github.com/procfit/procfit/internal/lab/programs/racy"
	"github.com/procfit/procfit/internal/lab/programs/remedies"
	"github.com/procfit/procfit/internal/lab/programs/tenants"
	"github.com/procfit/procfit/internal/measure/plan"
)

var concurrencyStatements = []Experiment{
	{
		ID: "blocking", Document: "000, 002, 003", Kind: Batch, Language: modern, program: blocking.Program,
		Title: "a hundred goroutines in blocking calls: system calls and C calls",
		// Calls that block, of the system by procfit's own program, and of C by one that is
		// compiled for it. A millisecond is short enough for the runtime to leave a call its P
		// now and then, and long enough for others to miss it.
		stages: []sweep{{
			id: "calls", title: "a hundred blocking system calls",
			quick: size{takes: 350 * ms, args: "-d 100ms", procs: "1 n", scaled: "--quick skips the C calls"},
			full:  size{takes: 900 * ms, procs: "1 2 4 n"},
		}, {
			id: "c", title: "a hundred goroutines that call C: once for a long time, then again and again for a millisecond", fixed: true,
			build: Build{Source: "c"},
			full:  size{takes: 800 * ms, procs: "1 n 4n"},
		}},
		Hypotheses: []Hypothesis{
			{
				// Threads that the start left idle serve a few calls; one more is the runtime's own.
				ID: "a_thread_each", Says: "with one P, each of a hundred blocked system calls has a thread, within 10%",
				Document: "003: “There is no limit to the number of threads that can be blocked in system calls on behalf of Go code; those do not count against the GOMAXPROCS limit”",
				Measure:  count(figure("Blocking threads/call").At("1").in("calls"), 1), AtLeast: tenthLess, AtMost: tenthMore,
			},
			{
				ID: "no_p", Says: "next to blocked system calls, goroutines compute as much as without them, within 5%",
				Document: "002: “The limit does not count threads blocked in system calls such as I/O”",
				Measure:  ratio(figure("Blocking beside-sums/s").At("n").in("calls"), figure("Blocking alone-sums/s").At("n").in("calls")), AtLeast: flatLess, AtMost: flatMore,
			},
			{
				ID: "c_a_thread_each", Says: "with one P, each of a hundred blocked C calls has a thread, within 10%",
				Document: "000: “heavy cgo can mean more Ms than Ps. But GOMAXPROCS does not cap Ms — the runtime creates them as needed”",
				Measure:  count(figure("Calls threads/call").At("1").in("c"), 1), AtLeast: tenthLess, AtMost: tenthMore,
			},
			{
				ID: "c_above_cpus", Says: "C calls of a millisecond: four times as many Ps as CPUs complete the same number, within 5%",
				Document: "000: “My code calls C and blocks” is one of three mistaken reasons for more Ps than CPUs", Needs: 2,
				Measure: figure("Calls calls/s").At("4n").in("c").over("n"), AtMost: flatMore,
			},
		},
	},
	{
		ID: "tenants", Document: "000", Kind: Batch, Language: modern, program: tenants.Program,
		Title: "a quiet tenant next to a busy one: what isolates them",
		// The ways that the document names to keep one tenant from another, and none. The busy
		// tenant has the Ps that are swept; in a process of its own the quiet one has one. A p99
		// twice that of a quiet machine is well beyond procfit's own margin of 20%.
		stages: []sweep{{
			id: "together", title: "goroutines of one process",
			quick: size{takes: 500 * ms, args: "-how together -d 200ms", procs: "n"},
			full:  size{takes: 2100 * ms, args: "-how together -d 1s", procs: "n"},
		}, {
			id: "pinned", title: "one process: LockOSThread, and its own CPU by taskset", needs: []string{"taskset"},
			quick: size{takes: 500 * ms, args: "-how pinned -d 200ms", procs: "n"},
			full:  size{takes: 2100 * ms, args: "-how pinned -d 1s", procs: "n"},
		}, {
			id: "processes", title: "two processes, the quiet one with GOMAXPROCS=1",
			quick: size{takes: 500 * ms, args: "-how processes -d 200ms", procs: "n-1"},
			full:  size{takes: 2100 * ms, args: "-how processes -d 1s", procs: "n-1"},
		}},
		also: tenantsStages,
		Hypotheses: []Hypothesis{
			{
				ID: "one_process", Says: "in one process, the quiet tenant's p99 next to the busy one is at least twice its p99 alone",
				Document: "“GOMAXPROCS is process-wide. It applies equally to every goroutine in the process”", Needs: 2,
				Measure: ratio(figure("Tenants beside-p99-ns").At("n").in("together"), figure("Tenants alone-p99-ns").At("n").in("together")), AtLeast: 2,
			},
			{
				// "Crude, rarely worth it": less than half of what is spoilt comes back.
				ID: "pinned_is_crude", Says: "a locked thread with its own CPU lowers the quiet tenant's p99 by at most half",
				Document: "“runtime.LockOSThread() and taskset/CPU affinity to bias certain threads to certain cores. Crude, rarely worth it”", Needs: 2,
				Measure: ratio(figure("Tenants beside-p99-ns").At("n").in("pinned"), figure("Tenants beside-p99-ns").At("n").in("together")), AtLeast: 0.5,
			},
			{
				// "The clean answer": more than half of what is spoilt comes back. As good as alone would
				// be procfit's own question, and a p99 alone scatters by its half.
				ID: "unequal", Says: "in its own process, next to a busy one with one P fewer than CPUs, its p99 is at most half of that in one process",
				Document: separateProcesses, Needs: 2,
				Measure: ratio(figure("Tenants beside-p99-ns").At("n-1").in("processes"), figure("Tenants beside-p99-ns").At("n").in("together")), AtMost: 0.5,
			},
			{
				ID: "quota", Says: "in its own process, its p99 is at most half of that in one process: each has a CPU limit of half the CPUs, and the GOMAXPROCS that fits it",
				Document: separateProcesses, Needs: 2,
				Measure: ratio(figure("Tenants/quiet p99-ns").At("n/2").in("quota").under(ownQuota), figure("Tenants beside-p99-ns").At("n").in("together")), AtMost: 0.5,
			},
			{
				// The document claims that one process can have more CPU than another, and three times as
				// much is what the weights ask for. The kernel divides the weight of a group among the
				// CPUs that its threads are on: if two threads of one are on the same CPU, and each thread
				// of the other has one, the ratio is another. Within a factor of two is the same effect.
				ID: "weights", Says: "of two processes that compute on all CPUs, the one with three times the CPU weight gets three times the CPU time, within a factor of two",
				Document: "“The only way to give one tenant more CPU than another is to run them in separate processes”", Needs: 2,
				Measure: level(overNeighbour.At("n").in("weights"), 1), AtLeast: 3.0 / 2, AtMost: 3 * 2,
			},
		},
	},
	{
		ID: "racy", Document: "002", Kind: Batch, Language: ancient, program: racy.Program,
		Title: "a counter without a lock, and what the race detector reports",
		// One P and as many as there are CPUs; the release that the document is of, which switches
		// goroutines at calls alone; and the same program built with the race
		// detector, which reports at its end how many races it found.
		stages: []sweep{{
			id: "counter", title: "as it is",
			quick: size{takes: 700 * ms, procs: "1 n", scaled: "--quick skips the race detector and Go 1.5"},
			full:  size{takes: 700 * ms, procs: "1 2 4 n"},
		}, {
			id: "then", title: "with Go 1.5, the article's release", fixed: true,
			full: size{takes: 700 * ms, procs: "1 n", versions: "1.5"},
		}, {
			id: "detector", title: "built with the race detector", fixed: true,
			build:   Build{Race: true},
			env:     []string{"GORACE=exitcode=0"}, // its report is what is measured
			metrics: []string{`races:higher=Found (\d+) data race`},
			full:    size{takes: 500 * ms, args: "-n 50000", procs: "1 n"},
		}},
		Hypotheses: []Hypothesis{
			{
				ID: "undetected", Says: "with one P, at most one of a million increments is lost",
				Document: "“The setting of GOMAXPROCS=1 may have thus far let those bugs go undetected”",
				Measure:  level(figure("Racy/increment lost-ppm").At("1").in("counter"), 1), AtMost: 1,
			},
			{
				// A thousand times what would be undetected.
				ID: "more_likely", Says: "with one P per CPU, at least a thousand of a million are lost",
				Document: "“Increased parallelism could make bugs in racy programs more likely to cause crashes or other problems”", Needs: 2,
				Measure: level(figure("Racy/increment lost-ppm").At("n").in("counter"), 1), AtLeast: 1000,
			},
			{
				ID: "keeps_working", Says: "Go 1.5, one P: it still works if a computation comes between reading and writing: at most one of a million is lost",
				Document: "“the authors can set GOMAXPROCS=1 explicitly to keep them working until the bugs can be fixed”",
				Measure:  level(figure("Racy/compute lost-ppm").At("1").in("then").built("1.5"), 1), AtMost: 1,
			},
			{
				ID: "detected", Says: "the race detector finds the race with one P per CPU",
				Document: "“We hope that both the race detector … has already helped programmers identify and eliminate many such bugs”",
				Measure:  count(figure("races").At("n").in("detector"), 1), AtLeast: 1,
			},
			{
				ID: "detected_at_one", Says: "the race detector also finds the race with one P, where no increment is lost",
				Document: "“We hope that both the race detector … has already helped programmers identify and eliminate many such bugs”",
				Measure:  count(figure("races").At("1").in("detector"), 1), AtLeast: 1,
			},
		},
	},
	{
		ID: "remedies", Document: "001", Kind: Batch, Language: modern, program: remedies.Program,
		Title: "a contended counter, lock-free, sharded and in batches",
		// The document's benchmarks end in -8: GOMAXPROCS=8. It gives no number: beyond the 10%
		// that single runs vary by, a remedy helps.
		stages: []sweep{{
			quick: size{takes: 150 * ms, args: "-n 1000000", procs: "1 n"},
			full:  size{takes: 700 * ms, args: "-n 20000000", procs: "1 2 4 8 n"},
		}},
		Hypotheses: []Hypothesis{
			{
				ID: "lock_free", Says: "an atomic counter is at least 1.1 times as fast as the contended mutex",
				Document: "“Using lock-free data structures”", Needs: 2, Measure: ratio(figure("Remedies/mutex ns/op").At("n"), figure("Remedies/atomic ns/op").At("n")), AtLeast: tenthMore,
			},
			{
				ID: "less_contention", Says: "one counter per goroutine is at least 1.1 times as fast as the contended mutex",
				Document: "“Reducing contention on shared resources”", Needs: 2, Measure: ratio(figure("Remedies/mutex ns/op").At("n"), figure("Remedies/sharded ns/op").At("n")), AtLeast: tenthMore,
			},
			{
				ID: "batches", Says: "counting in batches of a hundred is at least 1.1 times as fast as the contended mutex",
				Document: "“Batch operations to reduce switching frequency”", Needs: 2, Measure: ratio(figure("Remedies/mutex ns/op").At("n"), figure("Remedies/batched ns/op").At("n")), AtLeast: tenthMore,
			},
			{
				ID: "choose_procs", Says: "on the contended mutex, one P is at least 1.1 times as fast as one P per CPU",
				Document: "“Choose appropriate GOMAXPROCS for your workload”", Needs: 2,
				Measure: figure("Remedies/mutex ns/op").At("n").over("1"), AtLeast: tenthMore,
			},
		},
	},
}

// tenantsStages are those in which each tenant has a cgroup of its own: the quiet one and the busy
// one, each under a limit, and two busy ones of different weight. With a limit of half the CPUs for
// each, the two can use all CPUs, and no more.
func tenantsStages(o Options) []Stage {
	busy := plan.Neighbour{Command: []string{"tenants", "-how", "busy", "-d", "1h"}}
	quota := sweep{
		id: "quota", title: "two processes, each with a CPU limit of half the CPUs and the GOMAXPROCS that fits it", fixed: true,
		full: size{takes: 1400 * ms, args: "-how quiet -d 1s", procs: "n/2", quotas: []float64{halfTheCPUs}},
	}.stage("tenants", Batch, o)
	limited := busy
	limited.Command = append(slices.Clone(busy.Command), "-procs", strconv.Itoa(ps("n/2").of(o.CPUs)))
	quota.Target.Beside, quota.Target.Grace = &limited, besideGrace

	weights := sweep{
		id: "weights", title: "two busy processes with CPU weights of 3 to 1", fixed: true,
		quick: size{takes: 600 * ms, args: "-how busy -d 300ms", procs: "n"},
		full:  size{takes: 1400 * ms, args: "-how busy -d 1s", procs: "n"},
	}.stage("tenants", Batch, o)
	weighed := busy
	weighed.Quota, weighed.Shares = new(0.0), sharesOfCPU
	weights.Target.Shares, weights.Target.Beside, weights.Target.Grace = 3*sharesOfCPU, &weighed, besideGrace
	if o.Quick {
		return []Stage{weights}
	}
	return []Stage{quota, weights}
}

// besideGrace is how long procfit waits after SIGTERM: the neighbour computes and does not end.
const besideGrace = 50 * ms

const (
	separateProcesses = "“Separate processes. The clean answer. One process per tenant (or tenant pool), each with its own GOMAXPROCS set appropriately, isolated by container or cgroup”"
)
