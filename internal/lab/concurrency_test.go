package lab

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/gobench"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// skipRacy leaves out the program that is built to be wrong where that would be found.
func skipRacy(t *testing.T, id string) {
	if need.Raced && id == "racy" {
		t.Skip("the race detector would find what is there to be found")
	}
}

// builds are the figures of what is compiled with a C compiler, by experiment and stage.
var builds = map[string][]string{
	"blocking c":    {"Calls ns/op", "Calls threads/call", "Calls calls/s"},
	"racy detector": {"races"},
}

// TestBuildsTypeCheck: each program that procfit itself does not hold has the source that its
// stage asks for, which uses C or the race detector and has no error of types.
func TestBuildsTypeCheck(t *testing.T) {
	files := token.NewFileSet()
	check := types.Config{FakeImportC: true, Importer: importer.ForCompiler(files, "source", nil)}
	seen := map[string]bool{}
	eachBuild(t, func(name, _, source string, s Stage) {
		seen[name] = true
		file := must.Get(parser.ParseFile(files, "main.go", source, 0))(t)
		if _, err := check.Check("main", files, []*ast.File{file}, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		c := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
		if file.Name.Name != "main" || c == s.Build.Race {
			t.Errorf("%s: package %s, calls C: %v, built with -race: %v", name, file.Name.Name, c, s.Build.Race)
		}
	})
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, slices.Sorted(maps.Keys(builds))) {
		t.Errorf("%q are built, want those of which TestBuilds knows the metrics", got)
	}
	if _, err := (Build{Source: "none"}).Of("racy"); err == nil {
		t.Error("a source that is not there")
	}
}

// eachBuild calls f with each stage whose program procfit itself does not hold, and its source.
func eachBuild(t *testing.T, f func(name, id, source string, s Stage)) {
	for _, e := range List() {
		for _, s := range e.Stages(Options{CPUs: 2}) {
			if s.Build != (Build{}) {
				f(e.ID+" "+s.ID, e.ID, must.Get(s.Build.Of(e.ID))(t), s)
			}
		}
	}
}

// TestBuilds compiles each of them, and runs it small.
func TestBuilds(t *testing.T) {
	need.Everything(t, "compiles the standard library for the race detector; TestBuildsTypeCheck checks the sources, and TestRun runs the programs of all other stages")
	if _, err := toolchain.CCompiler(); err != nil {
		need.Skip(t, err.Error())
	}
	chain, err := toolchain.Fetch(t.Context(), strings.TrimPrefix(runtime.Version(), "go"))
	if err != nil {
		need.Skip(t, err.Error())
	}
	small := map[string]string{"blocking c": "-n 5 -d 20ms", "racy detector": "-n 2000"}
	eachBuild(t, func(name, id, source string, s Stage) {
		program := filepath.Join(t.TempDir(), id)
		must.OK(t, chain.BuildC(t.Context(), []byte(source), s.Build.Race, program))
		cmd := exec.CommandContext(t.Context(), program, strings.Fields(small[name])...)
		cmd.Env = append(append(os.Environ(), "GOMAXPROCS=3"), s.Target.Env...)
		output, err := cmd.CombinedOutput()
		if err != nil || small[name] == "" || !bytes.Contains(output, []byte(id+": GOMAXPROCS=3 ")) {
			t.Fatalf("%s, of the sizes %q: %v: %s", name, small[name], err, output)
		}
		var figures []string
		for _, m := range s.Load.Metrics {
			if found := m.Regexp.FindSubmatch(output); found != nil && !bytes.Equal(found[1], []byte("0")) {
				figures = append(figures, m.Name)
			}
		}
		if len(s.Load.Metrics) == 0 {
			results, _, err := gobench.ParseOutput(output, 3)
			if err != nil || len(results) != 1 {
				t.Fatalf("%s: %v, %d results in %s", name, err, len(results), output)
			}
			for unit := range results[0].Values {
				figures = append(figures, results[0].Name+" "+unit)
			}
		}
		slices.Sort(figures)
		if want := slices.Sorted(slices.Values(builds[name])); !slices.Equal(figures, want) {
			t.Errorf("%s prints %q, want %q, in:\n%s", name, figures, want, output)
		}
		if usage, err := exec.Command(program, "extra").CombinedOutput(); err == nil || !strings.HasPrefix(string(usage), id+": ") {
			t.Errorf("%s of a stray word: %v: %s", name, err, usage)
		}
	})
}

// TestTenants starts the program as its own, since it starts itself: the quiet tenant as
// another process, and pinned by taskset.
func TestTenants(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	program := standaloneProgram(t, "tenants")
	line := regexp.MustCompile(`^BenchmarkTenants 1 (\d+) ns/op (\d+) beside-p99-ns (\d+) alone-p99-ns\n$`)
	hows := []string{"together", "processes"}
	if runtime.GOOS == "linux" && runtime.NumCPU() > 1 && need.Missing("taskset") == "" {
		hows = append(hows, "pinned")
	}
	for _, how := range hows {
		m := line.FindStringSubmatch(run(t, program, "2", "-how", how, "-d", "50ms", "-rate", "200"))
		if m == nil || slices.Contains(m[1:], "0") {
			t.Errorf("%s: %q", how, m)
		}
	}
	// In this process there is no command to start itself by.
	var stderr bytes.Buffer
	if code, err := Run("tenants", []string{"-how", "processes", "-d", "1ms"}, &stderr, &stderr); code != 1 || err != nil || !strings.Contains(stderr.String(), "processes: two processes take one that is started for this alone") {
		t.Errorf("exit code %d, %v: %s", code, err, stderr.String())
	}
}

// made is a stage whose settings have the figures, each eight times with little noise: by
// the number of Ps, or by all of them.
func made(cpus float64, quota float64, figures map[int]map[figure]float64) Measured {
	m := Measured{Result: &verdict.Result{Host: journal.Host{EffectiveCPUs: cpus}}}
	for procs, values := range figures {
		for block := range 8 {
			noise := 1 + 0.001*float64(3*block%8)
			t := journal.Trial{Setting: journal.Setting{Procs: new(procs)}, Role: journal.RoleMeasure, Block: block, Valid: true, Metrics: map[string]journal.Metric{}}
			t.MeasuredSeconds = 1
			if quota > 0 {
				t.Setting.QuotaCPUs = &quota
			}
			for f, x := range values {
				x *= noise
				switch f {
				case throughput:
					t.ThroughputPerSecond = &x
				case cpuEach:
					t.ThroughputPerSecond, t.CPUSeconds = new(1.0), &journal.CPUSeconds{User: x}
				case cpuOfRun:
					t.CPUSeconds = &journal.CPUSeconds{User: x}
				case openCPUEach:
					t.Phases = []journal.Phase{{Mode: journal.ModeOpen, AchievedPerSecond: 1, Usage: &journal.Usage{MeasuredSeconds: 1, CPUSeconds: &journal.CPUSeconds{User: x}}}}
				case overNeighbour:
					t.CPUSeconds, t.BesideCPUSeconds = &journal.CPUSeconds{User: x}, new(1.0)
				case switches:
					t.ContextSwitches = &journal.ContextSwitches{Voluntary: int64(x)}
				default:
					t.Metrics[string(f)] = journal.Metric{Value: x}
				}
			}
			m.Trials = append(m.Trials, t)
		}
	}
	return m
}

type figures = map[figure]float64

// TestStatements decides each of the further experiments' hypotheses by trials that are
// made for it, on machines of two CPUs and of more.
func TestStatements(t *testing.T) {
	level := func(f figure, x float64) figures { return figures{f: x} }
	two, eight := 2.0, 8.0
	for _, tc := range []struct {
		id, hypothesis string
		cpus           float64
		results        Results
		want           float64 // the ratio
		answer         Answer
	}{
		{"cpuserver", "two_ps_by_cost", two, Results{"shared": made(two, 0, map[int]figures{1: level(cpuEach, 0.010), 2: level(cpuEach, 0.0105)})}, 2 * 0.010 / 0.0105, Holds},
		{"uber", "one_p_by_cost", two, Results{"": made(two, 2, map[int]figures{1: level(cpuEach, 0.010), 2: level(cpuEach, 0.010)})}, 0.5, DoesNotHold},
		{"uber", "three_ps_by_cost", two, Results{"": made(two, 2, map[int]figures{2: level(cpuEach, 0.010), 3: level(cpuEach, 0.0101)})}, 100.0 / 101, Holds},
		{"threads", "four_run_at_once", two, Results{"": made(two, 0, map[int]figures{4: level("running", 3)})}, 3, Holds},
		{"threads", "four_run_at_once", two, Results{"": made(two, 0, map[int]figures{4: level("running", 6)})}, 6, DoesNotHold},
		{"headroom", "throughput_prefers_one_more", two, Results{"blocked": made(two, 0, map[int]figures{2: level(throughput, 100), 3: level(throughput, 104)})}, 1.04, Holds},
		{"cpuserver", "one_more_is_identical", two, Results{"shared": made(two, 0, map[int]figures{2: level(throughput, 100), 3: level(throughput, 90)})}, 0.9, NotAsked},
		{"cpuserver", "one_more_is_identical", eight, Results{"shared": made(eight, 0, map[int]figures{8: level(throughput, 100), 9: level(throughput, 90)})}, 0.9, DoesNotHold},
		{"cpuserver", "one_less_is_identical", eight, Results{"shared": made(eight, 0, map[int]figures{7: level(cpuEach, 1), 8: level(cpuEach, 1)})}, 7.0 / 8, DoesNotHold},
		{"cpuserver", "one_less_is_identical", two, Results{"shared": made(two, 0, map[int]figures{1: level(cpuEach, 1.15), 2: level(cpuEach, 1)})}, 7.0 / 8 / 1.15, DoesNotHold},
		{"headroom", "latency_prefers_cpus", two, Results{"mixed": made(two, 0, map[int]figures{2: level("Headroom p99-ns", 10), 3: level("Headroom p99-ns", 9)})}, 0.9, DoesNotHold},
		{"headroom", "gogc_gains_more", two, Results{"allocating": made(two, 0, map[int]figures{3: level(throughput, 100)}), "gogc": made(two, 0, map[int]figures{2: level(throughput, 130)})}, 1.3, Holds},
		{"idle", "no_thread", two, Results{"": made(two, 0, map[int]figures{1: level("Idle/http threads/conn", 0)})}, 0, Holds},
		{"idle", "no_p", two, Results{"": made(two, 0, map[int]figures{2: {"Idle/http alone-sums/s": 100, "Idle/http beside-sums/s": 99}})}, 0.99, Holds},
		{"extremes", "from_four_to_sixteen", two, Results{"cpus": made(two, 0, map[int]figures{8: level(throughput, 100), 32: level(throughput, 90)})}, 0.9, Holds},
		{"extremes", "context_switches", two, Results{"cpus": made(two, 0, map[int]figures{2: level(switches, 1000), 32: level(switches, 1100)})}, 1.1, DoesNotHold},
		{"extremes", "memory", eight, Results{"cpus": made(eight, 0, map[int]figures{8: level("Extremes memory-B", 1e7), 256: level("Extremes memory-B", 2e7)})}, 2, Holds},
		{"extremes", "catastrophe", two, Results{"pod": made(two, 1, map[int]figures{1: level(throughput, 100), 128: level(throughput, 80)})}, 0.8, NotAsked},
		{"extremes", "catastrophe", 64, Results{"pod": made(64, 1, map[int]figures{1: level(throughput, 100), 128: level(throughput, 80)})}, 0.8, DoesNotHold},
		{"extremes", "ten_times", two, Results{"pod": made(two, 1, map[int]figures{1: level("Extremes p99-ns", 1), 128: level("Extremes p99-ns", 12)})}, 12, Holds},
		{"extremes", "ten_times", two, Results{"pod": made(two, 1, map[int]figures{1: level("Extremes p99-ns", 1), 128: level("Extremes p99-ns", 5)})}, 5, NotAsked},
		{"extremes", "ten_times", 64, Results{"pod": made(64, 1, map[int]figures{1: level("Extremes p99-ns", 1), 128: level("Extremes p99-ns", 12)})}, 12, Holds},
		{"gc", "one_goroutine_gains", two, Results{"free": made(two, 0, map[int]figures{1: level("GC ns/op", 120), 2: level("GC ns/op", 100)})}, 1.2, Holds},
		{"gc", "not_impacted", two, Results{"free": made(two, 0, map[int]figures{1: level("GC gc-cpus", 0.25), 2: level("GC gc-cpus", 0.5)})}, 2, DoesNotHold},
		{"gc", "quota_pauses", two, Results{"quota": made(two, 1, map[int]figures{1: level("GC pause-max-ns", 1e5), 8: level("GC pause-max-ns", 5e7)})}, 500, Holds},
		{"gc", "settles", two, Results{"free": made(two, 0, map[int]figures{2: level("GC settled-cycle", 3)})}, 3, Holds},
		{"blocking", "a_thread_each", two, Results{"calls": made(two, 0, map[int]figures{1: level("Blocking threads/call", 0.98)})}, 0.98, Holds},
		{"blocking", "c_above_cpus", two, Results{"c": made(two, 0, map[int]figures{2: level("Calls calls/s", 100), 8: level("Calls calls/s", 300)})}, 3, DoesNotHold},
		{"workload", "mixed_at_cpus", two, Results{"mixed": made(two, 0, map[int]figures{2: level("sums", 100), 8: level("sums", 99)})}, 100.0 / 99, Holds},
		{"tenants", "one_process", two, Results{"together": made(two, 0, map[int]figures{2: {"Tenants beside-p99-ns": 20, "Tenants alone-p99-ns": 1}})}, 20, Holds},
		{"tenants", "unequal", two, Results{
			"processes": made(two, 0, map[int]figures{1: level("Tenants beside-p99-ns", 1)}), "together": made(two, 0, map[int]figures{2: level("Tenants beside-p99-ns", 4)}),
		}, 0.25, Holds},
		{"tenants", "quota", two, Results{
			"quota": made(two, 1, map[int]figures{1: level("Tenants/quiet p99-ns", 3)}), "together": made(two, 0, map[int]figures{2: level("Tenants beside-p99-ns", 1)}),
		}, 3, DoesNotHold},
		{"tenants", "weights", two, Results{"weights": made(two, 0, map[int]figures{2: level(overNeighbour, 4.5)})}, 4.5, Holds},
		{"tenants", "weights", two, Results{"weights": made(two, 0, map[int]figures{2: level(overNeighbour, 1)})}, 1, DoesNotHold},
		{"spin", "eight_times_10", two, Results{"at_10": made(two, 0, map[int]figures{2: level(openCPUEach, 1e-4), 16: level(openCPUEach, 1.2e-4)})}, 1.2, Holds},
		{"spin", "eight_times_50", two, Results{"at_50": made(two, 0, map[int]figures{2: level(openCPUEach, 1e-4), 16: level(openCPUEach, 1e-4)})}, 1, DoesNotHold},
		{"spin", "half_30", two, Results{"at_30": made(two, 0, map[int]figures{1: level(openCPUEach, 0.8e-4), 2: level(openCPUEach, 1e-4)})}, 0.8, Holds},
		{"spin", "half_10", two, Results{"at_10": made(two, 0, map[int]figures{1: level(openCPUEach, 1e-4), 2: level(openCPUEach, 1e-4)}).with(func(t *journal.Trial) { t.Saturated = true })}, math.NaN(), Undecided},
		{"stealing", "fair_two_ps", two, Results{"fair": made(two, 0, map[int]figures{2: level("Stealing jain-index", 0.97)})}, 0.97, Holds},
		{"stealing", "fair_four_ps", two, Results{"fair": made(two, 0, map[int]figures{4: level("Stealing jain-index", 0.6)})}, 0.6, DoesNotHold},
		{"stealing", "steals_cost", two, Results{"short": made(two, 0, map[int]figures{2: level(cpuOfRun, 1), 16: level(cpuOfRun, 1.3)})}, 1.3, Holds},
		{"racy", "undetected", two, Results{"counter": made(two, 0, map[int]figures{1: level("Racy/increment lost-ppm", 0)})}, 0, Holds},
		{"racy", "keeps_working", two, Results{"then": made(two, 0, map[int]figures{1: level("Racy/compute lost-ppm", 0)}).with(func(t *journal.Trial) { t.Setting.GoVersion = "1.5.4" })}, 0, Holds},
		{"racy", "detected_at_one", two, Results{"detector": made(two, 0, map[int]figures{1: level("races", 2)})}, 2, Holds},
		{"remedies", "batches", two, Results{"": made(two, 0, map[int]figures{2: {"Remedies/mutex ns/op": 60, "Remedies/batched ns/op": 1}})}, 60, Holds},
		{"remedies", "choose_procs", two, Results{"": made(two, 0, map[int]figures{1: level("Remedies/mutex ns/op", 60), 2: level("Remedies/mutex ns/op", 60)})}, 1, DoesNotHold},
	} {
		e := must.Get(Find(tc.id))(t)
		i := slices.IndexFunc(e.Hypotheses, func(h Hypothesis) bool { return h.ID == tc.hypothesis })
		if i < 0 {
			t.Errorf("%s has no hypothesis %s", tc.id, tc.hypothesis)
			continue
		}
		got := judge(e, tc.results, tc.cpus)[i]
		if math.IsNaN(tc.want) { // no value
			if got.Measured.Value != nil || got.Answer != tc.answer || !strings.Contains(got.Reason, "did not keep up with the rate") {
				t.Errorf("%s/%s: %s %q of %+v", tc.id, tc.hypothesis, got.Answer, got.Reason, got.Measured)
			}
			continue
		}
		if got.Measured.Value == nil || math.Abs(*got.Measured.Value-tc.want) > 0.005*tc.want+1e-9 || got.Answer != tc.answer {
			t.Errorf("%s/%s of %s CPUs: %s %q of %+v, want %s of %g", tc.id, tc.hypothesis, strconv.FormatFloat(tc.cpus, 'g', -1, 64), got.Answer, got.Reason, got.Measured, tc.answer, tc.want)
		}
	}
}

// The figure of busyworker has a ratio for each pair of numbers that was measured.
func TestGrid(t *testing.T) {
	e := must.Get(Find("busyworker"))(t)
	took := func(ns float64) figures { return figures{"Busyworker/busy=4/other=100 ns/op": ns} }
	g := e.Grid(Results{"then_4_100": made(10, 0.2, map[int]figures{1: took(100), 10: took(250)}).with(func(t *journal.Trial) { t.Setting.GoVersion = "1.21.4" })})
	if g == nil || len(g.Rows) != 3 || len(g.Columns) != 2 {
		t.Fatalf("%+v", g)
	}
	for i, row := range g.Cells {
		for j, cell := range row {
			if measured := i == 1 && j == 1; (cell.Value != nil) != measured || measured && (math.Abs(*cell.Value-2.5) > 1e-9 || cell.Low == nil) {
				t.Errorf("%s and %s: %+v", g.Rows[i], g.Columns[j], cell)
			}
		}
	}
	if g := e.Grid(Results{}); g != nil {
		t.Errorf("a figure of nothing: %+v", g)
	}
	if other, _ := Find("chain"); other.Grid(Results{}) != nil {
		t.Error("chain has a figure by two numbers")
	}
}
