//go:build unix

package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes the file for this process until it is closed.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return fmt.Errorf("%s %w: wait for it, or choose another directory", f.Name(), ErrHeld)
	case err != nil: // some network file systems have no locks
		return fmt.Errorf("%s cannot be locked (%w): choose a directory on a local disk", f.Name(), err)
	}
	return nil
}
