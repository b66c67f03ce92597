package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func render(t testing.TB, r *verdict.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, Write(&b, r))
	return b.Bytes()
}

func TestEveryLineReadsBack(t *testing.T) {
	for name, r := range map[string]*verdict.Result{"typical": pagetest.Typical(), "groups": pagetest.Groups(), "varied": pagetest.Varied(200), "hostile": pagetest.Hostile(), "empty": {}} {
		want := 0
		for _, g := range slices.Concat(r.Groups, r.Compared) {
			for _, a := range g.Settings {
				for _, p := range a.Points {
					if p.Valid && (p.Role == "measure" || p.Role == "aa") { // those that the verdict uses
						want++
					}
				}
			}
		}
		reader := benchfmt.NewReader(bytes.NewReader(render(t, r)), name)
		got := 0
		for reader.Scan() {
			switch rec := reader.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Errorf("%s: %v", name, rec)
			case *benchfmt.Result:
				got++
				if _, parts := rec.Name.Parts(); !strings.HasPrefix(string(parts[len(parts)-1]), "/procs=") {
					t.Errorf("%s: the name %s does not end in its procs", name, rec.Name)
				}
			}
		}
		if err := reader.Err(); err != nil {
			t.Error(err)
		}
		if got != want {
			t.Errorf("%s: %d trials read back, want %d", name, got, want)
		}
	}
}

// Each benchmark has lines of its own, by its own name; the run's metrics are on
// the run's lines.
func TestMetrics(t *testing.T) {
	r := pagetest.Benchmarks()
	g := &r.Groups[0]
	g.Settings[1].Metrics["pause ms"] = verdict.MetricInterval{Better: "lower"}
	g.Settings[1].Metrics["odd\nname s"] = verdict.MetricInterval{Unit: "s", Better: "sideways"}
	for i := range g.Settings[1].Points {
		g.Settings[1].Points[i].Metrics = map[string]journal.Metric{"Large/tree ns/op": {Value: 8000}, "Small ns/op": {Value: 1000}, "Small allocs/op": {Value: 3}, "pause ms": {Value: 7}, "odd\nname s": {Value: 1}}
	}
	out := string(render(t, r))
	for _, want := range []string{
		"Unit op/s better=higher\n", "Unit ns/op better=lower\n", "Unit pause_ms better=lower\n",
		"\nBenchmarkLarge/tree/procs=1 1 8000 ns/op\n", "\nBenchmarkSmall/procs=1 1 3 allocs/op 1000 ns/op\n",
		" op/s 7 pause_ms\n", "\nBenchmark_odd_name/procs=1 1 1 s\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%.1500s", want, out)
		}
	}
	if n := strings.Count(out, "BenchmarkSmall/procs=8 "); n != 6 {
		t.Errorf("%d lines of Small at 8, want one a trial", n)
	}
	reader := benchfmt.NewReader(strings.NewReader(out), "bench.txt")
	for reader.Scan() {
		if e, ok := reader.Result().(*benchfmt.SyntaxError); ok {
			t.Error(e)
		}
	}
	if strings.Contains(out, "sideways") {
		t.Error("a direction that benchstat does not know")
	}
}

func TestNames(t *testing.T) {
	two, half := 2, 0.5
	for _, c := range []struct {
		run     string
		group   verdict.Group
		setting verdict.Row
		want    string
	}{
		{"cpuserver", verdict.Group{Setting: journal.Setting{Replicas: 1}}, verdict.Row{Procs: &two}, "Cpuserver/procs=2"},
		{"my-server.8", verdict.Group{Setting: journal.Setting{QuotaCPUs: &half, Replicas: 4, GoVersion: "1.26-rc1"}}, verdict.Row{}, "Myserver8/quota=0.5/replicas=4/go=1.26_rc1/procs=unset"},
		{"é\n", verdict.Group{}, verdict.Row{Procs: &two, Variant: "a/b c"}, "Sweep/variant=a_b_c/procs=2"},
	} {
		if got := name(title(c.run), &c.group, &c.setting); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// benchstat itself finds the settings as columns, and which way each unit is better.
func TestBenchstatReadsIt(t *testing.T) {
	goTool := need.Command(t, "go")
	path := filepath.Join(t.TempDir(), "bench.txt")
	must.OK(t, os.WriteFile(path, render(t, pagetest.Typical()), 0o644))
	c := exec.Command(goTool, "run", "golang.org/x/perf/cmd/benchstat", "-col", "/procs", "-format", "csv", path)
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	text := string(out)
	for _, want := range []string{",unset,,1,", ",req/s,CI,", ",p50-sec,CI,", ",p99-sec,CI,", "Cpuserver,"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !strings.Contains(text, "-47.65%") && !strings.Contains(text, "-48") {
		t.Errorf("1 P against unset is not shown as slower:\n%s", text)
	}
}
