package goproc

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"sort"
	"strings"
)

// Text is the code of a running program: which function is at an address, and where a
// function begins. Addresses are those in the process. Close it.
type Text struct {
	Program Program
	Machine elf.Machine
	// Custom is where the runtime notes that GOMAXPROCS was set, one byte
	// (sched.customGOMAXPROCS). 0: there is no such note before Go 1.25, or it was not found.
	Custom uint64
	// Procs is where GOMAXPROCS is, an int32 (runtime.gomaxprocs).
	Procs uint64

	mem    io.ReaderAt
	close  func() error
	table  pclntab // off is where it is in memory
	starts []uint32
	parts  []uint32 // where the functions' records are
	end    uint32
}

// Function is one function of a Text.
type Function struct {
	Entry uint64
	Name  string
	// Mapped reports whether the compiler made it, with maps of its stack: functions in
	// assembly have none, and the runtime preempts no goroutine in them.
	Mapped bool
}

// flagAsm is in the flags of a function in assembly, from Go 1.18 on (abi.FuncFlagAsm).
const flagAsm = 1 << 2

// localsPointerMaps is which of a function's data are the maps of its stack
// (abi.FUNCDATA_LocalsPointerMaps).
const localsPointerMaps = 1

// readText reads a function table from the memory of a process.
func readText(mem io.ReaderAt, m *image, bias uint64, t pclntab) (*Text, error) {
	mem = &budget{r: mem, left: maxMemory}
	text, err := findText(mem, m, bias, t)
	if err != nil {
		return nil, err
	}
	t.text, t.off = text, int64(t.addr+bias)
	x := &Text{Machine: m.machine, table: t}
	size := t.pairSize()
	b := make([]byte, int64(t.nfunc)*size+size/2)
	if _, err := mem.ReadAt(b, t.off+int64(t.pcln)); err != nil {
		return nil, tableError(err)
	}
	x.starts, x.parts = make([]uint32, t.nfunc), make([]uint32, t.nfunc)
	for i := range x.starts {
		x.starts[i], x.parts[i] = t.pair(b[int64(i)*size:])
	}
	x.end, _ = t.pair(b[int64(t.nfunc)*size:])
	return x, nil
}

// Close closes the memory of the process.
func (x *Text) Close() error { return x.close() }

// ReadAt reads the memory of the process.
func (x *Text) ReadAt(p []byte, addr uint64) error {
	_, err := x.mem.ReadAt(p, int64(addr))
	return err
}

// Holds reports whether an address is in the code that the Go linker laid out, which is
// not that of C.
func (x *Text) Holds(addr uint64) bool {
	return addr >= x.table.text && addr-x.table.text < uint64(x.end)
}

// Find returns where the named functions of the runtime begin; those that are not linked in
// are missing.
func (x *Text) Find(names ...string) (map[string]uint64, error) {
	spans, err := x.table.functions(&budget{r: x.mem, left: maxMemory}, "runtime.", names)
	if err != nil {
		return nil, err
	}
	found := map[string]uint64{}
	for name, s := range spans {
		found[name] = x.table.text + uint64(s.start)
	}
	return found, nil
}

// At returns the function at an address.
func (x *Text) At(addr uint64) (Function, bool) {
	if !x.Holds(addr) {
		return Function{}, false
	}
	at := uint32(addr - x.table.text)
	i := sort.Search(len(x.starts), func(i int) bool { return x.starts[i] > at }) - 1
	if i < 0 {
		return Function{}, false
	}
	const most = 64 // bytes of the record and of the counts after it that are looked at here
	var b [most]byte
	l := x.table.record
	where := x.table.off + int64(x.table.pcln) + int64(x.parts[i])
	if _, err := x.mem.ReadAt(b[:l.end], where); err != nil {
		return Function{}, false
	}
	f := Function{Entry: x.table.text + uint64(x.starts[i])}
	f.Name = x.name(x.table.funcname + uint64(binary.LittleEndian.Uint32(b[l.name:])))
	f.Mapped = f.Name != "" && b[l.flag]&flagAsm == 0 && x.mapped(b[:l.end], where) && !x.inAssembly(b[:l.end])
	return f, true
}

// name is the text at an offset of the table; what is too long to be read at once is cut.
func (x *Text) name(offset uint64) string {
	b := make([]byte, 4*longestName)
	n, _ := x.mem.ReadAt(b, x.table.off+int64(offset))
	for i, c := range b[:max(n, 0)] {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b[:max(n, 0)])
}

// mapped reports whether the function's data have the maps of its stack: offsets after
// the record and its tables, or addresses in a wide table.
func (x *Text) mapped(record []byte, where int64) bool {
	l := x.table.record
	if record[l.nfuncdata] <= localsPointerMaps {
		return false
	}
	at := where + int64(l.end) + 4*int64(binary.LittleEndian.Uint32(record[l.npcdata:]))
	var b [8]byte
	if l.wide {
		at += at & 4
		_, err := x.mem.ReadAt(b[:], at+8*localsPointerMaps)
		return err == nil && binary.LittleEndian.Uint64(b[:]) != 0
	}
	_, err := x.mem.ReadAt(b[:4], at+4*localsPointerMaps)
	return err == nil && binary.LittleEndian.Uint32(b[:]) != ^uint32(0)
}

// inAssembly tells a function in assembly by the name of its file, where the table has no
// flag for it.
func (x *Text) inAssembly(record []byte) bool {
	l := x.table.record
	if !l.wide {
		return false
	}
	// The first pair of the table of files is how far the file's number is from -1, as a
	// zigzag varint (runtime.step).
	var b [binary.MaxVarintLen32]byte
	if _, err := x.mem.ReadAt(b[:], x.table.off+int64(x.table.pc)+int64(binary.LittleEndian.Uint32(record[l.pcfile:]))); err != nil {
		return true
	}
	delta, n := binary.Varint(b[:])
	if number := delta - 1; n <= 0 || number < 0 {
		return true
	} else if _, err := x.mem.ReadAt(b[:4], x.table.off+int64(x.table.cu)+4*(number+int64(binary.LittleEndian.Uint32(record[l.cu:])))); err != nil {
		return true
	}
	return strings.HasSuffix(x.name(x.table.file+uint64(binary.LittleEndian.Uint32(b[:4]))), ".s")
}
