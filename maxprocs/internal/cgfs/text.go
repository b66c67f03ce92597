// Package cgfs parses the files in which the kernel shows the cgroup of a process and
// its CPU and memory limits: /proc/PID/cgroup,
// /proc/PID/mountinfo, cpu.max, cpu.max.burst, cpu.cfs_quota_us, cpu.cfs_period_us, cpu.cfs_burst_us,
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

// The few functions on strings that are needed, here because packages strings,
// strconv and path together add 60 KB to a small program: the tables of package
// unicode, and errors that format themselves.

// Error is an error of a fixed text.
type Error string

func (e Error) Error() string { return string(e) }

// cut is strings.Cut.
func cut(s, sep string) (before, after string, found bool) {
	for i := 0; i+len(sep) <= len(s); i++ {
		if s[i] == sep[0] && s[i:i+len(sep)] == sep {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}

// field cuts the first field that is separated by ASCII white space.
func field(s string) (first, rest string) {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	for i := 0; i < len(s); i++ {
		if isSpace(s[i]) {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// ParseInt reads a decimal int64 with an optional sign.
func ParseInt(s string) (n int64, ok bool) {
	negative := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		negative, s = s[0] == '-', s[1:]
	}
	if s == "" {
		return 0, false
	}
	for i := 0; i < len(s); i++ {
		d := int64(s[i]) - '0'
		if d < 0 || d > 9 || n < (minInt64+d)/10 {
			return 0, false
		}
		n = n*10 - d // below zero, where there is one number more
	}
	if !negative && n == minInt64 {
		return 0, false
	}
	if !negative {
		n = -n
	}
	return n, true
}

const minInt64 = -1 << 63

// Itoa writes a number that is not negative.
func Itoa(n int) string {
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return string(b[i:])
		}
	}
}

// Quote shows at most 80 bytes of a file's text, what is not ASCII as \xNN.
func Quote(text string) string {
	const most, hex = 80, "0123456789abcdef"
	out := []byte{'"'}
	for i := 0; i < len(text) && i < most; i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c < ' ' || c > '~':
			out = append(out, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			out = append(out, c)
		}
	}
	out = append(out, '"')
	if len(text) > most {
		return string(out) + " and " + Itoa(len(text)-most) + " more bytes"
	}
	return string(out)
}

// Parent is the directory above an absolute path.
func Parent(dir string) string {
	for i := len(dir) - 1; i > 0; i-- {
		if dir[i] == '/' {
			return dir[:i]
		}
	}
	return "/"
}

// Join appends a name to a directory.
func Join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}
