package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

// converse drives a connection to its end: every place is kept busy, each event is of a
// place that was, and the bytes come in pieces of a size.
func converse(t *testing.T, c Conn, in []byte, piece, places int) {
	r := &Request{
		Bytes: []byte("GET / HTTP/1.1\r\n\r\n"), Body: make([]byte, 100_000), GRPC: true,
		Fields: []hpack.HeaderField{{Name: ":method", Value: "POST"}},
	}
	busy := make([]bool, places)
	for i := range places {
		busy[i] = true
		c.Start(i, r)
	}
	for {
		b, end := in[:min(piece, len(in))], error(nil)
		if in = in[len(b):]; len(in) == 0 {
			end = io.EOF
		}
		f := c.Take(b, end, func(e Event) {
			if !busy[e.Place] {
				t.Fatalf("an event of a place that is free: %+v", e)
			}
			if e.Failure == nil && !e.Retry && (e.Status < 100 || e.Status >= MostStatus) {
				t.Fatalf("an answer with status %d", e.Status)
			}
			if busy[e.Place] = !c.Spent(); busy[e.Place] {
				c.Start(e.Place, r)
			}
		})
		c.Sent(len(c.Unsent()) / 2)
		if f != nil {
			if f.Kind == "" || f.Kind.Words() == string(f.Kind) {
				t.Fatalf("kind %q has no words", f.Kind)
			}
			return
		}
		if end != nil {
			t.Fatal("it has no end")
		}
	}
}

// FuzzConn: whatever a server sends, a connection ends with a kind of failure, and
// tells of no request that is not under way.
func FuzzConn(f *testing.F) {
	var frames bytes.Buffer
	fr := http2.NewFramer(&frames, nil)
	err := errors.Join(
		fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10}), fr.WriteWindowUpdate(0, 1000), fr.WritePing(false, [8]byte{}),
		fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x88}, EndHeaders: true}),
		fr.WriteData(1, true, []byte("x")), fr.WriteRSTStream(3, http2.ErrCodeCancel), fr.WriteGoAway(5, http2.ErrCodeNo, nil),
	)
	must.OK(f, err)
	f.Add(frames.Bytes(), 1)
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"), 30)
	f.Fuzz(func(t *testing.T, in []byte, piece int) {
		h2 := newHTTP2(3)
		h2.settled = true
		converse(t, h2, in, max(1, piece), 3)
		converse(t, new(http1), in, max(1, piece), 1)
	})
}

func TestKinds(t *testing.T) {
	for status, want := range map[Status]load.Kind{503: "status_503", GRPC + 14: "grpc_unavailable", GRPC + 99: "grpc_99"} {
		if got := status.Kind(); got != want || status.Good() {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
	if !GRPC.Good() || !Status(304).Good() || Status(304).Redirect() || load.Kind("grpc_unavailable").Words() != "gRPC UNAVAILABLE" {
		t.Error("a good status, or words, are wrong")
	}
}

// FuzzMessages: pieces make no difference to how many messages there are and whether
// the last is whole.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02\x08\x01\x00\x00\x00\x00\x00"), 3)
	f.Add([]byte("\x00\x40\x00\x00\x00\x08\x01"), 1)
	f.Add([]byte("\x00\x00\x00\x00\x01\x08\x01\x00\x00\x00\x00"), 2)
	f.Fuzz(func(t *testing.T, in []byte, piece int) {
		var whole, parts messages
		good := whole.take(in)
		pieces := true
		for b := in; len(b) > 0 && pieces; {
			n := min(max(1, piece), len(b))
			pieces = parts.take(b[:n])
			b = b[n:]
		}
		if good != pieces || good && (whole.n != parts.n || whole.cut() != parts.cut()) || whole.n > len(in)/5 {
			t.Fatalf("%v %+v, in pieces of %d %v %+v", good, whole, piece, pieces, parts)
		}
	})
}

// The rest of a head whose request was given up is not the head of the next one in its
// place.
func TestGivenUpInItsHead(t *testing.T) {
	var in bytes.Buffer
	fr := http2.NewFramer(&in, nil)
	c := newHTTP2(1)
	c.settled = true
	r := &Request{Fields: []hpack.HeaderField{{Name: ":method", Value: "GET"}}}
	take := func() (events int) {
		if f := c.Take(in.Next(in.Len()), nil, func(Event) { events++ }); f != nil {
			t.Fatal(f)
		}
		return events
	}
	c.Start(0, r)
	must.OK(t, fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndStream: true}))
	take()
	c.Cancel(0)
	c.Start(0, r)
	must.OK(t, fr.WriteContinuation(1, true, []byte{0x88}))
	if n := take(); n != 0 {
		t.Errorf("%d answers to a request that has none", n)
	}
}

// No request follows on a connection that ended together with the answer before it, as one
// of TLS does: it would count as a failure of the server.
func TestAnswerWithTheEnd(t *testing.T) {
	c := new(http1)
	c.Start(0, &Request{Bytes: []byte("GET / HTTP/1.1\r\n\r\n")})
	c.Sent(len(c.Unsent()))
	answers := 0
	f := c.Take([]byte("HTTP/1.1 204 No Content\r\n\r\n"), io.EOF, func(e Event) {
		if answers++; e.Failure != nil || e.Status != 204 || !c.Spent() {
			t.Errorf("%+v; takes more requests: %v", e, !c.Spent())
		}
	})
	if answers != 1 || f == nil || f.Kind != load.KindClosed {
		t.Errorf("%d answers, %v", answers, f)
	}
}
