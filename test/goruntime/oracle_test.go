// Package goruntime holds the policy go against the code of the runtimes
// themselves: the search for a program's own CPU limit and what becomes of it
// (internal/runtime/cgroup, runtime/cgroup_linux.go) is taken from the GOROOT of
// each release when the test runs, built as an ordinary program whose system calls
// see files in memory, and asked about the recorded worlds and many more that are
// drawn at random; and Go's own tests of that code are run against the policy.
//
// What a runtime does beyond that, the affinity and GOMAXPROCS in the environment,
// is held against real programs in test/vm.
package goruntime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// releases are those of which the code is asked; several have the same.
func releases() []string {
	if v := need.NewGo(); v != "" {
		return []string{v}
	}
	return []string{"1.25.0", "1.25.14", "1.26.8", "1.27.1"}
}

// taken reports whether a release's code is asked: in the first tier that of this
// toolchain alone. The test's output names the others as skipped.
func taken(t *testing.T, release string) (yes bool) {
	t.Run("toolchain "+release, func(t *testing.T) {
		if "go"+release != runtime.Version() {
			need.Everything(t, "fetches Go "+release+"; the code of this toolchain is asked")
		}
		yes = true
	})
	return yes
}

// goroot is the GOROOT of a release.
func goroot(t *testing.T, release string) string {
	t.Helper()
	cmd := exec.Command("go", "env", "GOROOT")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=go"+release, "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		need.Skip(t, fmt.Sprintf("needs the toolchain of Go %s: %v", release, err))
	}
	return strings.TrimSpace(string(out))
}

// packages are what stands for the runtime's own packages.
var packages = strings.NewReplacer(
	`"internal/bytealg"`, `"oracle/bytealg"`,
	`"internal/strconv"`, `"strconv"`,
	`"internal/runtime/strconv"`, `strconv "oracle/atoi"`,
	`"internal/runtime/syscall/linux"`, `"oracle/linux"`,
	`"internal/runtime/syscall"`, `syscall "oracle/linux"`,
	`"internal/runtime/math"`, `"math"`,
)

// code is a release's, by the names of the files of a program.
type code map[string]string

// key is the same for the same code.
func (c code) key() string { return fmt.Sprint(map[string]string(c)) }

// source takes the release's code for a program of its own.
func source(t *testing.T, release string) code {
	t.Helper()
	src := filepath.Join(goroot(t, release), "src")
	files := code{"cgroup/throw.go": "package cgroup\n\nfunc throw(s string) { panic(s) }\n"}
	for from, to := range map[string]string{"internal/runtime/cgroup": "cgroup", "internal/runtime/strconv": "atoi"} {
		names := must.Get(filepath.Glob(filepath.Join(src, from, "*.go")))(t)
		for _, name := range names {
			if base := filepath.Base(name); !strings.HasSuffix(base, "_test.go") && base != "runtime.go" {
				files[to+"/"+base] = packages.Replace(must.Read(t, name))
			}
		}
	}
	_, adjust, ok := strings.Cut(must.Read(t, filepath.Join(src, "runtime/cgroup_linux.go")), "\nfunc adjustCgroupGOMAXPROCS(")
	adjust, _, ended := strings.Cut(adjust, "\n}\n")
	if !ok || !ended {
		t.Fatalf("the runtime of Go %s has no adjustCgroupGOMAXPROCS", release)
	}
	files["adjust.go"] = "package main\n\nimport \"oracle/cgroup\"\n\nfunc adjustCgroupGOMAXPROCS(" + adjust + "\n}\n"
	return files
}

// build builds the code as a program.
func (c code) build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.OK(t, os.CopyFS(dir, os.DirFS("testdata/oracle")))
	for name, text := range c {
		must.Write(t, filepath.Join(dir, name), text)
	}
	out := filepath.Join(dir, "oracle.exe")
	run(t, dir, "go", "build", "-o", out, ".")
	return out
}

// run runs a command with this toolchain, outside of the workspace.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	return must.Output(t, cmd)
}

// ask asks the oracle about the files of many machines.
func ask(t *testing.T, oracle string, machines []map[string]string) []int {
	t.Helper()
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, files := range machines {
		raw := map[string][]byte{}
		for name, text := range files {
			raw[name] = []byte(text)
		}
		must.OK(t, enc.Encode(raw))
	}
	cmd := exec.Command(oracle)
	cmd.Stdin = &in
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the oracle: %v", err)
	}
	fields := strings.Fields(string(out))
	if len(fields) != len(machines) {
		t.Fatalf("%d answers of %d", len(fields), len(machines))
	}
	answers := make([]int, len(fields))
	for i, f := range fields {
		if answers[i], err = strconv.Atoi(f); err != nil {
			t.Fatal(err)
		}
	}
	return answers
}
