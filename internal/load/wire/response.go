package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/procfit/procfit/internal/load"
)

// What a response may hold before it is malformed. The bounds of a head are those of curl
// (MAX_HTTP_RESP_HEADER_SIZE and CURL_MAX_HTTP_HEADER).
const (
	maxHead = 300 << 10 // bytes of status line and headers, and of trailers
	maxLine = 100 << 10 // bytes of one line
	maxBody = 50        // bits of the number of bytes announced
)

const requestTimeout = 408

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

type field uint8

const (
	fieldNone  field = iota // no line of the head is a field yet
	fieldOther              // that does not matter
	fieldLength
	fieldConnection
	fieldCoding
)

// Response is a reader of one HTTP/1.x response (RFC 9112) in pieces of any size. It keeps
// of it the status, whether the connection stays open and how much body is to
// come; the body itself is only counted. The zero value with Reset is ready.
//
// It takes what RFC 9112 lets a client take: a field that continues on the next line
// (section 5.2), blanks before the colon of a field (5.1), one length that is repeated, a
// length next to a transfer coding, which overrides it (6.3), and a status of a class that
// nobody has defined (RFC 9110, section 15).
type Response struct {
	stage     stage
	field     field // whose value is in value, and may continue on the next line
	isHead    bool  // answers to HEAD carry no body
	Keep      bool  // the connection may carry another request
	closes    bool  // a field says that it does not (RFC 9112, section 9.3)
	chunked   bool
	hasLength bool
	coded     bool // a transfer coding other than chunked ends with the connection
	Status    int
	remaining int64  // of the body or the chunk
	seen      int    // bytes of the head or the trailers so far
	partial   []byte // a line that has not ended yet
	value     []byte // of a field that matters
	unsized   error  // what is wrong with the length; nil: nothing, or there is none
	last      recent // the short answer before this one
}

// recent is a whole response that came in one piece: most servers answer with the same
// bytes for a second, and what is known of them need not be read again.
type recent struct {
	bytes        []byte
	isHead, keep bool
	status       int
}

const maxLast = 1 << 10 // bytes of an answer that is kept: to compare a long one takes longer than to skip its body

// Reset makes the Response ready for the next response.
func (p *Response) Reset(isHead bool) {
	*p = Response{isHead: isHead, partial: p.partial[:0], value: p.value[:0], last: p.last}
}

// Feed reads from b and returns how many bytes belong to the response and
// whether it is complete. Anything wrong with it is an error.
func (p *Response) Feed(b []byte) (n int, done bool, err error) {
	fresh := !p.begun()
	if fresh && len(b) > 0 && p.isHead == p.last.isHead && bytes.Equal(b, p.last.bytes) {
		p.Status, p.Keep, p.stage = p.last.status, p.last.keep, stageDone
		return len(b), true, nil
	}
	n, done, err = p.read(b)
	if fresh && done && n == len(b) && n <= maxLast {
		p.last = recent{append(p.last.bytes[:0], b...), p.isHead, p.Keep, p.Status}
	}
	return n, done, err
}

// read is Feed of what is not known yet.
func (p *Response) read(b []byte) (n int, done bool, err error) {
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
			if p.stage == stageStatus && b[n] == 0 && !p.begun() { // the length of a frame
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

// begun reports that something of the response has come.
func (p *Response) begun() bool { return p.seen > 0 || p.stage != stageStatus }

// Unasked reports that an answer of HTTP/1.1 is the 408 by which a server ends a connection
// that was idle for too long, as it comes to a request that was on its way meanwhile: a
// client may repeat it on another connection (RFC 9110, section 15.5.9).
func (p *Response) Unasked() bool { return p.Status == requestTimeout && !p.Keep }

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
	status, err := strconv.ParseUint(string(line[9:12]), 10, 16)
	if err != nil {
		return fmt.Errorf("no HTTP/1 status line: %q", clip(line))
	}
	if status < 100 {
		return fmt.Errorf("status %d is below 100", status)
	}
	p.Status, p.Keep, p.stage = int(status), line[7] == '1', stageHeaders
	return nil
}

func (p *Response) header(line []byte) error {
	if line[0] == ' ' || line[0] == '\t' { // the field before it continues
		if p.field == fieldNone {
			return fmt.Errorf("no header: %q", clip(line))
		}
		if p.field != fieldOther {
			p.value = append(append(p.value, ' '), bytes.TrimSpace(line)...)
		}
		return nil
	}
	p.fieldEnd()
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return fmt.Errorf("no header: %q", clip(line))
	}
	name := line[:colon]
	if last := name[colon-1]; last == ' ' || last == '\t' {
		name = bytes.TrimRight(name, " \t")
	}
	switch {
	case len(name) == len(contentLength) && bytes.EqualFold(name, contentLength):
		p.field = fieldLength
	case len(name) == len(connection) && bytes.EqualFold(name, connection):
		p.field = fieldConnection
	case len(name) == len(transferEncoding) && bytes.EqualFold(name, transferEncoding):
		p.field = fieldCoding
	default:
		p.field = fieldOther
		return nil
	}
	p.value = append(p.value[:0], line[colon+1:]...)
	return nil
}

// fieldEnd is what the last field means, now that it is whole.
func (p *Response) fieldEnd() {
	switch p.field {
	case fieldLength:
		n, err := contentSize(p.value)
		switch {
		case p.unsized != nil:
		case err != nil:
			p.unsized = err
		case p.hasLength && n != p.remaining:
			p.unsized = fmt.Errorf("two lengths: %d and %d", p.remaining, n)
		}
		p.hasLength, p.remaining = true, n
	case fieldConnection:
		p.closes = p.closes || hasToken(p.value, "close")
		p.Keep = !p.closes && (p.Keep || hasToken(p.value, "keep-alive"))
	case fieldCoding:
		value := bytes.TrimSpace(p.value)
		if i := bytes.LastIndexByte(value, ','); i >= 0 {
			value = bytes.TrimSpace(value[i+1:])
		}
		p.chunked = bytes.EqualFold(value, chunked)
		p.coded = !p.chunked
	}
	p.field = fieldOther
}

// headEnd decides how the body is delimited (RFC 9112, section 6.3).
func (p *Response) headEnd() error {
	p.seen = 0
	p.fieldEnd()
	switch {
	case p.Status == 101:
		return errors.New("status 101: the server changed the protocol")
	case p.Status < 200: // the real answer follows
		p.Reset(p.isHead)
	case p.isHead, p.Status == 204, p.Status == 304:
		p.stage = stageDone
	case p.chunked: // whatever the length says
		p.stage = stageChunkSize
	case p.coded || !p.hasLength:
		p.Keep, p.stage = false, stageUntilClose
	case p.unsized != nil:
		return p.unsized
	case p.remaining == 0:
		p.stage = stageDone
	default:
		p.stage = stageBody
	}
	return nil
}
