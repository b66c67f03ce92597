package toolchain

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// get fetches a toolchain other than this one, which the second tier does. Without a
// network and without one in the module cache the test is skipped.
func get(t *testing.T, version string) Toolchain {
	t.Helper()
	need.Everything(t, "fetches Go "+version+" and compiles its library; TestLocal compiles with this toolchain")
	return fetch(t, version)
}

func fetch(t *testing.T, version string) Toolchain {
	t.Helper()
	need.Command(t, "go")
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	chain, err := Fetch(ctx, version)
	if err != nil {
		need.Skip(t, "needs a Go toolchain from the module proxy: "+err.Error())
	}
	return chain
}

const program = `package main

import (
	"os"
	"runtime"
)

func main() { os.Stdout.WriteString(runtime.Version()) }
`

// build returns the file.
func build(t *testing.T, chain Toolchain, language string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	must.OK(t, chain.Build(t.Context(), []byte(program), language, out))
	said := must.Get(exec.Command(out).Output())(t)
	if string(said) != chain.Version {
		t.Errorf("a program built with %s says %s", chain.Version, said)
	}
	return out
}

// baked is the build information of a file.
func baked(t *testing.T, file string) string {
	t.Helper()
	info, err := exec.Command("go", "version", "-m", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, info)
	}
	return string(info)
}

// The Go on PATH needs no network.
func TestLocal(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	need.Command(t, "go")
	offline := Go{Path: "go"}.With("GOPROXY=off")
	output := must.Get(offline.With("GOTOOLCHAIN=local").Run(t.Context(), "env", "GOVERSION"))(t)
	local := strings.TrimSpace(string(output))
	chain, err := offline.Fetch(t.Context(), local)
	must.OK(t, err)
	if chain.Version != local || chain.Root == "" {
		t.Errorf("got %+v, want %s", chain, local)
	}
	// Whatever the user's settings are, and inside of the workspace that this is.
	t.Setenv("GOFLAGS", "-mod=vendor -tags=x")
	t.Setenv("GOOS", "plan9")
	t.Setenv("GODEBUG", "gotypesalias=0")
	if info := baked(t, build(t, chain, "")); strings.Contains(info, "containermaxprocs=0") {
		t.Errorf("the go line is not the toolchain's own:\n%s", info)
	}
	if info := baked(t, build(t, chain, "1.24")); !strings.Contains(info, "containermaxprocs=0") {
		t.Errorf("go 1.24 is not the language:\n%s", info)
	}
	err = chain.Build(t.Context(), []byte("package main\nfunc main() { undefined() }\n"), "", filepath.Join(t.TempDir(), "x"))
	if err == nil || !strings.Contains(err.Error(), "build with "+local) || !strings.Contains(err.Error(), "undefined") {
		t.Errorf("a program that does not compile: %v", err)
	}
}

// From the days before modules, before the build cache, and before and after the
// go command reads its own settings from a file.
func TestOld(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs with old toolchains")
	}
	for asked, want := range map[string]string{"1.4": "go1.4.3", "go1.10.8": "go1.10.8", "1.13": "go1.13.15"} {
		t.Run(asked, func(t *testing.T) {
			t.Parallel()
			chain := get(t, asked)
			if chain.Version != want {
				t.Fatalf("%s is %s, want %s", asked, chain.Version, want)
			}
			build(t, chain, "")
			err := chain.Build(t.Context(), []byte(program), "1.21", filepath.Join(t.TempDir(), "x"))
			if err == nil || !strings.Contains(err.Error(), "a go line decides nothing before Go 1.21") {
				t.Errorf("language 1.21 with %s: %v", chain.Version, err)
			}
		})
	}
}

// The go command's own lock keeps them apart: this shows that nothing of ours
// comes between.
func TestFetchAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many go commands")
	}
	first := get(t, "1.4.3")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if chain, err := Fetch(t.Context(), "1.4.3"); err != nil || chain.Root != first.Root {
				t.Errorf("got %+v, %v, want that in %s", chain, err, first.Root)
			}
		})
	}
	wg.Wait()
}

func TestFetchErrors(t *testing.T) {
	need.Command(t, "go")
	offline := Go{Path: "go"}.With("GOPROXY=off", "GOFLAGS=", "GOMODCACHE="+t.TempDir())
	for version, want := range map[string][]string{
		"":         {"is not a Go version"},
		"banana":   {`"banana" is not a Go version such as 1.24`},
		"2.1":      {"is not a Go version"},
		"1.24; rm": {"is not a Go version"},
		"1.4":      {"get the toolchain of Go 1.4 ", "GOPROXY=off", "set GOPROXY=https://proxy.golang.org", "go1.4.3"},
		"1.9999.1": {"get the toolchain of Go 1.9999.1", "go1.9999.1"},
		"1.9999":   {"1.9999"},
	} {
		chain, err := offline.Fetch(t.Context(), version)
		if err == nil {
			t.Errorf("%q: got %+v", version, chain)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: error %v, want %q in it", version, err, w)
			}
		}
	}
	_, err := offline.With("GOPROXY=http://me:S3CR3T@127.0.0.1:1").Fetch(t.Context(), "1.9999.1")
	if err == nil || strings.Contains(err.Error(), "S3CR3T") || !strings.Contains(err.Error(), "GOPROXY=http://me:REDACTED@127.0.0.1:1") {
		t.Errorf("from a proxy with a password: %v", err)
	}
	if _, err := (Go{Path: "no-such-go"}).Fetch(t.Context(), "1.24"); err == nil || !strings.Contains(err.Error(), "install Go") {
		t.Errorf("without Go: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := offline.Fetch(ended, "1.4"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context ended: %v", err)
	}
}

// Newest first, the listed ones and those that are known or here already, each
// once, and of the one version asked for.
func TestReleases(t *testing.T) {
	need.Command(t, "go")
	cache := t.TempDir()
	offline := Go{Path: "go"}.With("GOPROXY=off", "GOFLAGS=", "GOMODCACHE="+cache)
	for _, release := range []string{"go1.4.1", "go1.4.3", "go1.4.99", "go1.4rc1", "go1.40.0"} {
		must.OK(t, os.MkdirAll(cachePath(cache, release), 0o755))
	}
	got, err := offline.releases(t.Context(), "1.4", cache)
	if want := []string{"go1.4.99", "go1.4.3", "go1.4.1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if !cached(cache, "go1.4.1") || cached(cache, "go1.4.2") {
		t.Error("what the cache has and has not is mixed up")
	}
	local := must.Get(offline.With("GOTOOLCHAIN=local").Run(t.Context(), "env", "GOVERSION"))(t)
	version := strings.TrimSpace(string(local))
	minor := strings.Join(strings.SplitN(strings.TrimPrefix(version, "go"), ".", 3)[:2], ".")
	if got, err := offline.releases(t.Context(), minor, cache); err != nil || !slices.Contains(got, version) {
		t.Errorf("the local version's own: %v, %v, want %s", got, err, version)
	}
}

// A package of the user's keeps its own settings, but the commit is not in the file.
func TestBuildWithSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.25\n",
		"main.go":   program,
		"tagged.go": "//go:build special\n\npackage main\n\nfunc init() { println(\"special\") }\n",
	} {
		must.Write(t, filepath.Join(dir, name), text)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x"}} {
		must.Output(t, exec.Command(need.Command(t, "git"), append([]string{"-C", dir}, args...)...))
	}
	here := Go{Path: "go", Dir: dir}.With("GOWORK=off", "GOFLAGS=-tags=special")
	if _, err := here.Fetch(t.Context(), runtime.Version()); err != nil {
		t.Skipf("this is no released Go: %v", err)
	}
	out := filepath.Join(t.TempDir(), "program")
	must.OK(t, here.BuildWith(t.Context(), runtime.Version(), ".", out))
	if said, err := exec.Command(out).CombinedOutput(); err != nil || !strings.Contains(string(said), "special") {
		t.Errorf("it says %q, %v", said, err)
	}
	for _, s := range must.Get(buildinfo.ReadFile(out))(t).Settings {
		if strings.HasPrefix(s.Key, "vcs") {
			t.Errorf("it has %s=%s", s.Key, s.Value)
		}
	}
	get(t, "1.21.13")
	if err := here.With("GOFLAGS=").BuildWith(t.Context(), "1.21.13", ".", out); err == nil || !strings.Contains(err.Error(), "build . with go1.21.13: the go line of its module asks for a later version") {
		t.Errorf("a module of go 1.25 with Go 1.21.13: %v", err)
	}
}

// Many a view shows no more than an error's first line.
func TestCause(t *testing.T) {
	for said, want := range map[string]string{
		"": "",
		"go: go.mod requires go >= 1.27 (running go 1.26.11; GOTOOLCHAIN=local)\n":                                   "go.mod requires go >= 1.27 (running go 1.26.11; GOTOOLCHAIN=local)",
		"# program\n./main.go:2:15: undefined: a\n./main.go:3:15: undefined: b\n":                                    "./main.go:2:15: undefined: a",
		"go: downloading go1.26.9 (linux/amd64)\ngo: download go1.26.9: dial tcp 127.0.0.1:1: connection refused\n":  "download go1.26.9: dial tcp 127.0.0.1:1: connection refused",
		"go: errors parsing go.mod:\n/tmp/build/go.mod:4: unknown directive: bad\n":                                  "errors parsing go.mod: go.mod:4: unknown directive: bad",
		"main.go:2:8: no required module provides package example.com/a; to add it:\n\tgo get example.com/a\nmore\n": "main.go:2:8: no required module provides package example.com/a; to add it: go get example.com/a",
		"go: errors parsing go.mod:\n": "errors parsing go.mod:",
		"# program\n":                  "",
	} {
		if got := cause(said, "/tmp/build"); got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}

func TestErrorsBeginWithTheCause(t *testing.T) {
	need.Command(t, "go")
	offline := Go{Path: "go"}.With("GOPROXY=off", "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local")
	local := must.Get(offline.Run(t.Context(), "env", "GOVERSION"))(t)
	chain, err := offline.Fetch(t.Context(), strings.TrimSpace(string(local)))
	if err != nil {
		t.Skipf("this is no released Go: %v", err)
	}
	later := chain.Build(t.Context(), []byte(program), "1.999", filepath.Join(t.TempDir(), "x"))
	wrong := chain.Build(t.Context(), []byte("package main\nfunc main() { undefined() }\n"), "", filepath.Join(t.TempDir(), "x"))
	_, none := offline.Fetch(t.Context(), "1.4.9")
	for want, err := range map[string]error{
		"build with " + chain.Version + ": go.mod requires go >= 1.999": later,
		"build with " + chain.Version + ": ./main.go:2:":                wrong,
		"from GOPROXY=off: download go1.4.9":                            none,
	} {
		if err == nil {
			t.Errorf("no error, want %q", want)
			continue
		}
		var exit *FailedError
		if first := phrase.FirstLine(err.Error()); !strings.Contains(first, want) || strings.Contains(first, "exited with") || strings.Contains(first, os.TempDir()) || !errors.As(err, &exit) || !strings.Contains(err.Error(), ": exited with code 1:\n") {
			t.Errorf("want %q in the first line of:\n%v", want, err)
		}
	}
}

// A program that calls C is built with the compiler that is named, and an error of that
// is reported; a Go that is too old for it here is refused.
func TestBuildC(t *testing.T) {
	compiler, err := CCompiler()
	if err != nil {
		need.Skip(t, err.Error())
	}
	chain := fetch(t, strings.TrimPrefix(runtime.Version(), "go"))
	t.Setenv("CC", compiler)
	if again, err := CCompiler(); err != nil || again != compiler {
		t.Errorf("CC=%s: %q, %v", compiler, again, err)
	}
	const calling = "package main\n\n// static int answer(void) { return %s; }\nimport \"C\"\nimport \"fmt\"\n\nfunc main() { fmt.Println(C.answer()) }\n"
	out := filepath.Join(t.TempDir(), "program")
	must.OK(t, chain.BuildC(t.Context(), fmt.Appendf(nil, calling, "42"), false, out))
	if said, err := exec.Command(out).Output(); err != nil || string(said) != "42\n" {
		t.Errorf("%v: %q", err, said)
	}
	if err := chain.BuildC(t.Context(), fmt.Appendf(nil, calling, "nothing"), false, out); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("C that does not compile: %v", err)
	}
	old := chain
	old.Version = "go1.20.14"
	if err := old.BuildC(t.Context(), []byte(calling), false, out); err == nil || !strings.Contains(err.Error(), "build with go1.20.14: C is called by Go 1.21 and later here") {
		t.Errorf("an old one: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CC", "")
	if err := chain.BuildC(t.Context(), []byte(calling), true, out); err == nil || !strings.Contains(err.Error(), "there is no C compiler") {
		t.Errorf("without a compiler: %v", err)
	}
}
