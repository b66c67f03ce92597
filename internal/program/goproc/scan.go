package goproc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"time"
)

// The bounds of all that is read to find the variables, in bytes: of the file and
// of a process's memory. Of a program of 707 MB that is
// 70 MB of the file, more where it has symbols or no section headers, and the 13 MB
// of its data. A hostile file can claim any size.
const (
	maxRead   = 256 << 20
	maxMemory = 64 << 20
	// Each part of a file is read once or twice. One that is mostly holes, which cost
	// its owner nothing, is read no further than a whole one of as much data would be.
	readings  = 2
	spareRead = 16 << 20
)

// maxTime is what the file of one program may take of a scan of all processes.
const maxTime = time.Second

// most is how much is read of a file, by the size of its data.
func most(data int64) int64 { return min(maxRead, spareRead+readings*min(data, maxRead)) }

// scanChunk is the size of one read, in bytes.
const scanChunk = 64 << 10

var (
	errBudget = fmt.Errorf("%w: it asks for more reading than any program needs", ErrUndecodable)
	errBeyond = fmt.Errorf("%w: it refers to a place that no file has", ErrUndecodable)
)

// budget is a reader that fails once it has been asked for too much, or the time is
// over.
type budget struct {
	r    io.ReaderAt
	left int64
	ctx  context.Context // nil: there is no hurry
	late bool            // something was not read since the time was over

	broken error // of the system, which could not read: it says nothing of the file
}

func (b *budget) ReadAt(p []byte, off int64) (int, error) {
	if b.ctx != nil && b.ctx.Err() != nil {
		b.late = true
		return 0, ErrLate
	}
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errBudget
	}
	if off < 0 || off > math.MaxInt64-int64(len(p)) { // an error of the system, too, but the file's fault
		return 0, errBeyond
	}
	n, err := b.r.ReadAt(p, off)
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		b.broken = err
	}
	return n, err
}

// window reads small pieces that lie close together through one buffer.
type window struct {
	r   io.ReaderAt
	buf []byte
	off int64 // of buf[0]
}

// at returns the n bytes at off, valid until the next call; n is at most
// scanChunk.
func (w *window) at(off int64, n int) ([]byte, error) {
	if off >= w.off && off-w.off <= int64(len(w.buf)-n) {
		return w.buf[off-w.off:][:n], nil
	}
	if cap(w.buf) == 0 {
		w.buf = make([]byte, scanChunk)
	}
	got, err := w.r.ReadAt(w.buf[:cap(w.buf)], off)
	w.buf, w.off = w.buf[:max(got, 0)], off
	if got < n {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return w.buf[:n], nil
}

// places are where a pattern begins in a piece.
func places(piece, pattern []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; ; i++ {
			next := bytes.Index(piece[i:], pattern)
			if next < 0 {
				return
			}
			if i += next; !yield(i) {
				return
			}
		}
	}
}

// scan passes the size bytes at off to see in pieces, each beginning with the
// last overlap bytes of the one before, until see returns false. It ends without
// an error where the reader ends: a file may be shorter than its headers say.
func scan(r io.ReaderAt, off, size int64, overlap int, see func(piece []byte, at int64) bool) error {
	buf := make([]byte, scanChunk+overlap)
	kept := 0
	for size > 0 {
		want := min(int64(scanChunk), size)
		got, err := r.ReadAt(buf[kept:kept+int(want)], off)
		if got > 0 && !see(buf[:kept+got], off-int64(kept)) {
			return nil
		}
		if err != nil || got <= 0 {
			if errors.Is(err, errBudget) || errors.Is(err, ErrLate) {
				return err
			}
			return nil
		}
		off, size = off+int64(got), size-int64(got)
		have := kept + got
		kept = min(overlap, have)
		copy(buf, buf[have-kept:have])
	}
	return nil
}
