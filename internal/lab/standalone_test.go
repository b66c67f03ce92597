package lab

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// sourcesAlone is what Source gives as a module, a package for each program.
func sourcesAlone(t *testing.T, experiments []Experiment) built.Program {
	t.Helper()
	p := built.Program{Files: map[string]string{"go.mod": "module programs\n\ngo 1.21\n"}, Env: []string{"GOFLAGS="}}
	for _, e := range experiments {
		source := must.Get(Source(e.ID))(t)
		p.Files[e.ID+"/main.go"] = source
	}
	return p
}

// standalonePrograms writes all of them.
func standalonePrograms(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range sourcesAlone(t, of(Server, Batch)).Files {
		must.Write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// builtAlone are the programs that are built and run as their users do: in the first tier
// a server and those that start themselves again, which is why TestRun and TestServe, where
// all run inside of the test's process, do not show all that these do.
func builtAlone() []Experiment {
	all := of(Server, Batch)
	if need.Full() {
		return all
	}
	return slices.DeleteFunc(all, func(e Experiment) bool { return !slices.Contains([]string{"tinyserver", "preempt", "tenants"}, e.ID) })
}

// standaloneProgram is the path of one of them, built.
func standaloneProgram(t *testing.T, id string) string {
	t.Helper()
	path := filepath.Join(sourcesAlone(t, builtAlone()).Run(t), id)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	return path
}

// TestSource checks what Source gives as a user would, outside of the workspace, builds it
// and runs it.
func TestSource(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	need.Command(t, "go")
	command := toolchain.Go{Path: "go", Dir: standalonePrograms(t)}.With("GOWORK=off", "GOFLAGS=")
	must.Get(command.Run(t.Context(), "vet", "./..."))(t)
	for _, e := range builtAlone() {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			program := standaloneProgram(t, e.ID)
			if e.Kind == Server {
				serves(t, program, e.ID)
				return
			}
			for _, q := range quick[e.ID] {
				if got := results(t, run(t, program, "3", strings.Fields(q.args)...)); got != q.names {
					t.Errorf("%s: benchmarks %q, want %q", q.args, got, q.names)
				}
			}
		})
	}
}

// serves starts a server with GOMAXPROCS=3 and talks to it.
func serves(t *testing.T, program, id string) {
	t.Helper()
	cmd := exec.Command(program, "-addr", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=3")
	stderr := must.Get(cmd.StderrPipe())(t)
	must.OK(t, cmd.Start())
	defer cmd.Process.Kill()
	m := started(t, stderr)
	if m[2] != "3" {
		t.Errorf("it runs with GOMAXPROCS=%s, its environment says 3", m[2])
	}
	answers(t, id, m[5])
	if runtime.GOOS == "windows" {
		return // no SIGTERM there
	}
	must.OK(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v, want a clean exit", err)
	}
}

// run runs a batch program and returns its standard output.
func run(t *testing.T, program, procs string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+procs)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v: %s", program, args, err, stderr.String())
	}
	if m := batchLine.FindStringSubmatch(stderr.String()); m == nil || m[2] != procs && m[1] != "stealing" { // which sets its own
		t.Errorf("it does not begin with GOMAXPROCS=%s: %q", procs, stderr.String())
	}
	return stdout.String()
}

// Those that say so really are programs for Go 1.21, not only for its language.
func TestOldestModern(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles all programs")
	}
	need.Everything(t, "compiles what all programs import with a toolchain that it fetches; TestSource does it with this one")
	dir := standalonePrograms(t)
	command := toolchain.Go{Path: "go", Dir: dir}.With("GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	chain, err := command.Fetch(t.Context(), "1.21.13")
	if err != nil {
		need.Skip(t, "needs Go 1.21.13: "+err.Error())
	}
	old := toolchain.Go{Path: filepath.Join(chain.Root, "bin", "go"), Dir: dir}.With("GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN=local", "GOROOT=")
	must.Get(old.Run(t.Context(), "vet", "./..."))(t) // it compiles what they import, and links nothing
	if version, err := old.Run(t.Context(), "version"); err != nil || !strings.Contains(string(version), "go1.21.13 ") {
		t.Errorf("compiled by %s, %v", version, err)
	}
}

// Document 002's programs, with the releases that it compared and those since.
func TestReleases(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs with several toolchains")
	}
	need.Everything(t, "fetches toolchains and compiles programs with each; TestSource compiles them with this one")
	versions := []string{"1.2.2", "1.13.15", "1.27.1"} // the oldest, the last without preemption, the newest
	if os.Getenv("PROCFIT_FULL") == "1" {
		versions = append(versions, "1.4.3", "1.5.4", "1.21.13")
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			chain, err := toolchain.Fetch(t.Context(), version)
			if err != nil {
				need.Skip(t, "needs Go "+version+": "+err.Error())
			}
			dir := t.TempDir()
			for _, e := range of(Batch) {
				if e.Language != "1.2" {
					continue
				}
				source := must.Get(Source(e.ID))(t)
				program := filepath.Join(dir, e.ID)
				if err := chain.Build(t.Context(), []byte(source), "", program); err != nil {
					t.Fatalf("%s: %v", e.ID, err)
				}
				for _, q := range quick[e.ID] {
					if got := results(t, run(t, program, "2", strings.Fields(q.args)...)); got != q.names {
						t.Errorf("%s %s: benchmarks %q, want %q", e.ID, q.args, got, q.names)
					}
				}
			}
			preempts(t, filepath.Join(dir, "preempt"), version == "1.21.13" || version == "1.27.1")
		})
	}
}

// preempts holds document 001's claim against a program of one release: with one P it
// hangs before Go 1.14, and with two once a collection starts; -timeout ends it.
func preempts(t *testing.T, program string, want bool) {
	t.Helper()
	for _, tc := range []struct{ procs, debug, flags string }{
		{"1", "", ""}, {"1", "asyncpreemptoff=1", ""}, {"2", "", "-collect"}, {"2", "asyncpreemptoff=1", "-collect"},
	} {
		runs := want && tc.debug == ""
		timeout := "500ms"
		if runs {
			timeout = "30s" // the test must hold on a busy machine
		}
		cmd := exec.Command(program, append(strings.Fields(tc.flags), "-d", "10ms", "-timeout", timeout)...)
		cmd.Env = append(os.Environ(), "GOMAXPROCS="+tc.procs, "GODEBUG="+tc.debug)
		var exit *exec.ExitError
		output, err := cmd.CombinedOutput()
		switch {
		case runs && (err != nil || !strings.Contains(string(output), "BenchmarkPreempt 1 ")):
			t.Errorf("%+v: %v: %s", tc, err, output)
		case !runs && (!errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(output), "preempt: hung")):
			t.Errorf("%+v: %v, want that it hangs: %s", tc, err, output)
		}
	}
}
