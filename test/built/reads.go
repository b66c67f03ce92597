package built

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// Reads tells go test that the result of the test depends on all files at and below the
// folders, which a child process of the test reads, such as go build. go test uses a result
// again while the files that the test itself has opened are as they were, and of a folder
// that it has opened the names, sizes and times.
func Reads(t testing.TB, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && path != dir && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return err
		})
		must.OK(t, err)
	}
}

// ReadsProcfit is Reads of what procfit is built from, for a test of the module that builds it.
func ReadsProcfit(t testing.TB) {
	t.Helper()
	root := must.Get(os.Getwd())(t)
	for {
		if _, err := os.Stat(filepath.Join(root, "go.work")); err == nil {
			break
		}
		up := filepath.Dir(root)
		if up == root {
			t.Fatal("no go.work here or above")
		}
		root = up
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		must.Get(os.Stat(filepath.Join(root, name)))(t)
	}
	Reads(t, filepath.Join(root, "cmd"), filepath.Join(root, "internal"), filepath.Join(root, "maxprocs"))
}
