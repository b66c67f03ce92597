package goproc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Source is how the live value was found.
type Source string

const (
	Symbol  Source = "symbol"  // at the address that the symbol table gives
	Decoded Source = "decoded" // at the address that the machine code reads
)

type Live struct {
	Program
	Procs  int // GOMAXPROCS now
	Source Source
	// NumCPU is what the runtime counted when it started: runtime.NumCPU. 0: not
	// known.
	NumCPU int
	// Custom reports whether GOMAXPROCS was set, by the environment or by the code, and
	// the runtime will not adapt it. nil: not known, as always below Go 1.25.
	Custom *bool
	// Latency is how long goroutines waited to run since the start. nil: not known.
	Latency *Latency
}

// The bounds of a Cache; above them it starts again. Build info is what a file can
// make large: parsed it takes up to 12 times its text.
const (
	maxEntries = 1024
	maxHeld    = 8 << 20 // bytes of the texts of all build info
)

// Cache keeps what was found in program files, by device, inode, size and
// modification time. The zero value is ready; it is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	files map[fileKey]*file
	held  int // see maxHeld

	// others are files known not to be Go's, by their mappedID or fileKey: a machine maps the same few
	// hundred libraries into all its processes.
	others map[any]bool
	since  time.Time // others are known
}

// mappedID is a file, as /proc/PID/maps names it.
type mappedID struct {
	dev string
	ino uint64
}

type fileKey struct {
	dev, ino uint64
	size     int64
	mtime    int64 // nanoseconds
}

// file is a program's analysis. What needs no process is done once.
type file struct {
	reading sync.Mutex  // by one at a time
	ready   atomic.Bool // it has been
	slow    vain        // readings that took too long
	program Program
	image   *image
	layout  layout // of runtime.sched; zero where it is not known
	table   pclntab
	code    map[string]span // of the functions to decode; nil when there are symbols
	err     error           // why the file cannot be read: for good

	mu       sync.Mutex
	at       Addresses // Procs is 0 while they are not known
	bad      error     // why they will not be found
	starting error     // why they were not found yet
	vain     vain      // searches for them
	gc       gcAddresses

	memoryLimit uint64 // address of GOMEMLIMIT, before the load bias; 0: not known

	calling sync.Once // reads the code
	sets    Code
}

func (c *Cache) file(key fileKey) *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.files[key]
	if !ok {
		if c.files == nil || len(c.files) >= maxEntries || c.held > maxHeld {
			c.files, c.held = make(map[fileKey]*file), 0
		}
		f = new(file)
		c.files[key] = f
	}
	return f
}

// known is the file if it has been read, else nil.
func (c *Cache) known(key fileKey) *file {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.files[key]; f != nil && f.ready.Load() {
		return f
	}
	return nil
}

// read does what needs only the file, if nobody has, and tells how much the file's
// build info takes. The error says why the file cannot be read. Where ctx ends before
// it is read, that is ErrLate, and a later call starts again; if not too soon, since
// then it would take most of everyone's time. So does a call after one in which the system
// could not read it.
func (f *file) read(ctx context.Context, r io.ReaderAt, most int64) (held int, err error) {
	f.reading.Lock()
	defer f.reading.Unlock()
	if f.ready.Load() {
		return 0, f.err
	}
	deadline, hurried := ctx.Deadline()
	if hurried && f.slow.resting() {
		return 0, errSlow
	}
	began := time.Now()
	b := &budget{r: r, left: most, ctx: ctx}
	if f.program, f.image, f.err = readProgram(b); f.err == nil {
		held = f.image.info
		f.bad = f.analyse(b)
	} else if errors.Is(f.err, ErrNotGo) {
		head := make([]byte, 512)
		if n, _ := r.ReadAt(head, 0); bytes.Contains(head[:n], []byte("UPX!")) {
			f.err = fmt.Errorf("%w: it is packed by UPX, and may be Go's or not", ErrUndecodable)
		}
	}
	switch {
	case b.late && hurried && !time.Now().Before(deadline):
		f.slow.took(time.Since(began))
		return 0, errSlow
	case b.late:
		return 0, ErrLate
	case b.broken != nil:
		return 0, b.broken
	}
	f.ready.Store(true)
	return held, f.err
}

var errSlow = fmt.Errorf("%w within %v", ErrLate, maxTime)
