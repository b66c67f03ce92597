package goproc

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
)

// The bounds of ReadStream. Headers lie in the head of every program that a linker has
// written.
const (
	headBytes   = 64 << 10
	maxStreamed = 4 << 30 // bytes of a file that are gone through
)

// ErrTooLarge is of a file in a stream that would have to be held whole, or is larger
// than any program.
var ErrTooLarge = errors.New("too large to be read")

// ReadStream reads a program that can only be read once and from its start, as in an
// archive. It holds most bytes of it and not more: of an ELF file the segments of data,
// in which the build info is, then those that are only read, then what is executed, as far
// as there is room. A program of another system is held whole.
//
// Build info of Go 1.13 to 1.17 leads to text that is only read: in a program with more
// of that than there is room for it is not found.
func ReadStream(r io.Reader, size, most int64) (Program, error) {
	head, err := readUpTo(r, min(size, headBytes, most))
	if err != nil {
		return Program{}, err
	}
	if !bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		if size > most {
			return Program{}, fmt.Errorf("%w: %d bytes, and at most %d are held of a program for macOS or Windows", ErrTooLarge, size, most)
		}
		rest, err := readUpTo(r, size-int64(len(head)))
		if err != nil {
			return Program{}, err
		}
		return Read(bytes.NewReader(append(head, rest...)))
	}
	m, err := readImage(bytes.NewReader(head))
	if err != nil {
		return Program{}, notGo(err)
	}
	kept := &pieces{{0, head}}
	if err := kept.take(r, m.wanted(size, most-int64(len(head)))); err != nil {
		return Program{}, err
	}
	return readAll(kept)
}

// wanted are the extents behind the head that are to be held, in their order.
func (m *image) wanted(size, room int64) []extent {
	segments := slices.Clone(m.segments)
	rank := func(p elf.Prog64) int {
		switch flags := elf.ProgFlag(p.Flags); {
		case flags&elf.PF_X != 0:
			return 2
		case flags&elf.PF_W == 0:
			return 1
		}
		return 0
	}
	sorting.Stable(segments, func(a, b elf.Prog64) int { return cmp.Compare(rank(a), rank(b)) })
	var all []extent
	for _, p := range segments {
		from, to := max(int64(p.Off), headBytes), min(int64(p.Off+p.Filesz), size, maxStreamed)
		if to = min(to, from+room); to <= from {
			continue
		}
		room -= to - from
		all = append(all, extent{from, to - from})
	}
	sorting.Stable(all, func(a, b extent) int { return cmp.Compare(a.off, b.off) })
	return all
}

// pieces are parts of a file, in their order. What lies between them reads as the end
// of the file.
type pieces []piece

type piece struct {
	off int64
	b   []byte
}

// take goes through the stream, which is at the end of what is held.
func (s *pieces) take(r io.Reader, wanted []extent) error {
	last := (*s)[len(*s)-1]
	at := last.off + int64(len(last.b))
	for _, e := range wanted {
		end := e.off + e.size
		off := max(e.off, at) // segments of a damaged file overlap
		if off >= end {
			continue
		}
		if _, err := io.CopyN(io.Discard, r, off-at); err != nil {
			return whole(err)
		}
		b, err := readUpTo(r, end-off)
		if err != nil {
			return err
		}
		*s = append(*s, piece{off, b})
		at = end
	}
	return nil
}

func (s *pieces) ReadAt(b []byte, off int64) (n int, err error) {
	for _, p := range *s {
		at := off + int64(n)
		if n < len(b) && at >= p.off && at-p.off < int64(len(p.b)) {
			n += copy(b[n:], p.b[at-p.off:])
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// readUpTo reads a number of bytes. Memory is allocated as they come: a size may be false.
func readUpTo(r io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, size); err != nil {
		return nil, whole(err)
	}
	return b.Bytes(), nil
}

// whole is the error of a stream that ends before it should.
func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
