// Package linux stands for internal/runtime/syscall/linux: a kernel whose files
// are in memory.
package linux

import (
	"path"
	"unsafe"
)

const (
	O_RDONLY  = 0
	O_CLOEXEC = 0x80000
	ENOENT    = 2
)

type open struct {
	text string
	at   int
}

var (
	files map[string]string
	fds   []*open
)

// Boot begins with other files.
func Boot(all map[string]string) { files, fds = all, nil }

func Open(name *byte, mode int, perm uint32) (fd int, errno uintptr) {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(name), n)) != 0 {
		n++
	}
	text, ok := files[path.Clean(unsafe.String(name, n))]
	if !ok {
		return -1, ENOENT
	}
	fds = append(fds, &open{text: text})
	return len(fds) - 1, 0
}

func Read(fd int, p []byte) (n int, errno uintptr) {
	f := fds[fd]
	n = copy(p, f.text[f.at:])
	f.at += n
	return n, 0
}

func Pread(fd int, p []byte, offset int64) (n int, errno uintptr) {
	return copy(p, fds[fd].text[offset:]), 0
}

func Close(int) uintptr { return 0 }
