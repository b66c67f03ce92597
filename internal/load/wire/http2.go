package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net"

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

// http2Conn is a connection of HTTP/2.
type http2Conn struct {
	below  net.Conn // that is closed
	stream *metered
	in     *bufio.Reader
	out    bytes.Buffer
	framer *http2.Framer
	err    error // of Wait

	encoder *hpack.Encoder
	block   bytes.Buffer // of the encoder
	decoder *hpack.Decoder
	heading *exchange // whose headers are being read; nil: nobody's
	headed  bool      // they end its stream
	headLen int       // of them so far
	places  []exchange
	byID    map[uint32]*exchange
	next    uint32 // a stream's number

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

// newHTTP2 sends the preface. The connection is to be used once Ready.
func newHTTP2(stream, below net.Conn, places int) *http2Conn {
	c := &http2Conn{
		below: below, stream: &metered{Conn: stream}, places: make([]exchange, places), byID: map[uint32]*exchange{},
		next: 1, window: firstWindow, initial: firstWindow, frame: frameLimit, streams: 1<<32 - 1,
	}
	for i := range c.places {
		c.places[i].place = i
	}
	c.in = bufio.NewReaderSize(c.stream, 64<<10)
	c.framer = http2.NewFramer(&c.out, c.in)
	c.framer.SetReuseFrames()
	c.framer.SetMaxReadFrameSize(frameLimit)
	c.encoder = hpack.NewEncoder(&c.block)
	c.decoder = hpack.NewDecoder(4096, c.field)
	c.decoder.SetMaxStringLength(maxHead)
	c.out.WriteString(http2.ClientPreface)
	// A buffer takes all.
	_ = c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: streamWindow},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: maxHead},
	)
	_ = c.framer.WriteWindowUpdate(0, connWindow-firstWindow)
	return c
}

// open exchanges the settings, which say how many streams there may be.
func (c *http2Conn) open() *Failure {
	f := c.Flush()
	for f == nil && !c.settled {
		c.Wait()
		f = c.Take(func(Event) {})
	}
	if f == nil {
		f = c.Flush()
	}
	if f == nil && uint64(c.streams) < uint64(len(c.places)) {
		f = &Failure{load.KindStreams, fmt.Sprintf("the server allows %d streams on a connection, not %d: lower --streams and raise --connections", c.streams, len(c.places))}
	}
	return f
}

func (c *http2Conn) Wait() {
	var head []byte
	if head, c.err = c.in.Peek(frameHead); c.err != nil {
		return
	}
	if length := payload(head); length <= frameLimit {
		_, c.err = c.in.Peek(frameHead + length)
	}
}

func payload(head []byte) int { return int(head[0])<<16 | int(binary.BigEndian.Uint16(head[1:])) }

func (c *http2Conn) Take(done func(Event)) *Failure {
	for {
		head, _ := c.in.Peek(min(frameHead, c.in.Buffered()))
		if !c.settled && bytes.HasPrefix(head, []byte("HTTP/")) {
			return &Failure{load.KindProtocol, "the server speaks HTTP/1.1, not HTTP/2"}
		}
		if len(head) < frameHead {
			break
		}
		if n := payload(head); n > frameLimit {
			return &Failure{load.KindMalformed, fmt.Sprintf("a frame of %d bytes, more than the %d that procfit allows", n, frameLimit)}
		} else if c.in.Buffered() < frameHead+n {
			break
		}
		f, err := c.framer.ReadFrame()
		if err != nil {
			return Malformed(err)
		}
		if failure := c.handle(f, done); failure != nil {
			return failure
		}
	}
	switch {
	case c.err == nil:
		return nil
	case c.away != nil:
		return c.away
	}
	return broken(c.err)
}

func (c *http2Conn) Start(place int, r *Request) {
	x := &c.places[place]
	*x = exchange{place: place, id: c.next, request: r, window: c.initial, answer: newAnswer()}
	c.byID[x.id] = x
	c.next += 2
	c.spent = c.spent || c.next > lastStream-2
	c.block.Reset()
	for _, f := range r.Fields {
		_ = c.encoder.WriteField(f) // a buffer takes all
	}
	rest := c.block.Bytes()
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

// send sends of a body what the windows allow.
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

func (c *http2Conn) Flush() *Failure {
	if c.out.Len() == 0 {
		return nil
	}
	_, err := c.stream.Write(c.out.Bytes())
	c.out.Reset()
	if err != nil {
		return broken(err)
	}
	return nil
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

// forget frees the place.
func (c *http2Conn) forget(x *exchange) {
	delete(c.byID, x.id)
	x.id = 0
	if c.heading == x { // the rest of its fields is not the next request's
		c.heading = nil
	}
}

// end is that of a stream.
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

func (c *http2Conn) Spent() bool      { return c.spent }
func (c *http2Conn) Protocol() string { return HTTP2 }
func (c *http2Conn) Received() int64  { return c.stream.received }
func (c *http2Conn) Close() error     { return c.below.Close() }
