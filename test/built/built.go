// Package built keeps the programs that tests build, in one folder of the user's cache:
// the first test that needs a program builds it, and every later one, in any package and
// any run, finds it. Its name there is a hash of its sources, the Go release, the
// settings and the arguments of the build. The C compiler is not part of the hash, and
// neither are modules from a proxy, whose versions go.sum names.
package built

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// Program is a module of its own. It is built outside of the workspace: inside one, an
// old language version gets no GODEBUG defaults.
type Program struct {
	Name  string            // of the file; empty: all programs of the module, in a folder
	Files map[string]string // by their names below the module's folder, with go.mod
	Env   []string          // for the go command, such as CGO_ENABLED=0
	Args  []string          // of go build, such as -ldflags=-s
}

// Dir is the files of a folder and those below it, as Files has them.
func Dir(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		files[name] = string(b)
		return err
	})
	must.OK(t, err)
	return files
}

// Run builds the program, where nobody has done so before, and returns its path. The
// file is shared by all tests. A test that changes the file, or that runs it as another
// user, needs a Copy.
func (p Program) Run(t testing.TB) string {
	t.Helper()
	need.Command(t, "go")
	return must.Get(p.find())(t)
}

// Copy writes a copy of the program to path, for the caller alone.
func (p Program) Copy(t testing.TB, path string) {
	t.Helper()
	b := must.Get(os.ReadFile(p.Run(t)))(t)
	must.OK(t, os.WriteFile(path, b, 0o755))
}

// Go is a program that the go command makes in a folder for this test, without cgo: build or test -c,
// flags and a package.
func Go(t testing.TB, dir string, env []string, words ...string) string {
	t.Helper()
	Reads(t, dir)
	out := filepath.Join(t.TempDir(), "program")
	if name := path.Base(words[len(words)-1]); name != "." {
		out = filepath.Join(filepath.Dir(out), name)
	}
	cmd := exec.Command("go", slices.Insert(words, 1, "-o", out)...)
	cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), []string{"CGO_ENABLED=0"}, env)
	must.Output(t, cmd)
	return out
}

// once has a func() (string, error) for each key: tests that run at a time build a
// program once.
var once sync.Map

func (p Program) find() (string, error) {
	key, err := p.key()
	if err != nil {
		return "", err
	}
	f, _ := once.LoadOrStore(key, sync.OnceValues(func() (string, error) { return p.keep(key) }))
	return f.(func() (string, error))()
}

// settings are what the go command builds by, apart from the sources.
var settings = []string{"GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFLAGS", "GODEBUG", "GOFIPS140", "CGO_ENABLED", "CC", "CGO_CFLAGS", "CGO_LDFLAGS"}

func (p Program) key() (string, error) {
	out, err := told(p.env())
	if err != nil {
		return "", fmt.Errorf("go env with %v: %w", p.Env, err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %s %q %q\n", p.Name, out, p.Env, p.Args)
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		fmt.Fprintf(h, "%q %q\n", name, p.Files[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func (p Program) env() []string { return append(append(os.Environ(), "GOWORK=off"), p.Env...) }

// asked has a func() (string, error) for each environment.
var asked sync.Map

// told is what the go command says of the settings in an environment; it is asked once.
func told(env []string) (string, error) {
	f, _ := asked.LoadOrStore(strings.Join(env, "\x00"), sync.OnceValues(func() (string, error) {
		cmd := exec.Command("go", append([]string{"env"}, settings...)...)
		cmd.Dir, cmd.Env = os.TempDir(), env
		out, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return string(out), err
	}))
	return f.(func() (string, error))()
}

var folder = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("where to keep what tests build: %w", err)
	}
	dir := filepath.Join(cache, "procfit-tests")
	return dir, os.MkdirAll(dir, 0o755)
})

// unused is how long a program is kept after its last use.
const unused = 14 * 24 * time.Hour

// keep returns the path of the program in the folder, built if it is not there. Another
// process that builds the same is waited for.
func (p Program) keep(key string) (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(dir, key+".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	home := filepath.Join(dir, key)
	path := filepath.Join(home, p.Name)
	if _, err := os.Stat(path); err == nil { // with an empty name it is the folder, which appears when it is whole
		now := time.Now()
		return path, os.Chtimes(home, now, now)
	}
	temp, err := os.MkdirTemp(dir, "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	if err := p.build(filepath.Join(temp, "source"), filepath.Join(temp, "program", p.Name)); err != nil {
		return "", err
	}
	forget(dir)
	// It appears at once and whole: a build that is killed leaves nothing that looks done.
	if err := os.Rename(filepath.Join(temp, "program"), home); err != nil {
		if _, there := os.Stat(path); there != nil {
			return "", err
		}
	}
	return path, nil
}

func (p Program) build(source, out string) error {
	for name, text := range p.Files {
		file := filepath.Join(source, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	packages := "."
	if p.Name == "" {
		out, packages = out+string(filepath.Separator), "./..."
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	build := []string{"build"}
	if !slices.Contains(p.Env, "GOFLAGS=") { // as for Go before 1.18, which has no such flag
		build = append(build, "-buildvcs=false")
	}
	cmd := exec.Command("go", append(append(build, p.Args...), "-o", out, packages)...)
	cmd.Dir, cmd.Env = source, p.env()
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build of %s with %v %v: %w\n%s", p.Name, p.Env, p.Args, err, msg)
	}
	return nil
}

// forget removes what nobody has used for long, and what a killed build left.
func forget(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > unused {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
