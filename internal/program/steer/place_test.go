package steer

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/procfit/procfit/internal/program/goproc"
)

// world is a program in which a thread stands: words by their addresses, one function.
type world struct {
	words    map[uint64]uint64
	function goproc.Function
	together bool // the instruction is part of a sequence
}

func (w world) ReadAt(p []byte, addr uint64) error {
	v, ok := w.words[addr]
	if !ok {
		return errors.New("no such address")
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	copy(p, b[:])
	return nil
}

func (w world) At(addr uint64) (goproc.Function, bool) { return w.function, addr == 0x1000 }
func (w world) Safe(addr uint64) bool                  { return addr == 0x1000 && !w.together }

// TestUnsafe: each condition alone makes a place unsafe, and so does what cannot be read.
func TestUnsafe(t *testing.T) {
	const g, m, p = 0x10000, 0x20000, 0x30000
	o := releases["go1.26"]
	fresh := func() (world, thread) {
		return world{map[uint64]uint64{
			g + gStackLo: 0x8000, g + gStackHi: 0x9000, g + gM: m, g + o.status: running,
			m + o.curg: g, m + o.p: p, m + o.mallocing: 0, m + o.preemptoff + 8: 0, m + o.locks: 0,
			p + pStatus: prunning, p + o.pm: m,
		}, goproc.Function{Name: "main.work", Mapped: true}, false}, thread{pc: 0x1000, sp: 0x8800, g: g}
	}
	if w, at := fresh(); o.unsafe(w, at) != "" {
		t.Fatalf("a good place: %q", o.unsafe(w, at))
	}
	for name, spoil := range map[string]func(w *world, at *thread){
		"system call":        func(w *world, at *thread) { at.inCall = true },
		"C code":             func(w *world, at *thread) { at.pc = 0x2000 },
		"runtime":            func(w *world, at *thread) { w.function.Name = "runtime.mallocgc" },
		"internal runtime":   func(w *world, at *thread) { w.function.Name = "internal/runtime/maps.NewMap" },
		"syscall":            func(w *world, at *thread) { w.function.Name = "syscall.Syscall" },
		"reflect":            func(w *world, at *thread) { w.function.Name = "reflect.makeFuncStub" },
		"assembly":           func(w *world, at *thread) { w.function.Mapped = false },
		"a write barrier":    func(w *world, at *thread) { w.together = true },
		"little room":        func(w *world, at *thread) { at.sp = 0x8000 + room - 8 },
		"another stack":      func(w *world, at *thread) { at.sp = 0x9000 },
		"a system goroutine": func(w *world, at *thread) { w.words[m+o.curg] = g + 8 },
		"in syscall":         func(w *world, at *thread) { w.words[g+o.status] = 3 },
		"being scanned":      func(w *world, at *thread) { w.words[g+o.status] = running | 0x1000 },
		"no P":               func(w *world, at *thread) { w.words[m+o.p] = 0 },
		"an idle P":          func(w *world, at *thread) { w.words[p+pStatus] = 0 },
		"another's P":        func(w *world, at *thread) { w.words[p+o.pm] = m + 8 },
		"a lock":             func(w *world, at *thread) { w.words[m+o.locks] = 1 },
		"allocating":         func(w *world, at *thread) { w.words[m+o.mallocing] = 1 },
		"not preemptible":    func(w *world, at *thread) { w.words[m+o.preemptoff+8] = 4 },
	} {
		w, at := fresh()
		spoil(&w, &at)
		if o.unsafe(w, at) == "" {
			t.Errorf("%s: taken for a place", name)
		}
	}
	good, _ := fresh()
	for addr := range good.words {
		w, at := fresh()
		delete(w.words, addr)
		if o.unsafe(w, at) == "" {
			t.Errorf("without the word at %#x: taken for a place", addr)
		}
	}
}
