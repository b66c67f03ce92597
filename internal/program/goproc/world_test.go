package goproc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"sort"
)

// world is a Go program of a few functions as an ELF image, laid out in memory
// as in the file, so that its bytes serve for both.
type world struct {
	functions map[string][]ref // what each does with variables, in order
	symbols   map[string]uint64
	schedSize uint64 // of the symbol of runtime.sched
	sections  bool
	machine   elf.Machine
	change    func(b []byte) // the last word
}

const (
	worldText   = 0x1000
	worldTable  = 0x2000
	worldData   = 0x3000
	worldVar    = 0x3800 // gomaxprocs
	worldCPUs   = 0x3804 // numCPUStartup
	worldSched  = 0x4000 // sched, beyond what the file has of its segment
	worldStrtab = 0x4000
	worldSymtab = 0x4400
	worldNames  = 0x4800
	worldHeads  = 0x4c00
	worldSize   = 0x5000

	worldVersion = "go1.26.8" // whose layout of runtime.sched is that of the world
)

func loads4(addrs ...uint64) []ref {
	var refs []ref
	for _, a := range addrs {
		refs = append(refs, ref{load, 4, a})
	}
	return refs
}

func goodWorld() world {
	const sched = worldSched
	return world{functions: map[string][]ref{
		"runtime.procresize": append(loads4(worldVar, worldVar+8), ref{store, 8, sched + 0x148}),
		"runtime.sysmon":     loads4(worldVar+16, worldVar),
		"runtime.gcStart":    loads4(worldVar+8, worldVar, worldCPUs, worldVar),
		"runtime.schedtrace": append(loads4(sched+0x70, sched+0x74, sched+0x78, sched+0x40, worldVar), ref{address, 0, sched + 0x20}),
		"runtime.casgstatus": {{address, 0, sched + 0x680}, {address, 0, sched + 0x168}},
		"runtime.schedinit":  {{store, 1, sched + 0x158}, {load, 4, worldCPUs}},
		"runtime.osinit":     {{store, 8, worldVar + 80}, {store, 4, worldCPUs}, {store, 4, worldVar + 88}},
		"main.main":          loads4(worldVar + 32),
	}, schedSize: 0x1ad8, sections: true, machine: elf.EM_X86_64}
}

// opcodes are those of the instructions that a world is made of, before the
// displacement from the program counter.
var opcodes = map[ref][]byte{
	{load, 4, 0}:    {0x8b, 0x05},       // mov eax, [rip+disp]
	{store, 1, 0}:   {0x88, 0x05},       // mov [rip+disp], al
	{store, 4, 0}:   {0x89, 0x05},       // mov [rip+disp], eax
	{store, 8, 0}:   {0x48, 0x89, 0x05}, // mov [rip+disp], rax
	{address, 0, 0}: {0x48, 0x8d, 0x05}, // lea rax, [rip+disp]
}

func (w world) bytes() []byte {
	b := make([]byte, worldSize)
	le := binary.LittleEndian
	put := func(off int, v any) {
		if _, err := binary.Encode(b[off:], le, v); err != nil {
			panic(err)
		}
	}
	h := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(w.machine), Version: 1, Entry: worldText,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 2,
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	put(64, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: 0, Off: 0, Filesz: worldData, Memsz: worldData})
	put(120, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Vaddr: worldData, Off: worldData, Filesz: 0x1000, Memsz: 0x3000})

	names := make([]string, 0, len(w.functions))
	for n := range w.functions {
		names = append(names, n)
	}
	sort.Strings(names)
	const funcname, cu, pcln = headerSize, 0x400, 0x500
	table := b[worldTable:]
	copy(table, []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8})
	for i, v := range []uint64{uint64(len(names)), 1, 0, funcname, cu, cu, cu, pcln} {
		le.PutUint64(table[8+8*i:], v)
	}
	code, name, record := 0, 1, 0x100
	for i, n := range names {
		le.PutUint32(table[pcln+8*i:], uint32(code))
		le.PutUint32(table[pcln+8*i+4:], uint32(record))
		le.PutUint32(table[pcln+record:], uint32(code))
		le.PutUint32(table[pcln+record+4:], uint32(name))
		name += copy(table[funcname+name:], n) + 1
		record += 40
		for _, r := range w.functions[n] {
			code += copy(b[worldText+code:], opcodes[ref{r.access, r.size, 0}])
			le.PutUint32(b[worldText+code:], uint32(int(r.addr)-(worldText+code+4)))
			code += 4
		}
		code += copy(b[worldText+code:], []byte{0xc3}) // ret
	}
	le.PutUint32(table[pcln+8*len(names):], uint32(code))

	for off, v := range map[int]uint64{0: worldTable, 8: worldTable + funcname, 104: worldTable + pcln, 136: uint64(len(names)) + 1, 176: worldText, 184: worldTable} {
		le.PutUint64(b[worldData+64+off:], v)
	}

	if w.sections {
		h.Shoff, h.Shentsize, h.Shnum, h.Shstrndx = worldHeads, 64, 5, 4
		at := 1
		sym := worldSymtab + elf.Sym64Size
		for n, addr := range w.symbols {
			size := uint64(4)
			if n == "runtime.sched" {
				size = w.schedSize
			}
			put(sym, elf.Sym64{Name: uint32(at), Info: byte(elf.STT_OBJECT), Value: addr, Size: size})
			at += copy(b[worldStrtab+at:], n) + 1
			sym += elf.Sym64Size
		}
		shstr, nameAt := []byte{0}, func(shstr *[]byte, n string) uint32 {
			at := len(*shstr)
			*shstr = append(append(*shstr, n...), 0)
			return uint32(at)
		}
		for i, s := range []elf.Section64{
			{},
			{Name: nameAt(&shstr, ".symtab"), Type: uint32(elf.SHT_SYMTAB), Off: worldSymtab, Size: uint64(sym - worldSymtab), Link: 2},
			{Name: nameAt(&shstr, ".strtab"), Type: uint32(elf.SHT_STRTAB), Off: worldStrtab, Size: uint64(at)},
			{Name: nameAt(&shstr, ".gopclntab"), Type: uint32(elf.SHT_PROGBITS), Off: worldTable, Addr: worldTable, Size: 0x1000},
			{Name: nameAt(&shstr, ".shstrtab"), Type: uint32(elf.SHT_STRTAB), Off: worldNames, Size: 64},
		} {
			put(worldHeads+64*i, s)
		}
		copy(b[worldNames:], shstr)
	}
	put(0, h)
	if w.change != nil {
		w.change(b)
	}
	return b
}

// find does all that Locate does, for a world, which has no build info.
func find(b []byte, goVersion string) (Addresses, error) {
	return findIn(b, bytes.NewReader(b), 0, goVersion)
}

// findIn finds them in the memory of a process whose file has the bytes.
func findIn(b []byte, mem io.ReaderAt, bias uint64, goVersion string) (Addresses, error) {
	r := bytes.NewReader(b)
	m, err := readImage(r)
	if err != nil {
		return Addresses{}, err
	}
	f := &file{image: m}
	f.program.GoVersion = goVersion
	f.bad = f.analyse(&budget{r: r, left: maxRead})
	return f.locate(mem, bias)
}
