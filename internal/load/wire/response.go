package wire

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/phrase"
)

// What a response may hold before it is malformed.
const (
	maxHead = 64 << 10 // bytes of status line and headers, and of trailers
	maxLine = 16 << 10 // bytes of one line
	maxBody = 1 << 50  // bytes announced
)

type stage uint8

const (
	stageStatus stage = iota
	stageHeaders
	stageBody       // remaining bytes of a Content-Length
	stageChunkSize  // the line before a chunk
	stageChunk      // remaining bytes of a chunk
	stageChunkEnd   // the line break after a chunk
	stageTrailers   // after the last chunk
	stageUntilClose // the body ends with the connection
	stageDone
)

// Response is a reader of one HTTP/1.x response (RFC 9112) in pieces of any size. It keeps
// of it the status, whether the connection stays open and how much body is to
// come; the body itself is only counted. The zero value with Reset is ready.
type Response struct {
	stage     stage
	isHead    bool // answers to HEAD carry no body
	Keep      bool // the connection may carry another request
	chunked   bool
	hasLength bool
	coded     bool // a transfer coding other than chunked ends with the connection
	Status    int
	remaining int64  // of the body or the chunk
	seen      int    // bytes of the head or the trailers so far
	partial   []byte // a line that has not ended yet
}

// Reset makes the Response ready for the next response.
func (p *Response) Reset(isHead bool) {
	*p = Response{isHead: isHead, partial: p.partial[:0]}
}

// Feed reads from b and returns how many bytes belong to the response and
// whether it is complete. Anything wrong with it is an error.
func (p *Response) Feed(b []byte) (n int, done bool, err error) {
	for n < len(b) && p.stage != stageDone {
		switch p.stage {
		case stageBody, stageChunk:
			take := min(p.remaining, int64(len(b)-n))
			n += int(take)
			if p.remaining -= take; p.remaining == 0 {
				if p.stage == stageBody {
					p.stage = stageDone
				} else {
					p.stage = stageChunkEnd
				}
			}
		case stageUntilClose:
			n = len(b)
		default:
			if p.stage == stageStatus && b[n] == 0 && !p.Begun() { // the length of a frame
				return n, false, &Failure{load.KindProtocol, "the server speaks HTTP/2: write h2c:// in the URL"}
			}
			line, used, whole, err := p.line(b[n:])
			n += used
			if err != nil {
				return n, false, err
			}
			if !whole {
				return n, false, nil
			}
			if err := p.take(line); err != nil {
				return n, false, err
			}
			p.partial = p.partial[:0]
		}
	}
	return n, p.stage == stageDone, nil
}

// Begun reports that something of the response has come.
func (p *Response) Begun() bool { return p.seen > 0 || p.stage != stageStatus }

// End is called when the connection was closed: it reports whether that completes
// the response.
func (p *Response) End() bool {
	if p.stage == stageUntilClose {
		p.stage = stageDone
	}
	return p.stage == stageDone
}

// line cuts the next line from b, without its end, joined to what an earlier
// call left. A lone LF ends a line too (RFC 9112, section 2.2).
func (p *Response) line(b []byte) (line []byte, used int, whole bool, err error) {
	i := bytes.IndexByte(b, '\n')
	used = i + 1
	if i < 0 {
		used = len(b)
	}
	p.seen += used
	if p.seen > maxHead || len(p.partial)+used > maxLine {
		return nil, used, false, tooLarge()
	}
	if i < 0 {
		p.partial = append(p.partial, b...)
		return nil, used, false, nil
	}
	line = b[:i]
	if len(p.partial) > 0 {
		p.partial = append(p.partial, line...)
		line = p.partial
	}
	if k := len(line); k > 0 && line[k-1] == '\r' {
		line = line[:k-1]
	}
	return line, used, true, nil
}

// take is what a whole line means at this stage.
func (p *Response) take(line []byte) error {
	switch p.stage {
	case stageStatus:
		return p.statusLine(line)
	case stageHeaders:
		if len(line) == 0 {
			return p.headEnd()
		}
		return p.header(line)
	case stageChunkSize:
		p.seen = 0
		size, err := chunkSize(line)
		if err != nil {
			return err
		}
		p.remaining, p.stage = size, stageChunk
		if size == 0 {
			p.stage = stageTrailers
		}
	case stageChunkEnd:
		p.seen = 0
		if len(line) != 0 {
			return fmt.Errorf("chunk longer than announced: %q", clip(line))
		}
		p.stage = stageChunkSize
	case stageTrailers:
		if len(line) == 0 {
			p.stage = stageDone
		}
	}
	return nil
}

// statusLine reads "HTTP/1.1 200 OK".
func (p *Response) statusLine(line []byte) error {
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' ||
		(line[7] != '1' && line[7] != '0') || (len(line) > 12 && line[12] != ' ') {
		return fmt.Errorf("no HTTP/1 status line: %q", clip(line))
	}
	status := 0
	for _, d := range line[9:12] {
		if d < '0' || d > '9' {
			return fmt.Errorf("no HTTP/1 status line: %q", clip(line))
		}
		status = status*10 + int(d-'0')
	}
	if status < 100 || status > 599 {
		return fmt.Errorf("status %d is outside 100 to 599", status)
	}
	p.Status, p.Keep, p.stage = status, line[7] == '1', stageHeaders
	return nil
}

// header reads one field. Only three of them matter here.
func (p *Response) header(line []byte) error {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || line[0] == ' ' || line[0] == '\t' || line[colon-1] == ' ' || line[colon-1] == '\t' {
		return fmt.Errorf("no header: %q", clip(line))
	}
	name := line[:colon]
	switch {
	case len(name) == len("Content-Length") && bytes.EqualFold(name, contentLength):
		n, err := contentSize(bytes.TrimSpace(line[colon+1:]))
		if err != nil {
			return err
		}
		if p.hasLength && n != p.remaining {
			return fmt.Errorf("two lengths: %d and %d", p.remaining, n)
		}
		p.hasLength, p.remaining = true, n
	case len(name) == len("Connection") && bytes.EqualFold(name, connection):
		if hasToken(line[colon+1:], "close") {
			p.Keep = false
		} else if hasToken(line[colon+1:], "keep-alive") {
			p.Keep = true
		}
	case len(name) == len("Transfer-Encoding") && bytes.EqualFold(name, transferEncoding):
		value := bytes.TrimSpace(line[colon+1:])
		if i := bytes.LastIndexByte(value, ','); i >= 0 {
			value = bytes.TrimSpace(value[i+1:])
		}
		p.chunked = bytes.EqualFold(value, chunked)
		p.coded = !p.chunked
	}
	return nil
}

// headEnd decides how the body is delimited (RFC 9112, section 6.3).
func (p *Response) headEnd() error {
	p.seen = 0
	switch {
	case p.Status == 101:
		return errors.New("status 101: the server changed the protocol")
	case p.Status < 200: // the real answer follows
		p.Reset(p.isHead)
	case p.isHead, p.Status == 204, p.Status == 304:
		p.stage = stageDone
	case p.chunked && p.hasLength:
		return errors.New("both a length and chunks")
	case p.chunked:
		p.stage = stageChunkSize
	case p.coded || !p.hasLength:
		p.Keep, p.stage = false, stageUntilClose
	case p.remaining == 0:
		p.stage = stageDone
	default:
		p.stage = stageBody
	}
	return nil
}

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
