package wire

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

// read feeds a response in pieces of the given size and reports what it held.
func read(p *Response, b []byte, piece int) (used int, done bool, err error) {
	return readSplit(p, b, func() int { return piece })
}

// readSplit is read in pieces of sizes that differ.
func readSplit(p *Response, b []byte, size func() int) (used int, done bool, err error) {
	for used < len(b) && !done {
		n, d, err := p.Feed(b[used:min(len(b), used+size())])
		if n <= 0 && !d && err == nil {
			panic("no progress: whoever feeds it would do so for ever")
		}
		used += n
		done = d
		if err != nil {
			return used, done, err
		}
	}
	return used, done, nil
}

func TestParser(t *testing.T) {
	for name, tt := range map[string]struct {
		in     string
		isHead bool
		status int
		keep   bool
		rest   string // after the response
		open   bool   // not complete, the connection's end completes it
		short  bool   // not complete, the connection's end does not complete it
		err    string
	}{
		"length":             {in: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, keep: true},
		"length, rest":       {in: "HTTP/1.1 200 OK\r\ncontent-length:5 \r\n\r\nhelloHTTP", status: 200, keep: true, rest: "HTTP"},
		"length 0":           {in: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", status: 404, keep: true},
		"short":              {in: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", short: true},
		"half a head":        {in: "HTTP/1.1 200 OK\r\nContent-", short: true},
		"no reason":          {in: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", status: 200, keep: true},
		"lone LF":            {in: "HTTP/1.1 200 OK\nContent-Length: 1\n\nx", status: 200, keep: true},
		"same length twice":  {in: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", status: 200, keep: true},
		"two lengths":        {in: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", err: "two lengths"},
		"close":              {in: "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 1\r\n\r\nx", status: 200},
		"close, then keep":   {in: "HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", status: 200},
		"HTTP/1.0":           {in: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", status: 200},
		"HTTP/1.0 keep":      {in: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", status: 200, keep: true},
		"until close":        {in: "HTTP/1.1 200 OK\r\n\r\nhello", open: true, status: 200},
		"head":               {in: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", isHead: true, status: 200, keep: true},
		"204":                {in: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, keep: true},
		"304":                {in: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", status: 304, keep: true},
		"100 first":          {in: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", status: 200, keep: true},
		"101":                {in: "HTTP/1.1 101 Switching\r\n\r\n", err: "101"},
		"chunked":            {in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a=b\r\nx\r\n0\r\nTrailer: y\r\n\r\nR", status: 200, keep: true, rest: "R"},
		"chunked, upper hex": {in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n", status: 200, keep: true},
		"chunked, unended":   {in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", short: true},
		"chunk too long":     {in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n", err: "longer than announced"},
		"chunk size":         {in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", err: "chunk size"},
		"no chunk size":      {in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;x\r\n", err: "chunk size"},
		"chunk overflow":     {in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", err: "chunk size"},
		"coded":              {in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nxyz", open: true, status: 200},
		"length and chunks":  {in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n5\r\nhello\r\n0\r\n\r\n", status: 200, keep: true},
		"a bad length too":   {in: "HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 200, keep: true},
		"length, a list":     {in: "HTTP/1.1 200 OK\r\nContent-Length: 1 , 1\r\n\r\nx", status: 200, keep: true},
		"two in a list":      {in: "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nx", err: "Content-Length"},
		"bad, then good":     {in: "HTTP/1.1 200 OK\r\nContent-Length: x\r\nContent-Length: 1\r\n\r\nx", err: "Content-Length"},
		"length, sign":       {in: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", err: "Content-Length"},
		"length, empty":      {in: "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", err: "Content-Length"},
		"length, overflow":   {in: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n", err: "Content-Length"},
		"other protocol":     {in: "SSH-2.0-OpenSSH_9.9\r\n", err: "SSH"},
		"HTTP/2":             {in: "HTTP/2.0 200 OK\r\n\r\n", err: "status line"},
		"status in letters":  {in: "HTTP/1.1 2oo OK\r\n\r\n", err: "status line"},
		"status of 4 digits": {in: "HTTP/1.1 2000 OK\r\n\r\n", err: "status line"},
		"status 999":         {in: "HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n", status: 999, keep: true},
		"status 099":         {in: "HTTP/1.1 099 OK\r\n\r\n", err: "99"},
		"no colon":           {in: "HTTP/1.1 200 OK\r\nNonsense\r\n\r\n", err: "no header"},
		"no name":            {in: "HTTP/1.1 200 OK\r\n: x\r\n\r\n", err: "no header"},
		"blank before colon": {in: "HTTP/1.1 200 OK\r\nContent-Length \t: 1\r\n\r\nx", status: 200, keep: true},
		"folded":             {in: "HTTP/1.1 200 OK\r\nA: b\r\n Content-Length: 9\r\nContent-Length: 1\r\n\r\nx", status: 200, keep: true},
		"folded length":      {in: "HTTP/1.1 200 OK\r\nContent-Length:\r\n \t1\r\nA: b\r\n\r\nx", status: 200, keep: true},
		"folded list":        {in: "HTTP/1.1 200 OK\r\nConnection: x,\r\n close\r\nContent-Length: 1\r\n\r\nx", status: 200},
		"folded at once":     {in: "HTTP/1.1 200 OK\r\n A: b\r\n\r\n", err: "no header"},
		"long line":          {in: "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", maxLine) + "\r\n\r\n", err: "too large"},
		"long head":          {in: "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxHead/6), err: "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, piece := range []int{len(tt.in), 1, 7} {
				var p Response
				p.Reset(tt.isHead)
				used, done, err := read(&p, []byte(tt.in), piece)
				if tt.err != "" {
					if err == nil || !strings.Contains(err.Error(), tt.err) {
						t.Errorf("pieces of %d: error %v, want one with %q", piece, err, tt.err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("pieces of %d: %v", piece, err)
				}
				if done == (tt.open || tt.short) {
					t.Errorf("pieces of %d: done is %v", piece, done)
				}
				if !done && p.End() != tt.open {
					t.Errorf("pieces of %d: the connection's end completes it: %v", piece, !tt.open)
				}
				if tt.short {
					continue
				}
				if p.Status != tt.status || p.Keep != tt.keep || tt.in[used:] != tt.rest {
					t.Errorf("pieces of %d: status %d, keep %v, rest %q", piece, p.Status, p.Keep, tt.in[used:])
				}
			}
		})
	}
}

const common = "HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 23:00:00 GMT\r\nContent-Length: 12\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nhello, world"

func TestParserAllocatesNothing(t *testing.T) {
	var p Response
	halves := [][]byte{[]byte(common[:60]), []byte(common[60:])}
	if n := testing.AllocsPerRun(1000, func() {
		p.Reset(false)
		p.Feed(halves[0])
		if _, done, err := p.Feed(halves[1]); !done || err != nil {
			t.Fatal(done, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a response", n)
	}
}

// FuzzParser: pieces make no difference, nor does an answer before it that had the same
// bytes, and what net/http reads in full it reads the same.
func FuzzParser(f *testing.F) {
	f.Add([]byte(common), false, 3)
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), false, 1)
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 204 x\r\nConnection: keep-alive\r\n\r\n"), true, 2)
	f.Fuzz(func(t *testing.T, in []byte, isHead bool, piece int) {
		var whole, parts Response
		whole.Reset(isHead)
		used, done, err := read(&whole, in, max(1, len(in)))
		if used > len(in) {
			t.Fatalf("used %d of %d bytes", used, len(in))
		}
		// Pieces of one size, and of sizes as they come from a network.
		random := rand.New(rand.NewPCG(uint64(piece), uint64(len(in))))
		for _, size := range []func() int{
			func() int { return max(1, piece) },
			func() int { return 1 + random.IntN(max(1, min(len(in), 1<<random.IntN(8)))) },
		} {
			parts.Reset(isHead)
			used2, done2, err2 := readSplit(&parts, in, size)
			// A head that is too long may show at another byte.
			if (err == nil) != (err2 == nil) || err == nil && (done != done2 || used != used2 || whole.Status != parts.Status || whole.Keep != parts.Keep) {
				t.Fatalf("whole: %d %v %v; in pieces of %d: %d %v %v", used, done, err, piece, used2, done2, err2)
			}
		}
		before := whole
		for _, head := range []bool{isHead, !isHead} {
			var first Response
			first.Reset(head)
			before.Reset(head)
			used, done, err := first.Feed(in)
			used2, done2, err2 := before.Feed(in)
			if used != used2 || done != done2 || (err == nil) != (err2 == nil) || first.Status != before.Status || first.Keep != before.Keep {
				t.Fatalf("to HEAD %v: %d %v %v at first, %d %v %v after an answer of the same bytes", head, used, done, err, used2, done2, err2)
			}
		}
		if err != nil || !done || whole.Status < 200 {
			return
		}
		reader := bufio.NewReader(bytes.NewReader(in))
		method := "GET"
		if isHead {
			method = "HEAD"
		}
		for {
			r, err := http.ReadResponse(reader, &http.Request{Method: method})
			if err != nil {
				return // stricter than we are about what does not matter here
			}
			if r.StatusCode < 200 {
				continue
			}
			if r.StatusCode != whole.Status {
				t.Fatalf("status %d, net/http says %d", whole.Status, r.StatusCode)
			}
			if _, err := io.Copy(io.Discard, r.Body); err == nil && r.ContentLength >= 0 && !isHead && whole.Status != 304 {
				if left := reader.Buffered(); len(in) < 4096 && len(in)-left != used {
					t.Fatalf("%d bytes long, net/http says %d", used, len(in)-left)
				}
			}
			return
		}
	})
}
