// Package must ends a test where what comes before its proof fails: a fixture cannot be
// written, a program does not start. Say is the proof itself, of a text.
package must

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// Read is the text of a file.
func Read(t testing.TB, name string) string {
	t.Helper()
	return string(Get(os.ReadFile(name))(t))
}

// Write writes a file, and the folders that it is in.
func Write(t testing.TB, name, text string) {
	t.Helper()
	OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
	OK(t, os.WriteFile(name, []byte(text), 0o644))
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

// Output is what a command prints, to standard error too. It must succeed.
func Output(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, out)
	}
	return string(out)
}

// Say fails the test, which goes on, for each of the parts that a text does not have.
func Say(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
