package wire

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/procfit/procfit/internal/show/phrase"
)

// answer is what has come of the answer on a stream of HTTP/2. A client that uses
// answers refuses more of them than one that counts them: what RFC 9113 calls malformed
// does not count as an answer here either.
type answer struct {
	begun  bool
	headed bool   // its head is whole: what follows is the body, then trailers
	status int    // 0: none yet
	length int64  // of the body as announced; -1: it was not
	body   int64  // bytes of it so far
	kind   string // content-type
	code   int    // of gRPC; -1: none yet
	calls  messages
	wrong  string // the first thing that makes it malformed
}

func (a *answer) fault(format string, args ...any) {
	if a.wrong == "" {
		a.wrong = fmt.Sprintf(format, args...)
	}
}

func (a *answer) field(f hpack.HeaderField) {
	switch f.Name {
	case ":status":
		if a.headed || a.status != 0 {
			a.fault("a second status %q", phrase.Clip(f.Value, 60))
		}
		a.status, _ = strconv.Atoi(f.Value) // none is 0, which is not a status
	case "content-length":
		n, err := contentSize([]byte(f.Value))
		if err != nil {
			a.fault("%v", err)
		} else if a.length >= 0 && a.length != n {
			a.fault("two lengths: %d and %d", a.length, n)
		}
		a.length = n
	case "content-type":
		a.kind = f.Value
	case "grpc-status":
		if a.code >= 0 {
			a.fault("a second grpc-status %q", phrase.Clip(f.Value, 60))
		}
		if code, err := strconv.ParseUint(f.Value, 10, 8); err == nil && GRPC+Status(code) < MostStatus {
			a.code = int(code)
		}
	}
}

// fieldsEnd is called when a block of fields is whole, with whether it ends the answer.
func (a *answer) fieldsEnd(r *Request, last bool) {
	a.begun = true
	switch {
	case a.headed && !last:
		a.fault("fields in the middle of the body")
	case a.headed:
	case a.status >= 100 && a.status < 200 && !last: // the real answer follows
		*a = answer{begun: true, length: -1, code: -1, wrong: a.wrong}
	default:
		a.headed = true
		if a.status < 200 || a.status > 999 {
			a.fault("an answer with the status %d", a.status)
		}
		switch {
		case !r.GRPC:
		case a.status > 200 && a.status < 400:
			a.fault("an answer with the HTTP status %d, not one of gRPC", a.status)
		case a.calling(r) && !ofGRPC(a.kind):
			a.fault("an answer with the content-type %q, not of gRPC", phrase.Clip(a.kind, 60))
		}
		if !last {
			a.code = -1 // it counts in trailers only
		}
	}
}

// ofGRPC reports whether a content-type is gRPC's, be it with a format or a parameter. That of
// gRPC-Web, which begins in the same way, is another protocol.
func ofGRPC(kind string) bool {
	rest, ok := strings.CutPrefix(kind, "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// calling reports whether the body is messages of gRPC.
func (a *answer) calling(r *Request) bool { return r.GRPC && a.status == 200 }

func (a *answer) data(r *Request, part []byte) {
	a.begun = true
	a.body += int64(len(part))
	switch {
	case !a.headed:
		a.fault("a body before the status")
	case len(part) == 0:
	case r.Head || a.status == 204 || a.status == 304:
		a.fault("%d bytes of a body where none belongs", a.body)
	case a.length >= 0 && a.body > a.length:
		a.fault("%d bytes more than the answer's length", a.body-a.length)
	case !a.calling(r):
	case !a.calls.take(part):
		a.fault("a compressed message, which was not requested")
	case a.calls.n > 1 && !r.Stream:
		a.fault("more than one message in the answer to a unary call")
	}
}

// end is called when nothing follows.
func (a *answer) end(r *Request) {
	bodiless := r.Head || a.status == 204 || a.status == 304
	switch {
	case a.length >= 0 && a.body < a.length && !bodiless:
		a.fault("a body of %d bytes, announced with %d", a.body, a.length)
	case !a.calling(r):
	case a.code < 0:
		a.fault("an answer without a status of gRPC")
	case a.code > 0: // whatever came before it
	case a.calls.cut():
		a.fault("a message that was cut off")
	case a.calls.n == 0 && !r.Stream:
		a.fault("no message in the answer to a unary call")
	}
}

func (a *answer) result(r *Request) Status {
	if a.calling(r) {
		return GRPC + Status(a.code)
	}
	return Status(a.status)
}

// messages are those of gRPC, in pieces of any size: before each are a byte, which
// tells whether it is compressed, and its length (PROTOCOL-HTTP2.md of gRPC).
type messages struct {
	n    int // that have started
	head [5]byte
	have int   // bytes of head
	left int64 // bytes of the message that are to come
}

// take reports whether the messages are as they were asked for: not compressed.
func (m *messages) take(b []byte) bool {
	for len(b) > 0 {
		if m.left > 0 {
			k := min(m.left, int64(len(b)))
			m.left -= k
			b = b[k:]
			continue
		}
		k := copy(m.head[m.have:], b)
		b = b[k:]
		m.have += k
		if m.head[0] != 0 {
			return false
		}
		if m.have == len(m.head) {
			m.n, m.have, m.left = m.n+1, 0, int64(binary.BigEndian.Uint32(m.head[1:]))
		}
	}
	return true
}

func (m *messages) cut() bool { return m.have > 0 || m.left > 0 }
