package check

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"sync"

	"github.com/procfit/procfit/internal/host/folder"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// File is a file to be checked, or what came on standard input.
type File struct {
	Path  string // as it is shown, with slashes
	Named bool   // by the user, and not found in a folder
	Size  int64
	Mode  fs.FileMode

	at   string // where a link leads; "": it is none
	data []byte // what stands for its content; nil: it is read
	once sync.Once
	head []byte
}

// NewFile is what is checked as a file of that path, without there being one.
func NewFile(path string, data []byte) *File {
	return &File{Path: path, Size: int64(len(data)), data: data}
}

// headBytes are enough to tell a kind of file: a tar archive shows itself at 257.
const headBytes = 512

func (f *File) Base() string { return path.Base(f.Path) }

// Head is its first 512 bytes, or fewer; if it cannot be read, reading it later tells why.
func (f *File) Head() []byte {
	f.once.Do(func() {
		r, err := f.Open()
		if err != nil {
			return
		}
		defer r.Close()
		b := make([]byte, headBytes)
		n, _ := io.ReadFull(r, b)
		f.head = b[:n]
	})
	return f.head
}

// Reader reads a file from its beginning, and anywhere in it.
type Reader interface {
	io.ReadCloser
	io.ReaderAt
}

type inMemory struct {
	*bytes.Reader
	io.Closer
}

// Open is the one way in which check opens what it reads: what a user named has to be a regular
// file, and what was found, where it was found.
func (f *File) Open() (Reader, error) {
	switch {
	case f.data != nil || f.Path == Stdin:
		return inMemory{bytes.NewReader(f.data), io.NopCloser(nil)}, nil
	case f.Named:
		return folder.OpenRegular(filepath.FromSlash(f.Path))
	}
	return folder.OpenFound(filepath.FromSlash(cmp.Or(f.at, f.Path)))
}

// Read is all of it, and an error where that is more than most bytes.
func (f *File) Read(most int64) ([]byte, error) {
	if f.Size > most {
		return nil, tooLarge(f.Size, most)
	}
	r, err := f.Open()
	if err != nil {
		return nil, Cause(err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, Cause(err)
	}
	if int64(len(b)) > most { // it has grown, or its size is not told
		return nil, tooLarge(int64(len(b)), most)
	}
	return b, nil
}

func tooLarge(size, most int64) error {
	return fmt.Errorf("it has %d bytes or more, and procfit reads at most %d", size, most)
}

// Cause leaves the path out, which is next to the message anyway.
func Cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
