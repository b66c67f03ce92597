package lab

import (
	"github.com/procfit/procfit/internal/lab/programs/extremes"
	"github.com/procfit/procfit/internal/lab/programs/gc"
	"github.com/procfit/procfit/internal/lab/programs/headroom"
	"github.com/procfit/procfit/internal/lab/programs/idle"
)

// runtimeStatements are the first experiments on what the documents say without one of their own: each
// has a program of ours and the document's words.
var runtimeStatements = []Experiment{
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
}

const (
	idleCost    = "“The cost of an idle TCP connection in Go is roughly 4–8 KB of memory for the goroutine stack and a slot on the netpoller's wait list — no thread, no P”"
	typicalLoss = "“raising GOMAXPROCS from 16 to 64 on a CPU-bound workload typically loses 2–10% throughput and 5–20% p99 latency. From 64 to 256 the loss is worse”"
)
