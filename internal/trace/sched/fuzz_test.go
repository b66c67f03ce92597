package sched

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// chopped gives out its bytes in pieces whose sizes a seed decides.
type chopped struct {
	r    io.Reader
	seed uint32
}

func (c *chopped) Read(p []byte) (int, error) {
	c.seed = c.seed*1664525 + 1013904223
	return c.r.Read(p[:min(len(p), int(c.seed>>24)%97+1)])
}

// FuzzScanner: any input is read without a panic, in bounded memory, every byte
// once, and in the same way however the reader splits it. The small limit makes lines
// overlong that are not.
func FuzzScanner(f *testing.F) {
	paths := must.Get(filepath.Glob("testdata/*.log"))(f)
	for i, p := range paths {
		b := must.Get(os.ReadFile(p))(f)
		f.Add(b, uint32(i), uint16(i*37))
	}
	f.Add([]byte(oldLine[:40]+newLine+"\n"+oldLine), uint32(1), uint16(0))
	f.Add([]byte(detailLine+"\n"+procLine+"\r\n"+thread+"\n| "+goroutine+"\x00"+detailLine), uint32(1), uint16(100))
	f.Add([]byte("SCHED 99999999999999999999ms: SCHED 1ms: gomaxprocs=-1 [[[ ] SCHED 2ms: a=[ b=] ["), uint32(1), uint16(0))
	f.Fuzz(func(t *testing.T, b []byte, seed uint32, limit uint16) {
		size := overlap + 2 + int(limit)
		want := describe(newScanner(bytes.NewReader(b), size))
		got := describe(newScanner(&chopped{bytes.NewReader(b), seed}, size))
		if got != want {
			t.Errorf("in pieces:\n%s\nas a whole:\n%s", got, want)
		}
		sc := newScanner(bytes.NewReader(b), size)
		sc.scan(func(s *Sample) {
			if s.Millis < 0 || s.Procs < absent || len(s.LocalQueues) > max(size, maxProcs) || s.Detail != nil && len(s.Detail.Reasons) > maxNames+1 {
				t.Errorf("%+v", s)
			}
		})
		c := sc.counts
		if c.Bytes != int64(len(b)) || c.OtherBytes > c.Bytes || c.OtherLines > c.Lines || c.Lines > c.Bytes {
			t.Errorf("%+v of %d bytes", c, len(b))
		}
		summary := Analyse(newScanner(bytes.NewReader(b), size))
		if _, err := json.Marshal(summary); err != nil {
			t.Error(err)
		}
		for _, r := range Readings(summary) {
			if r.ID == "" || r.Text == "" {
				t.Errorf("%+v", r)
			}
		}
	})
}
