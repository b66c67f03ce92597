//go:build !portable && (amd64 || arm64)

package steer

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The requests of ptrace(2) that a tracer of running threads needs. All of them have to come
// from the operating-system thread that seized.

func ptrace(request, tid int, addr, data uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// getSet reads a set of registers, and returns how long it is.
func getSet(tid, set int, b []byte) (int, error) {
	iov := unix.Iovec{Base: &b[0]}
	iov.SetLen(len(b))
	err := ptrace(unix.PTRACE_GETREGSET, tid, uintptr(set), uintptr(unsafe.Pointer(&iov)))
	return int(iov.Len), err
}

func putSet(tid, set int, b []byte) error {
	iov := unix.Iovec{Base: &b[0]}
	iov.SetLen(len(b))
	return ptrace(unix.PTRACE_SETREGSET, tid, uintptr(set), uintptr(unsafe.Pointer(&iov)))
}

// generalSet is the regset of the general registers (NT_PRSTATUS).
const generalSet = 1

func (r *registers) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(r)), unsafe.Sizeof(*r))
}

func readRegisters(tid int) (registers, error) {
	var r registers
	_, err := getSet(tid, generalSet, r.bytes())
	return r, err
}

func readVectors(tid int) ([]byte, error) {
	b := make([]byte, vectorRoom)
	n, err := getSet(tid, vectorSet, b)
	return b[:n], err
}

// setRegisters writes the registers of a thread. The number of the first thread of a process
// is that of another one after exec.
func (t *tracer) setRegisters(tid int, r registers) error {
	if !t.alive() {
		return unix.ESRCH
	}
	return putSet(tid, generalSet, r.bytes())
}

// transfers are the numbers of system calls that read or write.
var transfers = map[uint64]bool{
	unix.SYS_READ: true, unix.SYS_READV: true, unix.SYS_PREAD64: true, unix.SYS_RECVFROM: true, unix.SYS_RECVMSG: true, unix.SYS_ACCEPT4: true,
	unix.SYS_WRITE: true, unix.SYS_WRITEV: true, unix.SYS_PWRITE64: true, unix.SYS_SENDTO: true, unix.SYS_SENDMSG: true,
}

// word is 8 bytes of the program to be written.
type word struct{ addr, value uint64 }

// write puts words into the memory of the program.
func (t *tracer) write(words []word) error {
	for _, w := range words {
		if _, err := t.mem.WriteAt(binary.LittleEndian.AppendUint64(nil, w.value), int64(w.addr)); err != nil {
			return err
		}
	}
	return nil
}
