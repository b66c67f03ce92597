package canary

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Writer appends to a journal.
type Writer struct{ f *os.File }

// Create makes the journal of a folder. One that is there is not gone on with:
// os.ErrExist is in the chain.
func Create(dir *folder.Dir, h Header) (*Writer, error) {
	path := filepath.Join(dir.Path(), Name)
	if _, err := os.Lstat(path); err == nil {
		return nil, &os.PathError{Op: "create", Path: path, Err: os.ErrExist}
	}
	f, err := dir.Create(Name)
	if err != nil {
		return nil, err
	}
	h.Schema, h.Kind = Schema, kindHeader
	w := &Writer{f}
	if err := w.append(h); err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

// Slice writes a slice as one line and syncs it to the disk.
func (w *Writer) Slice(s Slice) error {
	s.Kind = kindSlice
	return w.append(s)
}

// End writes the last line.
func (w *Writer) End(e End) error {
	e.Kind = kindEnd
	return w.append(e)
}

func (w *Writer) append(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = w.f.Write(append(line, '\n'))
	}
	if err == nil {
		err = w.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.f.Name(), err)
	}
	return nil
}

// Close ends the writing.
func (w *Writer) Close() error { return w.f.Close() }

// Contents is a journal as read.
type Contents struct {
	Header Header
	Slices []Slice
	End    *End // nil: its procfit was killed, or is still at work
	Torn   int  // bytes of an unfinished last line, which is left out
}

// ReadDirectory reads the journal of a results folder.
func ReadDirectory(dir string) (*Contents, error) {
	path := filepath.Join(dir, Name)
	f, err := folder.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a journal. name is for errors, which say name:line. A last line that is no
// whole record is left out; lines of an unknown kind are passed over.
func Read(r io.Reader, name string) (*Contents, error) {
	in, c := journal.NewLines(r), &Contents{}
	for n := 1; ; n++ {
		line, err := in.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		last := err != nil
		if last && len(line) == 0 {
			if n == 1 {
				return nil, fmt.Errorf("%s: it is empty", name)
			}
			return c, nil
		}
		switch err := c.add(line, n); {
		case err != nil && last && n > 1:
			c.Torn = len(line)
			return c, nil
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
}

func (c *Contents) add(line []byte, n int) error {
	var is struct{ Schema, Kind string }
	if err := json.Unmarshal(line, &is); err != nil {
		return fmt.Errorf("not a line of a canary's journal: %q: %w", phrase.Clip(phrase.Clean(string(bytes.TrimSpace(line))), 60), err)
	}
	if n == 1 {
		if is.Schema != Schema || is.Kind != kindHeader {
			return fmt.Errorf("the first line is not a header of schema %q (schema %q, kind %q)", Schema, is.Schema, is.Kind)
		}
		if err := json.Unmarshal(line, &c.Header); err != nil {
			return err
		}
		return c.Header.check()
	}
	switch is.Kind {
	case kindSlice:
		var s Slice
		if err := json.Unmarshal(line, &s); err != nil {
			return err
		}
		c.Slices = append(c.Slices, s)
	case kindEnd:
		return json.Unmarshal(line, &c.End)
	}
	return nil
}

// check is for a header that anybody may have written.
func (h Header) check() error {
	if !(h.SliceSeconds >= 1 && h.DurationSeconds >= h.SliceSeconds && h.DurationSeconds < 1e7 && h.WarmupSeconds >= 0 && h.WarmupSeconds < 1e7) {
		return fmt.Errorf("the header has slices of %g s, of which rounds of %g s cannot be", h.SliceSeconds, h.DurationSeconds)
	}
	return nil
}
