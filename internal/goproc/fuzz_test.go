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
		addr, source, err := find(b)
		if err != nil {
			return
		}
		m, err := readImage(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if (source != Symbol && source != Decoded) || !m.holds(addr, 4, elf.PF_W) {
			t.Errorf("%#x by %q is not in a writable segment", addr, source)
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
		found, err := table.functions(&budget{r: bytes.NewReader(b), left: 1 << 30}, "runtime.", voters())
		for name, s := range found {
			if err != nil || s.start >= s.end || s.end-s.start > maxFuncSize {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
		}
	})
}

func FuzzX86Loads(f *testing.F) {
	f.Add([]byte{0x8b, 0x05, 16, 0, 0, 0, 0xc3}, uint64(0x401000))
	f.Add([]byte{0x48, 0x63, 0x05, 0xf0, 0xff, 0xff, 0xff}, uint64(1)<<63)
	f.Fuzz(func(t *testing.T, code []byte, pc uint64) {
		if n := len(x86Loads(code, pc)); n > len(code) {
			t.Errorf("%d loads in %d bytes", n, len(code))
		}
	})
}
