package sched

import (
	"io"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/procfit/procfit/test/need"
)

// endless writes plain samples of 8 Ps until size bytes are written, then ends,
// most likely within a line.
type endless struct {
	size int64
	rest []byte
	line []byte
	n    int64
}

func (e *endless) Read(p []byte) (n int, err error) {
	if e.size <= 0 {
		return 0, io.EOF
	}
	for n < len(p) {
		if len(e.rest) == 0 {
			e.next()
		}
		c := copy(p[n:], e.rest)
		n, e.rest = n+c, e.rest[c:]
	}
	n = int(min(int64(n), e.size))
	e.size -= int64(n)
	return n, nil
}

func (e *endless) next() {
	b := append(e.line[:0], "SCHED "...)
	b = strconv.AppendInt(b, e.n*10, 10)
	b = append(b, "ms: gomaxprocs=8 idleprocs="...)
	b = strconv.AppendInt(b, e.n%3, 10)
	b = append(b, " threads=14 spinningthreads=0 needspinning=1 idlethreads=3 runqueue="...)
	b = strconv.AppendInt(b, e.n%400, 10)
	b = append(b, " [ 0 0 2 0 5 0 1 14 ] schedticks=["...)
	for p := range int64(8) {
		b = append(b, ' ')
		b = strconv.AppendUint(b, uint64(uint32(e.n*(600+p))), 10)
	}
	b = append(b, " ]\n"...)
	if e.n%50 == 0 {
		b = append(b, "2026/01/02 15:04:05 INFO handled request id=12345 status=200\n"...)
	}
	e.line, e.rest = b, b
	e.n++
}

// TestStreamGigabyte: memory does not grow with the log, of an eighth of a gigabyte in
// the first tier.
func TestStreamGigabyte(t *testing.T) {
	if testing.Short() || need.Raced {
		t.Skip("reads a gigabyte: 3 s, and 40 s under the race detector")
	}
	size, samples := int64(1<<27), int64(500_000)
	if need.Required() {
		size, samples = 1<<30, 4_000_000
	}
	start := time.Now()
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var heap uint64
	sc := NewScanner(&endless{size: size})
	i := 0
	sc.Late = func() bool {
		if i++; i%500_000 == 0 {
			runtime.ReadMemStats(&now)
			heap = max(heap, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
		}
		return false
	}
	s := Analyse(sc)
	runtime.ReadMemStats(&now)
	allocated := now.TotalAlloc - before.TotalAlloc
	t.Logf("%d bytes, %d samples in %s; at most %d kB of heap, %d kB allocated in all", s.Counts.Bytes, s.Counts.Samples, time.Since(start).Round(time.Millisecond), heap>>10, allocated>>10)
	if s.Counts.Bytes != size || s.Counts.Samples < samples || s.SegmentCount != 1 || s.Skipped.Count > 1 {
		t.Errorf("%+v, %+v, %d segments", s.Counts, s.Skipped, s.SegmentCount)
	}
	if heap > 8<<20 || allocated > 16<<20 {
		t.Errorf("%d bytes of heap, %d allocated in all", heap, allocated)
	}
}
