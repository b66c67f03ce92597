package lab

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/lab/programs/blocking"
	"github.com/procfit/procfit/internal/lab/programs/extremes"
	"github.com/procfit/procfit/internal/lab/programs/gc"
	"github.com/procfit/procfit/internal/lab/programs/harness"
	"github.com/procfit/procfit/internal/lab/programs/headroom"
	"github.com/procfit/procfit/internal/lab/programs/idle"
	"github.com/procfit/procfit/internal/lab/programs/racy"
	"github.com/procfit/procfit/internal/lab/programs/remedies"
	"github.com/procfit/procfit/internal/lab/programs/spin"
	"github.com/procfit/procfit/internal/lab/programs/tenants"
	"github.com/procfit/procfit/internal/measure/plan"
)

// statements are experiments on what the documents say without one of their own: each has a program of
// ours and the document's words.
var statements = []Experiment{
	{
		ID: "headroom", Document: "000", Kind: Batch, Language: modern, program: headroom.Program,
		Title: "a service that allocates a lot, with one P more than CPUs",
		// As many Ps as CPUs and one more: with work that waits and allocates, next to a thread that
		// is always blocked, with work that allocates alone, and that again with a collector that
		// has more room.
		stages: []sweep{{
			id: "mixed", title: "each request allocates, waits 1 ms, and reads what it allocated",
			quick: size{takes: 300 * ms, args: "-d 250ms -wait 1ms", procs: "n n+1"},
			full:  size{takes: 1550 * ms, args: "-d 1.5s -wait 1ms", procs: "n n+1"},
		}, {
			id: "blocked", title: "each request only computes, next to a thread that is always in a blocking call of 1 ms",
			quick: size{takes: 200 * ms, args: "-d 150ms -records 20 -blocked 1", procs: "n n+1"},
			full:  size{takes: 1550 * ms, args: "-d 1.5s -records 20 -blocked 1", procs: "n n+1"},
		}, {
			id: "allocating", title: "each request allocates and does not wait",
			quick: size{takes: 300 * ms, args: "-d 250ms -wait 0s", procs: "n n+1"},
			full:  size{takes: 1550 * ms, args: "-d 1.5s -wait 0s", procs: "n n+1"},
		}, {
			id: "gogc", title: "the same with GOGC=400",
			env:   []string{"GOGC=400"},
			quick: size{takes: 300 * ms, args: "-d 250ms -wait 0s", procs: "n"},
			full:  size{takes: 1550 * ms, args: "-d 1.5s -wait 0s", procs: "n"},
		}},
		Hypotheses: []Hypothesis{
			{
				// The reason that the document gives, without which one more has nothing to cover.
				ID: "throughput_prefers_one_more", Says: "next to a thread that is always blocked, work that computes is served faster with one P more than CPUs",
				Document: "“throughput might prefer NumCPU+1 (the extra P covers one always-blocked thread)”", Needs: 2,
				Measure: throughput.At("n+1").in("blocked").over("n"), AtLeast: 1,
			},
			{
				ID: "latency_prefers_cpus", Says: "its p99 is higher with one P more than CPUs",
				Document: "“latency under high concurrency prefers NumCPU exactly … For tail latency (p99) the gap is wider still”", Needs: 2,
				Measure: figure("Headroom p99-ns").At("n+1").in("mixed").over("n"), AtLeast: 1,
			},
			{
				ID: "headroom_for_gc", Says: "work that allocates is served faster with one P more than CPUs",
				Document: "“On extremely allocation-heavy services, an extra P can help by giving GC headroom”", Needs: 2,
				Measure: throughput.At("n+1").in("allocating").over("n"), AtLeast: 1,
			},
			{
				// The two ran in sweeps of their own, one after the other.
				ID: "gogc_gains_more", Says: "GOGC=400 serves at least 5% more than the extra P does",
				Document: "“dwarfed by GC tuning (GOGC, GOMEMLIMIT)”", Needs: 2,
				Measure: ratio(throughput.At("n").in("gogc"), throughput.At("n+1").in("allocating")), AtLeast: flatMore,
			},
		},
	},
	{
		ID: "idle", Document: "000", Kind: Batch, Language: modern, program: idle.Program,
		Title: "the cost of ten thousand idle connections",
		// The document's million does not fit the limits of open files here: the program opens
		// what does, and says how many.
		stages: []sweep{{
			quick: size{takes: 700 * ms, args: "-n 2000 -d 100ms", procs: "1 n", scaled: "“a million simultaneous HTTP connections” there, 2000 here"},
			full:  size{takes: 3500 * ms, procs: "1 2 4 n", scaled: "“a million simultaneous HTTP connections” there, 10,000 here, or as many as the open file limit allows"},
		}},
		Hypotheses: []Hypothesis{
			{
				// The threads that opening them took are few, whatever their number.
				ID: "no_thread", Says: "idle keep-alive connections need no thread: with one P, less than one thread per hundred",
				Document: idleCost,
				Measure:  count(figure("Idle/http threads/conn").At("1"), 1), AtMost: 0.01,
			},
			{
				ID: "no_p", Says: "next to idle connections, goroutines compute as much as without them, within 5%",
				Document: idleCost,
				Measure:  ratio(figure("Idle/http beside-sums/s").At("n"), figure("Idle/http alone-sums/s").At("n")), AtLeast: flatLess, AtMost: flatMore,
			},
			{
				ID: "single_p", Says: "with one P too, goroutines next to idle connections compute as much as without them, within 5%",
				Document: "“You can therefore support hundreds of thousands of connections on a single P, provided your CPU work per packet is small”",
				Measure:  ratio(figure("Idle/http beside-sums/s").At("1"), figure("Idle/http alone-sums/s").At("1")), AtLeast: flatLess, AtMost: flatMore,
			},
			{
				// Less than 4 KB is nothing to hold against it.
				ID: "kilobytes", Says: "an idle TCP connection costs at most 8 KB",
				Document: idleCost,
				Measure:  level(figure("Idle/tcp B/conn").At("n"), 1024), AtMost: 8,
			},
		},
	},
	{
		ID: "extremes", Document: "000", Kind: Batch, Language: modern, program: extremes.Program,
		Title: "16 and 32 times as many Ps as CPUs, and 128 Ps under a CPU limit of 1",
		// Four, 16 and 32 times the CPUs; and 128 Ps under a quota of one.
		stages: []sweep{{
			id: "cpus", title: "without a CPU limit",
			quick: size{takes: 300 * ms, args: "-d 250ms", procs: "n 4n 16n 32n"},
			full:  size{takes: 1550 * ms, args: "-d 1.5s", procs: "n 4n 16n 32n"},
		}, { // five of the kernel's periods of 100 ms, and twenty
			id: "pod", title: "under a CPU limit of 1",
			quick: size{takes: 550 * ms, args: "-d 500ms", procs: "1 128", quotas: []float64{1}},
			full:  size{takes: 2050 * ms, args: "-d 2s", procs: "1 128", quotas: []float64{1}},
		}},
		Hypotheses: []Hypothesis{
			{
				// Worse than 2 to 10% and 5 to 20%: as much, at least.
				ID: "from_four_to_sixteen", Says: "from four to 16 times as many Ps as CPUs, the throughput falls by at least another 2%",
				Document: typicalLoss, Needs: 2,
				Measure: throughput.At("16n").in("cpus").over("4n"), AtMost: 0.98,
			},
			{
				ID: "from_four_to_sixteen_p99", Says: "from four to 16 times as many Ps as CPUs, the p99 rises by at least another 5%",
				Document: typicalLoss, Needs: 2,
				Measure: figure("Extremes p99-ns").At("16n").in("cpus").over("4n"), AtLeast: 1.05,
			},
			{
				ID: "thirty_two_times_loses", Says: "32 times as many Ps as CPUs serve at least 2% less than one P per CPU",
				Document: "“With 128 Ps on a machine where 4 cores are actually available, you pay scheduling overhead for 124 idle Ps”", Needs: 2,
				Measure: throughput.At("32n").in("cpus").over("n"), AtMost: 0.98,
			},
			{
				ID: "context_switches", Says: "16 times as many Ps as CPUs cause at least twice the context switches",
				Document: "“they end up time-slicing the same physical cores, which adds context-switch cost without adding throughput”", Needs: 2,
				Measure: switches.At("16n").in("cpus").over("n"), AtLeast: 2,
			},
			{
				ID: "memory", Says: "32 times as many Ps as CPUs use at least 5% more memory",
				Document: "“Each P carries a per-P cache (mcache) for the allocator. More Ps = more caches = more memory used”",
				Measure:  figure("Extremes memory-B").At("32n").in("cpus").over("n"), AtLeast: flatMore,
			},
			{
				// A catastrophe has no number: half of what is served is lost. It is of a node on
				// which many of the 128 run at once.
				ID: "catastrophe", Says: "under a CPU limit of 1, 128 Ps serve at most half of what one does",
				Document: "“Catastrophe lives at the extremes (1 on a 16-core box, 128 in a pod with cpu: 1)”", Needs: 32, Strengthens: true,
				Measure: throughput.At("128").in("pod").under(1).over("1"), AtMost: 0.5,
			},
			{
				ID: "pod_p99", Says: "under a CPU limit of 1, 128 Ps have a p99 at least 5% higher than one",
				Document: "“CFS throttling visible in cAdvisor metrics”", Needs: 2,
				Measure: figure("Extremes p99-ns").At("128").in("pod").under(1).over("1"), AtLeast: 1.05,
			},
			{
				// As many CPUs use a quota up in a 32nd of its period, and then all of them wait.
				ID: "ten_times", Says: "under a CPU limit of 1, 128 Ps have ten times the p99 of one",
				Document: "“p99 latency 10× expected”, a pod of 2 CPUs on a host of 64", Needs: 32, Strengthens: true,
				Measure: figure("Extremes p99-ns").At("128").in("pod").under(1).over("1"), AtLeast: 10,
			},
		},
	},
	{
		ID: "gc", Document: "000, 002, 003", Kind: Batch, Language: modern, program: gc.Program,
		Title: "one goroutine that allocates, and the cost of the garbage collector",
		// One goroutine allocates. With a second P the collector can mark while it continues;
		// under a quota of one CPU that is time that the quota does not have.
		stages: []sweep{{
			id: "free", title: "without a CPU limit",
			quick: size{takes: 300 * ms, args: "-n 20000 -live 1024", procs: "1 n"},
			full:  size{takes: 900 * ms, procs: "1 2 4 n"},
		}, {
			id: "quota", title: "under a CPU limit of 1",
			quick: size{takes: 300 * ms, args: "-n 20000 -live 1024", procs: "1 8", quotas: []float64{1}},
			full:  size{takes: 900 * ms, procs: "1 8", quotas: []float64{1}},
		}},
		Hypotheses: []Hypothesis{
			{
				// "can improve": beyond what the documents call flat.
				ID: "one_goroutine_gains", Says: "one goroutine that allocates is at least 5% faster with one P per CPU than with one P",
				Document: "002: “The performance of single-goroutine programs can improve by raising GOMAXPROCS due to parallelism of the runtime, especially the garbage collector”", Needs: 2,
				Measure: figure("GC ns/op").At("1").in("free").over("n"), AtLeast: flatMore,
			},
			{
				ID: "not_impacted", Says: "the garbage collector uses as many CPUs with one P per CPU as with one P, within 5%",
				Document: "003: “Threads used for non user-level code, such as garbage collection, is not directly impacted by GOMAXPROCS”", Needs: 2,
				Measure: figure("GC gc-cpus").At("n").in("free").over("1"), AtLeast: flatLess, AtMost: flatMore,
			},
			{
				// What 003 sends its reader to read is not said in it; 10% is what single runs
				// vary by.
				ID: "quota_costs", Says: "under a CPU limit of 1, 8 Ps take at least 1.1 times as long as one: the garbage collector uses up the limit",
				Document: "003: “The mismatch could negatively impact performance”, and “GOMAXPROCS impact on GC”", Needs: 2,
				Measure: figure("GC ns/op").At("8").in("quota").under(1).over("1"), AtLeast: tenthMore,
			},
			{
				ID: "quota_pauses", Says: "under a CPU limit of 1, the longest pause of the garbage collector is at least 1.1 times as long with 8 Ps as with one",
				Document: "003: “The mismatch could negatively impact performance”, and “GOMAXPROCS impact on GC”", Needs: 2,
				Measure: figure("GC pause-max-ns").At("8").in("quota").under(1).over("1"), AtLeast: tenthMore,
			},
			{
				// "A few" is ten at most.
				ID: "settles", Says: "the garbage collector settles within ten cycles: the heap then has its final size, within 10%",
				Document: "000: “the GC needs a few cycles to settle”",
				Measure:  level(figure("GC settled-cycle").At("n").in("free"), 1), AtMost: 10,
			},
		},
	},
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
	{
		ID: "spin", Document: "000", Kind: Server, Language: modern, service: harness.Handle(spin.Answer),
		Title: "a server of small requests at 10, 30 and 50% of what it carries: CPU time per request by the number of Ps",
		// What document 000 says about Ps that have no work. There are such Ps if the load is only a part of
		// what the server carries with one P for each CPU. The rate is the same for every value. The document
		// has no numbers.
		also:       spinStages,
		Hypotheses: slices.Concat(spinning(10), spinning(30), spinning(50)),
	},
}

const (
	idleCost          = "“The cost of an idle TCP connection in Go is roughly 4–8 KB of memory for the goroutine stack and a slot on the netpoller's wait list — no thread, no P”"
	typicalLoss       = "“raising GOMAXPROCS from 16 to 64 on a CPU-bound workload typically loses 2–10% throughput and 5–20% p99 latency. From 64 to 256 the loss is worse”"
	separateProcesses = "“Separate processes. The clean answer. One process per tenant (or tenant pool), each with its own GOMAXPROCS set appropriately, isolated by container or cgroup”"
)

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

// spinning are the questions about one rate. The cost of a P is "small but non-zero": it is shown
// if it is more than the 5% that the documents call flat.
func spinning(percent int) []Hypothesis {
	stage, at := spinStage(percent), fmt.Sprintf("at %d%% of the load", percent)
	list := []Hypothesis{{
		ID: fmt.Sprintf("eight_times_%d", percent), Says: at + ", eight times as many Ps as CPUs take at least 5% more CPU time per request than one P per CPU",
		Document: "“you pay scheduling overhead for 124 idle Ps. Worse, those Ps spin briefly when looking for work”", Needs: 2,
		Measure: openCPUEach.At("8n").in(stage).over("n"), AtLeast: flatMore,
	}}
	if percent >= 50 {
		return list // half of the Ps do not carry half of the load
	}
	return append(list, Hypothesis{
		ID: fmt.Sprintf("half_%d", percent), Says: at + ", half as many Ps as CPUs take at least 5% less CPU time per request than one P per CPU",
		Document: "“The cost per P is small but non-zero”", Needs: 2,
		Measure: openCPUEach.At("n/2").in(stage).over("n"), AtMost: flatLess,
	})
}

func spinStage(percent int) string { return fmt.Sprintf("at_%d", percent) }

// spinStages are a sweep for each rate. Only the open loop is evaluated, so that the closed loop
// before it is short.
func spinStages(o Options) (list []Stage) {
	for _, percent := range []int{10, 30, 50} {
		if o.Quick && percent != 10 {
			continue
		}
		s := sweep{
			id: spinStage(percent), title: fmt.Sprintf("%d%% of what one P per CPU carries", percent), connections: 64,
			quick: size{takes: 300 * ms, procs: "n/2 n 8n", scaled: "--quick measures 10% of the load only"},
			full:  size{takes: 700 * ms, procs: "1 n/2 n 2n 4n 8n"},
		}.stage("spin", Server, o)
		s.Load.RateShare, s.Load.Warmup = float64(percent)/100, 100*ms
		list = append(list, s)
	}
	return list
}
