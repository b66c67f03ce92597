package wire

import (
	"bytes"
	"fmt"

	"github.com/procfit/procfit/internal/show/phrase"
)

// The fields that matter to the parser.
var (
	contentLength    = []byte("Content-Length")
	connection       = []byte("Connection")
	transferEncoding = []byte("Transfer-Encoding")
	chunked          = []byte("chunked")
	comma            = []byte(",")
)

// contentSize reads the value of Content-Length, which may be one number several times.
func contentSize(b []byte) (int64, error) {
	size := int64(-1)
	for rest, more := b, true; more; {
		var one []byte
		one, rest, more = bytes.Cut(rest, comma)
		n, ok := digits(bytes.TrimSpace(one))
		if !ok || size >= 0 && n != size {
			return 0, fmt.Errorf("bad Content-Length %q", clip(bytes.TrimSpace(b)))
		}
		size = n
	}
	return size, nil
}

func digits(b []byte) (n int64, ok bool) {
	for _, d := range b {
		if d < '0' || d > '9' || n > maxBody {
			return 0, false
		}
		n = n*10 + int64(d-'0')
	}
	return n, len(b) > 0
}

// chunkSize reads the hexadecimal size before a chunk; extensions are skipped.
func chunkSize(line []byte) (int64, error) {
	hex := line
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		hex = line[:i]
	}
	hex = bytes.TrimRight(hex, " \t")
	var n int64
	for _, d := range hex {
		switch {
		case n > maxBody:
			return 0, fmt.Errorf("bad chunk size %q", clip(line))
		case d >= '0' && d <= '9':
			n = n<<4 | int64(d-'0')
		case d|0x20 >= 'a' && d|0x20 <= 'f':
			n = n<<4 | int64(d|0x20-'a'+10)
		default:
			return 0, fmt.Errorf("bad chunk size %q", clip(line))
		}
	}
	if len(hex) == 0 {
		return 0, fmt.Errorf("bad chunk size %q", clip(line))
	}
	return n, nil
}

func hasToken(list []byte, token string) bool {
	for len(list) > 0 {
		var word []byte
		word, list, _ = bytes.Cut(list, comma)
		if word = bytes.TrimSpace(word); len(word) == len(token) && bytes.EqualFold(word, []byte(token)) {
			return true
		}
	}
	return false
}

func clip(b []byte) string { return phrase.Clip(string(b), 60) }
