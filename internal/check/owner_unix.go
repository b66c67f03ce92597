//go:build unix

package check

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file that was replaced back to whose it was: root in a container
// often fixes the files of somebody else. Who may not do so owns the file already, or
// could not have kept the owner by writing into it either.
func keepOwner(file string, was fs.FileInfo) {
	if s, ok := was.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		os.Lchown(file, int(s.Uid), int(s.Gid))
	}
}
