package live

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/test/must"
)

// arm64Modes are those that need no compiler for C.
func arm64Modes() []mode {
	var found []mode
	for _, m := range modes {
		if !m.cgo() && !strings.HasPrefix(m.name, "GOAMD64") {
			found = append(found, m)
		}
	}
	return found
}

// arm64Plan is a release's plain program or its position-independent one, in turn,
// or all of every release.
func arm64Plan(all bool) []cell {
	var cells []cell
	for r, release := range releases {
		for m, mode := range arm64Modes() {
			if all || !release.fullOnly && !mode.fullOnly && (r+m)%2 == 0 {
				cells = append(cells, cell{release, mode, true})
			}
		}
	}
	return cells
}

// decodeSetting64 decodes programs that are built for arm64, with their symbol tables
// hidden, and holds the addresses against those tables. The result is those that
// agree, of which the document tells.
func decodeSetting64(t *testing.T) (agree []cell) {
	t.Helper()
	for _, c := range arm64Plan(full()) {
		t.Run("arm64/"+c.release.toolchain+"/"+strings.ReplaceAll(c.mode.name, " ", "_"), func(t *testing.T) {
			symbols := c
			symbols.stripped = false
			file := must.Get(os.ReadFile(symbols.build(t, "GOARCH=arm64")))(t)
			want := wantedAddresses(t, c, file)
			memory := must.Get(load(file))(t)
			must.OK(t, hideSymbols(file))
			got, err := goproc.Locate(bytes.NewReader(file), memory, 0)
			if err != nil || got != want {
				t.Errorf("found %+v, %v; the symbol table has %+v", got, err, want)
				return
			}
			agree = append(agree, c)
		})
	}
	return agree
}

// wantedAddresses are those of the symbol table.
func wantedAddresses(t *testing.T, c cell, file []byte) goproc.Addresses {
	t.Helper()
	f := must.Get(elf.NewFile(bytes.NewReader(file)))(t)
	symbols := must.Get(f.Symbols())(t)
	want := goproc.Addresses{Source: goproc.Decoded}
	for _, s := range symbols {
		switch s.Name {
		case "runtime.gomaxprocs":
			want.Procs = s.Value
		case "runtime.ncpu", "runtime.numCPUStartup":
			want.NumCPU = s.Value
		case "runtime.sched":
			if c.release.latency {
				want.Sched = s.Value
			}
		}
	}
	if f.Machine != elf.EM_AARCH64 || want.Procs == 0 || want.NumCPU == 0 {
		t.Fatalf("the program of %v has %+v", f.Machine, want)
	}
	return want
}

// memory is what a program's segments are in memory at the addresses that the
// file says.
type memory struct{ segments []segment }

type segment struct {
	addr uint64
	data []byte
}

// load makes the memory of a program that has just been loaded: its segments, with
// the addresses in them that the loader fills in (R_AARCH64_RELATIVE).
func load(file []byte) (*memory, error) {
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	m := new(memory)
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		data := make([]byte, p.Filesz)
		if _, err := p.ReadAt(data, 0); err != nil {
			return nil, err
		}
		m.segments = append(m.segments, segment{p.Vaddr, data})
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA {
			continue
		}
		data, err := s.Data()
		if err != nil {
			return nil, err
		}
		for ; len(data) >= 24; data = data[24:] {
			var r elf.Rela64
			if _, err := binary.Decode(data, binary.LittleEndian, &r); err != nil {
				return nil, err
			}
			if elf.R_AARCH64(elf.R_TYPE64(r.Info)) == elf.R_AARCH64_RELATIVE {
				if b := m.at(r.Off); len(b) >= 8 {
					binary.LittleEndian.PutUint64(b, uint64(r.Addend))
				}
			}
		}
	}
	return m, nil
}

func (m *memory) at(addr uint64) []byte {
	for _, s := range m.segments {
		if addr >= s.addr && addr-s.addr < uint64(len(s.data)) {
			return s.data[addr-s.addr:]
		}
	}
	return nil
}

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	n := copy(p, m.at(uint64(off)))
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// hideSymbols empties the symbol table's section header (Elf64_Shdr: sh_type at 4,
// sh_size at 32).
func hideSymbols(file []byte) error {
	var h elf.Header64
	if _, err := binary.Decode(file, binary.LittleEndian, &h); err != nil {
		return err
	}
	for i := range uint64(h.Shnum) {
		header := file[h.Shoff+i*64:][:64]
		if elf.SectionType(binary.LittleEndian.Uint32(header[4:])) == elf.SHT_SYMTAB {
			binary.LittleEndian.PutUint64(header[32:], 0)
		}
	}
	return nil
}
