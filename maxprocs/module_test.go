package maxprocs

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Importing the library must never move a user's versions.
func TestModuleRequiresNothing(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"require", "replace", "toolchain"} {
		if strings.Contains(string(mod), word) {
			t.Errorf("go.mod has %q:\n%s", word, mod)
		}
	}
	if !strings.Contains(string(mod), "\ngo 1.21\n") {
		t.Errorf("go.mod does not say go 1.21:\n%s", mod)
	}
}

// slog adds 0.45 MB to a binary and net/http 3 MB, so the core has neither.
func TestCoreImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, out)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 10 {
		t.Fatalf("go list names %d packages: %s", len(deps), out)
	}
	for _, dep := range deps {
		switch dep {
		case "log/slog", "net", "net/http", "encoding/json", "debug/elf":
			t.Errorf("the core imports %s", dep)
		}
		if strings.Contains(dep, ".") && dep != "github.com/procfit/procfit/maxprocs" && !strings.HasPrefix(dep, "vendor/") {
			t.Errorf("the core imports %s, which is not of the standard library", dep)
		}
	}
}
