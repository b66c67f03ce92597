package goproc

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
)

// maxProcs bounds what is taken for a number of CPUs. The runtime has no limit
// since Go 1.10; a machine of Linux has at most 8192.
const maxProcs = 1 << 20

// mostMarks is how many places of a mark are returned: a program has one.
const mostMarks = 8

var errNoEntry = fmt.Errorf("%w: no entry address in its auxiliary vector", ErrGone)

// Live reads the program that the process runs and its GOMAXPROCS. The process
// is not stopped and not written to. Everything goes through /proc/PID/exe
// itself, which works across mount namespaces and for a deleted file.
func (c *Cache) Live(pid int) (Live, error) {
	r, err := c.Find(pid)
	if err != nil {
		return Live{}, err
	}
	return r.Live()
}

// Learn is Find that gives up when the time of ctx is over, or a bound of its own for one
// file; the error is then ErrLate.
func (c *Cache) Learn(ctx context.Context, pid int) (Running, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	return c.find(ctx, pid)
}

// Find reads the file that the process runs.
func (c *Cache) Find(pid int) (Running, error) { return c.find(context.Background(), pid) }

func (c *Cache) find(ctx context.Context, pid int) (r Running, err error) {
	defer explained(pid, &err)
	return c.runs(ctx, pid)
}

// Program is the program that the process runs; what it needs of permission
// is less than Live does.
func (c *Cache) Program(pid int) (Program, error) {
	r, err := c.Find(pid)
	if err != nil {
		return Program{}, err
	}
	return r.Program(), nil
}

// Running is the Go code that a process runs.
type Running struct {
	*file
	pid    int
	exe    fileKey  // the file that the process was started from
	mapped *mapping // where the file is mapped; nil: it is that one
}

// Program is what is known of it by its file.
func (r Running) Program() Program {
	p := r.file.program
	if r.mapped != nil {
		p.Mapped = r.mapped.name()
	}
	return p
}

func (r Running) Live() (live Live, err error) {
	defer explained(r.pid, &err)
	return r.live()
}

// bias is the difference between where the process runs it and where its file says.
func (r Running) bias() (uint64, error) {
	if r.mapped != nil {
		return r.mapped.bias(r.image)
	}
	return loadBias(r.pid, r.image)
}

// runs finds it: the executable, or where that is not Go's, a file among the mappings.
func (c *Cache) runs(ctx context.Context, pid int) (Running, error) {
	f, exe, err := c.open(ctx, pid)
	r := Running{file: f, pid: pid, exe: exe}
	if !errors.Is(err, ErrNotGo) {
		return r, err
	}
	var errMapped error
	if r.file, r.mapped, errMapped = c.mapped(ctx, pid); !errors.Is(errMapped, ErrNotGo) {
		err = errMapped
	}
	return r, err
}

// open returns the analysis of the file that the process runs, and the identity
// of that file. A file that is known is not opened again.
func (c *Cache) open(ctx context.Context, pid int) (*file, fileKey, error) {
	key, err := keyOf(pid)
	if err != nil {
		return nil, key, err
	}
	if f := c.known(key); f != nil {
		return f, key, f.err
	}
	exe, err := openProc(pid, "exe")
	if err != nil {
		return nil, key, err
	}
	defer exe.Close()
	if key, err = keyOfInfo(exe.Stat()); err != nil { // another one if the process has just called exec
		return nil, key, err
	}
	f, err := c.learn(ctx, exe, key)
	return f, key, err
}

func (c *Cache) learn(ctx context.Context, r *os.File, key fileKey) (*file, error) {
	f := c.file(key)
	held, err := f.read(ctx, r, most(dataIn(r, key.size)))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held += held
	return f, err
}

func (c *Cache) memory(pid int) (r Running, mem *os.File, bias uint64, err error) {
	if r, err = c.runs(context.Background(), pid); err == nil {
		mem, bias, err = r.memory()
	}
	return r, mem, bias, err
}

func (r Running) memory() (mem *os.File, bias uint64, err error) {
	if err := r.image.decodable(); err != nil {
		return nil, 0, err
	}
	if mem, err = openProc(r.pid, "mem"); err != nil {
		return nil, 0, err
	}
	if bias, err = r.bias(); err == nil {
		err = unchanged(r.pid, r.exe)
	}
	if err != nil {
		mem.Close()
		return nil, 0, err
	}
	return mem, bias, nil
}

// unchanged tells a process that has just called exec: mem stays with the memory it was
// opened on, exe and auxv do not, and do not belong together then.
func unchanged(pid int, key fileKey) error {
	now, err := keyOf(pid)
	if err == nil && now != key {
		err = fmt.Errorf("%w: the process has just called exec", errStarting)
	}
	return err
}

func (r Running) live() (Live, error) {
	mem, bias, err := r.memory()
	if err != nil {
		return Live{}, err
	}
	defer mem.Close()
	at, err := r.locate(mem, bias)
	if err != nil {
		return Live{}, err
	}
	procs, err := readInt(mem, bias+at.Procs)
	switch {
	case err != nil:
		return Live{}, err
	case procs == 0:
		return Live{}, errStarting
	case procs < 0 || procs > maxProcs:
		return Live{}, fmt.Errorf("%w: what was found reads %d", ErrUndecodable, procs)
	}
	live := Live{Program: r.Program(), Procs: int(procs), Source: at.Source}
	if at.NumCPU != 0 {
		cpus, err := readInt(mem, bias+at.NumCPU)
		if err != nil {
			return Live{}, err
		}
		if cpus > 0 && cpus <= maxProcs {
			live.NumCPU = int(cpus)
		}
	}
	if at.Sched != 0 {
		from, to := r.layout.span()
		b := make([]byte, to-from)
		if _, err := mem.ReadAt(b, int64(bias+at.Sched+from)); err == nil {
			live.Custom, live.Latency, _ = r.layout.parse(b, live.Procs, int64(procstat.Monotonic()))
		}
	}
	return live, nil
}

// Code is what the code of the program that a process runs tells of who may set its GOMAXPROCS. The
// whole code of a file is read, once.
func (c *Cache) Code(pid int) Code {
	f, exe, err := c.open(context.Background(), pid)
	if err != nil { // also of a process whose Go code is mapped
		return Code{}
	}
	f.calling.Do(func() {
		r, err := openProc(pid, "exe")
		if err != nil {
			return
		}
		defer r.Close()
		ctx, cancel := context.WithTimeout(context.Background(), maxTime)
		defer cancel()
		m, err := readImage(&budget{r: r, left: maxRead, ctx: ctx})
		if err == nil && unchanged(pid, exe) == nil {
			f.sets = m.code()
		}
	})
	return f.sets
}

// MemoryLimit reads the GOMEMLIMIT that a process runs with, whether its environment or
// its code has set it: math.MaxInt64 for none. It is not known of a program without a
// symbol table.
func (c *Cache) MemoryLimit(pid int) (limit int64, err error) {
	defer explained(pid, &err)
	f, mem, bias, err := c.memory(pid)
	if err != nil {
		return 0, err
	}
	defer mem.Close()
	if _, err := f.live(); err != nil { // a runtime that has not started has set no limit yet
		return 0, err
	}
	if f.memoryLimit == 0 || f.layout.size == 0 {
		return 0, errNoMemoryLimit
	}
	var b [8]byte
	if _, err := mem.ReadAt(b[:], int64(bias+f.memoryLimit)); err != nil {
		return 0, err
	}
	n := int64(binary.LittleEndian.Uint64(b[:]))
	if n < 0 {
		return 0, fmt.Errorf("%w: what was found reads %d", errNoMemoryLimit, n)
	}
	return n, nil
}

// Text reads the code of a process, and keeps its memory open. Where the program is too old
// to have what is looked for, or is built for another machine, is the caller's to judge.
func (c *Cache) Text(pid int) (x *Text, err error) {
	defer explained(pid, &err)
	f, mem, bias, err := c.memory(pid)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			mem.Close()
		}
	}()
	if f.mapped != nil {
		return nil, fmt.Errorf("%w by its executable: its Go code is in %s", ErrNotGo, f.mapped.name())
	}
	exe, err := openProc(pid, "exe")
	if err != nil {
		return nil, err
	}
	defer exe.Close()
	m, err := readImage(&budget{r: exe, left: maxRead})
	if err != nil {
		return nil, err
	}
	t, err := m.anyPclntab()
	if err != nil {
		return nil, err
	}
	if x, err = readText(mem, m, bias, t); err != nil {
		return nil, err
	}
	x.Program, x.mem = f.Program(), mem
	if at, err := f.locate(mem, bias); err == nil && at.Sched != 0 && f.layout.custom != 0 {
		x.Custom = at.Sched + f.layout.custom + bias
	}
	return x, nil
}

// Marked is where a mark is in the data of a process: in what the linker filled of its
// writable segments, and at a multiple of 8.
func (c *Cache) Marked(pid int, mark []byte) (at []uint64, err error) {
	defer explained(pid, &err)
	f, mem, bias, err := c.memory(pid)
	if err != nil {
		return nil, err
	}
	defer mem.Close()
	r := &budget{r: mem, left: maxMemory}
	for _, p := range f.image.segments {
		if elf.ProgFlag(p.Flags)&elf.PF_W == 0 {
			continue
		}
		err := scan(r, int64(p.Vaddr+bias), int64(p.Filesz), len(mark)-1, func(piece []byte, from int64) bool {
			for i := range places(piece, mark) {
				if addr := uint64(from) + uint64(i); addr%8 == 0 && len(at) < mostMarks {
					at = append(at, addr)
				}
			}
			return len(at) < mostMarks
		})
		if err != nil {
			return nil, err
		}
	}
	return at, nil
}

// explained gives the error of a call its meaning, and the process.
func explained(pid int, err *error) {
	if *err != nil {
		*err = fmt.Errorf("process %d: %w", pid, explain(pid, *err))
	}
}

func explain(pid int, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		if file := (*fs.PathError)(nil); errors.As(err, &file) {
			return fmt.Errorf("%w: %s%s", ErrPermission, file.Path, hint(pid))
		}
		return fmt.Errorf("%w: %w%s", ErrPermission, err, hint(pid))
	case errors.Is(err, syscall.ESRCH), errors.Is(err, io.EOF):
		// mem reads as empty once the process has ended.
		return ErrGone
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errStarting):
		if procstat.HasEnded(pid) {
			return ErrGone
		}
		if !errors.Is(err, errStarting) {
			return fmt.Errorf("%w (a kernel thread)", ErrNotGo)
		}
	}
	return err
}

func procPath(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}

func openProc(pid int, name string) (*os.File, error) { return os.Open(procPath(pid, name)) }

// keyOf is the identity of the file that a process runs.
func keyOf(pid int) (fileKey, error) { return keyOfInfo(os.Stat(procPath(pid, "exe"))) }

// A collector that ends a cycle just then is read again.
const (
	gcTries = 4
	gcPause = 200 * time.Microsecond
)

// GC reads what the garbage collector of a process has done. It is not known of a
// program in which it has not run yet, until it is of another process of the same file;
// nor of Go below 1.19, and of that no times.
func (c *Cache) GC(pid int) (gc GC, err error) {
	defer explained(pid, &err)
	f, mem, bias, err := c.memory(pid)
	if err != nil {
		return GC{}, err
	}
	defer mem.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.gc.begin()()
	var last *GC
	for try := range gcTries {
		if try > 0 {
			time.Sleep(gcPause)
		}
		now := clocks{unix: uint64(time.Now().UnixNano()), monotonic: uint64(procstat.Monotonic())}
		if f.gc.memstats == 0 {
			if err = f.gc.find(mem, f.image, bias, now); err != nil {
				return GC{}, err
			}
		}
		g, whole := f.gc.read(mem, f.image, bias, now)
		if whole {
			return *g, nil
		}
		if g != nil {
			last = g
		}
	}
	if last == nil {
		return GC{}, errNoGC
	}
	return *last, nil
}
