//go:build unix

package folder

import (
	"io/fs"
	"syscall"
)

const (
	// nonBlocking keeps the opening of a pipe from waiting for its other end.
	nonBlocking = syscall.O_NONBLOCK
	// noFollow fails at a link.
	noFollow = syscall.O_NOFOLLOW
)

func ownerOf(file fs.FileInfo) owner {
	s, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}
	}
	return owner{given: true, uid: int(s.Uid), gid: int(s.Gid), kept: true}
}
