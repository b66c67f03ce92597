package observe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestScanHung: a scan waits for a while only for a program whose file system does not answer,
// and the scans after it don't wait.
func TestScanHung(t *testing.T) {
	need.Root(t)
	if _, err := os.Stat("/dev/fuse"); err != nil {
		need.Skip(t, "needs FUSE: "+err.Error())
	}
	well, _ := play(t, "leaf")
	dir := t.TempDir()
	_, says := play(t, "mounted "+dir, func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	})
	_, number, _ := strings.Cut(says, " ")
	pid, err := strconv.Atoi(number)
	if err != nil {
		t.Fatalf("the program on FUSE: %s", says)
	}
	s := newScanner(t)
	if p := one(t, scan(t, s, well, pid), pid); p.ProgramUnknown != "" || p.LiveUnknown != "" {
		t.Fatalf("while it answers: %q, %q", p.ProgramUnknown, p.LiveUnknown)
	}
	must.OK(t, os.WriteFile(gate(dir), nil, 0o600))
	s.looks.answerIn = time.Second
	for _, waits := range []bool{true, false} {
		began := time.Now()
		snap := scan(t, s, well, pid)
		if d := time.Since(began); d >= s.looks.answerIn != waits {
			t.Errorf("the scan takes %v; it waits: %v", d, waits)
		}
		one(t, snap, well)
		i := slices.IndexFunc(snap.Unreadable, func(u Unreadable) bool { return u.PID == pid })
		if i < 0 || snap.Unreadable[i].Cause != Late || !strings.Contains(snap.Unreadable[i].Detail, "does not answer") {
			t.Errorf("unreadable: %+v", snap.Unreadable)
		}
	}
}

// gate is the file with which the file system of mounted stops answering.
func gate(dir string) string { return filepath.Join(dir, "gate") }

// mounted runs this program from a FUSE file system of its own.
func mounted(dir string) error {
	at := filepath.Join(dir, "mount")
	if err := os.Mkdir(at, 0o700); err != nil {
		return err
	}
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	fuse, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Mount("test", at, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fuse)); err != nil {
		return err
	}
	go serve(fuse, program, gate(dir))
	os.Setenv("OBSERVE_ROLE", "leaf")
	// A shell calls exec: Go would hold a P until the file has been read.
	child := exec.Command("sh", "-c", `exec "$0"`, filepath.Join(at, "program"))
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		return err
	}
	io.Copy(io.Discard, os.Stdin)
	return child.Process.Kill() // the end of this process ends its reads
}

// serve answers the kernel (include/uapi/linux/fuse.h) about a directory with one file, until
// there is a file with the name of the gate.
func serve(fuse int, program *os.File, gate string) {
	const (
		lookup, forget, getattr, open, read, release, flush, start, interrupt, batchForget = 1, 2, 3, 14, 15, 18, 25, 26, 36, 42

		root, file = 1, 2 // nodes
	)
	info, err := program.Stat()
	if err != nil {
		panic(err)
	}
	attr := func(node uint64) []byte {
		mode, size := uint32(syscall.S_IFREG|0o755), uint64(info.Size())
		if node == root {
			mode, size = syscall.S_IFDIR|0o755, 0
		}
		return native([]uint64{node, size, (size + 511) / 512, 0, 0, 0}, []uint32{0, 0, 0, mode, 1, 0, 0, 0, 4096, 0})
	}
	for in := make([]byte, 256<<10); ; {
		n, err := unix.Read(fuse, in)
		if err == unix.EINTR || err == unix.ENOENT {
			continue
		}
		if err != nil {
			return
		}
		if _, err := os.Stat(gate); err == nil {
			continue
		}
		op, unique, node, body := binary.NativeEndian.Uint32(in[4:]), binary.NativeEndian.Uint64(in[8:]), binary.NativeEndian.Uint64(in[16:]), in[40:n]
		var out []byte
		var failed syscall.Errno
		switch op {
		case start:
			out = native([]uint32{7, 31, 128 << 10, 0, 0, 128 << 10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
		case lookup:
			if failed = syscall.ENOENT; string(bytes.TrimRight(body, "\x00")) == "program" {
				failed, out = 0, append(native([]uint64{file, 0, 0, 0, 0}), attr(file)...)
			}
		case getattr:
			out = append(native([]uint64{0, 0}), attr(node)...)
		case open:
			out = native([]uint64{0, 0})
		case read:
			out = make([]byte, binary.NativeEndian.Uint32(body[16:]))
			n, err := program.ReadAt(out, int64(binary.NativeEndian.Uint64(body[8:])))
			if out = out[:n]; err != nil && err != io.EOF {
				failed = syscall.EIO
			}
		case release, flush:
		case forget, batchForget, interrupt:
			continue
		default:
			failed = syscall.ENOSYS
		}
		if failed != 0 {
			out = nil
		}
		head := native([]uint32{uint32(16 + len(out)), uint32(-int32(failed))}, []uint64{unique})
		if _, err := unix.Write(fuse, append(head, out...)); err != nil && !errors.Is(err, unix.ENOENT) {
			fmt.Fprintln(os.Stderr, "fuse:", err)
		}
	}
}

// native is numbers as the kernel has them here.
func native(all ...any) (b []byte) {
	for _, one := range all {
		var err error
		if b, err = binary.Append(b, binary.NativeEndian, one); err != nil {
			panic(err)
		}
	}
	return b
}
