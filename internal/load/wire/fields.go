package wire

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/procfit/procfit/internal/show/phrase"
)

// The fields that matter to the parser.
var (
	contentLength    = []byte("Content-Length")
	connection       = []byte("Connection")
	transferEncoding = []byte("Transfer-Encoding")
	chunked          = []byte("chunked")
)

// contentSize reads the value of Content-Length.
func contentSize(b []byte) (int64, error) {
	var n int64
	for _, d := range b {
		if d < '0' || d > '9' || n > maxBody {
			return 0, fmt.Errorf("bad Content-Length %q", clip(b))
		}
		n = n*10 + int64(d-'0')
	}
	if len(b) == 0 {
		return 0, errors.New("bad Content-Length \"\"")
	}
	return n, nil
}

// chunkSize reads the hexadecimal size before a chunk; extensions are skipped.
func chunkSize(line []byte) (int64, error) {
	digits := line
	if i := bytes.IndexByte(line, ';'); i >= 0 {
		digits = line[:i]
	}
	digits = bytes.TrimRight(digits, " \t")
	var n int64
	for _, d := range digits {
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
	if len(digits) == 0 {
		return 0, fmt.Errorf("bad chunk size %q", clip(line))
	}
	return n, nil
}

// hasToken looks for one of a comma-separated list.
func hasToken(list []byte, token string) bool {
	for len(list) > 0 {
		var word []byte
		word, list, _ = bytes.Cut(list, []byte(","))
		if word = bytes.TrimSpace(word); len(word) == len(token) && bytes.EqualFold(word, []byte(token)) {
			return true
		}
	}
	return false
}

// clip keeps an error message short.
func clip(b []byte) string { return phrase.Clip(string(b), 60) }
