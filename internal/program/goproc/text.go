package goproc

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"
	"os"
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

	mem    *os.File
	table  pclntab // off is where it is in memory
	starts []uint32
	parts  []uint32 // where the functions' records are
	end    uint32
}

type Function struct {
	Name string
	// Mapped reports whether the compiler made it, with maps of its stack: functions in
	// assembly have none, and the runtime preempts no goroutine in them.
	Mapped bool
}

// flagAsm is in the flags of a function in assembly, from Go 1.18 on (abi.FuncFlagAsm).
const flagAsm = 1 << 2

// localsPointerMaps is which of a function's data are the maps of its stack
// (abi.FUNCDATA_LocalsPointerMaps).
const localsPointerMaps = 1

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

func (x *Text) Close() error { return x.mem.Close() }

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
	spans, err := x.table.functions(&budget{r: x.mem, left: maxMemory}, names)
	if err != nil {
		return nil, err
	}
	found := map[string]uint64{}
	for name, s := range spans {
		found[name] = x.table.text + uint64(s.start)
	}
	return found, nil
}

type part struct {
	entry  uint64
	where  int64 // of the record
	record []byte
}

func (x *Text) part(addr uint64) (part, bool) {
	if !x.Holds(addr) {
		return part{}, false
	}
	at := uint32(addr - x.table.text)
	i := sort.Search(len(x.starts), func(i int) bool { return x.starts[i] > at }) - 1
	if i < 0 {
		return part{}, false
	}
	p := part{
		entry: x.table.text + uint64(x.starts[i]), where: x.table.off + int64(x.table.pcln) + int64(x.parts[i]),
		record: make([]byte, x.table.record.end),
	}
	_, err := x.mem.ReadAt(p.record, p.where)
	return p, err == nil
}

func (x *Text) At(addr uint64) (Function, bool) {
	p, ok := x.part(addr)
	if !ok {
		return Function{}, false
	}
	l := x.table.record
	f := Function{Name: x.name(x.table.funcname + uint64(binary.LittleEndian.Uint32(p.record[l.name:])))}
	f.Mapped = f.Name != "" && p.record[l.flag]&flagAsm == 0 && x.mapped(p.record, p.where) && !x.inAssembly(p.record)
	return f, true
}

// Safe reports whether the compiler lets a goroutine be stopped at an address, by its table
// of unsafe points (runtime.pcdatavalue). Two of its values have to say so: that of the
// instruction at the address, which isAsyncSafePoint looks up, and that of the one before,
// which debugCallCheck looks up, since it takes the address for that of a return. From Go
// 1.22 on, the jump after the comparison of the write barrier's flag is marked, and the
// comparison is not. What cannot be read is not safe.
func (x *Text) Safe(addr uint64) bool {
	const (
		unsafePoint = 0       // which of a function's tables it is (abi.PCDATA_UnsafePoint)
		longest     = 1 << 20 // bytes of a table
	)
	p, ok := x.part(addr)
	if !ok {
		return false
	}
	l := x.table.record
	if binary.LittleEndian.Uint32(p.record[l.npcdata:]) <= unsafePoint {
		return true
	}
	var b [4]byte
	if _, err := x.mem.ReadAt(b[:], p.where+int64(l.end)+4*unsafePoint); err != nil {
		return false
	}
	offset := binary.LittleEndian.Uint32(b[:])
	if offset == 0 { // all of the function is safe
		return true
	}
	at := x.table.off + int64(x.table.pc) + int64(offset)
	return safeAt(bufio.NewReaderSize(io.NewSectionReader(x.mem, at, longest), 256), addr-p.entry, x.table.quantum)
}

// safeAt reads a table of values by address: pairs of varints, how far a value is from the one
// before, which begins at -1, as a zigzag, and for how many quanta it is (runtime.step). All
// addresses from the byte before pc to pc must have the value -1 (abi.UnsafePointSafe).
func safeAt(table io.ByteReader, pc, quantum uint64) bool {
	value := int32(-1)
	for end, first := uint64(0), true; end <= pc; first = false {
		delta, err := binary.ReadUvarint(table)
		if err != nil || delta == 0 && !first { // a zero ends the table
			return false
		}
		quanta, err := binary.ReadUvarint(table)
		if err != nil || quanta == 0 || quanta > math.MaxUint32 {
			return false
		}
		value += int32(uint32(delta)>>1) ^ -int32(delta&1)
		if end += quanta * quantum; value != -1 && end+1 > pc {
			return false
		}
	}
	return true
}

func (x *Text) name(offset uint64) string { return x.table.name(x.mem, offset, 4*longestName) }

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
