package goproc

import (
	"bytes"
	"debug/elf"
	"errors"
	"testing"
)

// FuzzFind gives hostile files to everything that reads them.
func FuzzFind(f *testing.F) {
	f.Add(goodWorld().bytes())
	w := goodWorld()
	w.symbols = map[string]uint64{"runtime.gomaxprocs": worldVar}
	f.Add(w.bytes())
	w = goodWorld()
	w.sections = false
	f.Add(w.bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		at, err := find(b, worldVersion)
		if err != nil {
			return
		}
		m, err := readImage(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
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
	f.Add(goodWorld().bytes())
	f.Add([]byte("\xff Go buildinf:\x08\x02" + "0123456789abcdef" + "\x08go1.26.1\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := Read(bytes.NewReader(b)); err == nil && p.GoVersion == "" {
			t.Error("a program without a Go version")
		} else if err != nil && !errors.Is(err, ErrNotGo) {
			t.Error(err)
		}
	})
}

func FuzzPclntab(f *testing.F) {
	f.Add(goodWorld().bytes()[worldTable:worldData])
	f.Fuzz(func(t *testing.T, b []byte) {
		table, ok := parsePclntab(b)
		if !ok {
			return
		}
		found, err := table.functions(&budget{r: bytes.NewReader(b), left: 1 << 30}, "runtime.", decoded())
		for name, s := range found {
			if err != nil || s.start >= s.end || s.end-s.start > maxFuncSize {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
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

func FuzzArm64Refs(f *testing.F) {
	f.Add(words(0x90000b3b, 0xb9475b60, 0xd65f03c0), uint64(0x11000))
	f.Add(words(0x90000b20, 0x91008000, 0x88dffc01), uint64(1)<<63)
	f.Fuzz(func(t *testing.T, code []byte, pc uint64) {
		checkRefs(t, arm64Refs(code, pc), code)
	})
}
