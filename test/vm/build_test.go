package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programPath is where a program lies in the machine.
func programPath(program string) string { return "/probe-" + strings.ReplaceAll(program, " ", "-") }

// buildPrograms builds the probes with their toolchains, and the guest; it
// returns where they lie, by their places in the machine. A probe is a module
// of its own outside of the workspace, or its go line would not count.
func buildPrograms(t *testing.T) map[string]string {
	t.Helper()
	source, err := os.ReadFile("testdata/probe/main.go")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, program := range factors[fProgram].values {
		toolchain, language, _ := strings.Cut(program, " ")
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module probe\n\n" + language + "\n", "main.go": string(source)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		files[programPath(program)] = build(t, dir, ".", "GOWORK=off", "GOTOOLCHAIN="+toolchain)
	}
	files["/guest"] = build(t, ".", "./testdata/guest")
	files["/procfit"] = build(t, ".", "github.com/procfit/procfit/cmd/procfit")
	return files
}

// build builds a program without a symbol table.
func build(t *testing.T, dir, pkg string, env ...string) string {
	t.Helper()
	return link(t, dir, pkg, "-s -w", env...)
}

func link(t *testing.T, dir, pkg, flags string, env ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command("go", "build", "-ldflags="+flags, "-o", out, pkg)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS="), env...)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s with %v: %v: %s", pkg, env, err, output)
	}
	return out
}

// compile builds a package's test binary, to be run in a machine.
func compile(t *testing.T, name string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name+".test")
	cmd := exec.Command("go", "test", "-c", "-o", out, "github.com/procfit/procfit/internal/host/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return out
}
