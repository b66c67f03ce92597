package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/lab/programs/busyworker"
	"github.com/procfit/procfit/internal/lab/programs/threads"
)

// containers is document 003, "Set GOMAXPROCS for Go programs in containers": a laptop of 10
// cores, Docker. Its two figures are lost, so that of its results only the words are left.
var containers = []Experiment{
	{
		ID: "threads", Document: "003", Kind: Batch, Language: modern, program: threads.Program,
		Title: "how many threads 10,000 goroutines take",
		// 10,000 goroutines in thirds. The documents bound the threads that execute Go code, and
		// none of them the threads that a process has: what comes on top is blocking's.
		stages: []sweep{{
			metrics: []string{`rounds:higher=([\d.]+) random-rounds/s`, `sleeps:higher=([\d.]+) sleeping-rounds/s`, `threads_max:lower=([\d.]+) threads-max`, `running:higher=([\d.]+) threads-running`},
			quick:   size{takes: 400 * ms, args: "-d 300ms", procs: "1 16"},
			full:    size{takes: 2100 * ms, args: "-d 2s", procs: "1 2 4 8 16"},
		}},
		Hypotheses: []Hypothesis{
			{
				ID: "procs_are_a_limit", Says: "one P uses one CPU's worth of time for Go code (10% allowed for the kernel and the start)",
				Document: "“limits the number of operating system threads that can execute user-level Go code simultaneously”; 001: “only 4 OS threads can execute Go code”", Needs: 2,
				Measure: level(cpus.At("1"), 1), AtMost: tenthMore,
			},
			{
				ID: "four_are_a_limit", Says: "four Ps use at most four CPUs' worth of time (10% allowed), and at least two, with 10,000 goroutines",
				Document: "002: “the program will only execute code on 4 operating system threads at once, even if there are 1000 goroutines”", Needs: 5,
				Measure: level(cpus.At("4"), 1), AtLeast: 2, AtMost: 4 * tenthMore,
			},
			{
				// Threads that wait for a CPU run for the kernel too, so that any number of CPUs shows it.
				// The one that counts is in a system call, which does not count.
				ID: "four_run_at_once", Says: "with four Ps, two to four threads run or wait for a CPU at one time, with 10,000 goroutines",
				Document: "002: “the program will only execute code on 4 operating system threads at once, even if there are 1000 goroutines”",
				Measure:  counted(count(figure("running").At("4"), 1)), AtLeast: 2, AtMost: 4,
			},
			{
				// The program makes no blocking call: these are the runtime's own, and those that
				// hand their P over to each other.
				ID: "more_threads_than_procs", Says: "a process has more threads than Ps: with one P at least two",
				Document: "001: “More M's can exist than P's”; “There is no limit to the number of threads that can be blocked in system calls”",
				Measure:  count(figure("threads_max").At("1"), 1), AtLeast: 2,
			},
			{
				// A figure that is lost had threads by GOMAXPROCS; twice is well beyond noise.
				ID: "threads_follow_procs", Says: "16 Ps make at least twice the threads of one P: “GOMAXPROCS controls Machine”",
				Document: "“Experiment 1: number of OS threads” (by GOMAXPROCS, in a chart)",
				Measure:  countOver(figure("threads_max").At("16"), figure("threads_max").At("1")), AtLeast: 2,
			},
		},
	},
	{
		ID: "busyworker", Document: "003", Kind: Batch, Language: modern, program: busyworker.Program,
		Title: "busy goroutines and waiting ones, under a fraction of a CPU",
		Claim: "quota 0.2 CPU: much faster with GOMAXPROCS at what the quota allows",
		// "significant", and no number is left: more than the 10% that single runs vary by.
		// On fewer CPUs than its 10 Ps had, most of these never run at once. What cannot be had of
		// the document's setting: its program, its figure, its macOS on ARM with Linux in a virtual
		// machine.
		also: busyworkerStages,
		grid: busyworkerGrid,
		Hypotheses: []Hypothesis{
			{
				ID: "gain_at_the_quota", Says: "under a CPU limit of 0.2, 10 Ps take at least 1.1 times as long as one, with Go 1.21.4",
				Document: limitYields, Needs: 10,
				Measure: figure("Busyworker/busy=4/other=10 ns/op").At("10").in("then_4_10").under(0.2).built("1.21.4").over("1"), AtLeast: tenthMore,
			},
			{
				ID: "gain_of_many", Says: "the same with 16 busy and 100 other goroutines",
				Document: limitYields, Needs: 10,
				Measure: figure("Busyworker/busy=16/other=100 ns/op").At("10").in("then_16_100").under(0.2).built("1.21.4").over("1"), AtLeast: tenthMore,
			},
			{
				ID: "gain_at_one_cpu", Says: "under a CPU limit of 1, 10 Ps take at least 1.1 times as long as one, with Go 1.21.4",
				Document: "“The mismatch could negatively impact performance”", Needs: 10,
				Measure: figure("Busyworker/busy=4/other=10 ns/op").At("10").in("then_4_10_quota_1").under(1).built("1.21.4").over("1"), AtLeast: tenthMore,
			},
			{
				// The mechanism, whatever it costs: twice the switches is well beyond noise.
				ID: "more_switches", Says: "under a CPU limit of 1, 10 Ps cause at least twice the context switches of one",
				Document: "“The Go runtime tries to utilize 32 vCPUs, even when the CPU limit of the container is set much smaller”", Needs: 2,
				Measure: switches.At("10").in("quota_1").under(1).over("1"), AtLeast: 2,
			},
		},
	},
}

// counted measures a number of threads, which is 0 where the system has no /proc.
func counted(m measure) measure {
	return m.then(func(_ Results, e Estimate) Estimate {
		if e.Value != nil && *e.Value == 0 {
			return Estimate{Why: "this system does not report which threads run"}
		}
		return e
	})
}

const limitYields = "“setting GOMAXPROCS to number of cores available to the container yield significant performance improvements”"

// A limit of 0.2 CPUs on a laptop of 10 cores, three runs a setting; the other quotas
// are ours. Under each there is as much to do as takes two seconds or so, 20 of the
// kernel's periods: in the last one, Ps beyond the quota may use up what is left of it
// sooner, and in few periods that is a gain that does not last.
func busyworkerStages(o Options) []Stage {
	var list []Stage
	limits := o.Quotas
	if len(limits) == 0 {
		limits = pick(o, quotas(0.2, 1), quotas(0.2, 0.5, 1, 2))
	}
	for _, limit := range limits {
		cpus, quota := o.CPUs, "none"
		if limit != nil {
			cpus, quota = math.Min(*limit, cpus), strconv.FormatFloat(*limit, 'f', -1, 64)
		}
		s := busyworkerStage(o, 4, 10, int(cpus*pick(o, 50e6, 100e6)))
		s.ID = "quota_" + strings.ReplaceAll(quota, ".", "_")
		s.Title += ", under a quota of " + quota
		s.choose(o)
		s.Quotas, s.Fixed = []*float64{limit}, true
		list = append(list, s)
	}
	if o.Quick {
		return list
	}
	return append(list, busyworkerThen(o)...)
}

// busyworkerThen are the stages with the document's own release, Go 1.21.4. The numbers of
// its workers stood in the lost figure: these are few, some and many of each. Since Go
// 1.20 the functions of math/rand that no seed was given to hold no lock, so that its
// workers did not wait for each other, as ours do not.
func busyworkerThen(o Options) (list []Stage) {
	const release = "1.21.4"
	then := func(busy, others int, quota float64) Stage {
		s := busyworkerStage(o, busy, others, int(quota*400e6)/busy)
		s.ID = fmt.Sprintf("then_%d_%d", busy, others)
		s.Title += ", with Go " + release
		s.GoVersions, s.Procs, s.Quotas = []string{release}, only(1, 10), quotas(quota)
		return s
	}
	for _, others := range otherWorkers {
		for _, busy := range busyWorkers {
			list = append(list, then(busy, others, 0.2))
		}
	}
	whole := then(4, 10, 1)
	whole.ID += "_quota_1"
	whole.Title += ", under a quota of 1"
	return append(list, whole)
}

// busyWorkers and otherWorkers are the numbers of goroutines that are measured with each other.
var busyWorkers, otherWorkers = []int{1, 4, 16}, []int{10, 100}

// Grid is a figure by two numbers: a ratio for each pair of them.
type Grid struct {
	Title         string
	Rows, Columns []string
	Cells         [][]Estimate // by row and column
}

// Grid is the experiment's figure by two numbers; nil: it has none, or nothing of it was measured.
func (e Experiment) Grid(r Results) *Grid {
	if e.grid == nil {
		return nil
	}
	g := e.grid(r)
	for _, row := range g.Cells {
		if slices.ContainsFunc(row, func(e Estimate) bool { return e.Value != nil }) {
			return &g
		}
	}
	return nil
}

// busyworkerGrid is in the place of the document's lost figure, which had busyWorkers and
// otherWorkers.
func busyworkerGrid(r Results) Grid {
	g := Grid{Title: "time of 10 Ps ÷ time of one, under a CPU limit of 0.2, with Go 1.21.4, by busy and other goroutines"}
	for _, others := range otherWorkers {
		g.Columns = append(g.Columns, fmt.Sprintf("%d other", others))
	}
	for _, busy := range busyWorkers {
		g.Rows = append(g.Rows, fmt.Sprintf("%d busy", busy))
		var row []Estimate
		for _, others := range otherWorkers {
			took := figure("Busyworker/busy=" + strconv.Itoa(busy) + "/other=" + strconv.Itoa(others) + " ns/op").At("10")
			row = append(row, took.in(fmt.Sprintf("then_%d_%d", busy, others)).under(0.2).built("1.21.4").over("1").of(r).finite())
		}
		g.Cells = append(g.Cells, row)
	}
	return g
}

func busyworkerStage(o Options, busy, others, n int) Stage {
	args := fmt.Sprintf("-busy %d -other %d -n %d", busy, others, n)
	return sweep{
		title: fmt.Sprintf("%d busy and %d other goroutines", busy, others),
		quick: size{takes: 1200 * ms, args: args, procs: "1 10", quotas: []float64{0.2}},
		full:  size{takes: 2200 * ms, args: args, procs: "1 2 4 10", quotas: []float64{0.2}},
	}.stage("busyworker", Batch, o)
}
