package goproc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
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
	dynamic  elf.Prog64   // PT_DYNAMIC
	sections []section    // none where the headers were removed or do not add up
	info     int          // bytes of the build info's text
}

type section struct {
	name string
	elf.Section64
}

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
	table, err := m.bytesAt(int64(h.Phoff), int(size)*int(h.Phnum))
	if err != nil {
		return fmt.Errorf("%w: program headers: %w", ErrUndecodable, err)
	}
	for i := range int64(h.Phnum) {
		p, err := decode(m, table[i*size:][:size], func(p elf.Prog32) elf.Prog64 {
			return elf.Prog64{Type: p.Type, Flags: p.Flags, Off: uint64(p.Off), Vaddr: uint64(p.Vaddr), Filesz: uint64(p.Filesz), Memsz: uint64(p.Memsz)}
		})
		if err != nil {
			return fmt.Errorf("%w: program header %d: %w", ErrUndecodable, i, err)
		}
		if elf.ProgType(p.Type) == elf.PT_DYNAMIC {
			m.dynamic = p
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
	headers, err := m.bytesAt(int64(h.Shoff), int(size)*int(h.Shnum))
	if err != nil {
		return nil
	}
	all := make([]section, 0, h.Shnum)
	for i := range int64(h.Shnum) {
		s, err := decode(m, headers[i*size:][:size], func(s elf.Section32) elf.Section64 {
			return elf.Section64{Name: s.Name, Type: s.Type, Addr: uint64(s.Addr), Off: uint64(s.Off), Size: uint64(s.Size), Link: s.Link}
		})
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
	return slices.ContainsFunc(m.segments, func(p elf.Prog64) bool {
		return elf.ProgFlag(p.Flags)&flags == flags && addr >= p.Vaddr && addr-p.Vaddr <= p.Memsz && n <= p.Memsz-(addr-p.Vaddr)
	})
}

// decode reads a header. An ELF file of 32 bits has headers of its own; widen turns them into
// those of 64 bits, which hold as much.
func decode[wide, narrow any](m *image, b []byte, widen func(narrow) wide) (h wide, err error) {
	if m.class == elf.ELFCLASS64 {
		_, err = binary.Decode(b, m.order, &h)
		return h, err
	}
	var own narrow
	_, err = binary.Decode(b, m.order, &own)
	return widen(own), err
}

func (m *image) header() (elf.Header64, error) {
	size := map[elf.Class]int{elf.ELFCLASS32: 52, elf.ELFCLASS64: 64}[m.class]
	if size == 0 {
		return elf.Header64{}, errors.New("neither of 32 nor of 64 bits")
	}
	b, err := m.bytesAt(0, size)
	if err != nil {
		return elf.Header64{}, err
	}
	return decode(m, b, func(h elf.Header32) elf.Header64 {
		return elf.Header64{
			Type: h.Type, Machine: h.Machine, Entry: uint64(h.Entry), Phoff: uint64(h.Phoff), Shoff: uint64(h.Shoff),
			Phentsize: h.Phentsize, Phnum: h.Phnum, Shentsize: h.Shentsize, Shnum: h.Shnum, Shstrndx: h.Shstrndx,
		}
	})
}

func (m *image) bytesAt(off int64, size int) ([]byte, error) {
	buf := make([]byte, size)
	if n, err := m.r.ReadAt(buf, off); n < len(buf) {
		return nil, whole(err)
	}
	return buf, nil
}

// maxMatches bounds how often a name may end strings of the string table: once,
// or a few times where a linker lets strings share their tails.
const maxMatches = 16

// variable is where one lies, before the load bias, and how large it is.
type variable struct{ addr, size uint64 }

// anySize is that of a variable that differs from version to version.
const anySize = math.MaxUint64

// symbols returns the variables of these names and sizes that are in a writable segment;
// none without a symbol table. All names begin with
// "runtime.". Both tables are read in pieces: those of a large program are tens of
// megabytes.
func (m *image) symbols(sizes map[string]uint64) (map[string]variable, error) {
	symtab, ok := m.section(".symtab")
	if !ok || uint64(symtab.Link) >= uint64(len(m.sections)) {
		return nil, nil
	}
	names := m.sections[symtab.Link]
	// A table that is larger than all that may be read is no program's: it is as good as
	// none, and the rest is read as that of a stripped program.
	if b, ok := m.r.(*budget); ok && (symtab.Size > uint64(b.left) || names.Size > uint64(b.left)-symtab.Size) {
		return nil, nil
	}
	at, err := stringsAt(m.r, names, sizes)
	if err != nil || len(at) == 0 {
		return nil, err
	}

	const entry = elf.Sym64Size // name u32, info u8, other u8, shndx u16, value u64, size u64
	found := make(map[string]variable)
	w := &window{r: m.r}
	for off := uint64(0); off+entry <= symtab.Size && len(found) < len(sizes); off += entry {
		s, err := w.at(int64(symtab.Off+off), entry)
		if err != nil {
			return nil, nil
		}
		name, ok := at[binary.LittleEndian.Uint32(s)]
		if !ok || elf.ST_TYPE(s[4]) != elf.STT_OBJECT {
			continue
		}
		addr, size := binary.LittleEndian.Uint64(s[8:]), binary.LittleEndian.Uint64(s[16:])
		if want := sizes[name]; size > 0 && (size == want || want == anySize) && m.holds(addr, size, elf.PF_W) {
			found[name] = variable{addr, size}
		}
	}
	return found, nil
}

// stringsAt returns the names by their offsets in a string table.
func stringsAt(r io.ReaderAt, table section, names map[string]uint64) (map[uint32]string, error) {
	longest := 0
	for n := range names {
		longest = max(longest, len(n))
	}
	prefix := []byte("runtime.")
	found := make(map[uint32]string)
	err := scan(r, int64(table.Off), int64(table.Size), longest, func(piece []byte, off int64) bool {
		for i := range places(piece, prefix) {
			text, _, ended := bytes.Cut(piece[i:min(i+longest+1, len(piece))], []byte{0})
			if _, ok := names[string(text)]; ok && ended {
				found[uint32(off+int64(i)-int64(table.Off))] = string(text)
			}
			if len(found) >= maxMatches*len(names) {
				return false
			}
		}
		return true
	})
	return found, err
}
