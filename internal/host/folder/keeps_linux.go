//go:build !portable

package folder

import (
	"io/fs"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// windows are file systems whose files show the kernel's state; reading one may wait for an
// event (statfs(2)).
var windows = []uint32{
	unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC,
	unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC,
	unix.SELINUX_MAGIC, unix.BINFMTFS_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.RDTGROUP_SUPER_MAGIC,
}

// keepsFiles reports whether a file is of a file system that keeps files.
func keepsFiles(f *os.File) bool {
	raw, err := f.SyscallConn() // Fd would make it one that blocks
	if err != nil {
		return false
	}
	var s unix.Statfs_t
	errControl := raw.Control(func(fd uintptr) { err = unix.Fstatfs(int(fd), &s) })
	return err == nil && errControl == nil && !slices.Contains(windows, uint32(s.Type))
}

// OpenBelow opens a file below a root that somebody else can write to: a regular one of a file
// system that keeps files. A link is not followed, and nothing else is opened to find out what it
// is: to open a device can be an act.
func OpenBelow(root *os.Root, name string) (*os.File, error) {
	at, err := root.OpenFile(name, unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	info, err := at.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, notRegular(name, info.Mode())
	case !keepsFiles(at):
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNoDisk}
	}
	return os.Open("/proc/self/fd/" + strconv.Itoa(int(at.Fd())))
}
