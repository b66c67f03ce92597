// Package binarytest makes Go programs and archives of them for tests, without a
// compiler.
package binarytest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Program is what the linker would have written into a program.
type Program struct {
	GoVersion    string
	Module       string
	GODEBUG      string // DefaultGODEBUG
	Automaxprocs string
}

// Bytes is an ELF file of one segment with the build info of the program, and nothing
// that could run.
func (p Program) Bytes() []byte {
	lines := "path\t" + p.Module + "\nmod\t" + p.Module + "\tv1.2.3\t\n"
	if p.Automaxprocs != "" {
		lines += "dep\tgo.uber.org/automaxprocs\t" + p.Automaxprocs + "\t\n"
	}
	if p.GODEBUG != "" {
		lines += "build\tDefaultGODEBUG=" + p.GODEBUG + "\n"
	}
	const mark = "0123456789abcdef"
	info := append([]byte("\xff Go buildinf:"), 8, 2)
	info = append(info, make([]byte, 16)...)
	for _, s := range []string{p.GoVersion, mark + lines + mark} {
		info = append(binary.AppendUvarint(info, uint64(len(s))), s...)
	}
	const at, base = 128, 0x400000
	size := uint64(at + len(info))
	var b bytes.Buffer
	head := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Entry: base, Phoff: 64, Ehsize: 64,
		Phentsize: 56, Phnum: 1, Shentsize: 64,
	}
	copy(head.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	load := elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Vaddr: base, Paddr: base, Filesz: size, Memsz: size, Align: 4096,
	}
	_ = binary.Write(&b, binary.LittleEndian, head) // a bytes.Buffer takes everything
	_ = binary.Write(&b, binary.LittleEndian, load)
	b.Write(make([]byte, at-b.Len()))
	b.Write(info)
	return b.Bytes()
}

// T is a test, or a script of one.
type T interface {
	Fatalf(format string, args ...any)
}

// Tar is an archive of entries. One of a name with a slash at its end is a folder; a
// text "-> x" is a symbolic link and "=> x" a hard one.
func Tar(t T, entries ...[2]string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e[0], Mode: 0o755, Typeflag: tar.TypeReg, Size: int64(len(e[1]))}
		switch {
		case strings.HasSuffix(e[0], "/"):
			h.Typeflag = tar.TypeDir
		case strings.HasPrefix(e[1], "-> "):
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, e[1][3:], 0
		case strings.HasPrefix(e[1], "=> "):
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, e[1][3:], 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatalf("%v", err)
		}
		if h.Size > 0 {
			if _, err := w.Write([]byte(e[1])); err != nil {
				t.Fatalf("%v", err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	return b.Bytes()
}

// Gzip packs something.
func Gzip(t T, b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(b)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return out.Bytes()
}

// Image is an archive as docker save writes it, whose layers come in another order than they lie on one another.
func Image(t T, name, config string, layers ...[]byte) []byte {
	var names, entries = []string{}, [][2]string{{"config.json", config}}
	for i, l := range layers {
		file := fmt.Sprintf("layer%d/layer.tar", i)
		names, entries = append(names, strconv.Quote(file)), append(entries, [2]string{file, string(l)})
	}
	slices.Reverse(entries)
	manifest := fmt.Sprintf(`[{"Config":"config.json","RepoTags":[%q],"Layers":[%s]}]`, name, strings.Join(names, ","))
	return Tar(t, append(entries, [2]string{"manifest.json", manifest})...)
}
