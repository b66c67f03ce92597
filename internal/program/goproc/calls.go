package goproc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"slices"
	"strings"
)

// Code is what a program's function table and its machine code tell of who may set its
// GOMAXPROCS. The table survives stripping, and is there without modules. False is also
// what cannot be told: of programs that are no 64-bit ELF of Go 1.18 or newer, and of
// calls on other processors than amd64 and arm64.
type Code struct {
	Automaxprocs bool // go.uber.org/automaxprocs is linked in; whether it is called is not known
	Follows      bool // maxprocs/auto is imported
	Maxprocs     bool // a function of maxprocs that sets GOMAXPROCS is linked in, and not only by that import
	Watches      bool // one that then follows the limits is
	Sets         bool // a function outside Go's library calls runtime.GOMAXPROCS, and not to ask
	// Never is whether no function outside Go's library can: none calls it but to ask, and its
	// address is nowhere in the data, as it is for a call through a variable.
	Never bool
}

// maxCode bounds how much machine code is gone through, in bytes. A program of 707 MB has
// 200 MB of it.
const maxCode = 256 << 20

const (
	fnSet        = "runtime.GOMAXPROCS"
	fnAutomaxp   = automaxprocs + "/maxprocs.Set"
	maxprocs     = "github.com/procfit/procfit/maxprocs"
	longestCalls = 1 << 16 // calls of one function
)

// code reads it. What is damaged tells nothing.
func (m *image) code() Code {
	var c Code
	if m.decodable() != nil {
		return c
	}
	r := &budget{r: m.r, left: maxRead}
	limited := *m
	limited.r = r
	t, err := limited.findPclntab()
	if err != nil {
		return c
	}
	linked := t.linked(r, fnAutomaxp, maxprocs+"/auto.init.0", maxprocs+".Set", maxprocs+".Watch", maxprocs+".Start")
	c.Automaxprocs, c.Follows = linked[0], linked[1]
	c.Maxprocs, c.Watches = linked[2] || linked[3] || linked[4] && !c.Follows, linked[3] || linked[4]
	found, err := t.functions(r, []string{fnSet})
	if set, ok := found[fnSet]; ok && err == nil {
		callers, addr, err := limited.callsOf(t, set)
		c.Sets = slices.ContainsFunc(callers, func(f string) bool { return !library(f) })
		tests := slices.ContainsFunc(callers, func(f string) bool { return strings.HasPrefix(f, "testing.") })
		c.Never = err == nil && addr > 0 && !c.Sets && !tests && !limited.refersTo(addr)
	}
	return c
}

// linked reports whether functions of these names are linked in, be it from a vendor folder.
func (t pclntab) linked(r io.ReaderAt, names ...string) []bool {
	found, longest := make([]bool, len(names)), 0
	for _, name := range names {
		longest = max(longest, len(name))
	}
	_ = scan(r, t.off+int64(t.funcname), int64(t.cu-t.funcname), longest, func(piece []byte, _ int64) bool {
		for i, name := range names {
			found[i] = found[i] || bytes.Contains(piece, append([]byte(name), 0))
		}
		return slices.Contains(found, false)
	})
	return found
}

// callsOf are the names of the functions that call another one with an argument that does not
// only ask, and the address of that one; 0: it was not found. With an error there may be more.
func (m *image) callsOf(t pclntab, callee span) (callers []string, addr uint64, err error) {
	text, err := m.textStart(t)
	if err != nil || text == 0 {
		return nil, 0, err
	}
	at, err := m.calls(text, callee.start)
	callers, found := t.callers(m.r, at)
	if !found {
		err = ErrUndecodable
	}
	return callers, text + uint64(callee.start), err
}

// refersTo reports whether an address is in the data of the program, or whether that cannot be
// told. In a position-independent program it is in a relocation, which is loaded too.
func (m *image) refersTo(addr uint64) bool {
	word := binary.LittleEndian.AppendUint64(nil, addr)
	for _, p := range m.segments {
		if elf.ProgFlag(p.Flags)&elf.PF_X != 0 {
			continue
		}
		found := false
		err := scan(m.r, int64(p.Off), int64(p.Filesz), len(word)-1, func(piece []byte, _ int64) bool {
			found = bytes.Contains(piece, word)
			return !found
		})
		if found || err != nil {
			return true
		}
	}
	return false
}

// calls are where a function is called with an argument that does not only ask, from the start
// of the text. With an error there may be more.
func (m *image) calls(text uint64, callee uint32) (all []uint32, err error) {
	for _, p := range m.segments {
		if elf.ProgFlag(p.Flags)&elf.PF_X == 0 {
			continue
		}
		size := min(int64(p.Filesz), maxCode)
		if size < int64(p.Filesz) {
			err = errBudget
		}
		const overlap = 16 // the instruction before, and the call
		failed := scan(m.r, int64(p.Off), size, overlap, func(piece []byte, at int64) bool {
			addr := p.Vaddr + uint64(at) - p.Off - text // of the piece, from the start of the text
			for _, i := range m.callsIn(piece, addr, callee) {
				all = append(all, uint32(addr)+uint32(i))
			}
			return len(all) < longestCalls
		})
		if failed != nil {
			err = failed
		}
	}
	if len(all) >= longestCalls {
		err = errBudget
	}
	slices.Sort(all)
	return slices.Compact(all), err
}

// callsIn are the calls in a piece of code.
func (m *image) callsIn(piece []byte, addr uint64, callee uint32) []int {
	var all []int
	switch m.machine {
	case elf.EM_X86_64:
		for i := 2; i+5 <= len(piece); i++ {
			j := bytes.IndexByte(piece[i:len(piece)-4], 0xe8) // call rel32
			if j < 0 {
				break
			}
			i += j
			to := addr + uint64(i) + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(piece[i+1:]))))
			if to == uint64(callee) && !asks(piece[:i]) {
				all = append(all, i)
			}
		}
	case elf.EM_AARCH64:
		for i := int(-addr&3) + 4; i+4 <= len(piece); i += 4 {
			word := binary.LittleEndian.Uint32(piece[i:])
			if word>>26 != 0x25 { // bl
				continue
			}
			to := addr + uint64(i) + uint64(int64(int32(word<<6)>>4))
			const nop, zero, minusOne = 0xd503201f, 0xaa1f03e0, 0x92800000 // mov x0, xzr; mov x0, -1
			before := binary.LittleEndian.Uint32(piece[i-4:])
			if before == nop && i >= 8 {
				before = binary.LittleEndian.Uint32(piece[i-8:])
			}
			if to == uint64(callee) && before != zero && before != minusOne {
				all = append(all, i)
			}
		}
	}
	return all
}

// nops are the instructions of amd64 that do nothing, with which the compiler and the linker fill
// up the code before a call. The longest come first: others end like shorter ones.
var nops = [][]byte{{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00}, {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}, {0x0f, 0x1f, 0x44, 0x00, 0x00}, {0x0f, 0x1f, 0x40, 0x00}, {0x0f, 0x1f, 0x00}, {0x66, 0x90}, {0x90}}

// asks reports whether the code of amd64 before a call of runtime.GOMAXPROCS makes its argument 0
// or -1, with which it changes nothing.
func asks(before []byte) bool {
	for trimmed := true; trimmed; {
		trimmed = false
		for _, nop := range nops {
			if rest, cut := bytes.CutSuffix(before, nop); cut {
				before, trimmed = rest, true
			}
		}
	}
	return bytes.HasSuffix(before, []byte{0x31, 0xc0}) || // xor eax, eax
		bytes.HasSuffix(before, []byte{0x48, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff}) // mov rax, -1
}

// callers are the names of the functions at some places of the text, which are sorted; whole
// is whether each place is in a function.
func (t pclntab) callers(r io.ReaderAt, at []uint32) (all []string, whole bool) {
	whole = true
	table, records := &window{r: r}, &window{r: r}
	base := t.off + int64(t.pcln)
	for i := uint64(0); i < t.nfunc && len(at) > 0; i++ {
		pair, err := table.at(base+int64(i)*8, 12)
		if err != nil {
			break
		}
		start, end := binary.LittleEndian.Uint32(pair), binary.LittleEndian.Uint32(pair[8:])
		inside := false
		for len(at) > 0 && at[0] < end {
			inside, whole = inside || at[0] >= start, whole && at[0] >= start
			at = at[1:]
		}
		if !inside {
			continue
		}
		record, err := records.at(base+int64(binary.LittleEndian.Uint32(pair[4:])), 8)
		if err != nil {
			return all, false
		}
		all = append(all, t.name(r, t.funcname+uint64(binary.LittleEndian.Uint32(record[4:])), longestName))
	}
	return all, whole && len(at) == 0
}

// library tells by a function's name that it is one of Go's own that calls
// runtime.GOMAXPROCS.
func library(function string) bool {
	first, _, folder := strings.Cut(function, "/")
	if !folder {
		first, _, _ = strings.Cut(first, ".")
	}
	return slices.Contains([]string{"runtime", "sync", "testing", "internal", "go", "cmd"}, first)
}
