package goproc

import (
	"debug/elf"
	"encoding/binary"
)

// tiny is an ELF file of one segment that holds build info, of any class and byte
// order.
type tiny struct {
	class    elf.Class
	order    binary.ByteOrder
	pointed  bool // as Go 1.13 to 1.17 wrote it
	sections bool
	version  string
	lines    string
	change   func(b []byte) // the last word
}

const (
	tinyBase  = 0x1000 // the segment's address; it is the whole file
	tinyInfo  = 0x100
	tinyNames = "\x00.go.buildinfo\x00"
)

// shape returns where a class has its fields: the sizes of the header, of a program
// header and of a section header, and of an address.
func (w tiny) shape() (head, prog, sect, word int) {
	if w.class == elf.ELFCLASS32 {
		return 52, 32, 40, 4
	}
	return 64, 56, 64, 8
}

func (w tiny) bytes() []byte {
	head, prog, sect, word := w.shape()
	address := func(b []byte, v int) []byte {
		var a [8]byte
		if word == 4 {
			w.order.PutUint32(a[:], uint32(v))
		} else {
			w.order.PutUint64(a[:], uint64(v))
		}
		return append(b, a[:word]...)
	}
	info := []byte(buildMagic)
	info = append(info, byte(word), 0)
	mark := "0123456789abcdef"
	lines := mark + w.lines + mark
	if w.pointed {
		if w.order == binary.BigEndian {
			info[buildFlags] = bigEndian
		}
		variables := tinyBase + tinyInfo + buildHeader
		texts := variables + 4*word
		info = address(address(info, variables), variables+2*word)
		info = append(info, make([]byte, buildHeader-len(info))...)
		info = address(address(info, texts), len(w.version))
		info = address(address(info, texts+len(w.version)), len(lines))
		info = append(info, w.version+lines...)
	} else {
		info[buildFlags] = inline
		info = append(info, make([]byte, buildHeader-len(info))...)
		info = append(binary.AppendUvarint(info, uint64(len(w.version))), w.version...)
		info = append(binary.AppendUvarint(info, uint64(len(lines))), lines...)
	}
	names := tinyInfo + len(info)
	heads := (names + len(tinyNames) + 7) &^ 7
	size := heads + 3*sect

	b := make([]byte, size)
	put := func(off int, v any) {
		if _, err := binary.Encode(b[off:], w.order, v); err != nil {
			panic(err)
		}
	}
	copy(b, elf.ELFMAG)
	order := elf.ELFDATA2LSB
	if w.order == binary.BigEndian {
		order = elf.ELFDATA2MSB
	}
	b[elf.EI_CLASS], b[elf.EI_DATA], b[elf.EI_VERSION] = byte(w.class), byte(order), 1
	ident := [elf.EI_NIDENT]byte(b)
	shnum, shoff := 0, 0
	if w.sections {
		shnum, shoff = 3, heads
	}
	flags := uint32(elf.PF_R | elf.PF_W)
	if word == 4 {
		put(0, elf.Header32{Ident: ident, Type: uint16(elf.ET_EXEC), Version: 1, Phoff: uint32(head), Shoff: uint32(shoff), Ehsize: uint16(head),
			Phentsize: uint16(prog), Phnum: 1, Shentsize: uint16(sect), Shnum: uint16(shnum), Shstrndx: uint16(max(0, shnum-1))})
		put(head, elf.Prog32{Type: uint32(elf.PT_LOAD), Flags: flags, Vaddr: tinyBase, Filesz: uint32(size), Memsz: uint32(size)})
		put(heads+sect, elf.Section32{Name: 1, Type: uint32(elf.SHT_PROGBITS), Addr: tinyBase + tinyInfo, Off: tinyInfo, Size: uint32(len(info))})
		put(heads+2*sect, elf.Section32{Type: uint32(elf.SHT_STRTAB), Off: uint32(names), Size: uint32(len(tinyNames))})
	} else {
		put(0, elf.Header64{Ident: ident, Type: uint16(elf.ET_EXEC), Version: 1, Phoff: uint64(head), Shoff: uint64(shoff), Ehsize: uint16(head),
			Phentsize: uint16(prog), Phnum: 1, Shentsize: uint16(sect), Shnum: uint16(shnum), Shstrndx: uint16(max(0, shnum-1))})
		put(head, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: flags, Vaddr: tinyBase, Filesz: uint64(size), Memsz: uint64(size)})
		put(heads+sect, elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Addr: tinyBase + tinyInfo, Off: tinyInfo, Size: uint64(len(info))})
		put(heads+2*sect, elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: uint64(names), Size: uint64(len(tinyNames))})
	}
	copy(b[tinyInfo:], info)
	copy(b[names:], tinyNames)
	if w.change != nil {
		w.change(b)
	}
	return b
}

const tinyLines = "path\texample.com/tiny\nmod\texample.com/tiny\tv1.2.3\t\nbuild\tDefaultGODEBUG=asynctimerchan=1\n"

// tinies are a file of every kind.
func tinies() map[string]tiny {
	all := make(map[string]tiny)
	for class, bits := range map[elf.Class]string{elf.ELFCLASS32: "32", elf.ELFCLASS64: "64"} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			for _, pointed := range []bool{false, true} {
				for _, sections := range []bool{false, true} {
					name := bits + order.String()
					if pointed {
						name += " pointed"
					}
					if sections {
						name += " sections"
					}
					all[name] = tiny{class: class, order: order, pointed: pointed, sections: sections, version: "go1.26.8", lines: tinyLines}
				}
			}
		}
	}
	return all
}
