// Package cgfs reads the texts by which the kernel tells a process where its
// cgroup is and what limits its CPUs and its memory: /proc/PID/cgroup,
// /proc/PID/mountinfo, cpu.max, cpu.cfs_quota_us and cpu.cfs_period_us,
// memory.max, memory.high, memory.limit_in_bytes and memory.stat.
//
// It parses and opens nothing. It does without package fmt, which with all that
// it imports makes a small program larger by 0.3 MB, and its results share the
// memory of the text that they were found in.
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

// SizeLimit is the bound of a file, by its name or path.
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

// TooLarge says that a file is beyond its bound.
type TooLarge int

func (limit TooLarge) Error() string {
	return "larger than " + Itoa(int(limit)/mebibyte) + " MiB, which no such file of the kernel is"
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

// IsFile tells by its mode whether a file is a regular one. Another is not read:
// a pipe would be waited for, a device may have no end.
func IsFile(mode uint32) bool { return mode&typeMask == regular }

// NotFile says what is there instead of a file.
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
