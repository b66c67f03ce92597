package maxprocs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/internal/must"
)

// Importing the library must never move a user's versions.
func TestModuleRequiresNothing(t *testing.T) {
	mod := must.Get(os.ReadFile("go.mod"))(t)
	for _, word := range []string{"require", "replace", "toolchain"} {
		if strings.Contains(string(mod), word) {
			t.Errorf("go.mod has %q:\n%s", word, mod)
		}
	}
	if !strings.Contains(string(mod), "\ngo 1.21\n") {
		t.Errorf("go.mod does not say go 1.21:\n%s", mod)
	}
}

// imports are a package's, with all that they import.
func imports(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", pkg).CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, out)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 10 {
		t.Fatalf("go list names %d packages: %s", len(deps), out)
	}
	for _, dep := range deps {
		if strings.Contains(dep, ".") && !strings.HasPrefix(dep, "github.com/procfit/procfit/maxprocs") && !strings.HasPrefix(dep, "vendor/") {
			t.Errorf("%s imports %s, which is not of the standard library", pkg, dep)
		}
	}
	return deps
}

// slog adds 0.45 MB to a binary and net/http 3 MB, so the library has them in
// slogger and metrics alone. What a program needs, and the blank import, have
// nothing that adds 0.2 MB but time either.
func TestImports(t *testing.T) {
	has := func(pkg string, names ...string) (found []string) {
		for _, dep := range imports(t, pkg) {
			for _, name := range names {
				if dep == name {
					found = append(found, dep)
				}
			}
		}
		return found
	}
	if found := has("./facts", "log/slog", "net", "net/http", "encoding/json", "debug/elf"); found != nil {
		t.Errorf("maxprocs/facts imports %v", found)
	}
	for _, pkg := range []string{".", "./auto"} {
		if found := has(pkg, "fmt", "os", "io/fs", "strings", "log/slog", "net/http"); found != nil {
			t.Errorf("%s imports %v", pkg, found)
		}
	}
	if found := has("./slogger", "net", "net/http"); found != nil {
		t.Errorf("maxprocs/slogger imports %v", found)
	}
}

// TestDocs type-checks and vets each program of the page about the library.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile(here(t) + "/../docs/reference/library.md")
	if os.IsNotExist(err) {
		t.Skip("the module stands alone, without the page")
	} else if err != nil {
		t.Fatal(err)
	}
	programs := strings.Split(string(page), "```go\n")[1:]
	if len(programs) < 3 {
		t.Fatalf("found %d programs", len(programs))
	}
	files := map[string]string{}
	for i, p := range programs {
		files[fmt.Sprintf("p%d/main.go", i)], _, _ = strings.Cut(p, "```")
	}
	goIn(t, program(t, files), "vet", "./...")
}

// here is the folder of the test. go test takes a result from its cache unless a file has
// changed that the test opened by a name that starts with the folder of its module: with here
// before the dots, the name of a file outside does.
func here(t *testing.T) string {
	t.Helper()
	return must.Get(os.Getwd())(t)
}

// program writes a module that imports the library, and returns its folder. It opens the
// library's files, since go test does not see that the go command does.
func program(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	here := here(t)
	err := filepath.Walk(here, func(name string, info os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			_, err = os.ReadFile(name)
		}
		return err
	})
	must.OK(t, err)
	dir = t.TempDir()
	files["go.mod"] = "module example.com/program\n\ngo 1.21\n\nrequire github.com/procfit/procfit/maxprocs v0.0.0\n\nreplace github.com/procfit/procfit/maxprocs => " + here + "\n"
	must.Write(t, dir, files)
	return dir
}

// goIn runs the go command in a module's folder, outside of the workspace.
func goIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestSize builds an empty program with and without the library, stripped: whole pages of
// 4 KiB, of which one may come by another patch of Go.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("links three programs")
	}
	size := func(text string) int64 {
		dir := program(t, map[string]string{"main.go": text})
		goIn(t, dir, "build", "-trimpath", "-ldflags=-s -w", "-o", "program", ".") // of any length of path
		info := must.Get(os.Stat(filepath.Join(dir, "program")))(t)
		return info.Size()
	}
	empty := size("package main\n\nfunc main() {}\n")
	const imported = "package main\n\nimport %s\"github.com/procfit/procfit/maxprocs%s\"\n\nfunc main() { %s }\n"
	for name, tc := range map[string]struct {
		text string
		most int64
		old  int64 // package syscall brings more of older runtimes along
	}{
		"Set":              {fmt.Sprintf(imported, "", "", "maxprocs.Set()"), 235_000, 285_000},
		"the blank import": {fmt.Sprintf(imported, "_ ", "/auto", ""), 325_000, 380_000},
	} {
		added := size(tc.text) - empty
		t.Logf("%s adds %d bytes to an empty program", name, added)
		most := tc.most
		if strings.HasPrefix(runtime.Version(), "go1.2") && runtime.Version() < "go1.26" {
			most = tc.old
		}
		if added > most || added < 1_000 {
			t.Errorf("%s adds %d bytes to an empty program, want at most %d", name, added, most)
		}
	}
}
