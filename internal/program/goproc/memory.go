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

// near is how far two variables may lie apart for one read of both, in bytes:
// gomaxprocs and the number of CPUs are neighbours.
const near = 256

// readPair reads two int32 variables, the second one 0 where its address is.
func readPair(mem io.ReaderAt, bias, first, second uint64) (a, b int32, err error) {
	lo, hi := min(first, second), max(first, second)
	if second == 0 || hi-lo > near {
		if a, err = readInt(mem, bias+first); err != nil || second == 0 {
			return a, 0, err
		}
		b, err = readInt(mem, bias+second)
		return a, b, err
	}
	var buf [near + 4]byte
	if _, err := mem.ReadAt(buf[:hi-lo+4], int64(bias+lo)); err != nil {
		return 0, 0, err
	}
	at := func(addr uint64) int32 { return int32(binary.LittleEndian.Uint32(buf[addr-lo:])) }
	return at(first), at(second), nil
}

func readInt(mem io.ReaderAt, addr uint64) (int32, error) {
	var b [4]byte
	_, err := mem.ReadAt(b[:], int64(addr))
	return int32(binary.LittleEndian.Uint32(b[:])), err
}
