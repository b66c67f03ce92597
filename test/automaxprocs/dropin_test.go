// Package automaxprocs holds the library against go.uber.org/automaxprocs
// v1.6.0: what the policy Automaxprocs says against what that module does, and
// the cost of the one Set beside that of the other, in one run:
//
//	go test -run '^$' -bench . -count 6
//
// It is a module of its own, so that nothing else requires the other module.
package automaxprocs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// differs are the assertions of automaxprocs' own test that do not hold of the
// package here, by their words, each with the reason that docs/reference/library.md gives.
var differs = map[string]string{
	"TestSet/ErrorReadingQuota: should pass errors up the stack":      "an error says what it means, and wraps its cause",
	"TestSet/QuotaUndefined: unexpected log output":                   "the line has other words",
	"TestSet/QuotaUndefined_return_maxProcs=7: unexpected log output": "the line has other words",
	"TestSet/QuotaTooSmall: unexpected log output":                    "the line has other words",
	"TestSet/Min_unused: unexpected log output":                       "the line has other words",
}

// TestDropIn runs automaxprocs' own test of its Set on the one here. The test is
// in the package that it tests, so that a copy of the library is made with it and
// with the names that it uses.
func TestDropIn(t *testing.T) {
	need.Everything(t, "compiles another module's test with a copy of the library; TestPolicy and TestFixtures hold the two against one another")
	opened(t, "../../maxprocs", "../../docs/reference/library.md", "testdata/dropin", "go.mod")
	theirs := moduleDir(t, "go.uber.org/automaxprocs")
	dir := t.TempDir()
	err := fs.WalkDir(os.DirFS("../../maxprocs"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.Contains(name, "/") && !strings.HasPrefix(name, "internal/") {
			return err
		}
		return put(filepath.Join(dir, name), filepath.Join("../../maxprocs", name))
	})
	err = errors.Join(err,
		put(filepath.Join(dir, "go.sum"), "go.sum"),
		put(filepath.Join(dir, "hooks_test.go"), "testdata/dropin/hooks.go"),
		put(filepath.Join(dir, "theirs/runtime.go"), filepath.Join(theirs, "internal/runtime/runtime.go"), "package runtime", "package theirs"),
		put(filepath.Join(dir, "theirs_test.go"), filepath.Join(theirs, "maxprocs/maxprocs_test.go"),
			`"go.uber.org/automaxprocs/internal/runtime"`, `"github.com/procfit/procfit/maxprocs/theirs"`,
			"cfg.procs = f", "stub(cfg, f)"),
		put(filepath.Join(dir, "go.mod"), "go.mod", "procfit/test/automaxprocs", "procfit/maxprocs",
			"require (\n\tgithub.com/procfit/procfit/maxprocs v0.0.0\n\tgo.uber.org/automaxprocs v1.6.0\n)\n", "",
			"replace github.com/procfit/procfit/maxprocs => ../../maxprocs\n", ""))
	must.OK(t, err)
	cmd := exec.Command("go", "test", "-json", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	passed, failed, other := outcomes(t, out)
	if len(passed) < 7 {
		t.Fatalf("only %v passed: %v\n%s", passed, err, other)
	}
	if want := slices.Sorted(maps.Keys(differs)); !slices.Equal(failed, want) {
		t.Errorf("automaxprocs' test fails with\n%s\nwant\n%s\n%s", strings.Join(failed, "\n"), strings.Join(want, "\n"), other)
	}
	page := must.Read(t, "../../docs/reference/library.md")
	for assertion, reason := range differs {
		if !strings.Contains(page, reason) {
			t.Errorf("docs/reference/library.md does not say %q, for %s", reason, assertion)
		}
	}
}

// opened opens the files below folders, by names that begin with the test's folder, before
// the dots: go test takes a result from its cache unless a file that the test opened by such
// a name has changed. It does not see what a go command opens for the test.
func opened(t *testing.T, names ...string) {
	t.Helper()
	here := must.Get(os.Getwd())(t)
	for _, name := range names {
		must.OK(t, filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				_, err = os.ReadFile(here + "/" + filepath.ToSlash(path))
			}
			return err
		}))
	}
}

// outcomes are the tests that passed, and the assertions that failed.
func outcomes(t *testing.T, out []byte) (passed, failed []string, other string) {
	t.Helper()
	for line := range bytes.Lines(out) {
		var e struct{ Action, Test, Output string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		_, words, message := strings.Cut(e.Output, "Messages:")
		switch {
		case e.Action == "pass" && e.Test != "":
			passed = append(passed, e.Test)
		case message:
			failed = append(failed, fmt.Sprintf("%s: %s", e.Test, strings.TrimSpace(words)))
		default:
			other += e.Output
		}
	}
	slices.Sort(failed)
	return passed, failed, other
}

func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out := must.Get(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output())(t)
	return strings.TrimSpace(string(out))
}

// put copies a file, with some words for others.
func put(to, from string, words ...string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	for i := 0; i < len(words); i += 2 {
		if !strings.Contains(string(text), words[i]) {
			return fmt.Errorf("%s has no %q", from, words[i])
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(strings.NewReplacer(words...).Replace(string(text))), 0o644)
}
