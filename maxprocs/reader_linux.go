package maxprocs

import (
	"syscall"
	"unsafe"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
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

// look is nil where the file is there.
func (r *reader) look(dir, file string) error {
	name, ok := r.name(dir, file)
	if !ok {
		return syscall.ENOENT
	}
	_, _, errno := syscall.Syscall(syscall.SYS_FACCESSAT, uintptr(atCWD), uintptr(unsafe.Pointer(name)), 0)
	if errno == 0 {
		return nil
	}
	return errno
}

// read reads a whole file. The bytes are valid until the next call. It neither
// waits for a named pipe nor reads without an end.
func (r *reader) read(dir, file string) ([]byte, error) {
	fd, err := r.open(dir, file)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, err
	} else if !cgfs.IsFile(st.Mode) {
		return nil, cgfs.NotFile(st.Mode)
	}
	used, limit := 0, cgfs.SizeLimit(file)
	for {
		if used == len(r.buf) {
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
		n, err := syscall.Read(fd, r.buf[used:])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, err
		case n <= 0:
			return r.buf[:used], nil
		case used+n > limit:
			return nil, cgfs.TooLarge(limit)
		default:
			used += n
		}
	}
}

func (r *reader) open(dir, file string) (fd int, err error) {
	name, ok := r.name(dir, file)
	if !ok {
		return 0, syscall.EINVAL
	}
	for {
		fd, _, errno := syscall.Syscall6(syscall.SYS_OPENAT, uintptr(atCWD), uintptr(unsafe.Pointer(name)),
			syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0, 0, 0)
		if errno == 0 {
			return int(fd), nil
		} else if errno != syscall.EINTR {
			return 0, errno
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
