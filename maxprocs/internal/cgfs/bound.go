// Package cgfs parses the files in which the kernel shows the cgroup of a process and
// its CPU and memory limits: /proc/PID/cgroup,
// /proc/PID/mountinfo, cpu.max, cpu.cfs_quota_us and cpu.cfs_period_us,
// memory.max, memory.high, memory.limit_in_bytes and memory.stat.
//
// It only parses; it opens no files. It does not use package fmt, which with its imports
// makes a small program 0.3 MB larger. Its results share the memory of the parsed text.
package cgfs

// The bounds of what is read of one file, in bytes. The kernel's own files are far
// below: of a group's a few lines, of status a number for each of at most 65536
// user groups. Mounts are at most 100,000 (fs.mount-max), the environment of a
// program at most 6 MiB (MAX_ARG_STRLEN and _STK_LIM in execve), but a process can
// name any of its memory as its environment (prctl PR_SET_MM).
const (
	mebibyte = 1 << 20
	most     = 1 * mebibyte
	mostList = 16 * mebibyte
)

// SizeLimit is the size limit of a file, by its name or path.
func SizeLimit(file string) int {
	for i := len(file) - 1; i >= 0; i-- {
		if file[i] == '/' {
			file = file[i+1:]
			break
		}
	}
	if file == "mountinfo" || file == "environ" {
		return mostList
	}
	return most
}

// TooLarge is the error for a file that exceeds its limit.
type TooLarge int

func (limit TooLarge) Error() string {
	return "larger than " + Itoa(int(limit)/mebibyte) + " MiB, unlike any such file of the kernel"
}

// The type of a file in its mode (man 7 inode), as stat gives it.
const (
	FIFO   = 0x1000
	Device = 0x2000 // of characters
	Dir    = 0x4000

	typeMask    = 0xf000
	blockDevice = 0x6000
	regular     = 0x8000
)

// IsFile reports by its mode whether a file is regular. Other files are not read: reading
// a pipe could wait forever, and a device may have no end.
func IsFile(mode uint32) bool { return mode&typeMask == regular }

// NotFile is the error for something that is not a regular file.
func NotFile(mode uint32) Error {
	switch mode & typeMask {
	case Dir:
		return "is a directory"
	case FIFO:
		return "is a named pipe, not a file"
	case Device, blockDevice:
		return "is a device, not a file"
	}
	return "is not a file"
}
