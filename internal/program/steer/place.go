package steer

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/program/goproc"
)

// room is how much of its stack a goroutine must have left, in bytes. debugCallV2 and what it
// calls take some hundred bytes without a check; isAsyncSafePoint asks for less than 1 KiB.
const room = 1024

// program is what is looked up in the program that a thread belongs to.
type program interface {
	ReadAt(p []byte, addr uint64) error
	At(addr uint64) (goproc.Function, bool)
	Safe(addr uint64) bool
}

// thread is what is seen of a thread that stands still.
type thread struct {
	pc, sp, g uint64
	// inCall: it is in a system call, or on its way out of one that the kernel would start
	// again. Other registers would then get what belongs to that call.
	inCall bool
}

// unsafe is why no call can be made where a thread stands; empty: one can. The conditions
// are those of the runtime itself for the preemption of a goroutine at any instruction
// (canPreemptM and isAsyncSafePoint in runtime/preempt.go), but for code that is inlined: there the
// name is that of the outermost function, as debugCallCheck has it, and not of the innermost one.
// debugCallCheck asks the compiler's table about the instruction before only: a thread that has
// compared the flag of the write barrier, and not jumped yet, would pass, and the flag can change
// during the call.
func (o offsets) unsafe(p program, t thread) (why string) {
	f, ok := p.At(t.pc)
	switch {
	case t.inCall:
		return "in a system call"
	case !ok:
		return "not in Go code"
	case ofRuntime(f.Name):
		return "in the runtime"
	case !f.Mapped:
		return "in assembly"
	case !p.Safe(t.pc):
		return "in a sequence that must stay together"
	}
	m := memory{p: p}
	g := t.g
	switch {
	case m.word(g+gStackLo)+room > t.sp || t.sp >= m.word(g+gStackHi):
		why = "no room on its stack, or another stack"
	case m.half(g+o.status) != running:
		why = "its goroutine is not running"
	case m.word(m.word(g+gM)+o.curg) != g:
		why = "it runs another goroutine"
	}
	if why != "" || m.failed {
		return m.or(why)
	}
	mp := m.word(g + gM)
	pp := m.word(mp + o.p)
	switch {
	case pp == 0 || m.half(pp+pStatus) != prunning || m.word(pp+o.pm) != mp:
		why = "it has no P"
	case m.half(mp+o.locks) != 0:
		why = "it holds a lock of the runtime"
	case m.half(mp+o.mallocing) != 0:
		why = "it allocates"
	case m.word(mp+o.preemptoff+8) != 0:
		why = "it must not be preempted"
	}
	return m.or(why)
}

// ofRuntime reports whether a function belongs to the runtime or is tied to it: the list of
// isAsyncSafePoint, and package syscall, in which a goroutine gives its P away.
func ofRuntime(function string) bool {
	tied := []string{"runtime.", "runtime/internal/", "internal/runtime/", "reflect.", "syscall.", "internal/syscall/"}
	return slices.ContainsFunc(tied, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}

// memory reads words, and notes whether one could not be read.
type memory struct {
	p      program
	failed bool
}

func (m *memory) read(addr uint64, n int) uint64 {
	var b [8]byte
	if m.p.ReadAt(b[:n], addr) != nil {
		m.failed = true
		return 0
	}
	return binary.LittleEndian.Uint64(b[:])
}

func (m *memory) word(addr uint64) uint64 { return m.read(addr, 8) }
func (m *memory) half(addr uint64) uint64 { return m.read(addr, 4) }

func (m *memory) or(why string) string {
	if m.failed {
		return "its state cannot be read"
	}
	return why
}
