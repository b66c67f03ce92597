package goproc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// Live reads the program that the process runs and its GOMAXPROCS. The process
// is not stopped and not written to. Everything goes through /proc/PID/exe
// itself, which works across mount namespaces and for a deleted file.
func (c *Cache) Live(pid int) (Live, error) {
	live, err := c.live(pid)
	if err != nil {
		return Live{}, fmt.Errorf("process %d: %w", pid, explain(pid, err))
	}
	return live, nil
}

// Program reads the program that the process runs; what it needs of permission
// is less than Live does.
func (c *Cache) Program(pid int) (Program, error) {
	f, _, err := c.open(pid)
	if err != nil {
		return Program{}, fmt.Errorf("process %d: %w", pid, explain(pid, err))
	}
	return f.program, nil
}

func (c *Cache) open(pid int) (*file, os.FileInfo, error) {
	exe, err := os.Open(procPath(pid, "exe"))
	if err != nil {
		return nil, nil, err
	}
	defer exe.Close()
	info, err := exe.Stat()
	if err != nil {
		return nil, nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, nil, fmt.Errorf("%s: stat gave no inode", exe.Name())
	}
	f := c.file(fileKey{dev: uint64(st.Dev), ino: st.Ino, size: info.Size(), mtime: info.ModTime().UnixNano()})
	f.read(exe)
	return f, info, f.err
}

func (c *Cache) live(pid int) (Live, error) {
	f, info, err := c.open(pid)
	if err != nil {
		return Live{}, err
	}
	if f.image == nil {
		return Live{}, f.bad
	}
	mem, err := os.Open(procPath(pid, "mem"))
	if err != nil {
		return Live{}, err
	}
	defer mem.Close()
	auxv, err := os.ReadFile(procPath(pid, "auxv"))
	if err != nil {
		return Live{}, err
	}
	// mem stays with the memory it was opened on, exe and auxv do not: if the
	// process has called exec in between, they do not belong together.
	if now, err := os.Stat(procPath(pid, "exe")); err != nil {
		return Live{}, err
	} else if !os.SameFile(info, now) {
		return Live{}, fmt.Errorf("%w: the process has just called exec", ErrStarting)
	}
	entry, ok := auxvEntry(auxv)
	if !ok {
		return Live{}, fmt.Errorf("%w: no entry address in its auxiliary vector", ErrGone)
	}
	bias := entry - f.image.entry
	addr, from, err := f.address(mem, bias)
	if err != nil {
		return Live{}, err
	}
	var value [4]byte
	if _, err := mem.ReadAt(value[:], int64(addr+bias)); err != nil {
		return Live{}, err
	}
	procs := int32(binary.LittleEndian.Uint32(value[:]))
	if procs == 0 {
		return Live{}, ErrStarting
	}
	// The runtime has no limit since Go 1.10; a machine of Linux has at most 8192
	// CPUs, so what is far above that is not GOMAXPROCS.
	if procs < 0 || procs > 1<<20 {
		return Live{}, fmt.Errorf("%w: what was found reads %d", ErrUndecodable, procs)
	}
	return Live{Program: f.program, Procs: int(procs), Source: from}, nil
}

// auxvEntry returns AT_ENTRY (9) of a 64-bit auxiliary vector: pairs of words,
// ended by AT_NULL.
func auxvEntry(auxv []byte) (uint64, bool) {
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		switch binary.LittleEndian.Uint64(auxv) {
		case 0:
			return 0, false
		case 9:
			return binary.LittleEndian.Uint64(auxv[8:]), true
		}
	}
	return 0, false
}

// explain gives an error of the system its meaning.
func explain(pid int, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w%s", ErrPermission, err, hint(pid))
	case errors.Is(err, syscall.ESRCH), errors.Is(err, io.EOF):
		// mem reads as empty once the process has ended.
		return ErrGone
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrStarting):
		if ended(pid) {
			return ErrGone
		}
		if !errors.Is(err, ErrStarting) {
			return fmt.Errorf("%w (a kernel thread)", ErrNotGo)
		}
	}
	return err
}

// ended tells whether the process is no more, or a zombie.
func ended(pid int) bool {
	stat, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return true
	}
	i := bytes.LastIndexByte(stat, ')')
	return i >= 0 && i+2 < len(stat) && (stat[i+2] == 'Z' || stat[i+2] == 'X')
}

// hint says what would allow reading the process.
func hint(pid int) string {
	info, err := os.Stat(procPath(pid, ""))
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(st.Uid) != os.Geteuid() {
		return fmt.Sprintf("; it is of user %d: run as that user or with CAP_SYS_PTRACE", st.Uid)
	}
	yama, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if scope := string(bytes.TrimSpace(yama)); err == nil && scope != "0" {
		return fmt.Sprintf("; kernel.yama.ptrace_scope is %s: run with CAP_SYS_PTRACE, or let procfit start the program", scope)
	}
	return "; run with CAP_SYS_PTRACE"
}

func procPath(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}
