package aa

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

var update = flag.Bool("update", false, "write docs/evidence/repeated-sweeps.md")

// TestAgain sweeps five servers PROCFIT_AGAIN times each, next to a Go compiler that works
// for ten seconds of every thirty, and asks a grid of ten blocks on the quiet machine what
// each named value loses. Sweeps that its folder holds already are not run again, so that
// they can be of different hours: PROCFIT_AGAIN=1 now, 2 in an hour.
func TestAgain(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("PROCFIT_AGAIN"))
	if err != nil || n < 1 {
		t.Skip("25 sweeps and five grids, an hour: by hand, with PROCFIT_AGAIN=5")
	}
	for _, what := range []string{"caddy", "etcd", "prometheus"} {
		if missing := need.Missing(what); missing != "" {
			need.Skip(t, missing)
		}
	}
	root := filepath.Join(cacheDir(t), "again")
	page, grids := strings.Builder{}, strings.Builder{}
	wrong, named := 0, 0
	program := build(t)
	for _, s := range servers(t, root) {
		name := s.name
		var all []*verdict.Result
		func() {
			defer compile(t)()
			for i := range n {
				all = append(all, swept(t, program, filepath.Join(root, fmt.Sprintf("%s-%d", name, i)), s.args...))
			}
		}()
		grid := swept(t, program, filepath.Join(root, name+"-grid"), append([]string{"--repeats", "10"}, s.args...)...)
		grids.WriteString(ofGrid(name, grid))
		for i, r := range all {
			row := compared(r, grid)
			fmt.Fprintf(&page, "| %s | %s | %s |\n", name, r.Started.UTC().Format("2 January 15:04"), row)
			t.Logf("%s, sweep %d: %s", name, i+1, row)
			if row.procs > 0 {
				named++
			}
			if row.wrong() {
				wrong++
			}
		}
	}
	t.Logf("%d of %d named values lose more than the margin", wrong, named)
	if wrong*50 > named {
		t.Errorf("%d of %d named values lose more than the margin, want at most 2%%", wrong, named)
	}
	if *update {
		writePage(t, page.String(), grids.String(), wrong, named, n)
	}
}

// server is a program that is swept, with what the command line needs for it.
type server struct {
	name string
	args []string
}

// servers are the programs that are swept: one of procfit's own, and four that nobody here
// wrote.
func servers(t *testing.T, root string) []server {
	t.Helper()
	files := filepath.Join(root, "files")
	must.Write(t, filepath.Join(files, "page.txt"), strings.Repeat("procfit ", 512))
	empty := filepath.Join(root, "prometheus.yml")
	must.Write(t, empty, "")
	const url = "http://127.0.0.1:{port}"
	list := []server{
		{"built-in", nil},
		{"caddy", []string{"--url", url + "/page.txt", "--", "caddy", "file-server", "--listen", "127.0.0.1:{port}", "--root", files}},
		{"etcd", []string{"--url", url + "/v3/kv/range", "--body", `{"key": "Zm9v"}`, "--", "etcd", "--data-dir", filepath.Join(root, "etcd"), "--log-level", "error",
			"--listen-client-urls", url, "--advertise-client-urls", url, "--listen-peer-urls", "http://127.0.0.1:23801"}},
		{"prometheus", []string{"--url", url + "/metrics", "--", "prometheus", "--config.file", empty, "--storage.tsdb.path", filepath.Join(root, "prometheus"),
			"--web.listen-address", "127.0.0.1:{port}", "--log.level", "error"}},
		{"grpc", []string{"--url", "h2c://127.0.0.1:{port}", "--grpc", "helloworld.Greeter/SayHello", "--body", `{"name": "procfit"}`, "--", grpcServer(t, root), "-port", "{port}"}},
	}
	return list
}

// grpcServer is grpc-go's example of a server with reflection.
func grpcServer(t *testing.T, root string) string {
	t.Helper()
	dir, path := filepath.Join(root, "grpc"), filepath.Join(root, "grpc-server")
	must.Write(t, filepath.Join(dir, "go.mod"), "module again\n\ngo 1.25.0\n")
	const example = "google.golang.org/grpc/examples/features/reflection/server"
	for _, args := range [][]string{{"get", example + "@v0.0.0-20260825154716-030ee8becb20"}, {"build", "-o", path, example}} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		must.Output(t, cmd)
	}
	return path
}

// compile builds the standard library's parts of a Go program for ten seconds of every
// thirty, as a developer's other work does, until the test calls what is returned.
func compile(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			burst, end := context.WithTimeout(ctx, 10*time.Second)
			cmd := exec.CommandContext(burst, "go", "build", "-a", "-p", "1", "net/http")
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			_ = cmd.Run() // it is meant to be cut off
			end()
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Second):
			}
		}
	}()
	return func() { cancel(); <-done }
}

// swept runs or completes a sweep in the folder.
func swept(t *testing.T, program, dir string, args ...string) *verdict.Result {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "result.json")); err != nil {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"sweep", "-q", "--trial-time", "1s", "--out", dir}, args...)...)
		must.Output(t, cmd)
	}
	contents := must.Get(journal.ReadDirectory(dir))(t)
	return verdict.Analyze(contents.Header, contents.Trials)
}

// loss is what the value that a sweep named loses, by a grid.
type loss struct {
	verdict         verdict.Verdict
	procs           int     // 0: the sweep named none
	confidence      string  // proven or likely
	throughput, p99 float64 // against the best of the grid; NaN: not known
}

// Margins of a sweep; the p99 counts against values that latency may prefer.
func (l loss) wrong() bool { return l.procs > 0 && (l.throughput > 0.05 || l.p99 > 0.20) }

func (l loss) String() string {
	said := strings.TrimSpace(strings.ReplaceAll(string(l.verdict), "_", " ") + " " + l.confidence)
	if l.procs == 0 {
		return said + " | – | – | –"
	}
	share := func(x float64) string {
		if math.IsNaN(x) {
			return "unknown"
		}
		return number.Share(x)
	}
	return fmt.Sprintf("%s | %d | %s | %s", said, l.procs, share(l.throughput), share(l.p99))
}

func compared(r, grid *verdict.Result) loss {
	l := loss{verdict: r.Recommendation.Verdict, confidence: string(r.Recommendation.Confidence), throughput: math.NaN(), p99: math.NaN()}
	switch {
	case r.Recommendation.Procs != nil:
		l.procs = *r.Recommendation.Procs
	case l.verdict == verdict.KeepDefault && r.Groups[0].Default.Procs != nil:
		l.procs = *r.Groups[0].Default.Procs // an answer like any other
	default:
		return l
	}
	g := grid.Groups[0]
	fastest, promptest := 0.0, math.Inf(1)
	for _, v := range g.Values {
		if m := v.Throughput.Median; m != nil {
			fastest = max(fastest, *m)
		}
	}
	for _, v := range g.Values { // a verdict compares the p99 of values that are as fast
		if m := v.Throughput.Median; m == nil || *m < 0.95*fastest {
			continue
		}
		if m := v.P99.Median; m != nil && v.Procs > 0 && v.Procs <= runtime.NumCPU() && v.Excluded == nil {
			promptest = min(promptest, *m)
		}
	}
	for _, v := range g.Values {
		if v.Procs != l.procs {
			continue
		}
		if m := v.Throughput.Median; m != nil {
			l.throughput = 1 - *m/fastest
		}
		if m := v.P99.Median; m != nil {
			l.p99 = *m/promptest - 1
		}
	}
	return l
}

// ofGrid are the rows of a grid: each value, its throughput and its p99.
func ofGrid(name string, grid *verdict.Result) string {
	rows := strings.Builder{}
	for _, v := range grid.Groups[0].Values {
		if v.Procs > 0 && v.Throughput.Median != nil && v.P99.Median != nil {
			fmt.Fprintf(&rows, "| %s | %d | %s | %s |\n", name, v.Procs, number.Rate(*v.Throughput.Median), number.Seconds(*v.P99.Median))
		}
	}
	return rows.String()
}

func writePage(t *testing.T, rows, grids string, wrong, named, n int) {
	t.Helper()
	text := fmt.Sprintf(`# The same answer again

Made on %s by a test on a virtual machine with %d CPUs, %s. Five servers were swept %d times each, while Go programs were compiled on the same machine. A grid of ten blocks measured all values again, on the quiet machine. *Loses* is what the value that a sweep named has less of throughput, or more of p99, than the best value of the grid. As in a verdict, the p99 is compared with values up to the number of CPUs whose throughput is within 5%% of the highest.

**%d of %d named values lose more than the margin** (5%% of throughput, 20%% of p99; the goal was at most 2%%). A sweep that names no value cannot be wrong.

| server | sweep, started (UTC) | verdict | value | loses throughput | loses p99 |
|---|---|---|---:|---:|---:|
%s
What the grids measured:

| server | GOMAXPROCS | req/s | p99, or p95 where it is judged instead |
|---|---:|---:|---:|
%s
To make this page again (an hour, on a machine that does nothing else):

    PROCFIT_AGAIN=%d go test ./test/aa -run TestAgain -count 1 -timeout 3h -v -update
`, time.Now().UTC().Format("2 January 2006"), runtime.NumCPU(), runtime.Version(), n, wrong, named, rows, grids, n)
	must.OK(t, os.WriteFile("../../docs/evidence/repeated-sweeps.md", []byte(text), 0o644))
}
