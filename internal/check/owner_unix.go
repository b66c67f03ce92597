//go:build unix

package check

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file that was replaced back to whose it was: root in a container
// often fixes the files of somebody else, and files of a team belong to its group. Who may not
// do so becomes the owner.
func keepOwner(file string, was fs.FileInfo) {
	if s, ok := was.Sys().(*syscall.Stat_t); ok && os.Lchown(file, int(s.Uid), int(s.Gid)) != nil {
		os.Lchown(file, -1, int(s.Gid))
	}
}

func hasOtherNames(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}
