package goproc

import "golang.org/x/arch/x86/x86asm"

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
