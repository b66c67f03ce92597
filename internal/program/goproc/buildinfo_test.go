package goproc

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"syscall"
	"testing"
)

// TestRead reads build info from files of both classes, byte orders and forms, as
// debug/buildinfo does.
func TestRead(t *testing.T) {
	for name, w := range tinies() {
		p, err := Read(bytes.NewReader(w.bytes()))
		if err != nil || p.GoVersion != "go1.26.8" || p.Path != "example.com/tiny" || p.DefaultGODEBUG != "asynctimerchan=1" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		theirs, err := buildinfo.Read(bytes.NewReader(w.bytes()))
		if err != nil || !reflect.DeepEqual(p, programOf(theirs)) {
			t.Errorf("%s: %+v, debug/buildinfo: %+v, %v", name, p, theirs, err)
		}
		w.change = func(b []byte) { clear(b[tinyInfo : tinyInfo+4]) }
		if p, err := Read(bytes.NewReader(w.bytes())); !errors.Is(err, ErrNotGo) {
			t.Errorf("%s without a record: %+v, %v", name, p, err)
		}
	}
}

// TestReadOtherVersions: what is not a release is a Go program, too.
func TestReadOtherVersions(t *testing.T) {
	for version, want := range map[string]string{"devel go1.24-3f4164f508 Mon": "devel go1.24-3f4164f508 Mon", "devel +4e8f681eff": "", "unknown": "", "v2": ""} {
		w := tinies()["64LittleEndian sections"]
		w.version = version
		if p, err := Read(bytes.NewReader(w.bytes())); err != nil || p.GoVersion != want || p.Path != "example.com/tiny" {
			t.Errorf("%s: %+v, %v", version, p, err)
		}
		w.change = func(b []byte) { b[tinyInfo+buildHeader-1] = 'x' }
		if p, err := Read(bytes.NewReader(w.bytes())); !errors.Is(err, ErrNotGo) {
			t.Errorf("%s behind no header: %+v, %v", version, p, err)
		}
	}
}

// TestPacked: a program that UPX has packed may be Go's.
func TestPacked(t *testing.T) {
	w := tinies()["64LittleEndian"]
	w.change = func(b []byte) { clear(b[tinyInfo : tinyInfo+4]); copy(b[0x80:], "UPX!") }
	if _, err := new(file).read(t.Context(), bytes.NewReader(w.bytes()), maxRead); !errors.Is(err, ErrUndecodable) || errors.Is(err, ErrNotGo) {
		t.Error(err)
	}
}

// TestReadUnalignedSegment reads programs without section headers whose segment of data
// begins anywhere, as the linker of the C toolchain lays them out.
func TestReadUnalignedSegment(t *testing.T) {
	for name, w := range tinies() {
		if w.sections {
			continue
		}
		w.change = func(b []byte) {
			head, _, _, word := w.shape()
			// p_offset, p_vaddr and what follows them: all eight bytes further.
			fields := []int{8, 16}
			if word == 4 {
				fields = []int{4, 8}
			}
			for _, f := range fields {
				at := b[head+f:]
				if word == 4 {
					w.order.PutUint32(at, w.order.Uint32(at)+8)
				} else {
					w.order.PutUint64(at, w.order.Uint64(at)+8)
				}
			}
		}
		if p, err := Read(bytes.NewReader(w.bytes())); err != nil || p.GoVersion != "go1.26.8" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// TestReadClaims reads files of a terabyte, most of it zeros, whose headers claim
// to need it: without much memory, and where the rest is right with the right
// result.
func TestReadClaims(t *testing.T) {
	const (
		little  = "64LittleEndian sections"
		filesz  = 64 + 32 // of the one segment
		nothing = ""
	)
	section := func(i, field int, v uint64) func(b []byte) {
		return func(b []byte) {
			at := binary.LittleEndian.Uint64(b[40:]) + uint64(64*i+field)
			binary.LittleEndian.PutUint64(b[at:], v)
		}
	}
	for name, tc := range map[string]struct {
		change func(b []byte)
		want   string // Go version
	}{
		"names of 1 TiB":    {section(2, 32, 1<<40), "go1.26.8"},
		"names of 900 MiB":  {section(2, 32, 900<<20), "go1.26.8"},
		"names of 1 MiB":    {section(2, 32, 1<<20), "go1.26.8"},
		"record of 1 TiB":   {section(1, 32, 1<<40), "go1.26.8"},
		"record in zeros":   {section(1, 24, 1<<39), "go1.26.8"},
		"65535 sections":    {func(b []byte) { copy(b[60:], "\xff\xff") }, "go1.26.8"},
		"sections of 65535": {func(b []byte) { copy(b[58:], "\xff\xff") }, "go1.26.8"},
		"segments of 65535": {func(b []byte) { copy(b[54:], "\xff\xff") }, nothing},
		"65535 segments":    {func(b []byte) { copy(b[56:], "\xff\xff") }, nothing},
		"a segment of 1 TiB": {func(b []byte) {
			binary.LittleEndian.PutUint64(b[filesz:], 1<<40)
			binary.LittleEndian.PutUint64(b[filesz+8:], 1<<40)
		}, "go1.26.8"},
		"a segment of zeros": {func(b []byte) {
			clear(b[tinyInfo:])
			binary.LittleEndian.PutUint64(b[filesz:], 1<<40)
			binary.LittleEndian.PutUint64(b[filesz+8:], 1<<40)
		}, nothing},
		"a version of 900 MiB": {func(b []byte) { binary.PutUvarint(b[tinyInfo+buildHeader:], 900<<20) }, nothing},
	} {
		w := tinies()[little]
		w.change = tc.change
		r := endless{w.bytes()}
		var p Program
		var err error
		allocated := allocatedBy(func() { p, err = Read(r) })
		if p.GoVersion != tc.want || (tc.want == nothing) != errors.Is(err, ErrNotGo) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if allocated > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, allocated)
		}
	}
}

// failing fails once, at one of its readings, as a file system does that is gone for a moment.
type failing struct {
	io.ReaderAt
	until int
}

func (r *failing) ReadAt(p []byte, off int64) (int, error) {
	if r.until--; r.until == 0 {
		return 0, &fs.PathError{Op: "read", Path: "exe", Err: syscall.EIO}
	}
	return r.ReaderAt.ReadAt(p, off)
}

// TestReadFails: a file that the system could not read is not known, neither then nor later, to be
// another than it is.
func TestReadFails(t *testing.T) {
	for name, w := range tinies() {
		for n := 1; ; n++ {
			r := &failing{bytes.NewReader(w.bytes()), n}
			f := new(file)
			_, err := f.read(t.Context(), r, maxRead)
			if r.until > 0 {
				break // it was read before
			}
			if pe := (*fs.PathError)(nil); !errors.As(err, &pe) || errors.Is(err, ErrNotGo) {
				t.Errorf("%s, reading %d: %v", name, n, err)
			}
			if _, err := f.read(t.Context(), r, maxRead); err != nil || f.program.GoVersion == "" {
				t.Errorf("%s, again after reading %d: %+v, %v", name, n, f.program, err)
			}
			if p, err := Read(&failing{bytes.NewReader(w.bytes()), n}); errors.Is(err, ErrNotGo) || err == nil && p.GoVersion == "" {
				t.Errorf("%s, reading %d: Read returned %+v, %v", name, n, p, err)
			}
		}
	}
}

// Only 64-bit little-endian programs have variables that can be found; what the
// linker wrote is read of all.
func TestAnalyseOtherClasses(t *testing.T) {
	for name, w := range tinies() {
		f := new(file)
		_, _ = f.read(t.Context(), bytes.NewReader(w.bytes()), maxRead)
		if f.err != nil || f.program.GoVersion == "" {
			t.Errorf("%s: %v", name, f.err)
		}
		ours := w.class == elf.ELFCLASS64 && w.order == binary.LittleEndian
		if err := f.image.decodable(); (err == nil) != ours || err != nil && !errors.Is(err, ErrUndecodable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
