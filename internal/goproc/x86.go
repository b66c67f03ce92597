package goproc

import "golang.org/x/arch/x86/x86asm"

// x86Loads returns the addresses that the code at pc reads 4 bytes from with
// general registers, by instruction order. Go's compiler addresses package
// variables relative to the program counter.
func x86Loads(code []byte, pc uint64) []uint64 {
	var loads []uint64
	for len(code) > 0 {
		inst, err := x86asm.Decode(code, 64)
		if err != nil || inst.Len <= 0 || inst.Len > len(code) {
			break
		}
		next := pc + uint64(inst.Len)
		if disp, ok := x86Load(inst); ok {
			loads = append(loads, next+uint64(disp))
		}
		code, pc = code[inst.Len:], next
	}
	return loads
}

// x86Load returns the displacement of an instruction that reads 4 bytes relative
// to the program counter. The decoder gives its 32 bits without their sign.
func x86Load(inst x86asm.Inst) (int64, bool) {
	if inst.MemBytes != 4 {
		return 0, false
	}
	for i, arg := range inst.Args {
		mem, ok := arg.(x86asm.Mem)
		if !ok || mem.Base != x86asm.RIP || mem.Index != 0 {
			continue
		}
		disp := int64(int32(mem.Disp))
		switch inst.Op {
		case x86asm.MOV, x86asm.MOVSXD, x86asm.ADD, x86asm.SUB, x86asm.IMUL:
			return disp, i == 1
		case x86asm.CMP, x86asm.TEST:
			return disp, true
		}
	}
	return 0, false
}
