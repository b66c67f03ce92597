//go:build !portable

package goproc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/procstat"
)

// maxExtents bounds how many parts of a file are looked at for holes between them.
const maxExtents = 512

// dataIn is how many of the bytes of a file are not in holes. Where the file system does not
// tell, or there are very many holes, all of the rest counts as data.
func dataIn(f *os.File, size int64) (data int64) {
	for off, n := int64(0), 0; off < size; n++ {
		from, err := f.Seek(off, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) { // a hole to the end
			break
		}
		to := size
		if err == nil && n < maxExtents {
			to, err = f.Seek(from, unix.SEEK_HOLE)
		}
		if err != nil || n >= maxExtents {
			return data + size - off
		}
		data += to - from
		off = to
	}
	return data
}

func keyOfInfo(info fs.FileInfo, err error) (fileKey, error) {
	if err != nil {
		return fileKey{}, err
	}
	st := info.Sys().(*syscall.Stat_t)
	return fileKey{dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano()}, nil
}

// hint says what would allow reading the process.
func hint(pid int) string {
	info, err := os.Stat(procPath(pid, ""))
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch me := os.Geteuid(); {
	case RootMayTrace(): // as of a process that the kernel protects
		return "; the kernel refuses, although procfit has CAP_SYS_PTRACE"
	case ok && int(st.Uid) != me: // only its user may open mem, auxv and environ
		return fmt.Sprintf("; it is of user %d: run as that user or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH", st.Uid)
	}
	yama, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if scope := string(bytes.TrimSpace(yama)); err == nil && scope != "0" {
		return fmt.Sprintf("; kernel.yama.ptrace_scope is %s: run with CAP_SYS_PTRACE, or let procfit start the program", scope)
	}
	return "; run with CAP_SYS_PTRACE"
}

// RootMayTrace reports whether procfit is root with the capabilities to read any process of the machine, and
// not only of a user namespace. What cannot be read shows neither.
func RootMayTrace() bool { return os.Geteuid() == 0 && mayTrace() }

var mayTrace = sync.OnceValue(func() bool {
	has, _ := procstat.Status(os.Getpid(), "CapEff")
	users, _ := os.ReadFile("/proc/self/uid_map")
	return readsAll(has, string(users))
})

// readsAll: root in a container may have CAP_SYS_PTRACE alone, and then not open the memory of other users.
func readsAll(capabilities, users string) bool {
	effective, err := strconv.ParseUint(capabilities, 16, 64)
	const dacOverride, dacReadSearch, sysPtrace = 1 << 1, 1 << 2, 1 << 19 // of linux/capability.h
	return err == nil && effective&sysPtrace != 0 && effective&(dacOverride|dacReadSearch) != 0 &&
		slices.Equal(strings.Fields(users), []string{"0", "0", "4294967295"})
}
