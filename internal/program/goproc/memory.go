package goproc

import (
	"encoding/binary"
	"io"
)

// loadBias is the difference between where a process runs and where its file says.
func loadBias(pid int, m *image) (uint64, error) {
	if m.fixed {
		return 0, nil
	}
	f, err := openProc(pid, "auxv")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var auxv [1024]byte // at most 44 pairs of words: AT_VECTOR_SIZE of the kernel
	n, err := f.ReadAt(auxv[:], 0)
	if err != nil && err != io.EOF {
		return 0, err
	}
	entry, ok := auxvEntry(auxv[:n])
	if !ok {
		return 0, errNoEntry
	}
	return entry - m.entry, nil
}

// auxvEntry returns AT_ENTRY (9) of a 64-bit auxiliary vector: pairs of words,
// ended by AT_NULL.
func auxvEntry(auxv []byte) (uint64, bool) {
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		switch binary.LittleEndian.Uint64(auxv) {
		case 0:
			return 0, false
		case 9:
			return binary.LittleEndian.Uint64(auxv[8:]), true
		}
	}
	return 0, false
}

func readInt(mem io.ReaderAt, addr uint64) (int32, error) {
	var b [4]byte
	_, err := mem.ReadAt(b[:], int64(addr))
	return int32(binary.LittleEndian.Uint32(b[:])), err
}
