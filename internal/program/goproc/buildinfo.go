package goproc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"runtime/debug"
	"slices"
	"strings"
)

// buildMagic begins the record that Go's linker writes since Go 1.13 (ld.buildinfo
// in cmd/link). debug/buildinfo reads it too, but through debug/elf (see image),
// and does not find it in a position-independent program without section headers.
const buildMagic = "\xff Go buildinf:"

const (
	buildAlign  = 16
	buildHeader = 32 // bytes: the magic, the size of a pointer, flags; see buildAt
	buildPtr    = 14 // where that size is
	buildFlags  = 15
	bigEndian   = 1 // flags
	inline      = 2
)

// The bounds of what is read for the record. It is in the data: a
// program of 707 MB has 13 MB; its text has a line for each dependency, 38 KB there.
const (
	maxSearch   = 64 << 20 // bytes
	longestInfo = 256 << 10
)

// buildInfo returns the record, nil without one.
func (m *image) buildInfo() (*debug.BuildInfo, error) {
	r := m.r
	b := &budget{r: r, left: maxSearch}
	m.r = b
	defer func() { m.r = r }()
	for _, place := range m.buildPlaces() {
		if info := m.searchBuildInfo(place); info != nil || b.broken != nil {
			return info, b.broken
		}
	}
	return nil, nil
}

type extent struct{ off, size int64 }

// buildPlaces are where the record may be: its section, then the segments of data,
// and where sections have no names all others.
func (m *image) buildPlaces() []extent {
	var places, others []extent
	if s, ok := m.section(".go.buildinfo"); ok {
		places = append(places, extent{int64(s.Off), int64(s.Size)})
	}
	for _, p := range m.segments {
		at := extent{int64(p.Off), int64(p.Filesz)}
		if elf.ProgFlag(p.Flags)&(elf.PF_W|elf.PF_X) == elf.PF_W {
			places = append(places, at)
		} else {
			others = append(others, at)
		}
	}
	if slices.ContainsFunc(m.sections, func(s section) bool { return s.name != "" }) {
		return places
	}
	return append(places, others...)
}

func (m *image) searchBuildInfo(place extent) (info *debug.BuildInfo) {
	// The error is of the budget: of that nothing is left for another place either.
	_ = scan(m.r, place.off, place.size, buildHeader-1, func(piece []byte, at int64) bool {
		for i := range places(piece, []byte(buildMagic)) {
			// It is aligned in memory, and a file is mapped by pages: in a file, too. A
			// segment need not begin so.
			if off := at + int64(i); off%buildAlign == 0 && i <= len(piece)-buildHeader {
				if info = m.buildAt(piece[i:i+buildHeader], off); info != nil {
					return false
				}
			}
		}
		return true
	})
	return info
}

// buildAt reads what a header at off leads to, the Go version and the module's
// lines; nil when it leads to none. Since Go 1.18 both follow it, each after its
// length; before, it holds the addresses of two string variables.
func (m *image) buildAt(header []byte, off int64) *debug.BuildInfo {
	var version, lines string
	var ok bool
	if header[buildFlags]&inline != 0 {
		if version, off, ok = m.readString(off + buildHeader); ok {
			lines, _, ok = m.readString(off)
		}
	} else {
		version, lines, ok = m.readPointed(header)
	}
	// A development version begins with devel, and a flag of the linker may have written any text; then the
	// rest of the header has to be zeros.
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if !ok || !strings.HasPrefix(version, "go") && (version == "" || strings.ContainsFunc(version, odd) || len(bytes.Trim(header[buildFlags+1:], "\x00")) > 0) {
		return nil
	}
	const mark = 16 // bytes before the lines, and as many after
	info := new(debug.BuildInfo)
	if n := len(lines); n >= 2*mark && lines[n-mark-1] == '\n' {
		if parsed, err := debug.ParseBuildInfo(lines[mark : n-mark]); err == nil {
			info = parsed
		}
	}
	info.GoVersion = version
	m.info = len(version) + len(lines)
	return info
}

// readString reads a string after its length as a varint; next is what follows.
func (m *image) readString(off int64) (s string, next int64, ok bool) {
	var length [binary.MaxVarintLen64]byte
	n, _ := m.r.ReadAt(length[:], off)
	size, used := binary.Uvarint(length[:max(n, 0)])
	if used <= 0 {
		return "", 0, false
	}
	off += int64(used)
	s, ok = m.readText(off, size)
	return s, off + int64(len(s)), ok
}

func (m *image) readText(off int64, size uint64) (string, bool) {
	if size > longestInfo {
		return "", false
	}
	b, err := m.bytesAt(off, int(size))
	return string(b), err == nil
}

// readPointed reads the two strings of a program of Go 1.13 to 1.17. A program
// without modules has no second one.
func (m *image) readPointed(header []byte) (version, lines string, ok bool) {
	order := binary.ByteOrder(binary.LittleEndian)
	if header[buildFlags]&bigEndian != 0 {
		order = binary.BigEndian
	}
	size := int(header[buildPtr])
	if size != 4 && size != 8 {
		return "", "", false
	}
	word := func(b []byte) uint64 {
		if size == 4 {
			return uint64(order.Uint32(b))
		}
		return order.Uint64(b)
	}
	pointed := func(i int) (string, bool) {
		off, ok := m.offset(word(header[16+i*size:]))
		variable, err := m.bytesAt(off, 2*size) // an address and a length
		if !ok || err != nil {
			return "", false
		}
		if off, ok = m.offset(word(variable)); !ok {
			return "", false
		}
		return m.readText(off, word(variable[size:]))
	}
	if version, ok = pointed(0); ok {
		lines, _ = pointed(1)
	}
	return version, lines, ok
}

// offset is where the file has what is at an address.
func (m *image) offset(addr uint64) (int64, bool) {
	for _, p := range m.segments {
		if addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return int64(p.Off + addr - p.Vaddr), true
		}
	}
	return 0, false
}
