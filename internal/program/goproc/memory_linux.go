//go:build !portable

package goproc

import (
	"encoding/binary"
	"io"
	"io/fs"
	"math"
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

// dataIn is how many bytes of a file are not in holes. Where the file system does not
// tell, or there are very many holes, all of the rest counts as data.
func dataIn(file int, size int64) (data int64) {
	for off, n := int64(0), 0; off < size; n++ {
		from, err := unix.Seek(file, off, unix.SEEK_DATA)
		if err == unix.ENXIO { // a hole to the end
			break
		}
		to := size
		if err == nil && n < maxExtents {
			to, err = unix.Seek(file, from, unix.SEEK_HOLE)
		}
		if err != nil || n >= maxExtents {
			return data + size - off
		}
		data += to - from
		off = to
	}
	return data
}

// loadBias is the difference between where a process runs and where its file says.
func loadBias(pid int, m *image) (uint64, error) {
	if m.fixed {
		return 0, nil
	}
	f, err := openProc(pid, "auxv")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var auxv [1024]byte // at most 44 pairs of words: AT_VECTOR_SIZE of the kernel
	n, err := f.ReadAt(auxv[:], 0)
	if err != nil && err != io.EOF {
		return 0, err
	}
	entry, ok := auxvEntry(auxv[:n])
	if !ok {
		return 0, errNoEntry
	}
	return entry - m.entry, nil
}

// auxvEntry returns AT_ENTRY (9) of a 64-bit auxiliary vector: pairs of words,
// ended by AT_NULL.
func auxvEntry(auxv []byte) (uint64, bool) {
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		switch binary.LittleEndian.Uint64(auxv) {
		case 0:
			return 0, false
		case 9:
			return binary.LittleEndian.Uint64(auxv[8:]), true
		}
	}
	return 0, false
}

// keyOf is the identity of the file that a process runs.
func keyOf(pid int) (fileKey, error) {
	path := procPath(pid, "exe")
	var st syscall.Stat_t
	for {
		switch err := syscall.Stat(path, &st); err {
		case nil:
			return keyOfStat(&st), nil
		case syscall.EINTR:
		default:
			return fileKey{}, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
	}
}

func keyOfStat(st *syscall.Stat_t) fileKey {
	return fileKey{dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano()}
}

// near is how far two variables may lie apart for one read of both, in bytes:
// gomaxprocs and the number of CPUs are neighbours.
const near = 256

// readPair reads two int32 variables, the second one 0 where its address is.
func readPair(mem io.ReaderAt, bias, first, second uint64) (a, b int32, err error) {
	lo, hi := min(first, second), max(first, second)
	if second == 0 || hi-lo > near {
		if a, err = readInt(mem, bias+first); err != nil || second == 0 {
			return a, 0, err
		}
		b, err = readInt(mem, bias+second)
		return a, b, err
	}
	var buf [near + 4]byte
	if _, err := mem.ReadAt(buf[:hi-lo+4], int64(bias+lo)); err != nil {
		return 0, 0, err
	}
	at := func(addr uint64) int32 { return int32(binary.LittleEndian.Uint32(buf[addr-lo:])) }
	return at(first), at(second), nil
}

func readInt(mem io.ReaderAt, addr uint64) (int32, error) {
	var b [4]byte
	_, err := mem.ReadAt(b[:], int64(addr))
	return int32(binary.LittleEndian.Uint32(b[:])), err
}

// monotonic is the clock that runtime.nanotime reads, in nanoseconds.
func monotonic() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return math.MaxInt64
	}
	return ts.Nano()
}
