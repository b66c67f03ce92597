package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/procfit/procfit/internal/load"
)

const (
	frameHead    = 9         // bytes before a frame's payload (RFC 9113, section 4.1)
	frameLimit   = 16 << 10  // of a payload that we take: the least that one may ask for
	streamWindow = 1 << 20   // bytes of an answer's body on their way
	connWindow   = 1 << 30   // of all bodies on a connection
	firstWindow  = 65_535    // of both before anything was said (section 6.9.2)
	mostWindow   = 1<<31 - 1 // bytes (section 6.9.1)
	lastStream   = 1<<31 - 1 // its number
)

type http2Conn struct {
	rest   []byte       // the beginning of a frame that has not come in full
	in     bytes.Reader // of the framer
	out    output
	gone   int // bytes of out that were sent
	acks   int // in out
	framer *http2.Framer

	encoder *hpack.Encoder
	block   bytes.Buffer // of the encoder
	encoded *Request     // whose block it is, and will be; nil: nobody's
	decoder *hpack.Decoder
	known   []byte    // the block of the last head that will mean the same again
	means   answer    // what it does
	heading *exchange // whose headers are being read; nil: nobody's
	headed  bool      // they end its stream
	headLen int       // of their fields so far, as SETTINGS_MAX_HEADER_LIST_SIZE counts them
	unended bool      // a part of them is to follow
	places  []exchange
	byID    map[uint32]*exchange
	recent  *exchange // that was looked up last
	next    uint32    // a stream's number

	window     int64 // that we may send on all streams
	initial    int64 // that we may send on a new one
	frame      int   // the longest payload that the server takes
	streams    uint32
	settled    bool   // the server's settings have come
	returnable uint32 // bytes of bodies that came and are not acknowledged
	away       *Failure
	spent      bool
}

// exchange is a stream and the request on it.
type exchange struct {
	place   int
	id      uint32 // 0: free
	request *Request
	sent    int // bytes of the body
	window  int64
	took    uint32 // bytes of the answer's body that are not acknowledged
	answer  answer
}

type output []byte

func (o *output) Write(b []byte) (int, error) {
	*o = append(*o, b...)
	return len(b), nil
}

func newHTTP2(places int) *http2Conn {
	c := &http2Conn{
		places: make([]exchange, places), byID: map[uint32]*exchange{}, recent: &exchange{},
		next: 1, window: firstWindow, initial: firstWindow, frame: frameLimit, streams: 1<<32 - 1,
	}
	for i := range c.places {
		c.places[i].place = i
	}
	c.framer = http2.NewFramer(&c.out, &c.in)
	c.framer.SetReuseFrames()
	c.framer.SetMaxReadFrameSize(frameLimit)
	c.encoder = hpack.NewEncoder(&c.block)
	c.decoder = hpack.NewDecoder(4096, c.field)
	c.decoder.SetMaxStringLength(maxHead)
	c.out = append(c.out, http2.ClientPreface...)
	// A buffer takes all.
	_ = c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: streamWindow},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: maxHead},
	)
	_ = c.framer.WriteWindowUpdate(0, connWindow-firstWindow)
	return c
}

func payload(head []byte) int { return int(head[0])<<16 | int(binary.BigEndian.Uint16(head[1:])) }

func (c *http2Conn) Take(b []byte, end error, done func(Event)) *Failure {
	if len(c.rest) > 0 {
		c.rest = append(c.rest, b...)
		b = c.rest
	}
	used, f := c.take(b, done)
	switch {
	case f != nil:
		return f
	case end == nil:
		c.rest = append(c.rest[:0], b[used:]...)
		return nil
	case c.away != nil:
		return c.away
	}
	return Broken(end)
}

// take handles the frames that are whole, and reports how many bytes they have.
func (c *http2Conn) take(b []byte, done func(Event)) (used int, f *Failure) {
	for {
		if !c.settled && bytes.HasPrefix(b, []byte("HTTP/")) {
			return used, &Failure{load.KindProtocol, "the server speaks HTTP/1.1, not HTTP/2"}
		}
		if len(b) < frameHead {
			return used, nil
		}
		n := frameHead + payload(b)
		if n > frameHead+frameLimit {
			return used, &Failure{load.KindMalformed, fmt.Sprintf("a frame of %d bytes, more than the %d that procfit allows", n-frameHead, frameLimit)}
		}
		if len(b) < n {
			return used, nil
		}
		if f := c.handle(b[:n], done); f != nil {
			return used, f
		}
		used, b = used+n, b[n:]
	}
}

func (c *http2Conn) Start(place int, r *Request) {
	x := &c.places[place]
	*x = exchange{place: place, id: c.next, request: r, window: c.initial, answer: answer{length: -1, code: -1}}
	c.byID[x.id] = x
	c.next += 2
	c.spent = c.spent || c.next > lastStream-2
	rest := c.encode(r)
	first := rest[:min(len(rest), c.frame)]
	rest = rest[len(first):]
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: x.id, BlockFragment: first, EndHeaders: len(rest) == 0, EndStream: len(r.Body) == 0,
	})
	for len(rest) > 0 {
		more := rest[:min(len(rest), c.frame)]
		rest = rest[len(more):]
		_ = c.framer.WriteContinuation(x.id, len(rest) == 0, more)
	}
	c.send(x)
}

// encode makes the header block of a request. It is the same as the last time if that was
// of the same request, and has changed the table of the compression by nothing.
func (c *http2Conn) encode(r *Request) []byte {
	if c.encoded == r {
		return c.block.Bytes()
	}
	c.block.Reset()
	c.encoded = r
	for _, f := range r.Fields {
		at := c.block.Len()
		_ = c.encoder.WriteField(f) // a buffer takes all
		// A new entry, or another size (RFC 7541, sections 6.2.1 and 6.3).
		if first := c.block.Bytes()[at]; first >= 0x20 && first < 0x80 {
			c.encoded = nil
		}
	}
	return c.block.Bytes()
}

// find is the exchange on a stream; nil: there is none any more.
func (c *http2Conn) find(stream uint32) *exchange {
	if c.recent.id != stream {
		x := c.byID[stream]
		if x == nil {
			return nil
		}
		c.recent = x
	}
	return c.recent
}

func (c *http2Conn) send(x *exchange) {
	for x.sent < len(x.request.Body) {
		n := min(int64(len(x.request.Body)-x.sent), c.window, x.window, int64(c.frame))
		if n <= 0 {
			return
		}
		part := x.request.Body[x.sent : x.sent+int(n)]
		x.sent += int(n)
		c.window -= n
		x.window -= n
		_ = c.framer.WriteData(x.id, x.sent == len(x.request.Body), part)
	}
}

func (c *http2Conn) Unsent() []byte { return c.out[c.gone:] }

func (c *http2Conn) Sent(n int) {
	if c.gone += n; c.gone == len(c.out) {
		c.out, c.gone, c.acks = c.out[:0], 0, 0
	}
}

func (c *http2Conn) Cancel(place int) load.Kind {
	x := &c.places[place]
	kind := load.KindTimeout
	switch {
	case x.sent < len(x.request.Body):
		kind = load.KindUnsent
	case x.answer.begun:
		kind = load.KindUnfinished
	}
	_ = c.framer.WriteRSTStream(x.id, http2.ErrCodeCancel)
	c.forget(x)
	return kind
}

func (c *http2Conn) forget(x *exchange) {
	delete(c.byID, x.id)
	x.id = 0
	if c.heading == x { // the rest of its fields is not the next request's
		c.heading = nil
	}
}

func (c *http2Conn) end(x *exchange, done func(Event)) {
	if x.sent < len(x.request.Body) { // answered early, so the rest is of no use
		_ = c.framer.WriteRSTStream(x.id, http2.ErrCodeCancel)
	}
	x.answer.end(x.request)
	e := Event{Place: x.place, Status: x.answer.result(x.request)}
	if x.answer.wrong != "" {
		e = Event{Place: x.place, Failure: &Failure{load.KindMalformed, x.answer.wrong}}
	}
	c.forget(x)
	done(e)
}

// refuse ends a stream whose answer is malformed.
func (c *http2Conn) refuse(x *exchange, done func(Event)) {
	_ = c.framer.WriteRSTStream(x.id, http2.ErrCodeProtocol)
	c.forget(x)
	done(Event{Place: x.place, Failure: &Failure{load.KindMalformed, x.answer.wrong}})
}

func (c *http2Conn) Ready() bool      { return c.settled }
func (c *http2Conn) Spent() bool      { return c.spent }
func (c *http2Conn) Strayed() bool    { return false }
func (c *http2Conn) Protocol() string { return HTTP2 }
