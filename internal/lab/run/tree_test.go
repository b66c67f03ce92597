package run

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// tree is a Go release's, as far as a command needs it.
func tree(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "go")
	for name, mode := range map[string]os.FileMode{"VERSION": 0o444, "bin/go": 0o555, "src/html/template/doc.go": 0o444, "blog/post.md": 0o444} {
		file := filepath.Join(root, name)
		must.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.OK(t, os.WriteFile(file, []byte("package template\n"), mode))
	}
	// What the links of a distribution's tree lead to is elsewhere.
	must.OK(t, os.Symlink("/usr/share/go/misc", filepath.Join(root, "misc")))
	return root
}

// A command of a Go tree has that tree's go command and environment, and a copy of the
// sources where it changes them.
func TestCommandInTree(t *testing.T) {
	need.Command(t, "sh")
	root := tree(t)
	r := planOf(t, &world{cpus: 2}, "out", "build")
	r.options.Environ = os.Environ()
	compiled := 0
	on := unheard
	on.Compile = func(string, string) { compiled++ }
	c := r.compilers(on)
	defer c.close()
	c.chains["1.5"] = fetched{Toolchain: toolchain.Toolchain{Version: "go1.5.4", Root: root}}
	c.chains["1.4"] = fetched{Toolchain: toolchain.Toolchain{Version: "go1.4.3", Root: "/go1.4"}}
	c.chains["9.99"] = fetched{err: errors.New("no such release")}
	command := func(s lab.Stage, words ...string) []string {
		t.Helper()
		s.Tree, s.Target.Command = "1.5", words
		p, err := c.command(t.Context(), s)
		must.OK(t, errors.Join(err, p.Err))
		return p.Command
	}
	words := command(lab.Stage{}, "{go}", "list")
	if last := words[len(words)-2:]; words[0] != "env" || !slices.Equal(last, []string{filepath.Join(root, "bin", "go"), "list"}) || !slices.Contains(words, "GOROOT="+root) || compiled > 0 {
		t.Errorf("%q, %d compiled", words, compiled)
	}

	// It runs once before it is measured, and each run changes its source.
	words = command(lab.Stage{}, "sh", "-c", `echo // >>"$1/src/html/template/doc.go"`, "sh", "{tree}")
	must.Output(t, exec.Command(words[0], words[1:]...))
	copied := words[len(words)-1]
	b, err := os.ReadFile(filepath.Join(copied, "src", "html", "template", "doc.go"))
	if err != nil || strings.Count(string(b), "//\n") != 2 || compiled != 1 {
		t.Errorf("%v: %q, %d compiled", err, b, compiled)
	}
	if b, err := os.ReadFile(filepath.Join(root, "src", "html", "template", "doc.go")); err != nil || strings.Contains(string(b), "//") {
		t.Errorf("the release's own: %v, %q", err, b)
	}
	if info, err := os.Stat(filepath.Join(copied, "bin", "go")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(copied, "blog")); err == nil {
		t.Error("what no build reads was copied")
	}

	// What builds a whole tree is given the release to use, and does not run before.
	words = command(lab.Stage{Bootstrap: "1.4"}, "sh", "-c", "exit 1", "sh", "{tree}")
	if !slices.Contains(words, "GOROOT_BOOTSTRAP=/go1.4") || words[len(words)-1] != copied || compiled != 1 {
		t.Errorf("%q, %d compiled", words, compiled)
	}
	if p, err := c.command(t.Context(), lab.Stage{Tree: "9.99"}); err != nil || p.Err == nil || p.Err.Error() != "no such release" {
		t.Errorf("%+v, %v", p, err)
	}
	failing := lab.Stage{Tree: "1.5"}
	failing.Target.Command = []string{"sh", "-c", "echo broken >&2; exit 3", "sh", "{tree}"}
	if p, err := c.command(t.Context(), failing); err != nil || p.Err == nil || !strings.Contains(p.Err.Error(), "broken") {
		t.Errorf("%+v, %v", p, err)
	}
}
