package goproc

import (
	"errors"
	"io"
	"sync"
)

// Source is how the live value was found.
type Source string

const (
	Symbol  Source = "symbol"  // at the address that the symbol table gives
	Decoded Source = "decoded" // at the address that the machine code reads
)

// Live is a running Go program.
type Live struct {
	Program
	Procs  int // GOMAXPROCS now
	Source Source
}

// maxEntries bounds a Cache; above it the cache starts anew.
const maxEntries = 1024

// Cache keeps what was found in program files, by device, inode, size and
// modification time. The zero value is ready; it is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	files map[fileKey]*file
}

type fileKey struct {
	dev, ino uint64
	size     int64
	mtime    int64 // nanoseconds
}

// file is a program's analysis. What needs no process is done once; the address
// in a stripped program is found with the first process that can be read.
type file struct {
	once    sync.Once
	program Program
	image   *image
	table   pclntab
	code    map[string]span // of the functions that vote; nil when there is a symbol
	err     error           // why the file cannot be read: for good

	mu   sync.Mutex
	addr uint64 // of runtime.gomaxprocs, before the load bias; 0: not yet known
	bad  error  // why it will not be found
	from Source
}

func (c *Cache) file(key fileKey) *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.files[key]
	if !ok {
		if c.files == nil || len(c.files) >= maxEntries {
			c.files = make(map[fileKey]*file)
		}
		f = new(file)
		c.files[key] = f
	}
	return f
}

// read does what needs only the file.
func (f *file) read(r io.ReaderAt) {
	f.once.Do(func() {
		f.program, f.err = Read(r)
		if f.err != nil {
			return
		}
		b := &budget{r: r, left: maxRead}
		if f.bad = f.analyse(b); f.image != nil {
			f.image.r = nil // the caller's, closed soon
		}
	})
}

func (f *file) analyse(r io.ReaderAt) (err error) {
	if f.image, err = readImage(r); err != nil {
		return err
	}
	addr, ok, err := f.image.symbol("runtime.gomaxprocs", 4)
	if err != nil {
		return err
	}
	if ok {
		f.addr, f.from = addr, Symbol
		return nil
	}
	if _, err := loadsOf(f.image.machine); err != nil {
		return err
	}
	if f.table, err = f.image.findPclntab(); err != nil {
		return err
	}
	f.code, err = f.table.functions(r, "runtime.", voters())
	return err
}

// address returns where runtime.gomaxprocs is, before the load bias.
func (f *file) address(mem io.ReaderAt, bias uint64) (uint64, Source, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.addr == 0 && f.bad == nil {
		addr, err := decode(&budget{r: mem, left: maxRead}, f.image, bias, f.table, f.code)
		if errors.Is(err, ErrUndecodable) {
			f.bad = err
		}
		if err != nil {
			return 0, "", err
		}
		f.addr, f.from = addr, Decoded
	}
	return f.addr, f.from, f.bad
}
