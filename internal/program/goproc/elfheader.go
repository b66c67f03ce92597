package goproc

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
)

// An ELF file of 32 bits has headers of its own; they are turned into those of 64
// bits, which hold as much. Here they are alone in knowing the file's class and
// byte order.

func (m *image) header() (h elf.Header64, err error) {
	switch m.class {
	case elf.ELFCLASS64:
		err = m.decodeAt(0, &h)
	case elf.ELFCLASS32:
		var h32 elf.Header32
		err = m.decodeAt(0, &h32)
		h = elf.Header64{
			Ident: h32.Ident, Type: h32.Type, Machine: h32.Machine, Version: h32.Version,
			Entry: uint64(h32.Entry), Phoff: uint64(h32.Phoff), Shoff: uint64(h32.Shoff),
			Flags: h32.Flags, Ehsize: h32.Ehsize, Phentsize: h32.Phentsize, Phnum: h32.Phnum,
			Shentsize: h32.Shentsize, Shnum: h32.Shnum, Shstrndx: h32.Shstrndx,
		}
	default:
		err = errors.New("neither of 32 nor of 64 bits")
	}
	return h, err
}

func (m *image) prog(off int64) (p elf.Prog64, err error) {
	if m.class == elf.ELFCLASS64 {
		err = m.decodeAt(off, &p)
		return p, err
	}
	var p32 elf.Prog32
	err = m.decodeAt(off, &p32)
	return elf.Prog64{
		Type: p32.Type, Flags: p32.Flags, Off: uint64(p32.Off), Vaddr: uint64(p32.Vaddr), Paddr: uint64(p32.Paddr),
		Filesz: uint64(p32.Filesz), Memsz: uint64(p32.Memsz), Align: uint64(p32.Align),
	}, err
}

func (m *image) sectionAt(off int64) (s elf.Section64, err error) {
	if m.class == elf.ELFCLASS64 {
		err = m.decodeAt(off, &s)
		return s, err
	}
	var s32 elf.Section32
	err = m.decodeAt(off, &s32)
	return elf.Section64{
		Name: s32.Name, Type: s32.Type, Flags: uint64(s32.Flags), Addr: uint64(s32.Addr), Off: uint64(s32.Off),
		Size: uint64(s32.Size), Link: s32.Link, Info: s32.Info,
		Addralign: uint64(s32.Addralign), Entsize: uint64(s32.Entsize),
	}, err
}

// decodeAt reads a value of a fixed size.
func (m *image) decodeAt(off int64, v any) error {
	buf := make([]byte, binary.Size(v))
	if n, err := m.r.ReadAt(buf, off); n < len(buf) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	_, err := binary.Decode(buf, m.order, v)
	return err
}
