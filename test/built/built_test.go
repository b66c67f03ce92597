package built

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

func hello(text string) Program {
	return Program{Name: "hello", Env: []string{"CGO_ENABLED=0"}, Files: map[string]string{
		"go.mod":  "module example.com/hello\n\ngo 1.21\n",
		"main.go": "package main\n\nfunc main() { println(\"" + text + "\") }\n",
	}}
}

// TestRun: what was built is found again, and only if nothing about it differs.
func TestRun(t *testing.T) {
	p := hello("one")
	path := p.Run(t)
	built := stat(t, path).ModTime()
	key := must.Get(p.key())(t)
	// As another process does it, to which what this one knows means nothing.
	if again, err := p.keep(key); err != nil || again != path || !stat(t, again).ModTime().Equal(built) {
		t.Errorf("asked again: %s, %v, want %s as it was", again, err, path)
	}
	own := filepath.Join(t.TempDir(), "copy")
	p.Copy(t, own)
	if out, err := exec.Command(own).CombinedOutput(); err != nil || string(out) != "one\n" {
		t.Errorf("the copy prints %q, %v", out, err)
	}
	keys := map[string]bool{key: true}
	name, env, args := p, p, p
	name.Name, env.Env, args.Args = "other", append(env.Env, "GOARCH=arm64"), []string{"-ldflags=-s"}
	for _, other := range []Program{hello("two"), name, env, args} {
		key, err := other.key()
		if err != nil || keys[key] {
			t.Errorf("%+v has the same key as another, or none: %v", other, err)
		}
		keys[key] = true
	}
}

func stat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	return must.Get(os.Stat(path))(t)
}

// TestRunFails: a program that cannot be built leaves nothing that looks like one.
func TestRunFails(t *testing.T) {
	p := hello("\" + none + \"")
	for range 2 {
		if path, err := p.find(); err == nil {
			t.Fatalf("%s was built", path)
		}
	}
}

// TestForget removes what nobody has used for long, and nothing else.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"old": unused + time.Hour, "new": time.Hour} {
		path := filepath.Join(dir, name)
		must.OK(t, os.Mkdir(path, 0o755))
		then := time.Now().Add(-age)
		must.OK(t, os.Chtimes(path, then, then))
	}
	forget(dir)
	if _, err := os.Stat(filepath.Join(dir, "old")); !os.IsNotExist(err) {
		t.Errorf("what nobody uses is still there: %v", err)
	}
	stat(t, filepath.Join(dir, "new"))
}
