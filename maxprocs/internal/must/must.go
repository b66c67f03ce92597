// Package must ends a test of the library where what comes before its proof fails, as package
// test/must does for the tool.
package must

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// OK ends the test for an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get is a value that comes without an error, or the end of the test: must.Get(f())(t).
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

// Write writes files below a folder, with the folders that they are in.
func Write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		OK(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
	}
}

// Until waits for a minute at most until something is so.
func Until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after a minute: not %s", what)
		}
	}
}
