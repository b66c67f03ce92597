package goproc

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime/debug"
	"slices"
)

// buildMagic begins the record that debug/buildinfo reads. That package looks for
// it by section headers, or where it usually is; a position-independent program
// whose headers were removed has it elsewhere, and runs all the same.
const buildMagic = "\xff Go buildinf:"

const (
	buildAlign  = 16
	buildHeader = 32      // bytes; two strings follow, each after its length
	buildInline = 2       // the flag that says so, set since Go 1.18
	longestInfo = 1 << 20 // bytes; it has a line for each dependency
)

// findBuildInfo looks for the record in all segments.
func findBuildInfo(r io.ReaderAt) (*debug.BuildInfo, bool) {
	m, err := readImage(r)
	if err != nil || slices.ContainsFunc(m.sections, func(s section) bool { return s.name != "" }) {
		return nil, false // debug/buildinfo has looked well enough
	}
	var info *debug.BuildInfo
	for _, p := range m.segments {
		err := scan(r, int64(p.Off), int64(p.Filesz), buildHeader-1, func(piece []byte, at int64) bool {
			for i := 0; ; i++ {
				j := bytes.Index(piece[i:], []byte(buildMagic))
				if j < 0 || i+j > len(piece)-buildHeader {
					return true
				}
				i += j
				off := at + int64(i)
				if (off-int64(p.Off))%buildAlign == 0 && piece[i+15]&buildInline != 0 {
					if info = readBuildInfo(r, off+buildHeader); info != nil {
						return false
					}
				}
			}
		})
		if info != nil || err != nil {
			break
		}
	}
	return info, info != nil
}

// readBuildInfo reads the Go version and the module's lines, which stand between
// two marks of 16 bytes; nil when they are none.
func readBuildInfo(r io.ReaderAt, off int64) *debug.BuildInfo {
	version, off, ok := readString(r, off)
	if !ok || len(version) < 2 || version[:2] != "go" {
		return nil
	}
	lines, _, ok := readString(r, off)
	if !ok {
		return nil
	}
	const mark = 16
	info := new(debug.BuildInfo)
	if n := len(lines); n >= 2*mark && lines[n-mark-1] == '\n' {
		if parsed, err := debug.ParseBuildInfo(lines[mark : n-mark]); err == nil {
			info = parsed
		}
	}
	info.GoVersion = version
	return info
}

// readString reads a string after its length as a varint; next is what follows.
func readString(r io.ReaderAt, off int64) (s string, next int64, ok bool) {
	var length [binary.MaxVarintLen64]byte
	n, _ := r.ReadAt(length[:], off)
	size, used := binary.Uvarint(length[:max(n, 0)])
	if used <= 0 || size > longestInfo {
		return "", 0, false
	}
	b := make([]byte, size)
	if n, _ := r.ReadAt(b, off+int64(used)); n < len(b) {
		return "", 0, false
	}
	return string(b), off + int64(used) + int64(size), true
}
