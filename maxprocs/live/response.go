package live

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// response is what a handler writes to, while its request is counted.
type response struct {
	w       http.ResponseWriter
	meter   *Meter
	conn    *conn // nil: it did not come through a Listener
	from    time.Time
	came    int64 // when the kernel received it, in Unix nanoseconds; 0: not known
	status  int   // 0: none was written
	stream  bool  // of HTTP/2
	removed bool  // hijacked
}

// A response is used once: one that were used again could be written to by a handler of an
// earlier request that has kept it. So that a request costs no allocation, sixteen are
// allocated together.
type responses struct {
	all  [16]response
	used int
}

var unused = sync.Pool{New: func() any { return new(responses) }}

func newResponse() *response {
	l := unused.Get().(*responses)
	x := &l.all[l.used]
	if l.used++; l.used < len(l.all) {
		unused.Put(l)
	}
	return x
}

// gone is in place of the server's writer after the request, so that it is not kept.
type gone struct{}

var errGone = errors.New("live: the handler of this request has returned")

func (gone) Header() http.Header                          { return http.Header{} }
func (gone) WriteHeader(int)                              {}
func (gone) Write([]byte) (int, error)                    { return 0, errGone }
func (gone) Flush()                                       {}
func (gone) FlushError() error                            { return errGone }
func (gone) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, errGone }
func (gone) Push(string, *http.PushOptions) error         { return errGone }
func (gone) ReadFrom(io.Reader) (int64, error)            { return 0, errGone }

// done counts the request, whose handler panicked with p unless that is nil.
func (x *response) done(p any) {
	m, now := x.meter, time.Now()
	failed := x.status >= 500
	if p != nil {
		failed = true
		if p != http.ErrAbortHandler {
			m.panics.Add(1)
		}
	}
	switch {
	case x.removed:
		m.hijacked.Add(1)
	default:
		m.handler.add(now.Sub(x.from))
		if x.came != 0 && x.came <= now.UnixNano() {
			if x.stream {
				m.streams.Add(1)
				m.arrival.add(time.Duration(now.UnixNano() - x.came)) // the connection's goroutine writes the answer, among others
			} else {
				x.conn.owe(x.came)
			}
		}
	}
	m.end(failed)
	x.w, x.conn = gone{}, nil
}

// Unwrap is for http.ResponseController.
func (x *response) Unwrap() http.ResponseWriter { return x.w }

func (x *response) Header() http.Header { return x.w.Header() }

func (x *response) WriteHeader(status int) {
	if x.status == 0 && status >= 200 { // what is below is not the answer
		x.status = status
	}
	x.w.WriteHeader(status)
}

func (x *response) Write(p []byte) (int, error) {
	x.wrote()
	return x.w.Write(p)
}

// WriteString is for io.WriteString.
func (x *response) WriteString(s string) (int, error) {
	x.wrote()
	return io.WriteString(x.w, s)
}

func (x *response) wrote() {
	if x.status == 0 {
		x.status = http.StatusOK
	}
}

// flush returns the error that http.ResponseController asks for, where the server has one.
func (x *response) flush() error {
	x.wrote()
	if f, ok := x.w.(interface{ FlushError() error }); ok {
		return f.FlushError()
	}
	x.w.(http.Flusher).Flush()
	return nil
}

// CloseNotify is for programs that ask every ResponseWriter for the deprecated
// http.CloseNotifier, as gin does. Where the server has none, nothing is ever received.
func (x *response) CloseNotify() <-chan bool {
	if n, ok := x.w.(interface{ CloseNotify() <-chan bool }); ok {
		return n.CloseNotify()
	}
	return make(chan bool)
}

func (x *response) hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, b, err := x.w.(http.Hijacker).Hijack()
	x.removed = err == nil
	return c, b, err
}

func (x *response) push(target string, o *http.PushOptions) error {
	return x.w.(http.Pusher).Push(target, o)
}

func (x *response) readFrom(r io.Reader) (int64, error) {
	x.wrote()
	return x.w.(io.ReaderFrom).ReadFrom(r)
}

// The optional interfaces of a ResponseWriter are known by type assertions, so there is a
// type for each combination: each has the methods of the one that it embeds, and one
// interface more. All are one pointer, so that making one allocates nothing.
type (
	withF    struct{ *response }
	withH    struct{ *response }
	withFH   struct{ withF }
	withP    struct{ *response }
	withFP   struct{ withF }
	withHP   struct{ withH }
	withFHP  struct{ withFH }
	withR    struct{ *response }
	withFR   struct{ withF }
	withHR   struct{ withH }
	withFHR  struct{ withFH }
	withPR   struct{ withP }
	withFPR  struct{ withFP }
	withHPR  struct{ withHP }
	withFHPR struct{ withFHP }
)

// as is the response with the optional interfaces that the server's has.
func (x *response) as() http.ResponseWriter {
	_, f := x.w.(http.Flusher)
	_, h := x.w.(http.Hijacker)
	_, p := x.w.(http.Pusher)
	_, r := x.w.(io.ReaderFrom)
	i := 0
	for bit, has := range [...]bool{f, h, p, r} {
		if has {
			i |= 1 << uint(bit)
		}
	}
	of, oh, op := withF{x}, withH{x}, withP{x}
	ofh := withFH{of}
	return [...]http.ResponseWriter{
		x, of, oh, ofh, op, withFP{of}, withHP{oh}, withFHP{ofh},
		withR{x}, withFR{of}, withHR{oh}, withFHR{ofh}, withPR{op}, withFPR{withFP{of}}, withHPR{withHP{oh}}, withFHPR{withFHP{ofh}},
	}[i]
}

func (x withF) Flush()            { _ = x.flush() }
func (x withF) FlushError() error { return x.flush() }

func (x withH) Hijack() (net.Conn, *bufio.ReadWriter, error)  { return x.hijack() }
func (x withFH) Hijack() (net.Conn, *bufio.ReadWriter, error) { return x.hijack() }

func (x withP) Push(target string, o *http.PushOptions) error   { return x.push(target, o) }
func (x withFP) Push(target string, o *http.PushOptions) error  { return x.push(target, o) }
func (x withHP) Push(target string, o *http.PushOptions) error  { return x.push(target, o) }
func (x withFHP) Push(target string, o *http.PushOptions) error { return x.push(target, o) }

func (x withR) ReadFrom(r io.Reader) (int64, error)    { return x.readFrom(r) }
func (x withFR) ReadFrom(r io.Reader) (int64, error)   { return x.readFrom(r) }
func (x withHR) ReadFrom(r io.Reader) (int64, error)   { return x.readFrom(r) }
func (x withFHR) ReadFrom(r io.Reader) (int64, error)  { return x.readFrom(r) }
func (x withPR) ReadFrom(r io.Reader) (int64, error)   { return x.readFrom(r) }
func (x withFPR) ReadFrom(r io.Reader) (int64, error)  { return x.readFrom(r) }
func (x withHPR) ReadFrom(r io.Reader) (int64, error)  { return x.readFrom(r) }
func (x withFHPR) ReadFrom(r io.Reader) (int64, error) { return x.readFrom(r) }
