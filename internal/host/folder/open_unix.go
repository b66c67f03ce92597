//go:build unix

package folder

import "syscall"

const (
	// nonBlocking keeps the opening of a pipe from waiting for its other end.
	nonBlocking = syscall.O_NONBLOCK
	// noFollow fails at a link.
	noFollow = syscall.O_NOFOLLOW
)
