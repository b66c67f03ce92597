package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/muesli/cancelreader"
)

// Open opens a file to read. A named pipe is not waited for here: its reader is,
// when it is read, which can be given up.
func Open(path string) (f *os.File, err error) {
	info, err := os.Stat(path)
	flags := os.O_RDONLY
	switch {
	case err != nil:
	case info.IsDir():
		err = errors.New("it is a directory; expected a file")
	case info.Mode()&os.ModeNamedPipe != 0:
		flags |= syscall.O_NONBLOCK
	}
	if err == nil {
		f, err = os.OpenFile(path, flags, 0)
	}
	if named := (*fs.PathError)(nil); errors.As(err, &named) {
		err = named.Err
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the trace %s: %w", path, err)
	}
	return f, nil
}

// input ends with the context, though a read of what it reads may block: to what
// was read until then, that is the end.
type input struct {
	ctx    context.Context
	r      io.Reader
	cancel cancelreader.CancelReader // nil where no read blocks for long
	stop   func() bool
	err    error // of the last read: a socket reports one once, and who looks ahead may not see it
}

func newInput(ctx context.Context, r io.Reader) *input {
	in := &input{ctx: ctx, r: r}
	if info := stat(r); info != nil && !info.Mode().IsRegular() { // its end may be far off
		// A file that cannot be waited for (epoll(7): EPERM) does not block.
		if c, err := cancelreader.NewReader(r); err == nil {
			in.r, in.cancel = c, c
			in.stop = context.AfterFunc(ctx, func() { c.Cancel() })
		}
	}
	return in
}

// stat is nil for what is not a file.
func stat(r io.Reader) fs.FileInfo {
	f, ok := r.(*os.File)
	if !ok {
		return nil
	}
	info, _ := f.Stat() // nil with an error
	return info
}

func (i *input) Read(p []byte) (int, error) {
	if i.err != nil {
		return 0, i.err
	}
	if i.ctx.Err() != nil {
		return 0, io.EOF
	}
	var n int
	if n, i.err = i.r.Read(p); errors.Is(i.err, cancelreader.ErrCanceled) {
		i.err = io.EOF
	}
	return n, i.err
}

// Close leaves open what is read.
func (i *input) Close() error {
	if i.cancel == nil {
		return nil
	}
	if !i.stop() {
		// It is being cancelled, on a goroutine that uses what would be closed; a
		// process that is interrupted can leave that to its end.
		return nil
	}
	return i.cancel.Close()
}
