package cgfs

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
