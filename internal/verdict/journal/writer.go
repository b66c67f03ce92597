package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/procfit/procfit/internal/host/folder"
)

// Name is the journal's file in a results folder.
const Name = "journal.jsonl"

// ErrHeld is that another procfit writes the folder.
var ErrHeld = errors.New("is being written by another procfit")

// Writer appends trials to a journal that it holds locked, and knows what is in it.
type Writer struct {
	dir   *folder.Dir
	f     *os.File
	c     *Contents           // as a reader of the file has them
	size  int64               // bytes up to the end of the last whole line
	quote func(string) string // what programs and servers said, as the journal may have it
}

// Create makes the journal of a folder with the header, which it gives its schema
// and kind. Where there is one already, os.ErrExist is in the chain, unless that is
// without a whole header: then it is started again. The folder must stay open. quote takes
// the credentials out of what programs and servers said.
func Create(dir *folder.Dir, h Header, quote func(string) string) (*Writer, error) {
	h.Schema, h.Kind = Schema, KindHeader
	if err := absent(dir); err != nil {
		return nil, err
	}
	f, err := dir.Create(Name)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, f: f, c: newContents(), quote: quote}
	if err = lock(f); err == nil {
		err = w.appendLine(h)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return w, syncDir(dir.Path())
}

// absent is nil where no journal would be lost by beginning one.
func absent(dir *folder.Dir) error {
	f, err := dir.OpenFile(Name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lock(f); err != nil {
		return err
	}
	if _, err := Read(f, f.Name()); !errors.Is(err, ErrEmpty) {
		return &os.PathError{Op: "create", Path: f.Name(), Err: os.ErrExist}
	}
	return nil
}

// LockDirectory takes a directory of several journals for this process until what
// it returns is closed. Nothing is written for it.
func LockDirectory(dir string) (io.Closer, error) {
	root, err := folder.OpenRoot(dir) // a pipe would be waited for
	if err != nil {
		return nil, err
	}
	root.Close()
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

// Open opens the journal of a folder to continue with it, in the schema that it has:
// it reads what is there, cuts an incomplete last line off, and locks the file against a
// second procfit. The folder must stay open. quote is as for Create.
func Open(dir *folder.Dir, quote func(string) string) (*Writer, error) {
	f, err := dir.OpenFile(Name)
	if err != nil {
		return nil, err
	}
	w, err := open(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	w.dir, w.quote = dir, quote
	return w, nil
}

func open(f *os.File) (*Writer, error) {
	if err := lock(f); err != nil {
		return nil, err
	}
	c, err := read(f, f.Name())
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, c: c, size: c.size}
	if c.Torn > 0 {
		if err := f.Truncate(w.size); err != nil {
			return nil, fmt.Errorf("remove the incomplete last line: %w", err)
		}
	}
	if c.unended {
		if err := w.write([]byte("\n")); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Contents are what a reader of the file has, from before and appended since.
func (w *Writer) Contents() *Contents { return w.c.trimmed() }

// ReadDirectory reads the journal of a results folder without locking it, so that a report can be
// made while a run continues.
func ReadDirectory(dir string) (*Contents, error) {
	path := filepath.Join(dir, Name)
	f, err := folder.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// ErrRemoved is in the chain of the error of a writer whose file is in its folder
// no more.
var ErrRemoved = errors.New("the journal was removed, or replaced, while it was being written")

// Append writes a trial as one line and syncs it to the disk. Where that fails
// (a full disk, say) nothing of the line stays, and what was there before is
// whole.
func (w *Writer) Append(t Trial) error {
	t.Kind = KindTrial
	t.InvalidReason = w.quote(t.InvalidReason)
	t.Warnings = append([]Warning{}, t.Warnings...)
	for i := range t.Warnings {
		t.Warnings[i].Detail = w.quote(t.Warnings[i].Detail)
	}
	if t.ObservedProcs == nil {
		t.ObservedProcs = []*int{}
	}
	if t.Phases == nil {
		t.Phases = []Phase{}
	}
	return w.appendHeld(t)
}

// AppendBlock writes what a block will run, before it does, as Append writes
// a trial.
func (w *Writer) AppendBlock(b Block) error {
	b.Kind = KindBlock
	return w.appendHeld(b)
}

// AppendBudget writes what a race may take from here on.
func (w *Writer) AppendBudget(b Budget) error { return w.appendHeld(b) }

// AppendEnd writes the last line of a canary, or of a live experiment.
func (w *Writer) AppendEnd(e End) error {
	e.Kind, e.Reason = KindEnd, w.quote(e.Reason)
	if e.Harm != nil {
		e.Harm = new(*e.Harm)
		e.Harm.Detail = w.quote(e.Harm.Detail)
	}
	return w.appendHeld(e)
}

// appendHeld is appendLine to a file that is in its folder: an unlinked one takes all
// that is written, and is gone in the end.
func (w *Writer) appendHeld(v any) error {
	if !w.dir.Holds(Name, w.f) {
		return fmt.Errorf("%s: %w", w.f.Name(), ErrRemoved)
	}
	return w.appendLine(v)
}

func (w *Writer) appendLine(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", w.f.Name(), err)
	}
	if err := w.write(append(line, '\n')); err != nil {
		return err
	}
	return w.c.add(line)
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
