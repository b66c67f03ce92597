package goproc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// pclntab is the runtime's function table: a header (runtime.pcHeader), then
// tables at offsets from it. The layout is that of Go 1.18 and newer.
type pclntab struct {
	off      int64  // in the file
	addr     uint64 // in memory, before the load bias
	nfunc    uint64
	funcname uint64 // offset of the names, each ended by a zero byte
	cu       uint64 // offset of the table after the names
	pcln     uint64 // offset of functab and of the functions' records
}

const (
	headerSize = 72
	// maxFuncs bounds nfunc; the largest programs known have under a million.
	maxFuncs = 1 << 23
	// maxFuncSize bounds a function's code that is decoded, in bytes; those that
	// are read here have at most a few thousand.
	maxFuncSize = 32 << 10
)

// parsePclntab reads the header: magic (0xfffffff0 from Go 1.18, 0xfffffff1 from
// 1.20), two zero bytes, the instruction quantum, the pointer size, then words:
// number of functions, number of files, start of the text (unused from 1.26) and
// the offsets of funcname, cu, file, pc and function tables, in that order.
func parsePclntab(b []byte) (pclntab, bool) {
	if len(b) < headerSize || (b[0] != 0xf0 && b[0] != 0xf1) || !bytes.Equal(b[1:6], []byte{0xff, 0xff, 0xff, 0, 0}) ||
		(b[6] != 1 && b[6] != 4) || b[7] != 8 {
		return pclntab{}, false
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	t := pclntab{nfunc: word(1), funcname: word(4), cu: word(5), pcln: word(8)}
	if t.nfunc == 0 || t.nfunc > maxFuncs || t.funcname < headerSize || t.funcname > t.cu || t.cu > word(6) ||
		word(6) > word(7) || word(7) > t.pcln || t.pcln > math.MaxInt32 {
		return pclntab{}, false
	}
	return t, true
}

// findPclntab looks in the section of that name, then through the segments for
// the header: a position-independent executable that a C linker made may have no
// such section, and section headers can be removed.
func (m *image) findPclntab() (pclntab, error) {
	if s, ok := m.section(".gopclntab"); ok {
		b := make([]byte, headerSize)
		if n, _ := m.r.ReadAt(b, int64(s.Off)); n == len(b) {
			if t, ok := parsePclntab(b); ok {
				t.off, t.addr = int64(s.Off), s.Addr
				return t, nil
			}
		}
	}
	var t pclntab
	found := false
	for _, p := range m.segments {
		err := scan(m.r, int64(p.Off), int64(p.Filesz), headerSize-1, func(piece []byte, off int64) bool {
			for i := 0; i <= len(piece)-headerSize; i++ {
				j := bytes.Index(piece[i:], []byte{0xff, 0xff, 0xff, 0, 0})
				if j < 0 {
					break
				}
				if i += j; i == 0 {
					continue
				}
				if t, found = parsePclntab(piece[i-1:]); found {
					t.off = off + int64(i) - 1
					t.addr = p.Vaddr + uint64(t.off) - p.Off
					return false
				}
			}
			return true
		})
		if err != nil {
			return t, err
		}
		if found {
			return t, nil
		}
	}
	return t, fmt.Errorf("%w: no function table of Go 1.18 or newer", ErrUndecodable)
}

// span is a function's code, relative to the start of the text.
type span struct{ start, end uint32 }

// functions returns the code of the named functions, as many as the program has.
// All names begin with prefix. A function that assembly calls has a wrapper of a
// few instructions with the same name, so of two the longer is meant.
func (t pclntab) functions(r io.ReaderAt, prefix string, names []string) (map[string]span, error) {
	byOffset, err := t.names(r, prefix, names)
	if err != nil {
		return nil, err
	}
	// functab is pairs of uint32: where a function begins in the text, and where
	// its record begins in this same table. Its last pair has no record. A record
	// (runtime._func) is the start again, then the offset of the name.
	found := make(map[string]span)
	table, records := &window{r: r}, &window{r: r}
	base := t.off + int64(t.pcln)
	for i := uint64(0); i < t.nfunc && len(byOffset) > 0; i++ {
		pair, err := table.at(base+int64(i)*8, 12)
		if err != nil {
			return nil, tableError(err)
		}
		start, end := binary.LittleEndian.Uint32(pair), binary.LittleEndian.Uint32(pair[8:])
		record, err := records.at(base+int64(binary.LittleEndian.Uint32(pair[4:])), 8)
		if err != nil {
			return nil, tableError(err)
		}
		offset := binary.LittleEndian.Uint32(record[4:])
		name, ok := byOffset[offset]
		if !ok || start >= end || end-start > maxFuncSize {
			continue
		}
		delete(byOffset, offset)
		if had := found[name]; end-start > had.end-had.start {
			found[name] = span{start, end}
		}
	}
	return found, nil
}

// names returns the named functions by the offset of their name.
func (t pclntab) names(r io.ReaderAt, prefix string, names []string) (map[uint32]string, error) {
	longest := 0
	for _, n := range names {
		longest = max(longest, len(n))
	}
	found := make(map[uint32]string)
	start := t.off + int64(t.funcname)
	err := scan(r, start, int64(t.cu-t.funcname), longest+1, func(piece []byte, off int64) bool {
		for i := 0; ; i++ {
			j := bytes.Index(piece[i:], []byte("\x00"+prefix))
			if j < 0 {
				return true
			}
			i += j
			for _, n := range names {
				if rest, ok := bytes.CutPrefix(piece[i+1:], []byte(n)); ok && len(rest) > 0 && rest[0] == 0 {
					found[uint32(off+int64(i)+1-start)] = n
				}
			}
		}
	})
	return found, err
}

func tableError(err error) error {
	return fmt.Errorf("%w: its function table is damaged: %w", ErrUndecodable, err)
}

// findText returns where the text begins in memory. Only the module record
// (runtime.moduledata) tells since Go 1.26, and in a position-independent
// program it holds addresses only once loaded. It is the place in the writable
// segments that points at the function table and its parts:
//
//	  0  pcHeader         8  funcnametab    104  pclntable
//	128  ftab (slice)   176  text           184  etext
func findText(mem io.ReaderAt, m *image, bias uint64, t pclntab) (uint64, error) {
	const size = 192
	var pattern [16]byte
	binary.LittleEndian.PutUint64(pattern[:], t.addr+bias)
	binary.LittleEndian.PutUint64(pattern[8:], t.addr+bias+t.funcname)
	var text uint64
	for _, p := range m.segments {
		if elf.ProgFlag(p.Flags)&elf.PF_W == 0 || p.Vaddr+bias > math.MaxInt64 {
			continue
		}
		err := scan(mem, int64(p.Vaddr+bias), int64(p.Filesz), size-1, func(piece []byte, _ int64) bool {
			for i := 0; i <= len(piece)-size; i++ {
				j := bytes.Index(piece[i:], pattern[:])
				if j < 0 || i+j > len(piece)-size {
					return true
				}
				i += j
				word := func(off int) uint64 { return binary.LittleEndian.Uint64(piece[i+off:]) }
				start, end := word(176), word(184)
				if word(104) == t.addr+bias+t.pcln && word(136) == t.nfunc+1 &&
					start < end && m.holds(start-bias, end-start, elf.PF_X) {
					text = start
					return false
				}
			}
			return true
		})
		if err != nil {
			return 0, err
		}
		if text != 0 {
			return text, nil
		}
	}
	return 0, fmt.Errorf("%w: no module record in memory yet", errStarting)
}
