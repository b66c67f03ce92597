package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/schedtrace"
)

// traceLog reads a log of a file, or standard input as "-".
func (o *traceOptions) traceLog(ctx context.Context, io stdio, path string) (*traced, error) {
	t := &traced{Source: traceSource{Kind: "stdin"}, hint: "run the program with GODEBUG=schedtrace=1000 and keep its standard error"}
	in := io.in
	if path != "-" {
		f, err := openFile(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if f.mode.IsRegular() && f.mode&0o111 != 0 {
			t.hint = "it is executable; to run it write procfit trace -- " + path
		}
		in, t.Source = f, traceSource{Kind: "file", Path: path}
	}
	line := newLiveLine(io.err)
	defer line.finish()
	first := &head{r: &interruptible{ctx: ctx, r: in}}
	t.Summary = collectTrace(schedtrace.NewScanner(first), line, "read", new(atomic.Bool))
	if bytes.HasPrefix(first.seen, []byte("go 1.")) && bytes.Contains(first.seen, []byte(" trace\x00")) {
		t.hint = "it is a Go execution trace: procfit trace --exec " + path
	}
	if ctx.Err() == nil && t.Summary.ReadError != "" {
		t.readErr = errors.New(t.Summary.ReadError)
	}
	return t, nil
}

// input is a file to read. A FIFO is opened by the first read, as that waits for a
// writer: a read can be given up (see interruptible), an open cannot.
type input struct {
	path string
	mode os.FileMode

	mu   sync.Mutex
	file *os.File
}

// openFile opens what can be read.
func openFile(path string) (*input, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	in := &input{path: path, mode: info.Mode()}
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory: want a file", path)
	case info.Mode()&os.ModeNamedPipe != 0:
		return in, nil
	}
	in.file, err = os.Open(path)
	return in, err
}

func (i *input) Read(p []byte) (int, error) {
	f := i.opened()
	if f == nil {
		var err error
		if f, err = os.Open(i.path); err != nil {
			return 0, err
		}
		i.mu.Lock()
		i.file = f
		i.mu.Unlock()
	}
	return f.Read(p)
}

func (i *input) opened() *os.File {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.file
}

// Close closes what was opened.
func (i *input) Close() error {
	if f := i.opened(); f != nil {
		return f.Close()
	}
	return nil
}

// collectTrace reads all samples, and tells on the line where it stands. verb says
// what is done with the input. Samples that come when it is over are left out.
func collectTrace(sc *schedtrace.Scanner, line *liveLine, verb string, over *atomic.Bool) *schedtrace.Summary {
	began := time.Now()
	a := schedtrace.NewAnalysis()
	var leftOut int64
	for {
		before := over.Load()
		if !sc.Scan() {
			break
		}
		s := sc.Sample()
		// One with details was written before the scan that gives it out.
		if before || s.Detail == nil && over.Load() {
			leftOut++
			continue
		}
		a.Add(s)
		if line.due() {
			line.set(liveText(verb, time.Since(began), sc.Counts(), s))
		}
	}
	t := a.Summary(sc)
	t.Run.LeftOut = leftOut
	return t
}

// head keeps the first bytes that are read.
type head struct {
	r    io.Reader
	seen []byte
}

func (h *head) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	if room := 16 - len(h.seen); room > 0 {
		h.seen = append(h.seen, p[:min(n, room)]...)
	}
	return n, err
}

// interruptible ends with the context, though a read of what it reads may block:
// to what was read until then, that is the end.
type interruptible struct {
	ctx   context.Context
	r     io.Reader
	reads chan read
	more  chan []byte // buffers to read into
	held  []byte      // read and not yet taken
	whole []byte      // the buffer that it lies in
	err   error
}

type read struct {
	buf []byte
	n   int
	err error
}

const readSize = 256 << 10

func (i *interruptible) Read(p []byte) (int, error) {
	if i.reads == nil {
		i.reads, i.more = make(chan read, 1), make(chan []byte, 2)
		i.more <- make([]byte, readSize)
		i.more <- make([]byte, readSize)
		go i.fill()
	}
	for len(i.held) == 0 {
		if i.err != nil {
			return 0, i.err
		}
		if i.whole != nil {
			i.more <- i.whole
			i.whole = nil
		}
		select {
		case <-i.ctx.Done():
			return 0, io.EOF
		case r := <-i.reads:
			i.whole, i.held, i.err = r.buf, r.buf[:r.n], r.err
		}
	}
	n := copy(p, i.held)
	i.held = i.held[n:]
	return n, nil
}

// fill reads ahead, by two buffers at most. It may outlive the reading by one
// read that blocks.
func (i *interruptible) fill() {
	for {
		var buf []byte
		select {
		case <-i.ctx.Done():
			return
		case buf = <-i.more:
		}
		n, err := i.r.Read(buf)
		select {
		case <-i.ctx.Done():
			return
		case i.reads <- read{buf, n, err}:
		}
		if err != nil {
			return
		}
	}
}
