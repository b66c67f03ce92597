package goproc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// A world is tens of kilobytes, most of it zeros: changes of it are fuzzed, not its
// bytes, of which the fuzzer would try one at a time to leave it out.
const edit = 10 // bytes: where, 2, and what to write there, 8

// changed writes the edits into a copy.
func changed(b, edits []byte) []byte {
	b = bytes.Clone(b)
	for ; len(edits) >= edit; edits = edits[edit:] {
		copy(b[int(binary.LittleEndian.Uint16(edits))%len(b):], edits[2:edit])
	}
	return b
}

// FuzzFind gives hostile files to everything that reads them.
func FuzzFind(f *testing.F) {
	symbols, bare := goodWorld(), goodWorld()
	symbols.symbols = map[string]uint64{"runtime.gomaxprocs": worldVar}
	bare.sections = false
	worlds := [][]byte{goodWorld().bytes(), symbols.bytes(), bare.bytes()}
	for i := range worlds {
		f.Add(uint8(i), []byte{})
		for _, at := range []uint16{40, 56, 64 + 32, 120 + 32, worldTable, worldTable + 8, worldTable + 32, worldTable + 0x504, worldData + 64 + 176, worldHeads + 64 + 32, worldText} {
			f.Add(uint8(i), binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(nil, at), math.MaxInt64))
			f.Add(uint8(i), binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(nil, at), 0))
		}
	}
	f.Fuzz(func(t *testing.T, world uint8, edits []byte) {
		b := changed(worlds[int(world)%len(worlds)], edits)
		at, err := find(b, worldVersion)
		if err != nil {
			return
		}
		m := must.Get(readImage(bytes.NewReader(b)))(t)
		l, _ := layoutOf(worldVersion)
		if (at.Source != Symbol && at.Source != Decoded) || !m.holds(at.Procs, 4, elf.PF_W) ||
			at.NumCPU != 0 && !m.holds(at.NumCPU, 4, elf.PF_W) ||
			at.Sched != 0 && at.Source == Symbol && !m.holds(at.Sched, l.size, elf.PF_W) {
			t.Errorf("%+v is not in a writable segment", at)
		}
	})
}

// FuzzRead gives hostile files to the reader of build info.
func FuzzRead(f *testing.F) {
	for _, w := range tinies() {
		w.lines = "path\tp\n"
		f.Add(w.bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		elf, _ := isELF(bytes.NewReader(b))
		if !elf {
			return // debug/buildinfo's
		}
		if p, err := Read(bytes.NewReader(b)); err != nil && !errors.Is(err, ErrNotGo) {
			t.Error(err)
		} else if err == nil && p.GoVersion != "" && !strings.Contains(p.GoVersion, "go") {
			t.Errorf("the version is %q", p.GoVersion)
		}
		// From a stream of any size that is claimed, no more is read than is there.
		_, _ = ReadStream(bytes.NewReader(b), int64(len(b)), 1<<20)
		if _, err := ReadStream(bytes.NewReader(b), math.MaxInt64, 1<<20); err == nil && len(b) < headBytes {
			t.Error("a file that ends before its size is read")
		}
	})
}

func FuzzPclntab(f *testing.F) {
	whole := goodWorld().bytes()[worldTable:worldData]
	f.Add([]byte{})
	f.Add(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(nil, 8), maxFuncs))
	f.Add(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(nil, 0x504), math.MaxUint64))
	f.Fuzz(func(t *testing.T, edits []byte) {
		b := changed(whole, edits)
		table, ok := parsePclntab(b)
		if !ok {
			return
		}
		found, err := table.functions(bytes.NewReader(b), decoded())
		for name, s := range found {
			if err != nil || s.start >= s.end || s.end-s.start > maxFuncSize {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
		}
	})
}

// FuzzSafe compares the reader of a table of unsafe points with one that writes the value of
// each address down.
func FuzzSafe(f *testing.F) {
	for _, table := range [][]byte{{0, 5, 1, 3, 2, 4, 0}, {2, 200, 1, 4, 0}, {1, 1, 0}, {0x80}, {0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}, {}} {
		for _, pc := range []uint16{0, 5, 6, 8, 9} {
			f.Add(table, pc, false)
			f.Add(table, 4*pc, true)
		}
	}
	f.Fuzz(func(t *testing.T, table []byte, pc uint16, arm bool) {
		quantum := uint64(1)
		if arm {
			quantum = 4
		}
		var values []int32
		b, value := table, int32(-1)
		for len(values) <= math.MaxUint16 {
			delta, n := binary.Uvarint(b)
			if n <= 0 || delta == 0 && len(values) > 0 {
				break
			}
			quanta, m := binary.Uvarint(b[n:])
			if m <= 0 || quanta == 0 || quanta > math.MaxUint32 {
				break
			}
			b = b[n+m:]
			if value += int32(uint32(delta) >> 1); delta&1 != 0 {
				value -= 1 + 2*int32(uint32(delta)>>1)
			}
			for range min(quanta*quantum, 2*math.MaxUint16) {
				values = append(values, value)
			}
		}
		want := int(pc) < len(values) && values[pc] == -1 && (pc == 0 || values[pc-1] == -1)
		if got := safeAt(bytes.NewReader(table), uint64(pc), quantum); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// checkRefs holds what a decoder found against the code's size and the sizes that
// instructions have.
func checkRefs(t *testing.T, refs []ref, code []byte) {
	t.Helper()
	if len(refs) > len(code) {
		t.Errorf("%d references in %d bytes", len(refs), len(code))
	}
	for _, r := range refs {
		if r.access > address || r.size < 0 || r.size > 64 || r.access == address && r.size != 0 {
			t.Errorf("%+v", r)
		}
	}
}

func FuzzX86Refs(f *testing.F) {
	f.Add([]byte{0x8b, 0x05, 16, 0, 0, 0, 0xc3}, uint64(0x401000))
	f.Add([]byte{0x48, 0x63, 0x05, 0xf0, 0xff, 0xff, 0xff}, uint64(1)<<63)
	f.Add([]byte{0x48, 0x8d, 0x05, 0xf0, 0xff, 0xff, 0xff}, uint64(0))
	f.Fuzz(func(t *testing.T, code []byte, pc uint64) {
		checkRefs(t, x86Refs(code, pc), code)
	})
}

func FuzzSetting64Refs(f *testing.F) {
	f.Add(words(0x90000b3b, 0xb9475b60, 0xd65f03c0), uint64(0x11000))
	f.Add(words(0x90000b20, 0x91008000, 0x88dffc01), uint64(1)<<63)
	f.Fuzz(func(t *testing.T, code []byte, pc uint64) {
		checkRefs(t, arm64Refs(code, pc), code)
	})
}
