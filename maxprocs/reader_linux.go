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

// read reads a whole file, but none with lines of many makers, which the kernel
// may hand out in parts: of any other less than there is room for is all of it. The
// bytes are valid until the next call. It neither waits for a named pipe nor reads
// without an end.
func (r *reader) read(dir, file string) ([]byte, error) {
	fd, err := r.openFile(dir, file)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	used, limit := 0, cgfs.SizeLimit(file)
	for {
		if used == len(r.buf) {
			r.grow()
		}
		n, err := readSome(fd, r.buf[used:])
		switch {
		case err != nil:
			return nil, err
		case used+n > limit:
			return nil, cgfs.TooLarge(limit)
		case used+n < len(r.buf):
			return r.buf[:used+n], nil
		default:
			used += n
		}
	}
}

func (r *reader) grow() { r.buf = append(r.buf, make([]byte, len(r.buf))...) }

// someLines is how much of a list is asked for at least; the longer it turns out,
// the more. The kernel writes no more lines than it is asked for: one of mountinfo
// takes it 2 µs, and a further read 0.5 µs.
const someLines = 256

// lines hands on a file's text, some whole lines at a time, which are valid until
// the next, until each says that it is enough.
func (r *reader) lines(dir, file string, each func([]byte) (enough bool)) error {
	fd, err := r.openFile(dir, file)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	kept, total, limit := 0, 0, cgfs.SizeLimit(file)
	for {
		if kept == len(r.buf) {
			r.grow()
		}
		end := min(kept+someLines+total/4, len(r.buf))
		n, err := readSome(fd, r.buf[kept:end])
		if err != nil {
			return err
		}
		if total += n; total > limit {
			return cgfs.TooLarge(limit)
		}
		text := r.buf[:kept+n]
		whole := len(text) // at the end without a newline too
		for n > 0 && whole > 0 && text[whole-1] != '\n' {
			whole--
		}
		if whole > 0 && each(text[:whole]) || n == 0 {
			return nil
		}
		kept = copy(r.buf, text[whole:])
	}
}

// openFile opens what is a file.
func (r *reader) openFile(dir, file string) (fd int, err error) {
	if fd, err = r.open(dir, file); err != nil {
		return 0, err
	}
	var st syscall.Stat_t
	if err = syscall.Fstat(fd, &st); err == nil && !cgfs.IsFile(st.Mode) {
		err = cgfs.NotFile(st.Mode)
	}
	if err != nil {
		syscall.Close(fd)
	}
	return fd, err
}

func readSome(fd int, buf []byte) (int, error) {
	for {
		if n, err := syscall.Read(fd, buf); err != syscall.EINTR {
			return n, err
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

// readLink is at most so much of what a link says, until the next call.
func (r *reader) readLink(dir, file string, most int) []byte {
	name, ok := r.name(dir, file)
	if !ok {
		return nil
	}
	to := append(r.path, make([]byte, most)...)[len(r.path):] // there is room after the name
	n, _, errno := syscall.Syscall6(syscall.SYS_READLINKAT, uintptr(atCWD), uintptr(unsafe.Pointer(name)),
		uintptr(unsafe.Pointer(&to[0])), uintptr(most), 0, 0)
	if errno != 0 {
		return nil
	}
	return to[:n]
}

// inPlace is the text without a copy, for a parser that keeps none of it.
func inPlace(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(&b[0], len(b))
}
