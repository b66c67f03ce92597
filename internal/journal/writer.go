package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Writer appends trials to a journal that it holds locked.
type Writer struct {
	f    *os.File
	size int64 // bytes up to the end of the last whole line
}

// Create makes a new journal at path with the header, which it gives its schema
// and kind. The file must not exist, or be empty; else os.ErrExist is in the chain.
func Create(path string, h Header) (*Writer, error) {
	h.Schema, h.Kind = Schema, KindHeader
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f}
	if err := w.begin(h); err != nil {
		f.Close()
		return nil, err
	}
	return w, syncDir(filepath.Dir(path))
}

// begin writes the header. What cannot be written leaves an empty file.
func (w *Writer) begin(h Header) error {
	if err := lock(w.f); err != nil {
		return err
	}
	info, err := w.f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > 0 {
		return &os.PathError{Op: "create", Path: w.f.Name(), Err: os.ErrExist}
	}
	return w.appendLine(h)
}

// LockDirectory takes a directory of several journals for this process until what
// it returns is closed. Nothing is written for it.
func LockDirectory(dir string) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Open opens a journal to go on with it: it reads what is there, cuts a torn
// last line off, and locks the file against a second procfit.
func Open(path string) (*Writer, *Contents, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	w, c, err := open(f)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return w, c, nil
}

func open(f *os.File) (*Writer, *Contents, error) {
	if err := lock(f); err != nil {
		return nil, nil, err
	}
	c, err := Read(f, f.Name())
	if err != nil {
		return nil, nil, err
	}
	w := &Writer{f: f, size: c.size}
	if c.Torn > 0 {
		if err := f.Truncate(w.size); err != nil {
			return nil, nil, fmt.Errorf("cut the torn last line off: %w", err)
		}
	}
	if c.unended {
		if err := w.write([]byte("\n")); err != nil {
			return nil, nil, err
		}
	}
	return w, c, nil
}

// ReadFile reads the journal at path without locking it, so that a report can be
// made while a run goes on.
func ReadFile(path string) (*Contents, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Append writes a trial as one line and syncs it to the disk. Where that fails
// (a full disk, say) nothing of the line stays, and what was there before is
// whole.
func (w *Writer) Append(t Trial) error {
	t.Kind = KindTrial
	if t.Warnings == nil {
		t.Warnings = []string{}
	}
	if t.ObservedProcs == nil {
		t.ObservedProcs = []*int{}
	}
	if t.Phases == nil {
		t.Phases = []Phase{}
	}
	return w.appendLine(t)
}

func (w *Writer) appendLine(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", w.f.Name(), err)
	}
	return w.write(append(line, '\n'))
}

func (w *Writer) write(b []byte) error {
	_, err := w.f.WriteAt(b, w.size)
	if err == nil {
		err = w.f.Sync()
	}
	if err != nil {
		return errors.Join(err, w.f.Truncate(w.size))
	}
	w.size += int64(len(b))
	return nil
}

// Close ends the writing and gives the lock up.
func (w *Writer) Close() error { return w.f.Close() }

// syncDir makes the new file's name durable. Some file systems cannot sync a
// directory, which loses nothing that a journal promises.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}
