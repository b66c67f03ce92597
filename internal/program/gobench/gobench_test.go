package gobench

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		command                   string
		pkg, chdir                string
		build, flags, args, error string
	}{
		{command: "go test -bench .", flags: "-test.bench=. -test.run=^$"},
		{command: "go test -bench=Parse/small ./parser", pkg: "./parser", flags: "-test.bench=Parse/small -test.run=^$"},
		{command: "/opt/go/bin/go test ./p -race -tags a,b --bench=X -count 3 -benchmem -run=^Test$",
			pkg: "./p", build: "-race=true -tags=a,b", flags: "-test.bench=X -test.count=3 -test.benchmem=true -test.run=^Test$"},
		{command: "go1.24.6 test -C dir -gcflags=-N -test.bench X -v -args -own 1 -bench 2",
			chdir: "dir", build: "-gcflags=-N", flags: "-test.bench=X -test.v=true -test.run=^$", args: "-own 1 -bench 2"},
		{command: "go test -benchmem=false -short -bench X -coverprofile c.out p",
			pkg: "p", build: "-cover=true", flags: "-test.benchmem=false -test.short=true -test.bench=X -test.coverprofile=c.out -test.run=^$"},
		{command: "go test -bench . -cpu 1,2", error: "--procs"},
		{command: "go test -bench . ./...", error: "several packages"},
		{command: "go test -bench . a b", error: "two packages"},
		{command: "go test -json -bench .", error: "-json"},
		{command: "go test -bench . -mine 3", error: "-args"},
		{command: "go test -bench", error: "lacks its value"},
	} {
		g, err := Parse(strings.Fields(test.command))
		if test.error != "" {
			if err == nil || !strings.Contains(err.Error(), test.error) {
				t.Errorf("%s: error %v, want %q", test.command, err, test.error)
			}
			continue
		}
		if err != nil || g == nil {
			t.Errorf("%s: %v, %v", test.command, g, err)
			continue
		}
		if g.Package != test.pkg || g.Chdir != test.chdir || g.Go != strings.Fields(test.command)[0] ||
			strings.Join(g.BuildFlags, " ") != test.build || strings.Join(g.TestFlags, " ") != test.flags || strings.Join(g.Args, " ") != test.args {
			t.Errorf("%s: got %+v", test.command, g)
		}
	}
	for _, other := range []string{"", "go", "go test ./p", "go run -bench .", "gofmt test -bench .", "go test ./p -args -bench .", "./server -bench ."} {
		if g, err := Parse(strings.Fields(other)); g != nil || err != nil {
			t.Errorf("%q is taken for a benchmark: %+v, %v", other, g, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("go test -bench . -cpu 1 ./p -args -x")
	f.Add("go test -C=d --bench=X -- p")
	f.Fuzz(func(t *testing.T, line string) {
		g, err := Parse(strings.Fields(line))
		if g == nil || err != nil {
			return
		}
		for _, flag := range append(g.BuildFlags, g.TestFlags...) {
			if strings.HasPrefix(strings.TrimLeft(flag, "-"), "test.cpu=") || !strings.Contains(flag, "=") {
				t.Fatalf("%q gives flag %q", line, flag)
			}
		}
	})
}

const benchOutput = `goos: linux
pkg: example.com/p
some print of the program
BenchmarkParse/size-8-4         	     100	      2000 ns/op	  50.5 MB/s	      16 B/op	       1 allocs/op
BenchmarkParse/size-8-4         	     100	      4000 ns/op	  49.5 MB/s	      16 B/op	       3 allocs/op
BenchmarkQueue-4   	     100	      10.5 ns/op	         7.000 items/op
BenchmarkBroken-4 100
PASS
`

func TestParseOutput(t *testing.T) {
	parse := map[string]float64{"ns/op": 3000, "MB/s": 50, "B/op": 16, "allocs/op": 2}
	queue := map[string]float64{"ns/op": 10.5, "items/op": 7}
	for procs, names := range map[int][]string{
		4: {"Parse/size-8", "Queue"},
		0: {"Parse/size-8", "Queue"},
		1: {"Parse/size-8-4", "Queue-4"}, // no suffix is written then, so these are names
	} {
		got, _, err := ParseOutput([]byte(benchOutput), procs)
		if err != nil || len(got) != 2 {
			t.Fatalf("procs %d: %+v, %v", procs, got, err)
		}
		if got[0].Name != names[0] || !maps.Equal(got[0].Values, parse) {
			t.Errorf("procs %d: got %+v, want %s %v", procs, got[0], names[0], parse)
		}
		if got[1].Name != names[1] || !maps.Equal(got[1].Values, queue) {
			t.Errorf("procs %d: got %+v, want %s %v", procs, got[1], names[1], queue)
		}
	}
	mixed := "BenchmarkA-8 1 2 ns/op\nBenchmarkB 1 2 ns/op\n"
	if got, _, err := ParseOutput([]byte(mixed), 0); err != nil || len(got) != 2 || got[0].Name != "A-8" {
		t.Errorf("names without a common suffix: %+v, %v", got, err)
	}
	undefined := "BenchmarkA 1 2 ns/op NaN hits/op +Inf x/op\nBenchmarkB 1 NaN ns/op\n"
	if got, _, err := ParseOutput([]byte(undefined), 1); err != nil || len(got) != 1 || !maps.Equal(got[0].Values, map[string]float64{"ns/op": 2}) {
		t.Errorf("what is no number: %+v, %v", got, err)
	}
	if got, _, err := ParseOutput([]byte("PASS\n"), 2); err != nil || len(got) != 0 {
		t.Errorf("no benchmark: %+v, %v", got, err)
	}
}

// What the code under test prints is between a benchmark's name and its result, before
// either, or on lines between (golang/go#25241): the result counts all the same. One that
// cannot be found is named.
func TestResultsAmongPrints(t *testing.T) {
	const (
		name   = "BenchmarkA/x=1_kB-2         \t"
		result = " 1000000\t      12.5 ns/op\t       0 B/op\n"
	)
	for what, c := range map[string]struct {
		output string
		lost   string
	}{
		"alone":                  {name + result, ""},
		"on the line":            {name + "hello" + result, ""},
		"on lines between":       {name + "2026/11/28 12:00:00 starting with 1\n" + "starting with 100\n" + result, ""},
		"before the name":        {"no line break" + name + result, ""},
		"before both":            {"dots...." + name + "more dots...\nand more." + result, ""},
		"a number before it":     {name + "loaded 17\n" + result, ""},
		"another one's, Windows": {name + "x\r\n" + strings.TrimSuffix(result, "\n") + "\r\n", ""},
		"and one without":        {name + result + "BenchmarkB-2\t\nPASS\n", "B"},
		"and the last without":   {name + result + "BenchmarkB-2\tpanic", "B"},
		"without, then another":  {"BenchmarkB-2\tx\n" + name + result, "B"},
		"verbose":                {"=== RUN   BenchmarkA\nBenchmarkA\n" + name + result, ""},
	} {
		got, lost, err := ParseOutput([]byte(c.output), 2)
		if err != nil || len(got) != 1 || got[0].Name != "A/x=1_kB" || !maps.Equal(got[0].Values, map[string]float64{"ns/op": 12.5, "B/op": 0}) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
		if strings.Join(lost, " ") != c.lost {
			t.Errorf("%s: lost %q, want %q", what, lost, c.lost)
		}
	}
}

func FuzzParseOutput(f *testing.F) {
	f.Add([]byte(benchOutput), 4)
	f.Add([]byte("BenchmarkA-8 1 NaN ns/op\n"), 0)
	f.Fuzz(func(t *testing.T, output []byte, procs int) {
		results, _, err := ParseOutput(output, procs)
		for _, r := range results {
			if err != nil || len(r.Values) == 0 {
				t.Fatalf("%q: %+v, %v", output, r, err)
			}
		}
	})
}

// module writes a small module and returns its directory.
func module(t *testing.T, goLine string, files map[string]string) string {
	t.Helper()
	need.Command(t, "go")
	dir := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo " + goLine + "\n"
	for name, text := range files {
		must.Write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func TestCompileBenchmark(t *testing.T) {
	dir := module(t, "1.24", map[string]string{
		"p/p_test.go": `package p
import ("os"; "testing")
func TestNot(t *testing.T) { t.Fatal("tests do not run beside benchmarks") }
func BenchmarkRead(b *testing.B) { for b.Loop() { if _, err := os.ReadFile("data"); err != nil { b.Fatal(err) } } }
`,
		"p/data":        "x",
		"q/q.go":        "package q\n",
		"bad/b_test.go": "package bad\nfunc f() { undefined() }\n",
	})
	compile := func(words ...string) ([]string, string, error) {
		g := must.Get(Parse(append([]string{"go", "test", "-bench=Read", "-benchtime=10x"}, words...)))(t)
		return g.Compile(t.Context(), dir, filepath.Join(t.TempDir(), "p.test"), append(os.Environ(), "GOWORK=off"))
	}
	command, runDir, err := compile("./p")
	must.OK(t, err)
	if want := filepath.Join(dir, "p"); runDir != want {
		t.Errorf("to be run in %s, want %s", runDir, want)
	}
	run := exec.Command(command[0], command[1:]...)
	run.Dir, run.Env = runDir, append(os.Environ(), "GOMAXPROCS=3")
	output, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", command, err, output)
	}
	results, _, err := ParseOutput(output, 3)
	if err != nil || len(results) != 1 || results[0].Name != "Read" || results[0].Values["ns/op"] <= 0 {
		t.Errorf("got %+v, %v from %s", results, err, output)
	}
	if command, _, err = compile("-C", "p", "-cpuprofile=cpu.out"); err != nil || !slices.Contains(command, "-test.outputdir="+filepath.Join(dir, "p")) {
		t.Errorf("with -C and a profile: %q, %v", command, err)
	}
	for words, want := range map[string]string{"./q": "no test files", "./none": "none", "./bad": "undefined"} {
		if _, _, err := compile(words); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", words, err, want)
		}
	}
}

func TestProfiled(t *testing.T) {
	for command, want := range map[string]string{
		"/t/x -test.bench=. -test.run=^$":                                  "/t/x -test.cpuprofile=c -test.memprofile=m -test.bench=. -test.run=^$",
		"/t/x -test.bench=. -test.cpuprofile=mine -test.run=^$ -in a":      "/t/x -test.cpuprofile=c -test.memprofile=m -test.bench=. -test.run=^$ -in a",
		"/t/x -test.memprofile=mine -test.bench=. in -test.memprofile=own": "/t/x -test.cpuprofile=c -test.memprofile=m -test.bench=. in -test.memprofile=own",
		"/t/x": "/t/x -test.cpuprofile=c -test.memprofile=m",
	} {
		if got := strings.Join(Profiled(strings.Fields(command), "c", "m"), " "); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
