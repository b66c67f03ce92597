package goproc

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"
)

// errNoGC is why the collector of a program cannot be read.
var errNoGC = fmt.Errorf("%w: nothing in its memory is the collector's accounting, or it has not run yet", ErrUndecodable)

// maxScan bounds the variables that are looked through, in bytes: of programs without
// crypto they are some hundred KiB.
const maxScan = 32 << 20

// gcAddresses are where the collector's accounting lies, before the load bias. Neither
// is used by code that every program has in a form that decoding could tell; but what
// lies there must add up, in ways that nothing else does by chance. That is looked for,
// within the variables that hold it in programs with symbols, and looked at again each
// time that it is read.
type gcAddresses struct {
	memstats uint64   // 0: not found yet
	cpu      []uint64 // of work.cpuStats, and copies of it that package metrics makes

	inMemstats, inWork variable // of runtime.memstats and runtime.work; zero without symbols
	vain               vain     // looks that searched and did not find all
	resting            bool     // nothing is searched in this look
}

// restFor is how many times as long as a search took there is none after it, where it
// did not find all; but for the first few, after which it is no longer than
// restSoon, so that a collector that has just begun is found. A program that computes
// without a collection would be searched at each look, on CPUs that are its own: those
// that use crypto have 32 MiB of variables.
const (
	restFor  = 50
	restSoon = 200 * time.Millisecond
	few      = 8
)

// vain bounds what searches take that find nothing.
type vain struct {
	n    int       // of them
	rest time.Time // until then nothing is looked for
}

func (v *vain) resting() bool { return time.Now().Before(v.rest) }

// took is called after a search in vain.
func (v *vain) took(d time.Duration) {
	d *= restFor
	if v.n++; v.n <= few {
		d = min(d, restSoon)
	}
	v.rest = time.Now().Add(d)
}

// begin begins a look at the process, with its searches; end ends it.
func (a *gcAddresses) begin() (end func()) {
	began := time.Now()
	a.resting = a.vain.resting()
	return func() {
		if !a.resting && (a.memstats == 0 || len(a.cpu) == 0) {
			a.vain.took(time.Since(began))
		}
	}
}

// find looks through the variables of a process. The collector must have run.
func (a *gcAddresses) find(mem io.ReaderAt, m *image, bias uint64, now clocks) error {
	if a.resting {
		return errNoGC
	}
	all := m.scanVariables(mem, bias, a.inMemstats, pattern{memstatsSize, 0, earliest, now.unix, func(b []byte) bool {
		s, ok := parseMemstats(b, now)
		return ok && s.Cycles > 0
	}})
	if len(all) != 1 {
		return errNoGC
	}
	a.memstats = all[0]
	return nil
}

// findCPU looks for the times that belong to m.
func (a *gcAddresses) findCPU(mem io.ReaderAt, img *image, bias uint64, m memstats) {
	const pauses = 8 * 3
	a.cpu = img.scanVariables(mem, bias, a.inWork, pattern{cpuStatsSize, pauses, 1, math.MaxInt64, func(b []byte) bool {
		if binary.LittleEndian.Uint64(b[8*10:]) == 0 {
			return false
		}
		_, ok := parseCPUStats(b, m)
		return ok
	}})
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
	if len(a.cpu) == 0 && m.Cycles > 0 && !a.resting {
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

// pattern is what is looked for. Most of a program's variables are zero, and none of it:
// one word, at an offset, reports whether at once by its bounds.
type pattern struct {
	size        int // bytes
	at          int
	least, most uint64
	match       func(b []byte) bool
}

// scanVariables returns the addresses in writable segments, before the load bias, at
// which the pattern lies; all are words' own. Where a variable is known that it lies in,
// no other is looked through.
func (m *image) scanVariables(mem io.ReaderAt, bias uint64, in variable, want pattern) (found []uint64) {
	const word = 8
	look := func(addr uint64, n int64) {
		_ = scan(mem, int64(bias+addr), n, want.size-word, func(piece []byte, at int64) bool {
			for i := int(-at & (word - 1)); i+want.size <= len(piece); i += word {
				if x := binary.LittleEndian.Uint64(piece[i+want.at:]); x < want.least || x > want.most {
					continue
				}
				if want.match(piece[i:i+want.size]) && len(found) < maxMatches {
					found = append(found, uint64(at)+uint64(i)-bias)
				}
			}
			return len(found) < maxMatches
		})
	}
	if in.size > 0 {
		look(in.addr, int64(min(in.size, maxScan)))
		return found
	}
	left := int64(maxScan)
	for _, p := range m.segments {
		if elf.ProgFlag(p.Flags)&elf.PF_W == 0 || left <= 0 {
			continue
		}
		n := int64(min(p.Memsz, uint64(left)))
		left -= n
		look(p.Vaddr, n)
	}
	return found
}
