package goproc

import (
	"encoding/binary"
	"slices"
	"testing"
)

func TestX86Refs(t *testing.T) {
	const pc = 0x1000
	for _, tt := range []struct {
		asm  string
		code []byte
		want []ref
	}{
		{"mov eax, [rip+16]", []byte{0x8b, 0x05, 16, 0, 0, 0}, []ref{{load, 4, pc + 6 + 16}}},
		{"movsxd rax, [rip-16]", []byte{0x48, 0x63, 0x05, 0xf0, 0xff, 0xff, 0xff}, []ref{{load, 4, pc + 7 - 16}}},
		{"cmp [rip+1], ecx", []byte{0x39, 0x0d, 1, 0, 0, 0}, []ref{{load, 4, pc + 6 + 1}}},
		{"cmp dword [rip+1], 2", []byte{0x83, 0x3d, 1, 0, 0, 0, 2}, []ref{{load, 4, pc + 7 + 1}}},
		{"cmp byte [rip+1], 0", []byte{0x80, 0x3d, 1, 0, 0, 0, 0}, []ref{{load, 1, pc + 7 + 1}}},
		{"movzx eax, byte [rip+1]", []byte{0x0f, 0xb6, 0x05, 1, 0, 0, 0}, []ref{{load, 1, pc + 7 + 1}}},
		{"mov [rip+16], eax", []byte{0x89, 0x05, 16, 0, 0, 0}, []ref{{store, 4, pc + 6 + 16}}},
		{"mov byte [rip+1], 1", []byte{0xc6, 0x05, 1, 0, 0, 0, 1}, []ref{{store, 1, pc + 7 + 1}}},
		{"mov rax, [rip+16]", []byte{0x48, 0x8b, 0x05, 16, 0, 0, 0}, []ref{{load, 8, pc + 7 + 16}}},
		{"lea rax, [rip+16]", []byte{0x48, 0x8d, 0x05, 16, 0, 0, 0}, []ref{{address, 0, pc + 7 + 16}}},
		{"movss xmm0, [rip+16]", []byte{0xf3, 0x0f, 0x10, 0x05, 16, 0, 0, 0}, nil},
		{"mov eax, [rbx+16]", []byte{0x8b, 0x43, 16}, nil},
		{"ret, then a load", []byte{0xc3, 0x8b, 0x05, 0, 0, 0, 0}, []ref{{load, 4, 0x1007}}},
		{"cut off", []byte{0x8b, 0x05, 16}, nil},
		{"no instruction", []byte{0x06, 0x8b, 0x05, 0, 0, 0, 0}, nil},
	} {
		if got := x86Refs(tt.code, pc); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.asm, got, tt.want)
		}
	}
}

// words are instructions of arm64.
func words(inst ...uint32) []byte {
	var b []byte
	for _, w := range inst {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func TestSetting64Refs(t *testing.T) {
	const (
		pc     = 0x1000
		adrp27 = 0xb000001b // adrp x27, +1 page: 0x2000
		adrp0  = 0xb0000000 // adrp x0, +1 page
		page   = 0x2000
	)
	for _, tt := range []struct {
		asm  string
		code []byte
		want []ref
	}{
		{"ldr w0, [x27, #8]", words(adrp27, 0xb9400b60), []ref{{load, 4, page + 8}}},
		{"ldr x0, [x27, #8]", words(adrp27, 0xf9400760), []ref{{load, 8, page + 8}}},
		{"ldrsw x0, [x27, #8]", words(adrp27, 0xb9800b60), []ref{{load, 4, page + 8}}},
		{"ldrb w0, [x27, #8]", words(adrp27, 0x39402360), []ref{{load, 1, page + 8}}},
		{"str w0, [x27, #8]", words(adrp27, 0xb9000b60), []ref{{store, 4, page + 8}}},
		{"strb w0, [x27, #8]", words(adrp27, 0x39002360), []ref{{store, 1, page + 8}}},
		{"add x0, x27, #16; ldr w1, [x0, #4]", words(adrp27, 0x91004360, 0xb9400401), []ref{{address, 0, page + 16}, {load, 4, page + 20}}},
		{"add x0, x0, #16; ldar w1, [x0]", words(adrp0, 0x91004000, 0x88dffc01), []ref{{address, 0, page + 16}, {load, 4, page + 16}}},
		{"add x0, x0, #16; stlr w1, [x0]", words(adrp0, 0x91004000, 0x889ffc01), []ref{{address, 0, page + 16}, {store, 4, page + 16}}},
		{"adrp backwards", words(0xf0ffffe0, 0xb9400000), []ref{{load, 4, pc - 0x1000}}},
		{"a base not known", words(0xb9400b60), nil},
		{"a base that a call has lost", words(adrp27, 0x94000004, 0xb9400b60), nil},
		{"a base that a move has lost", words(adrp27, 0xaa0003fb, 0xb9400b60), nil},
		{"a base that its own load has lost", words(adrp0, 0xb9400800, 0xb9400800), []ref{{load, 4, page + 8}}},
		{"a base past a comparison and a branch", words(adrp27, 0xeb01001f, 0x54000040, 0xb9400b60), []ref{{load, 4, page + 8}}},
		{"post-indexed", words(adrp0, 0xb8404401, 0xb9400801), nil},
		{"32-bit add", words(adrp0, 0x11004000, 0xb9400001), nil},
		{"add of a register", words(adrp0, 0x8b010000, 0xb9400001), nil},
		{"ldr s0, [x0]", words(adrp0, 0xbd400000), nil},
		{"data between", words(adrp27, 0xffffffff, 0xb9400b60), []ref{{load, 4, page + 8}}},
		{"cut off", words(adrp27, 0xb9400b60)[:7], nil},
	} {
		if got := arm64Refs(tt.code, pc); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.asm, got, tt.want)
		}
	}
}

// TestAsks: before calls of runtime.GOMAXPROCS in Debian's caddy, prometheus and hey.
func TestAsks(t *testing.T) {
	for code, want := range map[string]bool{
		"\x90\xe8\x5b\x8a\xfe\xff\x31\xc0": true, "\x90\x31\xc0\x0f\x1f\x44\x00\x00": true, "\x24\x38\x90\x31\xc0\x0f\x1f\x00": true, "\x24\x34\x31\xc0\x66\x90": true,
		"\xd5\xff\x48\xc7\xc0\xff\xff\xff\xff": true,
		"\x22\x9e\x33\x00\x48\x8b\x01":         false, "\x41\xff\xd0\x48\x8b\x44\x24\x40": false, "\x90": false, "": false,
	} {
		if got := asks([]byte(code)); got != want {
			t.Errorf("% x: %t", code, got)
		}
	}
}
