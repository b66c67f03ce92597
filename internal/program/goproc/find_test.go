package goproc

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func TestFind(t *testing.T) {
	put64 := func(off int, v uint64) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint64(b[off:], v) }
	}
	put16 := func(off int, v uint16) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint16(b[off:], v) }
	}
	loads := func(name string, addrs ...uint64) func(*world) {
		return func(w *world) { w.functions[name] = loads4(addrs...) }
	}
	without := func(names ...string) func(*world) {
		return func(w *world) {
			for _, n := range names {
				delete(w.functions, n)
			}
		}
	}
	change := func(c func([]byte)) func(*world) { return func(w *world) { w.change = c } }
	symbols := func(s map[string]uint64) func(*world) { return func(w *world) { w.symbols = s } }
	none := func(*world) {}

	for _, tt := range []struct {
		name   string
		edit   func(*world)
		source Source
		err    error
		says   string
	}{
		{"stripped", none, Decoded, nil, ""},
		{"symbol", symbols(map[string]uint64{"runtime.gomaxprocs": worldVar}), Symbol, nil, ""},
		{"symbol among others", symbols(map[string]uint64{"runtime.gomaxprocsX": 1, "xruntime.gomaxprocs": 2, "runtime.gomaxprocs": worldVar}), Symbol, nil, ""},
		{"symbol in the text", symbols(map[string]uint64{"runtime.gomaxprocs": worldText}), Decoded, nil, ""},
		{"symbol outside", symbols(map[string]uint64{"runtime.gomaxprocs": 1 << 40}), Decoded, nil, ""},
		{"no sections", func(w *world) { w.sections = false }, Decoded, nil, ""},
		{"section headers beyond the file", change(put64(40, 1<<40)), Decoded, nil, ""},
		{"section headers zeroed", change(func(b []byte) { clear(b[worldHeads:]) }), Decoded, nil, ""},
		{"symbol table of all memory", func(w *world) {
			w.symbols = map[string]uint64{"x": 1}
			w.change = put64(worldHeads+64+32, math.MaxInt64-worldSymtab)
		}, Decoded, nil, ""},
		{"name table of all memory", change(put64(worldHeads+4*64+32, math.MaxInt64-worldNames)), Decoded, nil, ""},
		{"go 1.18 magic", change(func(b []byte) { b[worldTable] = 0xf0 }), Decoded, nil, ""},
		{"no module record", change(func(b []byte) { clear(b[worldData : worldData+0x100]) }), "", errStarting, "no module record"},
		{"text outside", change(put64(worldData+64+176, 1<<40)), "", errStarting, "no module record"},
		{"go 1.16 magic", change(func(b []byte) { b[worldTable] = 0xfa }), "", ErrUndecodable, "no function table"},
		{"too many functions", change(put64(worldTable+8, 1<<60)), "", ErrUndecodable, "no function table"},
		{"names before the header", change(put64(worldTable+32, 8)), "", ErrUndecodable, "no function table"},
		{"records outside", change(func(b []byte) {
			for i := range 8 {
				binary.LittleEndian.PutUint32(b[worldTable+0x500+8*i+4:], math.MaxUint32)
			}
		}), "", ErrUndecodable, "damaged"},
		{"no procresize", without("runtime.procresize"), "", ErrUndecodable, "procresize loads nothing"},
		{"two functions", without("runtime.gcStart", "runtime.schedtrace"), "", ErrUndecodable, "2 of 3 functions agree"},
		{"a tie", func(w *world) {
			for n := range w.functions {
				w.functions[n] = append(w.functions[n], ref{load, 4, worldVar + 64})
			}
		}, "", ErrUndecodable, "two variables"},
		{"procresize loads another first", loads("runtime.procresize", worldVar+40, worldVar), "", ErrUndecodable, "1 of 5 functions agree"},
		{"only the text is loaded", loads("runtime.procresize", worldText), "", ErrUndecodable, "procresize loads nothing"},
		{"arm64 that is amd64", func(w *world) { w.machine = elf.EM_AARCH64 }, "", ErrUndecodable, "procresize loads nothing"},
		{"riscv64", func(w *world) { w.machine = elf.EM_RISCV }, "", ErrUndecodable, "EM_RISCV code is not decoded"},
		{"arm64 with symbols", func(w *world) {
			w.machine, w.symbols = elf.EM_AARCH64, map[string]uint64{"runtime.gomaxprocs": worldVar}
		}, Symbol, nil, ""},
		{"no class", change(func(b []byte) { b[elf.EI_CLASS] = 3 }), "", ErrUndecodable, "neither of 32 nor of 64 bits"},
		{"no ELF", change(func(b []byte) { copy(b, "#!/bin/sh\n") }), "", ErrNotGo, "no ELF"},
		{"program headers of another size", change(put16(54, 57)), "", ErrUndecodable, "2 program headers of 57 bytes"},
		{"60000 program headers", change(put16(56, 60000)), "", ErrUndecodable, "60000 program headers"},
		{"program headers outside", change(put64(32, 1<<30)), "", ErrUndecodable, "program headers"},
		{"a segment that overflows", change(put64(64+8, math.MaxUint64)), "", ErrUndecodable, "overflow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := goodWorld()
			tt.edit(&w)
			at, err := find(w.bytes(), worldVersion)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error %q does not say %q", err, tt.says)
				}
				return
			}
			if at.Procs != worldVar || at.Source != tt.source {
				t.Errorf("found %#x by %s, want %#x by %s", at.Procs, at.Source, uint64(worldVar), tt.source)
			}
		})
	}
}

// TestLoadBias: a position-independent program is found in memory that is elsewhere than its
// file says, where the loader has moved what points into it, if the file does not show where its text is.
func TestLoadBias(t *testing.T) {
	const bias = 0x5500_0000_0000
	whole := goodWorld().bytes()
	memory, file := bytes.Clone(whole), bytes.Clone(whole)
	clear(file[worldData:][:0x200])
	for _, pointer := range []int{0, 8, 104, 176, 184} { // of the module's record
		b := memory[worldData+64+pointer:]
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)+bias)
	}
	want := must.Get(find(whole, worldVersion))(t)
	if at, err := findIn(file, &shifted{bytes.NewReader(memory), bias}, bias, worldVersion); err != nil || at != want || at.Procs != worldVar {
		t.Errorf("found %+v, %v, want %+v", at, err, want)
	}
	if at, err := findIn(file, &shifted{bytes.NewReader(whole), bias}, bias, worldVersion); !errors.Is(err, errStarting) {
		t.Errorf("before the loader has moved anything: found %+v, %v", at, err)
	}
	if at, err := findIn(whole, endless{}, bias, worldVersion); err != nil || at != want {
		t.Errorf("a process with other code in its memory: found %+v, %v, want %+v", at, err, want)
	}
}

// TestFindTruncated cuts the image at every place, in the first tier at one of eleven: never a crash, and never
// another address.
func TestFindTruncated(t *testing.T) {
	whole, step := goodWorld().bytes(), 11
	if need.Full() {
		step = 3
	}
	for n := 0; n < len(whole); n += step {
		if at, err := find(whole[:n], worldVersion); err == nil && (at.Procs != worldVar ||
			at.NumCPU != 0 && at.NumCPU != worldCPUs || at.Sched != 0 && at.Sched != worldSched) {
			t.Fatalf("cut at %d: found %+v", n, at)
		} else if err != nil && !errors.Is(err, ErrUndecodable) && !errors.Is(err, errStarting) && !errors.Is(err, ErrNotGo) {
			t.Logf("cut at %d: %v", n, err)
		}
	}
}

// TestScan looks for a word at every place around the borders of the pieces.
func TestScan(t *testing.T) {
	word := []byte("needle")
	for _, at := range []int{0, 1, scanChunk - 6, scanChunk - 5, scanChunk - 1, scanChunk, 2*scanChunk - 3} {
		b := make([]byte, 3*scanChunk)
		copy(b[at:], word)
		var found []int64
		err := scan(bytes.NewReader(b), 0, math.MaxInt64, len(word)-1, func(piece []byte, off int64) bool {
			if i := bytes.Index(piece, word); i >= 0 {
				found = append(found, off+int64(i))
			}
			return true
		})
		if err != nil || len(found) != 1 || found[0] != int64(at) {
			t.Errorf("word at %d: found %d, %v", at, found, err)
		}
	}
}

func TestBudget(t *testing.T) {
	b := &budget{r: bytes.NewReader(make([]byte, 100)), left: 10}
	must.Get(b.ReadAt(make([]byte, 8), 0))(t)
	if _, err := b.ReadAt(make([]byte, 8), 8); !errors.Is(err, ErrUndecodable) {
		t.Errorf("the budget is exceeded and the error is %v", err)
	}
}

// endless is a file of any claimed size: a head, then zeros.
type endless struct{ head []byte }

func (e endless) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(e.head)) {
		copy(p, e.head[off:])
	}
	return len(p), nil
}

// TestEndless gives up files that claim to be huge, without much memory.
func TestEndless(t *testing.T) {
	segment := goodWorld()
	segment.sections = false
	segment.change = func(b []byte) {
		clear(b[worldTable : worldTable+headerSize])
		binary.LittleEndian.PutUint64(b[64+32:], 1<<50)
		binary.LittleEndian.PutUint64(b[64+40:], 1<<50)
	}
	tables := goodWorld()
	tables.symbols = map[string]uint64{"runtime.gomaxprocs": worldText} // none that is usable
	tables.change = func(b []byte) {
		binary.LittleEndian.PutUint64(b[worldHeads+64+32:], maxRead/2) // what is more is not begun with, see TestTables
		binary.LittleEndian.PutUint64(b[worldHeads+2*64+32:], maxRead/2)
	}
	for name, w := range map[string]world{"segment": segment, "symbol table": tables} {
		r := endless{w.bytes()}
		allocated := allocatedBy(func() {
			m := must.Get(readImage(r))(t)
			f := &file{image: m}
			if err := f.analyse(&budget{r: r, left: maxRead}); !errors.Is(err, ErrUndecodable) {
				t.Errorf("%s: error %v", name, err)
			}
			if _, err := Read(r); err == nil {
				t.Errorf("%s: build info in zeros", name)
			}
		})
		if allocated > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, allocated)
		}
	}
}

// TestTables does not read a table of symbols that is larger than all that may be read;
// the program is then read as one without.
func TestTables(t *testing.T) {
	const size = 32 // of a section's header, where its size is
	for name, section := range map[string]int{"symbols": 1, "names": 2} {
		w := goodWorld()
		w.symbols = map[string]uint64{"x": worldText}
		w.change = func(b []byte) {
			binary.LittleEndian.PutUint64(b[worldHeads+64*section+size:], 1<<33)
		}
		r := endless{w.bytes()}
		m := must.Get(readImage(r))(t)
		b := &budget{r: r, left: maxRead}
		f := &file{image: m}
		if err := f.analyse(b); err != nil {
			t.Errorf("%s: error %v", name, err)
		}
		if at, err := f.locate(r, 0); err != nil || at.Source != Decoded {
			t.Errorf("%s: %+v, %v", name, at, err)
		}
		if read := maxRead - b.left; read > 1<<20 {
			t.Errorf("%s: %d bytes were read", name, read)
		}
	}
}

// TestLate: what there is no time for is read later, and what took too long not at once.
func TestLate(t *testing.T) {
	r := bytes.NewReader(tinies()["64LittleEndian sections"].bytes())
	f := new(file)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.read(ctx, r, maxRead); err != ErrLate || f.ready.Load() {
		t.Errorf("no time: %v", err)
	}
	slow, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	f.slow.n = few + 1
	if _, err := f.read(slow, r, maxRead); !errors.Is(err, ErrLate) || err == ErrLate {
		t.Errorf("too slow: %v", err)
	}
	f.slow.rest = time.Now().Add(time.Hour)
	hurry, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := f.read(hurry, r, maxRead); !errors.Is(err, ErrLate) {
		t.Errorf("again, too soon: %v", err)
	}
	if _, err := f.read(t.Context(), r, maxRead); err != nil || f.program.GoVersion == "" {
		t.Errorf("without a bound of time: %v", err)
	}
}

// TestVainSearch: where a program's memory has no module record, and so far has not
// begun, it is not searched at each look.
func TestVainSearch(t *testing.T) {
	w := goodWorld()
	w.change = func(b []byte) { clear(b[worldData:][:0x200]) }
	b := w.bytes()
	m := must.Get(readImage(bytes.NewReader(b)))(t)
	f := &file{image: m}
	must.OK(t, f.analyse(&budget{r: bytes.NewReader(b), left: maxRead}))
	memory := &budget{r: endless{}, left: 1 << 40}
	if _, err := f.locate(memory, 0); !errors.Is(err, errStarting) {
		t.Fatalf("of zeros: %v", err)
	}
	f.vain.rest = time.Now().Add(time.Hour)
	left := memory.left
	if _, err := f.locate(memory, 0); !errors.Is(err, errStarting) || memory.left != left {
		t.Errorf("searched again at once: %v", err)
	}
	f.vain.rest = time.Time{}
	if _, err := f.locate(bytes.NewReader(goodWorld().bytes()), 0); err != nil {
		t.Errorf("not searched again later: %v", err)
	}
}

func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
