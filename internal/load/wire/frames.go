package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/phrase"
)

// handle is what a frame means. Those of most answers, a whole header block or a part of the
// body without anything around it, do without the framer, which makes values of them.
func (c *http2Conn) handle(b []byte, done func(Event)) *Failure {
	const end = http2.FlagDataEndStream // of headers, too
	kind, flags, stream := http2.FrameType(b[3]), http2.Flags(b[4]), binary.BigEndian.Uint32(b[5:])
	switch opened := stream%2 == 1 && stream < c.next && !c.unended; {
	case opened && kind == http2.FrameData && flags&^end == 0:
		c.data(stream, b[frameHead:], len(b)-frameHead, flags.Has(end), done)
		return nil
	case opened && kind == http2.FrameHeaders && flags&^end == http2.FlagHeadersEndHeaders:
		c.heading, c.headed, c.headLen = c.find(stream), flags.Has(end), 0
		return c.headers(b[frameHead:], true, done)
	}
	c.in.Reset(b)
	f, err := c.framer.ReadFrame()
	if err != nil {
		return Malformed(err)
	}
	return c.handleFrame(f, done)
}

func (c *http2Conn) handleFrame(f http2.Frame, done func(Event)) *Failure {
	if id := f.Header().StreamID; id != 0 && (id >= c.next || id%2 == 0) {
		if failure := unopened(f); failure != nil {
			return failure
		}
	}
	switch f := f.(type) {
	case *http2.DataFrame:
		c.data(f.StreamID, f.Data(), int(f.Length), f.StreamEnded(), done)
	case *http2.HeadersFrame:
		c.heading, c.headed, c.headLen = c.find(f.StreamID), f.StreamEnded(), 0
		return c.headers(f.HeaderBlockFragment(), f.HeadersEnded(), done)
	case *http2.ContinuationFrame:
		return c.headers(f.HeaderBlockFragment(), f.HeadersEnded(), done)
	case *http2.SettingsFrame:
		return c.settings(f)
	case *http2.WindowUpdateFrame:
		return c.widen(f, done)
	case *http2.PingFrame:
		if !f.IsAck() {
			_ = c.framer.WritePing(true, f.Data)
			return c.acknowledged()
		}
	case *http2.RSTStreamFrame:
		if x := c.find(f.StreamID); x != nil {
			c.forget(x)
			done(Event{Place: x.place, Failure: &Failure{load.KindStreamReset, f.ErrCode.String()}, Retry: f.ErrCode == http2.ErrCodeRefusedStream})
		}
	case *http2.GoAwayFrame:
		return c.goAway(f, done)
	case *http2.PushPromiseFrame:
		return &Failure{load.KindMalformed, "a push, which procfit does not allow"}
	}
	return nil
}

// unopened is the failure of a connection whose server sends on a stream that no request
// has opened: one of a later request, or one of its own, which only a push could have opened
// (RFC 9113, section 5.1). Priorities and unknown frames may come there.
func unopened(f http2.Frame) *Failure {
	switch f.(type) {
	case *http2.DataFrame, *http2.HeadersFrame, *http2.RSTStreamFrame, *http2.WindowUpdateFrame:
		h := f.Header()
		return &Failure{load.KindMalformed, fmt.Sprintf("a frame %s on stream %d, which was never opened", h.Type, h.StreamID)}
	}
	return nil
}

// headers reads a part of a header block. All of them are read, since the
// compression of later ones rests on them.
func (c *http2Conn) headers(part []byte, last bool, done func(Event)) *Failure {
	x := c.heading
	head := last && !c.unended && x != nil && !x.answer.begun && len(part) > 0 // in one piece
	c.unended = !last
	if head && bytes.Equal(part, c.known) {
		x.answer = c.means
	} else if f := c.decode(part, last); f != nil {
		return f
	} else if !indexed(part) {
		c.known = c.known[:0]
	} else if head {
		c.known, c.means = append(c.known[:0], part...), x.answer
	}
	if !last || x == nil {
		return nil
	}
	c.heading = nil
	x.answer.fieldsEnd(x.request, c.headed)
	if c.headed {
		c.end(x, done)
	} else if x.answer.wrong != "" {
		c.refuse(x, done)
	}
	return nil
}

func (c *http2Conn) decode(part []byte, last bool) *Failure {
	_, err := c.decoder.Write(part)
	if err == nil && last {
		err = c.decoder.Close()
	}
	switch {
	case errors.Is(err, hpack.ErrStringLength) || c.headLen > maxHead: // the fields are counted as they come
		return tooLarge()
	case err != nil:
		return Malformed(err)
	}
	return nil
}

// indexed reports that a header block only names fields of the tables, each in one byte (RFC
// 7541, section 6.1). Until a block that is more comes, it means the same.
func indexed(block []byte) bool {
	for _, b := range block {
		if b < 1<<7 || b == 0xff {
			return false
		}
	}
	return true
}

func (c *http2Conn) field(f hpack.HeaderField) {
	c.headLen += int(f.Size())
	if c.heading != nil {
		c.heading.answer.field(f)
	}
}

// data takes a part of a body and gives the server room for more, in large steps.
func (c *http2Conn) data(stream uint32, part []byte, length int, last bool, done func(Event)) {
	if c.returnable += uint32(length); c.returnable >= streamWindow/2 {
		_ = c.framer.WriteWindowUpdate(0, c.returnable)
		c.returnable = 0
	}
	x := c.find(stream)
	if x == nil {
		return // cancelled
	}
	x.answer.data(x.request, part)
	switch {
	case last:
		c.end(x, done)
		return
	case x.answer.wrong != "":
		c.refuse(x, done)
		return
	}
	if x.took += uint32(length); x.took >= streamWindow/2 {
		_ = c.framer.WriteWindowUpdate(x.id, x.took)
		x.took = 0
	}
}

func (c *http2Conn) settings(f *http2.SettingsFrame) *Failure {
	if f.IsAck() {
		return nil
	}
	err := f.ForeachSetting(func(s http2.Setting) error {
		if err := s.Valid(); err != nil {
			return err
		}
		switch s.ID {
		case http2.SettingInitialWindowSize:
			for _, x := range c.byID {
				if x.window += int64(s.Val) - c.initial; x.window > mostWindow {
					return tooWide(x.id)
				}
			}
			c.initial = int64(s.Val)
		case http2.SettingMaxFrameSize:
			c.frame = int(min(s.Val, 64<<10))
		case http2.SettingMaxConcurrentStreams:
			c.streams = s.Val
			// A connection that allows fewer requests at a time than it has places takes no
			// more of them; those under way may end (section 5.1.2).
			c.spent = c.spent || c.settled && uint64(c.streams) < uint64(len(c.places))
		case http2.SettingHeaderTableSize:
			c.encoder.SetMaxDynamicTableSizeLimit(s.Val)
			c.encoded = nil
		}
		return nil
	})
	if err != nil {
		return Malformed(err)
	}
	if !c.settled && uint64(c.streams) < uint64(len(c.places)) {
		return &Failure{load.KindStreams, fmt.Sprintf("the server allows %d streams on a connection, not %d: lower --streams and raise --connections", c.streams, len(c.places))}
	}
	c.settled = true
	_ = c.framer.WriteSettingsAck()
	c.sendAll()
	return c.acknowledged()
}

// mostAcks is how many acknowledgements wait for a server at most: as many as x/net allows.
const mostAcks = 10_000

// acknowledged counts those that wait, which a server that reads none could have without end.
func (c *http2Conn) acknowledged() *Failure {
	if c.acks++; c.acks > mostAcks {
		return &Failure{load.KindMalformed, fmt.Sprintf("more than %d frames to be acknowledged, without reading an acknowledgement", mostAcks)}
	}
	return nil
}

// widen lets more of the bodies go.
func (c *http2Conn) widen(f *http2.WindowUpdateFrame, done func(Event)) *Failure {
	if f.StreamID == 0 {
		if c.window += int64(f.Increment); c.window > mostWindow {
			return tooWide(0)
		}
		c.sendAll()
	} else if x := c.find(f.StreamID); x != nil {
		if x.window += int64(f.Increment); x.window > mostWindow {
			x.answer.fault("%s", tooWide(x.id).Detail)
			c.refuse(x, done)
			return nil
		}
		c.send(x)
	}
	return nil
}

// tooWide is a window beyond what a window may be (section 6.9.1); stream 0 is the
// connection's.
func tooWide(stream uint32) *Failure {
	return &Failure{load.KindMalformed, fmt.Sprintf("a flow-control window of more than %d bytes on stream %d", mostWindow, stream)}
}

// sendAll continues with what waited for a window.
func (c *http2Conn) sendAll() {
	for i := range c.places {
		if x := &c.places[i]; x.id != 0 {
			c.send(x)
		}
	}
}

// goAway ends the connection once what the server still answers is there. Before any request it is
// a failure of the connection: of no request could it be one.
func (c *http2Conn) goAway(f *http2.GoAwayFrame, done func(Event)) *Failure {
	c.spent = true
	graceful := f.ErrCode == http2.ErrCodeNo
	if !graceful {
		detail := f.ErrCode.String()
		if debug := f.DebugData(); len(debug) > 0 {
			detail += fmt.Sprintf(" %q", phrase.Clip(string(debug), 60))
		}
		c.away = &Failure{load.KindGoAway, detail}
	}
	last := f.LastStreamID
	for i := range c.places {
		if x := &c.places[i]; x.id > last {
			c.forget(x)
			done(Event{Place: x.place, Failure: c.away, Retry: graceful})
		}
	}
	switch {
	case c.next > 1:
		return nil
	case graceful: // as one of HTTP/1.1 that closes at once, or idle
		return &Failure{load.KindClosed, "by GOAWAY, before any request"}
	}
	return c.away
}
