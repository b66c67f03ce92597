package wire

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/procfit/procfit/internal/show/phrase"
)

// The fields that matter to the parser.
var (
	contentLength    = []byte("Content-Length")
	connection       = []byte("Connection")
	transferEncoding = []byte("Transfer-Encoding")
	chunked          = []byte("chunked")
	comma            = []byte(",")
	semicolon        = []byte(";")
)

// contentSize reads the value of Content-Length, which may be one number several times.
func contentSize(b []byte) (int64, error) {
	size := int64(-1)
	for rest, more := b, true; more; {
		var one []byte
		one, rest, more = bytes.Cut(rest, comma)
		n, err := strconv.ParseUint(string(bytes.TrimSpace(one)), 10, maxBody)
		if err != nil || size >= 0 && int64(n) != size {
			return 0, fmt.Errorf("bad Content-Length %q", clip(bytes.TrimSpace(b)))
		}
		size = int64(n)
	}
	return size, nil
}

// chunkSize reads the hexadecimal size before a chunk; extensions are skipped.
func chunkSize(line []byte) (int64, error) {
	hex, _, _ := bytes.Cut(line, semicolon)
	n, err := strconv.ParseUint(string(bytes.TrimRight(hex, " \t")), 16, maxBody)
	if err != nil {
		return 0, fmt.Errorf("bad chunk size %q", clip(line))
	}
	return int64(n), nil
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
