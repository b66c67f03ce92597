package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// doubling is 780 bytes of Go with a constant of 64 GiB, and nesting a type of 2 to the 40th
// parts: go/types makes them as a compiler would.
func doubling() string {
	var b strings.Builder
	b.WriteString("package doubling\n\nimport \"runtime\"\n\nfunc init() { runtime.GOMAXPROCS(4) }\n\nconst a0 = \"xxxxxxxxxxxxxxxx\"\n")
	for i := range 32 {
		fmt.Fprintf(&b, "const a%d = a%d + a%d\n", i+1, i, i)
	}
	b.WriteString("var n = len(a32)\n")
	return b.String()
}

func nesting() string {
	var b strings.Builder
	b.WriteString("package nesting\n\nimport \"runtime\"\n\nfunc init() {\n\tn := 4\n\truntime.GOMAXPROCS(n)\n}\n\ntype P[A, B any] struct { a A; b B }\ntype T0 = P[int, int]\n")
	for i := range 40 {
		fmt.Fprintf(&b, "type T%d = P[T%d, T%d]\n", i+1, i, i)
	}
	b.WriteString("var x T40\n")
	return b.String()
}

// written is a folder with files. It is not below the project, whose workspace would be asked, and
// outside of what a go.mod in the folder of temporary files would take in.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	for name, text := range files {
		must.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

// instead puts a script in place of the go command.
func instead(t *testing.T, script string) {
	t.Helper()
	dir := written(t, map[string]string{"go": "#!/bin/sh\n" + script + "\n"})
	must.OK(t, os.Chmod(filepath.Join(dir, "go"), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

const healthy = "package main\n\nimport \"runtime\"\n\nfunc main() { runtime.GOMAXPROCS(runtime.NumCPU()) }\n"

// TestBounds: a package whose types no memory holds, or that no time is enough for, is judged by
// its syntax, with the reason; the others are judged whole.
func TestBounds(t *testing.T) {
	enough := 2 * time.Second // for the healthy one
	if need.Raced {
		enough = 10 * time.Second
	}
	for name, tc := range map[string]struct {
		text, found string
		bounds      Bounds
		why         string
	}{
		"memory": {doubling(), "a.go:5 PF024, main.go:5 PF025", Bounds{Memory: 256 << 20, List: time.Minute, Package: time.Minute}, "more than 256 MiB of memory"},
		"time":   {nesting(), "a.go:7 PF024, main.go:5 PF025", Bounds{Memory: 4 << 30, List: time.Minute, Package: enough}, ""},
	} {
		if need.Raced && name == "memory" {
			continue // it is not bounded there
		}
		dir := written(t, map[string]string{"go.mod": "module example.org/m\n\ngo 1.25\n", "large/a.go": tc.text, "zhealthy/main.go": healthy})
		for _, syntax := range []bool{false, true} {
			judged := func() *check.Report {
				k := New(Options{Environ: os.Environ(), Syntax: syntax, Bounds: &tc.bounds})
				return must.Get(check.Run(t.Context(), check.Options{Paths: []string{dir}, Checkers: []check.Checker{k}}))(t)
			}
			r := judged()
			if name == "time" {
				for len(r.Problems) > 1 && tc.bounds.Package < 30*time.Second { // the machine is too busy for the healthy one
					tc.bounds.Package *= 3
					r = judged()
				}
				tc.why = fmt.Sprintf("longer than %d s", tc.bounds.Package/time.Second)
			}
			found := phrase.Each(r.Findings, func(f check.Finding) string { return fmt.Sprintf("%s:%d %s", filepath.Base(f.Path), f.Line, f.Rule) })
			if got := strings.Join(found, ", "); got != tc.found {
				t.Errorf("%s, syntax %v: found %s", name, syntax, got)
			}
			if why := "procfit checks only the syntax of its package: finding the types takes " + tc.why; len(r.Problems) != 1 || r.Problems[0].Message != why {
				t.Errorf("%s, syntax %v: problems %+v, want %q", name, syntax, r.Problems, why)
			}
		}
	}
}

// TestBoundsOfList: a go command that does not end is waited for as long as the bound says.
func TestBoundsOfList(t *testing.T) {
	dir := written(t, map[string]string{"go.mod": "module example.org/m\n\ngo 1.25\n", "main.go": healthy})
	instead(t, "sleep 1000")
	k := New(Options{Environ: os.Environ(), Bounds: &Bounds{Memory: 1 << 30, List: 300 * time.Millisecond, Package: time.Minute}})
	r, err := check.Run(t.Context(), check.Options{Paths: []string{dir}, Checkers: []check.Checker{k}})
	if err != nil || len(r.Findings) != 1 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Message, "it takes longer than 300 ms") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestMisbehaving: a process that does not read, does not answer or does not end is waited for as long
// as the bound says, and no file stays open to it.
func TestMisbehaving(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection closes files that nobody has

	large := target{Overlay: map[string][]byte{"a.go": make([]byte, 4<<20)}} // more than a pipe holds
	for name, tc := range map[string]struct {
		part string
		of   target
	}{
		"it does not read":    {deafPart, large},
		"it does not answer":  {deafPart, target{}},
		"it does not go away": {mutePart, target{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(part, tc.part)
			before := openFiles(t)
			p := &process{bounds: Bounds{Memory: 1 << 30, List: 300 * time.Millisecond, Package: time.Minute}}
			began := time.Now()
			_, err := p.do(t.Context(), &tc.of, nil)
			if over, ok := errors.AsType[*exceeded](err); !ok || !over.listing || over.why != "takes longer than 300 ms" || p.running != nil {
				t.Errorf("%v; want that it takes longer than 300 ms", err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
			for end := time.Now().Add(20 * time.Second); openFiles(t) > before; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d files are open, %d before", openFiles(t), before)
				}
			}
		})
	}
}

// openFiles are the files that this process has open; 0: the system does not tell.
func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	return len(all)
}

// TestInterrupted: a run that is ended does not wait for what is judged.
func TestInterrupted(t *testing.T) {
	dir := written(t, map[string]string{"go.mod": "module example.org/m\n\ngo 1.25\n", "b.go": nesting(), "x_test.go": "package nesting\n\nimport (\n\t\"runtime\"\n\t\"testing\"\n)\n\nfunc BenchmarkX(b *testing.B) {\n\truntime.GOMAXPROCS(4)\n\tb.Run(\"x\", func(b *testing.B) {})\n}\n"})
	ctx, cancel := context.WithCancel(t.Context())
	k := New(Options{Environ: os.Environ(), Syntax: true, Patience: time.Second, Slow: func(string) { cancel() }, Bounds: &Bounds{Memory: 4 << 30, List: time.Minute, Package: 2 * time.Minute}})
	began := time.Now()
	r, err := check.Run(ctx, check.Options{Paths: []string{dir}, Checkers: []check.Checker{k}})
	if took := time.Since(began); err == nil || r == nil || len(r.Findings) != 1 || took > time.Minute {
		t.Errorf("%+v, %v after %v; want what was found until then", r, err, took)
	}
}

// TestLength: the time to judge a file grows with its length. Before, each of these took over a
// minute, which is their bound here. The race detector's build is too slow to say that.
func TestLength(t *testing.T) {
	n := 8000
	if need.Raced {
		n /= 10
	}
	body := func(line string) string {
		return "package main\n\nimport \"runtime\"\n\nvar a = runtime.NumCPU\n\nfunc main() {\n" + strings.Repeat(line, n) + "}\n"
	}
	sum := "package main\n\nimport \"runtime\"\n\nvar sum = 0" + strings.Repeat(" + runtime.NumCPU()", 5*n) + "\n\nfunc main() { runtime.GOMAXPROCS(sum) }\n"
	var constants strings.Builder
	for i := range 20 * n {
		fmt.Fprintf(&constants, "c%d, ", i)
	}
	names := "package main\n\nimport \"runtime\"\n\nconst " + constants.String() + "last = " + strings.Repeat("1, ", 20*n) + "4\n\nvar all = []int{" + strings.Repeat("last, ", 20*n) + "}\n\nfunc main() { runtime.GOMAXPROCS(last) }\n"
	for name, text := range map[string]string{
		"calls":    body("\truntime.GOMAXPROCS(runtime.NumCPU())\n"),
		"comments": body("\t// procfit:ignore PF024 why\n\tprint(1)\n"),
		"answers":  body("\truntime.GOMAXPROCS(4) // procfit:ignore PF024 why\n"),
		"sets":     "package main\n\nimport \"runtime\"\n\nfunc main() {\n\tvar v, w int\n" + strings.Repeat("\tv = w\n\tw = v\n\truntime.GOMAXPROCS(v)\n\tmake(chan int, w)\n", n/2) + "}\n",
		"sum":      sum,
		"names":    names,
	} {
		dir := written(t, map[string]string{"main.go": text})
		k := New(Options{Environ: os.Environ(), Syntax: true, Bounds: &Bounds{Memory: 2 << 30, List: time.Minute, Package: time.Minute}})
		began := time.Now()
		r := must.Get(check.Run(t.Context(), check.Options{Paths: []string{dir}, Checkers: []check.Checker{k}}))(t)
		took := time.Since(began)
		t.Logf("%s: %v, %d findings", name, took.Round(time.Millisecond), len(r.Findings)+len(r.Ignored))
		if took > 40*time.Second || len(r.Problems) > 0 {
			t.Errorf("%s: %v, problems %+v", name, took, r.Problems)
		}
	}
}

// TestLineDirective: what is found in a parser that was made from a grammar is in the parser.
func TestLineDirective(t *testing.T) {
	dir := written(t, map[string]string{"go.mod": "module example.org/m\n\ngo 1.25\n", "parser.go": "package main\n\nimport \"runtime\"\n\n//line parser.y:7\nfunc main() {\n\truntime.GOMAXPROCS(runtime.NumCPU())\n\truntime.GOMAXPROCS(4) // procfit:ignore PF024 why\n}\n"})
	r, err := checked(t, []string{dir}, nil)(t.Context(), nil)
	if err != nil || len(r.Findings) != 1 || len(r.Ignored) != 1 || len(r.Problems) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if f := r.Findings[0]; filepath.Base(f.Path) != "parser.go" || f.Line != 7 || f.Rule != "PF025" || f.Change != nil {
		t.Errorf("%+v; want it in line 7 of parser.go, without a fix, which the next parser would not have", f)
	}
}

// TestFolders: a folder with the name of a source file, as nats.go, changes nothing.
func TestFolders(t *testing.T) {
	dir := written(t, map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.25\n", "main.go": healthy, "nats.go/README": "", "x.c/README": "",
		"svc/main.go": "package main\n\nimport \"net/http\"\n\nfunc main() { _ = http.ListenAndServe(\":0\", nil) }\n", "svc/nats.go/README": "",
	})
	if runtime.GOOS != "windows" {
		must.OK(t, os.Symlink("x.c", filepath.Join(dir, "y.s")))
	}
	r, err := checked(t, []string{dir}, nil)(t.Context(), nil)
	if err != nil || len(r.Problems) > 0 || len(r.Findings) != 2 || r.Findings[0].Rule != "PF025" || r.Findings[1].Rule != "PF035" {
		t.Errorf("%+v, %v; want PF025 of the one program, PF035 of the other, and no problem", r, err)
	}
}

// TestDevices: what a repository may hold and that never ends to be read is not read, by no
// command.
func TestDevices(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the devices are those of Linux")
	}
	for name, device := range map[string]struct{ to, said string }{
		"go.work":            {"/dev/zero", "go.work: this link leads out of the folder and its repository; it is skipped"},
		"go.mod":             {"/dev/zero", "large.go: " + unloaded("it would read go.mod, and "+folder.ErrOutside.Error())},
		"vendor/modules.txt": {"/dev/zero", "go.mod: " + unloaded("it would read vendor/modules.txt, and "+folder.ErrOutside.Error())},
		"x.s":                {"/dev/ptmx", "go.mod: " + unloaded("it would read x.s, and "+folder.ErrOutside.Error())},
		"k.go":               {"/proc/kmsg", "go.mod: " + unloaded("it would read k.go, and "+folder.ErrOutside.Error())},
		"large.go":           {"", "large.go: it has 1099511627776 bytes or more, and procfit reads at most 16777216"},
	} {
		dir := written(t, map[string]string{"go.mod": "module example.org/m\n\ngo 1.25\n", "main.go": healthy, "vendor/x": "", "large.go": "package main\n"})
		file := filepath.Join(dir, filepath.FromSlash(name))
		var err error
		if device.to == "" {
			err = os.Truncate(file, 1<<40)
		} else {
			_ = os.Remove(file)
			err = os.Symlink(device.to, file)
		}
		must.OK(t, err)
		k := New(Options{Environ: os.Environ(), Tree: folder.NewTree(dir), Bounds: &Bounds{Memory: 2 << 30, List: 30 * time.Second, Package: 30 * time.Second}})
		began := time.Now()
		r, err := check.Run(t.Context(), check.Options{Paths: []string{dir}, Checkers: []check.Checker{k}})
		if took := time.Since(began); err != nil || took > 40*time.Second || len(r.Findings) != 1 || r.Findings[0].Rule != "PF025" {
			t.Errorf("%s: %+v, %v after %v", name, r, err, took)
		}
		var said []string
		for _, p := range r.Problems {
			said = append(said, filepath.Base(p.Path)+": "+p.Message)
		}
		for _, n := range r.Notes {
			said = append(said, filepath.Base(n.Path)+": "+n.Message)
		}
		if !slices.Contains(said, device.said) {
			t.Errorf("%s: said %q, want %q among it", name, said, device.said)
		}
	}
}

// TestLargeOnes: large files are parsed one at a time.
func TestLargeOnes(t *testing.T) {
	k, done := New(Options{}), make(chan error, 2)
	read := func(comment int) {
		text := "package p\n\n/* " + strings.Repeat("x", comment) + " */\n"
		done <- k.File(t.Context(), check.NewFile(fmt.Sprint(comment, ".go"), []byte(text)), &nowhere{})
	}
	k.large.Lock()
	go read(largeFile)
	read(1)
	must.OK(t, <-done)
	select {
	case <-done:
		t.Error("a large file is parsed next to another one")
	case <-time.After(20 * time.Millisecond):
	}
	k.large.Unlock()
	must.OK(t, <-done)
}
