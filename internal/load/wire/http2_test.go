package wire

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/procfit/procfit/test/must"
)

// said is what a server has taken of a connection: the fields of each request, and whether
// the last one came with another size of the table.
func said(t *testing.T, c *http2Conn, d *hpack.Decoder) (all [][]hpack.HeaderField, resized bool) {
	t.Helper()
	fr := http2.NewFramer(nil, bytes.NewReader(bytes.TrimPrefix(c.Unsent(), []byte(http2.ClientPreface))))
	for {
		f, err := fr.ReadFrame()
		if err != nil {
			c.Sent(len(c.Unsent()))
			return all, resized
		}
		if h, ok := f.(*http2.HeadersFrame); ok {
			fields := must.Get(d.DecodeFull(h.HeaderBlockFragment()))(t)
			all, resized = append(all, fields), h.HeaderBlockFragment()[0]>>5 == 1
		}
	}
}

// A header block that is sent again says what it said the first time, whatever other requests
// and the server's settings have done to the table meanwhile.
func TestBlocksSentAgain(t *testing.T) {
	request := func(path string) *Request {
		return &Request{Fields: []hpack.HeaderField{
			{Name: ":method", Value: "GET"}, {Name: ":path", Value: path}, {Name: "x-a", Value: "of " + path},
			{Name: "authorization", Value: "secret", Sensitive: true},
		}}
	}
	a, b := request("/a"), request("/b")
	var settings bytes.Buffer
	fr := http2.NewFramer(&settings, nil)
	must.OK(t, fr.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize}))
	c, d, changed := newHTTP2(1), hpack.NewDecoder(4096, nil), false
	for i, r := range []*Request{a, b, b, a, a, nil, a, a, b, b, a} {
		if r == nil {
			changed = true
			if f := c.Take(settings.Bytes(), nil, nil); f != nil {
				t.Fatal(f)
			}
			continue
		}
		c.Start(0, r)
		got, resized := said(t, c, d)
		if len(got) != 1 || !slices.Equal(got[0], r.Fields) || resized != changed {
			t.Errorf("request %d: %v, want %v; another size: %v", i, got, r.Fields, resized)
		}
		changed = false
		c.Cancel(0)
	}
}

// The bytes of a head mean what the table says of them when they come.
func TestSameHeadOfAnotherLength(t *testing.T) {
	const (
		ok     = "\x88"          // :status 200
		latest = ok + "\xbe"     // and the latest entry of the table
		length = ok + "\x5c\x01" // and a content-length of one digit, a new entry
	)
	c := newHTTP2(1)
	c.settled = true
	answers := 0
	for i, tt := range []struct {
		head string
		body int
	}{{length + "5", 5}, {latest, 5}, {latest, 5}, {length + "7", 7}, {latest, 7}, {latest, 7}} {
		c.Start(0, &Request{Fields: []hpack.HeaderField{{Name: ":method", Value: "GET"}}})
		var in bytes.Buffer
		fr := http2.NewFramer(&in, nil)
		stream := uint32(2*i + 1)
		must.OK(t, fr.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(tt.head), EndHeaders: true}))
		must.OK(t, fr.WriteData(stream, true, make([]byte, tt.body)))
		f := c.Take(in.Bytes(), nil, func(e Event) {
			if answers++; e.Failure != nil || e.Status != 200 {
				t.Errorf("answer %d: %s", i, fmt.Sprint(e.Failure, e.Status))
			}
		})
		if f != nil {
			t.Fatal(f)
		}
	}
	if answers != 6 {
		t.Errorf("%d answers", answers)
	}
}

// A server may ask for acknowledgements for as long as it reads them.
func TestAcknowledgements(t *testing.T) {
	var in bytes.Buffer
	must.OK(t, http2.NewFramer(&in, nil).WritePing(false, [8]byte{}))
	for _, reads := range []bool{true, false} {
		c, failed := newHTTP2(1), false
		for range mostAcks + 1 {
			failed = failed || c.Take(in.Bytes(), nil, nil) != nil
			if reads {
				c.Sent(len(c.Unsent()))
			}
		}
		if failed == reads {
			t.Errorf("the server reads: %v; failed: %v", reads, failed)
		}
	}
}
