package goproc

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// ref is what an instruction does with a variable of the program.
type ref struct {
	access access
	size   int    // bytes; 0 of an address
	addr   uint64 // in memory
}

type access uint8

const (
	load    access = iota // reads it
	store                 // writes it
	address               // takes its address
)

// refsOf returns the decoder of a machine's code: the references to variables in
// the code at pc, by instruction order.
func refsOf(machine elf.Machine) (func(code []byte, pc uint64) []ref, error) {
	switch machine {
	case elf.EM_X86_64:
		return x86Refs, nil
	case elf.EM_AARCH64:
		return arm64Refs, nil
	}
	return nil, fmt.Errorf("%w: it is stripped, and %v code is not decoded", ErrUndecodable, machine)
}

// reads reports whether one of the refs loads that number of bytes from addr. Code that is
// not optimised takes the address of what it loads atomically.
func reads(refs []ref, size int, addr uint64) bool {
	return slices.Contains(refs, ref{load, size, addr}) || slices.Contains(refs, ref{address, 0, addr})
}

// x86Refs decodes amd64 code. Go's compiler addresses package variables relative
// to the program counter.
func x86Refs(code []byte, pc uint64) []ref {
	var refs []ref
	for len(code) > 0 {
		inst, err := x86asm.Decode(code, 64)
		if err != nil || inst.Len <= 0 || inst.Len > len(code) {
			break
		}
		next := pc + uint64(inst.Len)
		if r, ok := x86Ref(inst, next); ok {
			refs = append(refs, r)
		}
		code, pc = code[inst.Len:], next
	}
	return refs
}

// x86Ref returns what an instruction of general registers does relative to the
// program counter, which is that of the next one. The decoder gives the
// displacement's 32 bits without their sign.
func x86Ref(inst x86asm.Inst, next uint64) (ref, bool) {
	for i, arg := range inst.Args {
		mem, ok := arg.(x86asm.Mem)
		if !ok || mem.Base != x86asm.RIP || mem.Index != 0 || mem.Segment != 0 {
			continue
		}
		r := ref{load, inst.MemBytes, next + uint64(int64(int32(mem.Disp)))}
		switch inst.Op {
		case x86asm.LEA:
			r.access, r.size = address, 0
			return r, true
		case x86asm.MOV:
			if i == 0 {
				r.access = store
			}
			return r, true
		case x86asm.MOVSXD, x86asm.MOVZX, x86asm.MOVSX, x86asm.ADD, x86asm.SUB, x86asm.IMUL:
			return r, i == 1
		case x86asm.CMP, x86asm.TEST:
			return r, true
		}
	}
	return ref{}, false
}

// arm64Refs decodes arm64 code. An address is made in two steps, ADRP (a page of
// 4 KiB relative to the program counter) and what adds the low 12 bits: an ADD,
// or the offset of a load or store. The registers are followed in the order of the
// instructions: a value that a jump brings in is not seen, and nothing is kept
// beyond a call, which in Go preserves no register.
func arm64Refs(code []byte, pc uint64) []ref {
	var refs []ref
	var regs arm64Regs
	for ; len(code) >= 4; code, pc = code[4:], pc+4 {
		enc := binary.LittleEndian.Uint32(code)
		inst, err := arm64asm.Decode(code[:4])
		if err != nil {
			regs.forget(enc) // an instruction that the decoder does not know, or data
			continue
		}
		if r, ok := regs.step(inst, enc, pc); ok {
			refs = append(refs, r)
		}
	}
	return refs
}

// arm64Regs are the general registers, where they hold an address that is known.
// 31 is the stack pointer or zero, and never known.
type arm64Regs struct {
	known [32]bool
	value [32]uint64
}

func (g *arm64Regs) set(r uint32, v uint64) {
	if r < 31 {
		g.known[r], g.value[r] = true, v
	}
}

// forget takes for unknown what an instruction that is not followed may write: its
// destination is in the lowest five bits, a second one in bits 10 to 14, and a
// base that it moves in bits 5 to 9.
func (g *arm64Regs) forget(enc uint32) {
	for _, shift := range []int{0, 5, 10} {
		g.known[enc>>shift&31] = false
	}
}

// step follows one instruction. arm64asm keeps offsets to itself, so those are
// taken from the encoding (Setting Architecture Reference Manual, C4.1): Rd or Rt in
// bits 0 to 4, Rn in 5 to 9, imm12 in 10 to 21.
func (g *arm64Regs) step(inst arm64asm.Inst, enc uint32, pc uint64) (ref, bool) {
	rd, rn, imm12, size := enc&31, enc>>5&31, uint64(enc>>10&0xfff), enc>>30
	base, ok := g.value[rn], g.known[rn]
	switch inst.Op {
	case arm64asm.CMP, arm64asm.CMN, arm64asm.TST, arm64asm.B, arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
		return ref{}, false // write no register
	case arm64asm.BL, arm64asm.BLR:
		g.known = [32]bool{}
		return ref{}, false
	case arm64asm.ADRP:
		if page, ok := inst.Args[1].(arm64asm.PCRel); ok {
			g.set(rd, pc&^0xfff+uint64(page))
			return ref{}, false
		}
	case arm64asm.ADD:
		// 64 bits wide, of an immediate that is not shifted.
		if enc>>22 == 0x91000000>>22 && ok {
			g.set(rd, base+imm12)
			return ref{address, 0, base + imm12}, true
		}
	case arm64asm.LDR, arm64asm.LDRB, arm64asm.LDRH, arm64asm.LDRSW, arm64asm.LDRSB, arm64asm.LDRSH:
		if isUnsignedOffset(enc) {
			g.known[rd] = false
			return ref{load, 1 << size, base + imm12<<size}, ok
		}
	case arm64asm.STR, arm64asm.STRB, arm64asm.STRH:
		if isUnsignedOffset(enc) {
			return ref{store, 1 << size, base + imm12<<size}, ok
		}
	case arm64asm.LDAR, arm64asm.LDARB:
		g.known[rd] = false
		return ref{load, 1 << size, base}, ok
	case arm64asm.STLR, arm64asm.STLRB:
		return ref{store, 1 << size, base}, ok
	}
	g.forget(enc)
	return ref{}, false
}

// isUnsignedOffset tells a load or store of a general register with an unsigned
// offset from the other forms that have the same name.
func isUnsignedOffset(enc uint32) bool { return enc>>24&0x3f == 0x39 }
