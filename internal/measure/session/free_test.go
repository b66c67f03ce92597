package session

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "server-1")
	for _, want := range []string{dir, dir + "-2", dir + "-3"} {
		got := free(dir)
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if err := os.Mkdir(got, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
