package goproc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// maxMatches bounds how often a name may end strings of the string table: once,
// or a few times where a linker lets strings share their tails.
const maxMatches = 16

// symbol returns the address of the variable of that name and size, in a
// writable segment; false without a symbol table or such a symbol. Both tables
// are read in pieces: those of a large program are tens of megabytes.
func (m *image) symbol(name string, size uint64) (uint64, bool, error) {
	symtab, ok := m.section(".symtab")
	if !ok || uint64(symtab.Link) >= uint64(len(m.sections)) {
		return 0, false, nil
	}
	strtab := m.sections[symtab.Link]

	var at []uint32 // offsets of the name in the string table
	want := append([]byte(name), 0)
	err := scan(m.r, int64(strtab.Off), int64(strtab.Size), len(want)-1, func(piece []byte, off int64) bool {
		for i := 0; len(at) < maxMatches; i++ {
			j := bytes.Index(piece[i:], want)
			if j < 0 {
				return true
			}
			i += j
			at = append(at, uint32(off+int64(i)-int64(strtab.Off)))
		}
		return false
	})
	if err != nil || len(at) == 0 {
		return 0, false, err
	}

	const entry = elf.Sym64Size // name u32, info u8, other u8, shndx u16, value u64, size u64
	var addr uint64
	found := false
	w := &window{r: m.r}
	for off := uint64(0); off+entry <= symtab.Size && !found; off += entry {
		s, err := w.at(int64(symtab.Off+off), entry)
		if err != nil {
			return 0, false, nil
		}
		n := binary.LittleEndian.Uint32(s)
		for _, a := range at {
			if n == a && elf.ST_TYPE(s[4]) == elf.STT_OBJECT {
				addr = binary.LittleEndian.Uint64(s[8:])
				found = binary.LittleEndian.Uint64(s[16:]) == size && m.holds(addr, size, elf.PF_W)
			}
		}
	}
	return addr, found, nil
}
