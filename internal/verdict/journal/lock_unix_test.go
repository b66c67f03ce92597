//go:build unix

package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// Where the file system has no locks, the error names the file and what to do.
func TestLockFails(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), Name))
	must.OK(t, err)
	f.Close() // its descriptor is not valid any more, so that flock fails
	err = lock(f)
	if !errors.Is(err, syscall.EBADF) || !strings.Contains(err.Error(), f.Name()) || !strings.Contains(err.Error(), "local disk") {
		t.Errorf("%v", err)
	}
}
