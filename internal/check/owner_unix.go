//go:build unix

package check

import (
	"io/fs"
	"syscall"
)

func hasOtherNames(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}
