package goproc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"
)

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
		for i := 0; len(found) < maxMatches*len(names); i++ {
			j := bytes.Index(piece[i:], prefix)
			if j < 0 {
				return true
			}
			i += j
			end := bytes.IndexByte(piece[i:min(i+longest+1, len(piece))], 0)
			if end < 0 {
				continue
			}
			name := string(piece[i : i+end])
			if _, ok := names[name]; ok {
				found[uint32(off+int64(i)-int64(table.Off))] = name
			}
		}
		return false
	})
	return found, err
}
