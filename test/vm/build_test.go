package vm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
)

// alone is the environment of modules that are built outside of the workspace.
var alone = []string{"GOWORK=off", "GOARCH=amd64"}

// folder is where the programs of this run are, until TestMain removes it.
var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "procfit-vm") })

// programs has a func() (string, error) for each command line of a build: tests that
// need the same program build it once.
var programs sync.Map

// run runs a go command that writes a program, in an environment without cgo, and
// returns the program's path. Several tests have the same program: they must not
// change it.
func run(t *testing.T, args []string, env ...string) string {
	t.Helper()
	built.ReadsProcfit(t)
	built.Reads(t, "testdata")
	f, _ := programs.LoadOrStore(strings.Join(append(args, env...), "\x00"), sync.OnceValues(func() (string, error) {
		parent, err := folder()
		if err != nil {
			return "", err
		}
		dir, err := os.MkdirTemp(parent, "")
		if err != nil {
			return "", err
		}
		out := filepath.Join(dir, "program")
		cmd := exec.Command("go", append([]string{args[0], "-o", out}, args[1:]...)...)
		cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS="), env...)
		if output, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go %v with %v: %w: %s", args, env, err, output)
		}
		return out, nil
	}))
	return must.Get(f.(func() (string, error))())(t)
}

// build builds a program without a symbol table.
func build(t *testing.T, pkg string, env ...string) string {
	t.Helper()
	return link(t, pkg, "-s -w", env...)
}

func link(t *testing.T, pkg, flags string, env ...string) string {
	t.Helper()
	return run(t, []string{"build", "-ldflags=" + flags, pkg}, env...)
}

// compile builds a package's test binary, to be run in a machine.
func compile(t *testing.T, name string) string {
	t.Helper()
	return run(t, []string{"test", "-c", "github.com/procfit/procfit/internal/host/" + name})
}

// programPath is where a program is in the machine.
func programPath(program string) string { return "/probe-" + strings.ReplaceAll(program, " ", "-") }

// buildPrograms builds the probes with their toolchains, and the guest; it
// returns where they are, by their places in the machine. A probe is a module
// of its own outside of the workspace, or its go line would not count.
func buildPrograms(t *testing.T) map[string]string {
	t.Helper()
	source := must.Read(t, "testdata/probe/main.go")
	files := map[string]string{}
	for _, program := range factors[fProgram].values {
		toolchain, language, _ := strings.Cut(program, " ")
		files[programPath(program)] = built.Program{
			Name:  "probe",
			Files: map[string]string{"go.mod": "module probe\n\n" + language + "\n", "main.go": source},
			Env:   []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=", "GOTOOLCHAIN=" + toolchain},
			Args:  []string{"-ldflags=-s -w"},
		}.Run(t)
	}
	files["/guest"] = build(t, "./testdata/guest")
	files["/procfit"] = build(t, "github.com/procfit/procfit/cmd/procfit")
	return files
}
