package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// What the README installs can be made an image, which is the first step in a cluster: no
// package of it needs a C library. The second tier does both steps.
func TestInstalledMakesAnImage(t *testing.T) {
	t.Parallel()
	need.Command(t, "go")
	built.ReadsProcfit(t)
	b := must.Get(os.ReadFile("../../README.md"))(t)
	m := regexp.MustCompile("`([^`]*?)go install (\\S+)` puts").FindSubmatch(b)
	if m == nil {
		t.Fatal("the README does not say how to install procfit")
	}
	goCommand := func(args ...string) *exec.Cmd {
		cmd := exec.Command("go", args...)
		cmd.Dir = "../.."
		cmd.Env = append(append(os.Environ(), "CGO_ENABLED=1"), strings.Fields(string(m[1]))...) // 1 is the default where there is a C compiler
		return cmd
	}
	out, err := goCommand("list", "-deps", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", string(m[2])).Output()
	if using := strings.Fields(string(out)); err != nil || len(using) > 0 {
		t.Errorf("%sgo install %s: %v, a C compiler builds parts of %v, so that procfit image refuses the program", m[1], m[2], err, using)
	}
	if !need.Full() {
		return
	}
	dir := t.TempDir()
	install := goCommand("install", string(m[2]))
	install.Env = append(install.Env, "GOBIN="+dir, "GOFLAGS="+os.Getenv("GOFLAGS")+" -ldflags=-w") // without what debuggers read it is linked sooner
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command(filepath.Join(dir, "procfit"), "kube", "image", "--archive", filepath.Join(dir, "procfit.tar")).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
