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

// The bounds of what a header may ask for. Among 1194 programs and libraries of a
// Debian, with a Go program of 707 MB, none has more than 14 program headers, 64
// sections and 1065 bytes of their names.
const (
	maxSegments = 256
	maxSections = 1024
	maxNames    = 64 << 10 // bytes of the section name table
	longestName = 64       // bytes of one name that are kept
)

// image is an ELF file: where its parts lie in the file and in memory, before any
// load bias. debug/elf is not used since it believes a file: it reads whole tables,
// of any size, copies the name table once for each section, and refuses a file
// whose section headers are damaged, which the kernel runs all the same.
type image struct {
	r        io.ReaderAt
	class    elf.Class
	order    binary.ByteOrder
	machine  elf.Machine
	entry    uint64
	fixed    bool         // runs at the addresses that it says: no load bias
	segments []elf.Prog64 // PT_LOAD
	sections []section    // none where the headers were removed or do not add up
	info     int          // bytes of the build info's text
}

type section struct {
	name string
	elf.Section64
}

// isELF tells by a file's first bytes.
func isELF(r io.ReaderAt) (bool, error) {
	magic := make([]byte, len(elf.ELFMAG))
	n, err := r.ReadAt(magic, 0)
	if n == len(magic) || err == io.EOF {
		err = nil
	}
	return string(magic[:n]) == elf.ELFMAG, err
}

func readImage(r io.ReaderAt) (*image, error) {
	var ident [elf.EI_NIDENT]byte
	if _, err := r.ReadAt(ident[:], 0); err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.HasPrefix(ident[:], []byte(elf.ELFMAG)) {
		return nil, fmt.Errorf("%w (no ELF file)", ErrNotGo)
	}
	m := &image{r: r, class: elf.Class(ident[elf.EI_CLASS]), order: binary.LittleEndian}
	if elf.Data(ident[elf.EI_DATA]) == elf.ELFDATA2MSB {
		m.order = binary.BigEndian
	}
	h, err := m.header()
	if err != nil {
		return nil, fmt.Errorf("%w: ELF header: %w", ErrUndecodable, err)
	}
	m.machine, m.entry, m.fixed = elf.Machine(h.Machine), h.Entry, elf.Type(h.Type) == elf.ET_EXEC
	if err := m.readSegments(h); err != nil {
		return nil, err
	}
	m.sections = m.readSections(h)
	return m, nil
}

func (m *image) readSegments(h elf.Header64) error {
	size := int64(56)
	if m.class == elf.ELFCLASS32 {
		size = 32
	}
	if h.Phnum == 0 || h.Phnum > maxSegments || int64(h.Phentsize) != size || h.Phoff > math.MaxInt32 {
		return fmt.Errorf("%w: %d program headers of %d bytes", ErrUndecodable, h.Phnum, h.Phentsize)
	}
	for i := range int64(h.Phnum) {
		p, err := m.prog(int64(h.Phoff) + i*size)
		if err != nil {
			return fmt.Errorf("%w: program header %d: %w", ErrUndecodable, i, err)
		}
		if elf.ProgType(p.Type) != elf.PT_LOAD {
			continue
		}
		if p.Off > math.MaxInt64 || p.Filesz > math.MaxInt64-p.Off || p.Filesz > p.Memsz || p.Memsz > math.MaxUint64-p.Vaddr {
			return fmt.Errorf("%w: program header %d: sizes overflow", ErrUndecodable, i)
		}
		m.segments = append(m.segments, p)
	}
	return nil
}

func (m *image) readSections(h elf.Header64) []section {
	size := int64(64)
	if m.class == elf.ELFCLASS32 {
		size = 40
	}
	if h.Shnum == 0 || h.Shnum > maxSections || int64(h.Shentsize) != size || h.Shstrndx >= h.Shnum || h.Shoff > math.MaxInt64/2 {
		return nil
	}
	all := make([]section, 0, h.Shnum)
	for i := range int64(h.Shnum) {
		s, err := m.sectionAt(int64(h.Shoff) + i*size)
		if err != nil || s.Off > math.MaxInt64 || s.Size > math.MaxInt64-s.Off {
			return nil
		}
		all = append(all, section{Section64: s})
	}
	table := all[h.Shstrndx]
	if table.Size > maxNames {
		return nil
	}
	names := make([]byte, table.Size)
	if _, err := m.r.ReadAt(names, int64(table.Off)); err != nil && err != io.EOF {
		return nil
	}
	for i := range all {
		if n := uint64(all[i].Name); n < uint64(len(names)) {
			name, _, _ := bytes.Cut(names[n:min(n+longestName, uint64(len(names)))], []byte{0})
			all[i].name = string(name)
		}
	}
	return all
}

// decodable says why no variables can be found in the program, or nothing.
func (m *image) decodable() error {
	if m.class != elf.ELFCLASS64 || m.order != binary.LittleEndian {
		return fmt.Errorf("%w: only 64-bit little-endian ELF files are read", ErrUndecodable)
	}
	return nil
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

// holds reports whether the n bytes at addr lie in a segment with all these flags.
func (m *image) holds(addr, n uint64, flags elf.ProgFlag) bool {
	for _, p := range m.segments {
		if elf.ProgFlag(p.Flags)&flags == flags && addr >= p.Vaddr && addr-p.Vaddr <= p.Memsz && n <= p.Memsz-(addr-p.Vaddr) {
			return true
		}
	}
	return false
}
