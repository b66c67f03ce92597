package vm

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// archive writes an initramfs: cpio in the "newc" form
// (Documentation/driver-api/early-userspace/buffer-format.rst). It is not compressed:
// an emulated CPU would take a second to unpack it. Everything in it belongs to root.
type archive struct {
	w     *bufio.Writer
	inode int
	dirs  []string
	size  int
	err   error
}

func newArchive(w io.Writer) *archive { return &archive{w: bufio.NewWriter(w)} }

// dir adds a directory, and those above it.
func (a *archive) dir(name string) {
	if name == "." || name == "/" || slices.Contains(a.dirs, name) {
		return
	}
	a.dir(path.Dir(name))
	a.dirs = append(a.dirs, name)
	const directory = 0o040000
	a.entry(name, directory|0o755, nil)
}

// file adds an executable file.
func (a *archive) file(name string, data []byte) {
	a.dir(path.Dir(name))
	const regular = 0o100000
	a.entry(name, regular|fs.FileMode(0o755), data)
}

func (a *archive) entry(name string, mode fs.FileMode, data []byte) {
	a.inode++
	const links = 1
	a.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		a.inode, uint32(mode), 0, 0, links, 0, len(data), 0, 0, 0, 0, len(name)+1, 0))
	a.write(append([]byte(name), 0))
	a.pad()
	a.write(data)
	a.pad()
}

// pad fills up to a multiple of four bytes.
func (a *archive) pad() { a.write(make([]byte, -a.size&3)) }

func (a *archive) write(p []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(p)
	}
	a.size += len(p)
}

func (a *archive) close() error {
	a.entry("TRAILER!!!", 0, nil)
	if a.err != nil {
		return a.err
	}
	return a.w.Flush()
}
