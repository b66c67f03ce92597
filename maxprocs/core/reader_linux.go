package core

import (
	"syscall"
	"unsafe"
)

// reader opens and reads without allocating: package os would register each
// file with the network poller, and package syscall copy each name.
type reader struct {
	root string // before every path; "" but in tests
	path []byte // room for a name
	buf  []byte // room for a file
}

// atCWD is AT_FDCWD, which absolute names have no use for.
var atCWD = -100 // a variable: the constant overflows a uintptr

// name is the file's, with the NUL that ends it for the kernel.
func (r *reader) name(dir, file string) (*byte, bool) {
	p := append(append(r.path[:0], r.root...), dir...)
	if dir != "/" {
		p = append(p, '/')
	}
	p = append(append(p, file...), 0)
	r.path = p
	for _, c := range p[:len(p)-1] {
		if c == 0 {
			return nil, false // no name of a file: it would end here
		}
	}
	return &p[0], true
}

func (r *reader) exists(dir, file string) bool {
	name, ok := r.name(dir, file)
	if !ok {
		return false
	}
	_, _, errno := syscall.Syscall(syscall.SYS_FACCESSAT, uintptr(atCWD), uintptr(unsafe.Pointer(name)), 0)
	return errno == 0
}

// read reads a whole file. The bytes are valid until the next call.
func (r *reader) read(dir, file string) ([]byte, syscall.Errno) {
	name, ok := r.name(dir, file)
	if !ok {
		return nil, syscall.EINVAL
	}
	var fd uintptr
	for {
		var errno syscall.Errno
		fd, _, errno = syscall.Syscall6(syscall.SYS_OPENAT, uintptr(atCWD), uintptr(unsafe.Pointer(name)),
			syscall.O_RDONLY|syscall.O_CLOEXEC, 0, 0, 0)
		if errno == 0 {
			break
		} else if errno != syscall.EINTR {
			return nil, errno
		}
	}
	defer syscall.Close(int(fd))
	used := 0
	for {
		if used == len(r.buf) {
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
		n, err := syscall.Read(int(fd), r.buf[used:])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			if errno, ok := err.(syscall.Errno); ok {
				return nil, errno
			}
			return nil, syscall.EIO
		case n <= 0:
			return r.buf[:used], 0
		default:
			used += n
		}
	}
}

// inPlace is the text without a copy, for a parser that keeps none of it.
func inPlace(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(&b[0], len(b))
}
