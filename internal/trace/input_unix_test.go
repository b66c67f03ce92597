//go:build unix

package trace

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/procfit/procfit/test/must"
)

// A read that blocks ends with the context; what came before it is kept.
func TestInputEndsWithTheContext(t *testing.T) {
	pipe, w, err := os.Pipe()
	must.OK(t, err)
	defer pipe.Close()
	defer w.Close()
	fifo := filepath.Join(t.TempDir(), "fifo")
	must.OK(t, syscall.Mkfifo(fifo, 0o600))
	waiting := must.Get(Open(fifo))(t) // without a writer
	defer waiting.Close()
	for name, tc := range map[string]struct {
		r    *os.File
		want string
	}{"a pipe": {pipe, "before"}, "a pipe that nobody writes": {waiting, ""}} {
		ctx, cancel := context.WithCancel(t.Context())
		must.Get(io.WriteString(w, tc.want))(t)
		in := newInput(ctx, tc.r)
		soon := func() { time.AfterFunc(20*time.Millisecond, cancel) } // when a read waits for more
		if tc.want == "" {
			soon()
		}
		got, err := io.ReadAll(io.TeeReader(in, onWrite(soon)))
		if err != nil || string(got) != tc.want || ctx.Err() == nil {
			t.Errorf("%s: %q, %v, the context: %v", name, got, err, ctx.Err())
		}
		in.Close()
		cancel()
	}
}

// once reports an error once, as a socket does, and then the end.
type once struct{ text, err string }

func (r *once) Read(p []byte) (int, error) {
	n, err := copy(p, r.text), r.err
	switch {
	case n > 0:
		r.text = r.text[n:]
		return n, nil
	case err != "":
		r.err = ""
		return 0, errors.New(err)
	}
	return 0, io.EOF
}

// The first bytes, by which a log is recognized, can be all that there is before an error.
func TestErrorWithinTheFirstBytes(t *testing.T) {
	for _, text := range []string{"", "short", "more than sixteen bytes\n"} {
		if err := ReadLog(t.Context(), &once{text, "the disk is gone"}, Source{Kind: FromStdin}).Err(); err == nil || err.Error() != "the disk is gone" {
			t.Errorf("after %q: %v", text, err)
		}
	}
}

// onWrite is called for each write.
type onWrite func()

func (f onWrite) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// A pipe by its name is read from when its writer comes until it leaves.
func TestInputReadsPipes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	must.OK(t, syscall.Mkfifo(name, 0o600))
	f := must.Get(Open(name))(t)
	defer f.Close()
	text := strings.Repeat("0123456789", 50_000)
	go func() {
		time.Sleep(50 * time.Millisecond)
		if err := os.WriteFile(name, []byte(text), 0); err != nil {
			t.Error(err)
		}
	}()
	in := newInput(t.Context(), f)
	defer in.Close()
	if got, err := io.ReadAll(in); err != nil || string(got) != text {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(text))
	}
}

func TestInputReadsAll(t *testing.T) {
	text := strings.Repeat("0123456789", 100_000)
	file := filepath.Join(t.TempDir(), "file")
	must.Write(t, file, text)
	onDisk := must.Get(Open(file))(t)
	defer onDisk.Close()
	for name, r := range map[string]io.Reader{"halves": iotest.HalfReader(strings.NewReader(text)), "a file": onDisk} {
		in := newInput(t.Context(), r)
		if got, err := io.ReadAll(in); err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(text))
		}
		in.Close()
	}
	null := must.Get(Open(os.DevNull))(t)
	defer null.Close()
	if got, err := io.ReadAll(newInput(t.Context(), null)); err != nil || len(got) > 0 {
		t.Errorf("%s: %q, %v", os.DevNull, got, err)
	}
	if _, err := io.ReadAll(newInput(t.Context(), iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(text))))); err != iotest.ErrTimeout {
		t.Errorf("error %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "it is a directory; expected a file") {
		t.Errorf("a directory: %v", err)
	}
}
