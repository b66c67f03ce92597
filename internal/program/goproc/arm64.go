package goproc

import (
	"encoding/binary"

	"golang.org/x/arch/arm64/arm64asm"
)

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
