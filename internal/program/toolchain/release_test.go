package toolchain

import (
	"cmp"
	"context"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

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

func TestBuildWithErrors(t *testing.T) {
	dir := module(t, "1.21", map[string]string{"main.go": "package main\nfunc main() { undefined() }\n"})
	env := append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=")
	local := must.Get(Go{Path: "go", Env: env}.Run(t.Context(), "env", "GOVERSION"))(t)
	for version, want := range map[string]string{
		strings.TrimSpace(string(local)): "undefined",
		"1.21.999":                       "get the toolchain of Go 1.21.999",
		"1.9999":                         "1.9999",
		"banana":                         "is not a Go version",
		"1.24; rm":                       "is not a Go version",
	} {
		if err := (Go{Path: "go", Dir: dir, Env: env}).BuildWith(t.Context(), version, ".", filepath.Join(dir, "out")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("version %q: error %v, want %q", version, err, want)
		}
	}
}

// It needs the network, or a module cache that has these.
func TestBuildWithToolchains(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the runtime with one more toolchain")
	}
	need.Everything(t, "fetches two toolchains and compiles the runtime with each; TestLocal compiles with this one")
	release := cmp.Or(need.NewGo(), "1.24.6")
	language := version.Lang("go" + release)
	minor := strings.TrimPrefix(language, "go")
	dir := module(t, minor, map[string]string{"main.go": "package main\nimport \"runtime\"\nfunc main() { println(runtime.Version()) }\n"})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	env := append(os.Environ(), "GOWORK=off")
	if _, err := Fetch(ctx, release); err != nil {
		need.Skip(t, "needs Go toolchains from the module proxy: "+err.Error())
	}
	out := filepath.Join(t.TempDir(), "program")
	here := Go{Path: "go", Dir: dir, Env: env}
	must.OK(t, here.BuildWith(ctx, minor, ".", out))
	said, err := exec.CommandContext(ctx, out).CombinedOutput()
	if full := strings.TrimSpace(string(said)); err != nil || version.Compare(full, "go"+release) < 0 || version.Lang(full) != language {
		t.Errorf("%s says %q, %v", minor, said, err)
	}
	if err := here.BuildWith(ctx, "1.22.12", ".", filepath.Join(t.TempDir(), "program")); err == nil || !strings.Contains(err.Error(), "the go line of its module asks for a later version") {
		t.Errorf("a module of go %s with Go 1.22.12: %v", minor, err)
	}
}
