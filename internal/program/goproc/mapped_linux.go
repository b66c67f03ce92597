//go:build !portable

package goproc

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A process whose executable is not Go's may run Go code all the same: in a shared library that
// was built with -buildmode=c-shared, or in a program that another loader has mapped, as in
// `ld.so ./app`. Such files are among its mappings that are executable.

// mapping is a file that a process has mapped to run code of.
type mapping struct {
	start, end uint64
	offset     uint64 // in the file
	id         mappedID
	path       string // as the process sees it; it may be another file now
}

func (m mapping) name() string { return path.Base(strings.TrimSuffix(m.path, " (deleted)")) }

// The bounds of what is read of a process's mappings, which it can make as many as the kernel allows:
// bytes of the list, and files. A browser has some 1,500 mappings of 200 files in 150 KB.
const (
	maxMaps   = 1 << 20
	maxMapped = 512
)

// mappings are the files that a process has mapped to run code of, each once.
func mappings(pid int) ([]mapping, error) {
	f, err := openProc(pid, "maps")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, 0, maxMaps))
	return parseMaps(text), err
}

// parseMaps reads lines such as
//
//	7f1c2a000000-7f1c2a1f0000 r-xp 00052000 fe:01 131090    /usr/lib/libx.so
//
// (proc_pid_maps(5)).
func parseMaps(text []byte) (all []mapping) {
	seen := map[mappedID]bool{}
	for line := range bytes.Lines(text) {
		if _, access, _ := bytes.Cut(line, []byte(" ")); len(access) < 4 || access[2] != 'x' {
			continue // as most lines
		}
		fields := strings.SplitN(strings.TrimSuffix(string(line), "\n"), " ", 6)
		if len(fields) < 6 || len(all) == maxMapped {
			continue
		}
		m := mapping{id: mappedID{dev: fields[3]}, path: strings.TrimLeft(fields[5], " ")}
		from, to, _ := strings.Cut(fields[0], "-")
		var errs [4]error
		m.start, errs[0] = strconv.ParseUint(from, 16, 64)
		m.end, errs[1] = strconv.ParseUint(to, 16, 64)
		m.offset, errs[2] = strconv.ParseUint(fields[2], 16, 64)
		m.id.ino, errs[3] = strconv.ParseUint(fields[4], 10, 64)
		if errors.Join(errs[:]...) != nil || m.id.ino == 0 || !strings.HasPrefix(m.path, "/") || seen[m.id] {
			continue
		}
		seen[m.id] = true
		all = append(all, m)
	}
	return all
}

// open opens the file that is mapped: by the mapping itself, which needs CAP_CHECKPOINT_RESTORE, or
// by its path, if that is still the same file. Only a regular file is opened: whoever runs the process
// can put a device there, and opening one can have effects.
func (m mapping) open(pid int) (*os.File, error) {
	var err error
	for _, way := range []struct {
		name  string
		flags int
	}{{fmt.Sprintf("map_files/%x-%x", m.start, m.end), 0}, {"root" + m.path, syscall.O_NOFOLLOW}} {
		at := procPath(pid, way.name)
		n, errAt := syscall.Open(at, unix.O_PATH|way.flags|syscall.O_CLOEXEC, 0)
		if errAt != nil {
			err = errAt
			continue
		}
		var st syscall.Stat_t
		if err = syscall.Fstat(n, &st); err == nil && (st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Ino != m.id.ino) {
			err = fs.ErrNotExist
		}
		file := -1
		if err == nil {
			file, err = syscall.Open("/proc/self/fd/"+strconv.Itoa(n), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		}
		syscall.Close(n)
		if err == nil {
			return os.NewFile(uintptr(file), at), nil
		}
	}
	return nil, err
}

// bias is the difference between where the file is mapped and where it says.
func (m mapping) bias(of *image) (uint64, error) {
	if of.fixed {
		return 0, nil
	}
	for _, p := range of.segments {
		if elf.ProgFlag(p.Flags)&elf.PF_X != 0 && m.offset <= p.Off && p.Off-m.offset < m.end-m.start {
			return m.start + (p.Off - m.offset) - p.Vaddr, nil
		}
	}
	return 0, fmt.Errorf("%w: its code is not where its file says", ErrUndecodable)
}

// othersLast is for how long a file that is not Go's is not opened again. Its number may become that of
// another file.
const othersLast = 10 * time.Minute

func (c *Cache) other(id any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.others[id] && time.Since(c.since) < othersLast
}

func (c *Cache) addOther(id any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.others) >= 4*maxEntries || time.Since(c.since) >= othersLast { // as at first
		c.others, c.since = map[any]bool{}, time.Now()
	}
	c.others[id] = true
}

// mapped is the first file of Go code among the mappings of a process; ErrNotGo: there is none. A file
// that can be opened and not read may be one; one that cannot be opened, such as a library that was
// replaced, is too common for that.
func (c *Cache) mapped(ctx context.Context, pid int) (*file, *mapping, error) {
	all, err := mappings(pid)
	if err != nil {
		return nil, nil, err
	}
	unread := ErrNotGo
	for i := range all {
		if c.other(all[i].id) {
			continue
		}
		if ctx.Err() != nil {
			return nil, nil, ErrLate
		}
		f, err := c.openMapped(ctx, pid, &all[i])
		switch pe := (*fs.PathError)(nil); {
		case err == nil:
			return f, &all[i], nil
		case errors.Is(err, ErrLate):
			return nil, nil, err
		case errors.As(err, &pe):
			unread = err
		}
	}
	return nil, nil, unread
}

func (c *Cache) openMapped(ctx context.Context, pid int, m *mapping) (*file, error) {
	r, err := m.open(pid)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	key, err := keyOfInfo(r.Stat())
	if err != nil {
		return nil, err
	}
	if f := c.known(key); f != nil {
		return f, f.err
	}
	if c.other(key) {
		return nil, ErrNotGo
	}
	switch has, err := hasBuildInfo(r); {
	case err != nil:
		return nil, err
	case !has:
		// Whoever runs the process can have put a file with the same number at the path, on another
		// device. Some file systems have one device in the mapping, and another one for the file.
		if m.id.dev == fmt.Sprintf("%02x:%02x", unix.Major(key.dev), unix.Minor(key.dev)) {
			c.addOther(m.id)
		} else {
			c.addOther(key)
		}
		return nil, ErrNotGo
	}
	return c.learn(ctx, r, key)
}

// hasBuildInfo tells a file of Go code by the section of its build info, which stripping leaves: the
// hundreds of libraries of a machine are not searched for it. The error is that of the system, which
// could not read it.
func hasBuildInfo(r io.ReaderAt) (bool, error) {
	b := &budget{r: r, left: maxHeaders}
	m, err := readImage(b)
	if err != nil || b.broken != nil {
		return false, b.broken
	}
	_, ok := m.section(".go.buildinfo")
	return ok, nil
}

// maxHeaders is more than all headers of a file with their names take.
const maxHeaders = 1 << 20
