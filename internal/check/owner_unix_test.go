//go:build unix

package check

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFixerKeepsTheOwner: root fixes the files of others without taking them over.
func TestFixerKeepsTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := tree(t, map[string]string{"a": "x"})
	file := filepath.Join(dir, "a")
	if err := os.Chown(file, 12345, 54321); err != nil {
		t.Fatal(err)
	}
	fix(t, dir, "", true)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 54321 {
		t.Errorf("it belongs to %d:%d", s.Uid, s.Gid)
	}
}
