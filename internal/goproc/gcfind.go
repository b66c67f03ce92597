package goproc

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
)

// errNoGC is why the collector of a program cannot be read.
var errNoGC = fmt.Errorf("%w: nothing in its memory is the collector's accounting, or it has not run yet", ErrUndecodable)

// maxScan bounds the variables that are looked through, in bytes: those of Go's own
// programs are some hundred KiB.
const maxScan = 32 << 20

// gcAddresses are where the collector's accounting lies, before the load bias. Neither
// is used by code that every program has in a form that decoding could tell; but what
// lies there must add up, in ways that nothing else does by chance. That is looked for,
// in programs with symbols too, and looked at again each time that it is read.
type gcAddresses struct {
	memstats uint64   // 0: not found yet
	cpu      []uint64 // of work.cpuStats, and copies of it that package metrics makes
}

// find looks through the variables of a process. The collector must have run.
func (a *gcAddresses) find(mem io.ReaderAt, m *image, bias uint64, now clocks) error {
	all := m.scanVariables(mem, bias, memstatsSize, func(b []byte) bool {
		if last := binary.LittleEndian.Uint64(b); last < earliest || last > now.unix {
			return false
		}
		s, ok := parseMemstats(b, now)
		return ok && s.Cycles > 0
	})
	if len(all) != 1 {
		return errNoGC
	}
	a.memstats = all[0]
	return nil
}

// findCPU looks for the times that belong to m.
func (a *gcAddresses) findCPU(mem io.ReaderAt, img *image, bias uint64, m memstats) {
	a.cpu = img.scanVariables(mem, bias, cpuStatsSize, func(b []byte) bool {
		if binary.LittleEndian.Uint64(b[8*3:]) == 0 || binary.LittleEndian.Uint64(b[8*10:]) == 0 {
			return false
		}
		_, ok := parseCPUStats(b, m)
		return ok
	})
}

// read reads the accounting where it was found. It is nil while the program changes it,
// and not whole while it changes its times.
func (a *gcAddresses) read(mem io.ReaderAt, img *image, bias uint64, now clocks) (gc *GC, whole bool) {
	b := make([]byte, memstatsSize)
	if _, err := mem.ReadAt(b, int64(bias+a.memstats)); err != nil {
		return nil, false
	}
	m, ok := parseMemstats(b, now)
	if !ok {
		return nil, false
	}
	if len(a.cpu) == 0 && m.Cycles > 0 {
		a.findCPU(mem, img, bias, m)
	}
	for _, at := range a.cpu {
		if _, err := mem.ReadAt(b[:cpuStatsSize], int64(bias+at)); err != nil {
			continue
		}
		if t, ok := parseCPUStats(b[:cpuStatsSize], m); ok {
			m.CPU = &t
			return &m.GC, true
		}
	}
	return &m.GC, len(a.cpu) == 0
}

// scanVariables returns the addresses in writable segments, before the load bias, at
// which match holds for the next size bytes; all are words' own.
func (m *image) scanVariables(mem io.ReaderAt, bias uint64, size int, match func(b []byte) bool) (found []uint64) {
	const word = 8
	left := int64(maxScan)
	for _, p := range m.segments {
		if elf.ProgFlag(p.Flags)&elf.PF_W == 0 || left <= 0 {
			continue
		}
		n := int64(min(p.Memsz, uint64(left)))
		left -= n
		_ = scan(mem, int64(bias+p.Vaddr), n, size-word, func(piece []byte, at int64) bool {
			for i := int(-at & (word - 1)); i+size <= len(piece); i += word {
				if match(piece[i:i+size]) && len(found) < maxMatches {
					found = append(found, uint64(at)+uint64(i)-bias)
				}
			}
			return len(found) < maxMatches
		})
	}
	return found
}
