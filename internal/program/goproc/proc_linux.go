//go:build !portable

package goproc

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// fd is a file of /proc, opened for reading. Package os would ask the poller and
// the kernel about each one, which costs as much as reading it.
type fd struct {
	n    int
	path string
}

func openProc(pid int, name string) (fd, error) {
	path := procPath(pid, name)
	for {
		n, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			return fd{n, path}, nil
		}
		if err != syscall.EINTR {
			return fd{}, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

func (f fd) Close() error { return syscall.Close(f.n) }

func (f fd) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := syscall.Pread(f.n, p[done:], off+int64(done))
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return done, &fs.PathError{Op: "read", Path: f.path, Err: err}
		case n == 0:
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

// maxExtents bounds how many parts of a file are looked at for holes between them.
const maxExtents = 512

// dataIn is how many of the bytes of a file are not in holes. Where the file system does not
// tell, or there are very many holes, all of the rest counts as data.
func (f fd) dataIn(size int64) (data int64) {
	for off, n := int64(0), 0; off < size; n++ {
		from, err := unix.Seek(f.n, off, unix.SEEK_DATA)
		if err == unix.ENXIO { // a hole to the end
			break
		}
		to := size
		if err == nil && n < maxExtents {
			to, err = unix.Seek(f.n, from, unix.SEEK_HOLE)
		}
		if err != nil || n >= maxExtents {
			return data + size - off
		}
		data += to - from
		off = to
	}
	return data
}

// keyOf is the identity of the file that a process runs.
func keyOf(pid int) (fileKey, error) {
	info, err := os.Stat(procPath(pid, "exe"))
	if err != nil {
		return fileKey{}, err
	}
	return keyOfStat(info.Sys().(*syscall.Stat_t)), nil
}

func (f fd) key() (fileKey, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(f.n, &st); err != nil {
		return fileKey{}, &fs.PathError{Op: "stat", Path: f.path, Err: err}
	}
	return keyOfStat(&st), nil
}

func keyOfStat(st *syscall.Stat_t) fileKey {
	return fileKey{dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano()}
}

// hint says what would allow reading the process.
func hint(pid int) string {
	info, err := os.Stat(procPath(pid, ""))
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(st.Uid) != os.Geteuid() {
		return fmt.Sprintf("; it is of user %d: run as that user or with CAP_SYS_PTRACE", st.Uid)
	}
	yama, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if scope := string(bytes.TrimSpace(yama)); err == nil && scope != "0" {
		return fmt.Sprintf("; kernel.yama.ptrace_scope is %s: run with CAP_SYS_PTRACE, or let procfit start the program", scope)
	}
	return "; run with CAP_SYS_PTRACE"
}
