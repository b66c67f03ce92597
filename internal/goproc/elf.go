package goproc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// The bounds of what a header may ask for. Go's linker makes about 10 program
// headers and 40 sections, a C linker some more.
const (
	maxSegments = 256
	maxSections = 4096
	maxNames    = 1 << 20 // bytes of the section name table
)

// image is a 64-bit little-endian ELF file: where its parts lie in the file and
// in memory, before any load bias. debug/elf is not used since it reads whole
// tables and refuses a file whose section headers are damaged, which the kernel
// runs all the same.
type image struct {
	r        io.ReaderAt
	machine  elf.Machine
	entry    uint64
	fixed    bool         // runs at the addresses that it says: no load bias
	segments []elf.Prog64 // PT_LOAD
	sections []section    // none where the headers were removed or do not add up
}

type section struct {
	name string
	elf.Section64
}

func readImage(r io.ReaderAt) (*image, error) {
	var ident [elf.EI_NIDENT]byte
	if _, err := r.ReadAt(ident[:], 0); err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.HasPrefix(ident[:], []byte(elf.ELFMAG)) {
		return nil, fmt.Errorf("%w (no ELF file)", ErrNotGo)
	}
	if elf.Class(ident[elf.EI_CLASS]) != elf.ELFCLASS64 || elf.Data(ident[elf.EI_DATA]) != elf.ELFDATA2LSB {
		return nil, fmt.Errorf("%w: only 64-bit little-endian ELF files are read", ErrUndecodable)
	}
	var h elf.Header64
	if err := decodeAt(r, 0, &h); err != nil {
		return nil, fmt.Errorf("%w: ELF header: %v", ErrUndecodable, err)
	}
	m := &image{r: r, machine: elf.Machine(h.Machine), entry: h.Entry, fixed: elf.Type(h.Type) == elf.ET_EXEC}
	if h.Phnum == 0 || h.Phnum > maxSegments || h.Phentsize != 56 || h.Phoff > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d program headers of %d bytes", ErrUndecodable, h.Phnum, h.Phentsize)
	}
	for i := range int64(h.Phnum) {
		var p elf.Prog64
		if err := decodeAt(r, int64(h.Phoff)+i*56, &p); err != nil {
			return nil, fmt.Errorf("%w: program header %d: %v", ErrUndecodable, i, err)
		}
		if elf.ProgType(p.Type) != elf.PT_LOAD {
			continue
		}
		if p.Off > math.MaxInt64 || p.Filesz > math.MaxInt64-p.Off || p.Filesz > p.Memsz || p.Memsz > math.MaxUint64-p.Vaddr {
			return nil, fmt.Errorf("%w: program header %d: sizes overflow", ErrUndecodable, i)
		}
		m.segments = append(m.segments, p)
	}
	m.sections = readSections(r, &h)
	return m, nil
}

func readSections(r io.ReaderAt, h *elf.Header64) []section {
	if h.Shnum == 0 || h.Shnum > maxSections || h.Shentsize != 64 || h.Shstrndx >= h.Shnum || h.Shoff > math.MaxInt64/2 {
		return nil
	}
	all := make([]section, 0, h.Shnum)
	for i := range int64(h.Shnum) {
		var s section
		if decodeAt(r, int64(h.Shoff)+i*64, &s.Section64) != nil || s.Off > math.MaxInt64 || s.Size > math.MaxInt64-s.Off {
			return nil
		}
		all = append(all, s)
	}
	table := all[h.Shstrndx]
	if table.Size > maxNames {
		return nil
	}
	names := make([]byte, table.Size)
	if _, err := r.ReadAt(names, int64(table.Off)); err != nil && err != io.EOF {
		return nil
	}
	for i := range all {
		if n := uint64(all[i].Name); n < uint64(len(names)) {
			name, _, _ := bytes.Cut(names[n:min(n+64, uint64(len(names)))], []byte{0})
			all[i].name = string(name)
		}
	}
	return all
}

// section returns the first section whose name ends so.
func (m *image) section(suffix string) (elf.Section64, bool) {
	for _, s := range m.sections {
		if strings.HasSuffix(s.name, suffix) && elf.SectionType(s.Type) != elf.SHT_NOBITS && s.Size > 0 {
			return s.Section64, true
		}
	}
	return elf.Section64{}, false
}

// holds tells whether the n bytes at addr lie in a segment with all these flags.
func (m *image) holds(addr, n uint64, flags elf.ProgFlag) bool {
	for _, p := range m.segments {
		if elf.ProgFlag(p.Flags)&flags == flags && addr >= p.Vaddr && addr-p.Vaddr <= p.Memsz && n <= p.Memsz-(addr-p.Vaddr) {
			return true
		}
	}
	return false
}

func decodeAt(r io.ReaderAt, off int64, v any) error {
	buf := make([]byte, binary.Size(v))
	if n, err := r.ReadAt(buf, off); n < len(buf) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	_, err := binary.Decode(buf, binary.LittleEndian, v)
	return err
}
