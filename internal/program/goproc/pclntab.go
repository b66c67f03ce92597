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
// tables at offsets from it.
type pclntab struct {
	off      int64  // in the file
	addr     uint64 // in memory, before the load bias
	nfunc    uint64
	funcname uint64 // offset of the names, each ended by a zero byte
	cu       uint64 // offset of the table after the names
	file     uint64 // offset of the names of files
	pc       uint64 // offset of the tables of values by address
	pcln     uint64 // offset of functab and of the functions' records
	quantum  uint64 // bytes: the distances of addresses in the tables at pc are in these
	record   record
	text     uint64 // of a wide table: where the text begins in memory, which its addresses include
}

// record is where the fields of a function's record (runtime._func) lie in it, in bytes.
// The first field is where the function begins. In the wide table of Go 1.16 and 1.17 that
// is an address of 8 bytes, and so is each pointer to data about the function; from Go 1.18
// on all are offsets of 4 bytes.
type record struct {
	wide                                            bool
	name, pcfile, npcdata, cu, flag, nfuncdata, end int
}

// records are the layouts by the first byte of the table's magic.
var records = map[byte]record{
	0xfa: {true, 8, 24, 32, 36, 41, 43, 44},  // Go 1.16 and 1.17
	0xf0: {false, 4, 20, 28, 32, 37, 39, 40}, // Go 1.18 and 1.19
	0xf1: {false, 4, 20, 28, 32, 41, 43, 44}, // from Go 1.20 on, which added startLine
}

const (
	headerSize = 72
	// maxFuncs bounds nfunc; the largest programs known have under a million.
	maxFuncs = 1 << 23
	// maxFuncSize bounds a function's code that is decoded, in bytes; those that
	// are read here have at most a few thousand.
	maxFuncSize = 32 << 10
)

// parsePclntab reads the header: magic (0xfffffffa from Go 1.16, 0xfffffff0 from 1.18,
// 0xfffffff1 from 1.20), two zero bytes, the instruction quantum, the pointer size, then
// words: number of functions, number of files, start of the text (from 1.18 on, unused
// from 1.26) and the offsets of funcname, cu, file, pc and function tables, in that order.
func parsePclntab(b []byte) (pclntab, bool) {
	if len(b) < headerSize || !bytes.Equal(b[1:6], []byte{0xff, 0xff, 0xff, 0, 0}) ||
		(b[6] != 1 && b[6] != 4) || b[7] != 8 {
		return pclntab{}, false
	}
	layout, known := records[b[0]]
	if !known {
		return pclntab{}, false
	}
	first := 4
	if layout.wide {
		first = 3
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	t := pclntab{
		nfunc: word(1), funcname: word(first), cu: word(first + 1), file: word(first + 2), pc: word(first + 3), pcln: word(first + 4),
		quantum: uint64(b[6]), record: layout,
	}
	if t.nfunc == 0 || t.nfunc > maxFuncs || t.funcname < uint64(8*first+40) || t.funcname > t.cu || t.cu > t.file ||
		t.file > t.pc || t.pc > t.pcln || t.pcln > math.MaxInt32 {
		return pclntab{}, false
	}
	return t, true
}

// findPclntab is anyPclntab for whoever has only the file: the addresses in a wide table
// are those of a process.
func (m *image) findPclntab() (pclntab, error) {
	t, err := m.anyPclntab()
	if err == nil && t.record.wide {
		err = errOldTable
	}
	return t, err
}

var errOldTable = fmt.Errorf("%w: no function table of Go 1.18 or newer", ErrUndecodable)

// anyPclntab looks in the section of that name, then through the segments for
// the header: a position-independent executable that a C linker made may have no
// such section, and section headers can be removed.
func (m *image) anyPclntab() (pclntab, error) {
	if s, ok := m.section(".gopclntab"); ok {
		b, _ := m.bytesAt(int64(s.Off), headerSize)
		if t, ok := parsePclntab(b); ok {
			t.off, t.addr = int64(s.Off), s.Addr
			return t, nil
		}
	}
	var t pclntab
	found := false
	for _, p := range m.segments {
		err := scan(m.r, int64(p.Off), int64(p.Filesz), headerSize-1, func(piece []byte, off int64) bool {
			for i := range places(piece, []byte{0xff, 0xff, 0xff, 0, 0}) {
				if i == 0 {
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
	return t, errOldTable
}

// span is a function's code, relative to the start of the text.
type span struct{ start, end uint32 }

// functions returns the code of the named functions of the runtime, as many as the program
// has. One that assembly calls has a wrapper of a few instructions with the same name, so of
// two the longer is meant.
func (t pclntab) functions(r io.ReaderAt, names []string) (map[string]span, error) {
	byOffset, err := t.names(r, names)
	if err != nil {
		return nil, err
	}
	found := make(map[string]span)
	table, records := &window{r: r}, &window{r: r}
	base := t.off + int64(t.pcln)
	for i := uint64(0); i < t.nfunc && len(byOffset) > 0; i++ {
		pair, err := table.at(base+int64(i)*t.pairSize(), int(t.pairSize()*3/2))
		if err != nil {
			return nil, tableError(err)
		}
		start, at := t.pair(pair)
		end, _ := t.pair(pair[t.pairSize():])
		record, err := records.at(base+int64(at), t.record.name+4)
		if err != nil {
			return nil, tableError(err)
		}
		offset := binary.LittleEndian.Uint32(record[t.record.name:])
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

// functab is pairs: where a function begins in the text, and where its record begins in
// this same table. Its last pair has no record.

func (t pclntab) pairSize() int64 {
	if t.record.wide {
		return 16
	}
	return 8
}

// pair reads one, and of the last pair only where the text ends.
func (t pclntab) pair(b []byte) (start, at uint32) {
	if t.record.wide {
		if len(b) >= 16 {
			at = binary.LittleEndian.Uint32(b[8:])
		}
		return uint32(binary.LittleEndian.Uint64(b) - t.text), at
	}
	if len(b) >= 8 {
		at = binary.LittleEndian.Uint32(b[4:])
	}
	return binary.LittleEndian.Uint32(b), at
}

// names returns the named functions by the offset of their name.
func (t pclntab) names(r io.ReaderAt, names []string) (map[uint32]string, error) {
	longest := 0
	for _, n := range names {
		longest = max(longest, len(n))
	}
	found := make(map[uint32]string)
	start := t.off + int64(t.funcname)
	err := scan(r, start, int64(t.cu-t.funcname), longest+1, func(piece []byte, off int64) bool {
		for i := range places(piece, []byte("\x00runtime.")) {
			for _, n := range names {
				if rest, ok := bytes.CutPrefix(piece[i+1:], []byte(n)); ok && len(rest) > 0 && rest[0] == 0 {
					found[uint32(off+int64(i)+1-start)] = n
				}
			}
		}
		return true
	})
	return found, err
}

// name is the text at an offset of the table; what is longer than most is cut.
func (t pclntab) name(r io.ReaderAt, offset uint64, most int) string {
	b := make([]byte, most)
	n, _ := r.ReadAt(b, t.off+int64(offset))
	text, _, _ := bytes.Cut(b[:max(n, 0)], []byte{0})
	return string(text)
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
			for i := range places(piece, pattern[:]) {
				if i > len(piece)-size {
					break
				}
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

// relocatedText is findText of a file whose module record is filled by its loader: the relocations have
// where each pointer of it is to be written, and what without the load bias. 0: it is not there.
func (m *image) relocatedText(t pclntab) uint64 {
	const size = 24 // of a relocation: offset, what it is, addend
	from, all := m.relocations()
	each := func(see func(offset, addend uint64)) {
		w := &window{r: m.r}
		for at := int64(0); all-at >= size; at += size {
			b, err := w.at(from+at, size)
			if err != nil {
				break
			}
			see(binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[16:]))
		}
	}
	const mostRecords = 16 // places with the address of the function table
	records := map[uint64]*[5]uint64{}
	each(func(offset, addend uint64) {
		if addend == t.addr && len(records) < mostRecords {
			records[offset] = new([5]uint64)
		}
	})
	if len(records) == 0 {
		return 0
	}
	each(func(offset, addend uint64) {
		for i, field := range [...]uint64{0, 8, 104, 176, 184} {
			if r := records[offset-field]; r != nil {
				r[i] = addend
			}
		}
	})
	for _, r := range records {
		if start, end := r[3], r[4]; r[1] == t.addr+t.funcname && r[2] == t.addr+t.pcln && start < end && m.holds(start, end-start, elf.PF_X) {
			return start
		}
	}
	return 0
}

// relocations are where the file has those that a loader makes, and how many bytes of them; 0: none.
func (m *image) relocations() (from, size int64) {
	const most = 4 << 10 // bytes of the list of what a loader needs to know
	list, err := m.bytesAt(int64(m.dynamic.Off), int(min(m.dynamic.Filesz, most)))
	if err != nil {
		return 0, 0
	}
	for ; len(list) >= 16; list = list[16:] {
		value := binary.LittleEndian.Uint64(list[8:])
		switch elf.DynTag(binary.LittleEndian.Uint64(list)) {
		case elf.DT_NULL:
			return from, size
		case elf.DT_RELA:
			from, _ = m.offset(value)
		case elf.DT_RELASZ:
			size = int64(min(value, maxRead))
		}
	}
	return from, size
}
