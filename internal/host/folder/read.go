package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/procfit/procfit/internal/show/number"
)

// What a user or another program names may be anything: a pipe that nobody writes to, a
// device without an end, a file of a terabyte. So it is opened without waiting, it is
// what it should be or refused, and no more of it is read than what it can sensibly have.

// OpenRegular opens a file for reading, wherever it lies, if it is a regular one: a
// pipe would be waited for, a device read without end.
func OpenRegular(path string) (*os.File, error) { return openRegular(path, nonBlocking) }

func openRegular(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path, info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func notRegular(path string, mode fs.FileMode) error {
	return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a regular file (" + kind(mode) + ")")}
}

// OpenRoot opens a folder whose files are to be read, and nothing outside of it.
func OpenRoot(path string) (*os.Root, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a directory (" + kind(info.Mode()) + ")")}
	}
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// ReadRegular reads a regular file up to a number of bytes.
func ReadRegular(path string, most int64) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readFile(f, most)
}

func readFile(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err == nil && info.Size() > most {
		err = tooLarge(most)
	}
	var b []byte
	if err == nil {
		b, err = readUpTo(f, most)
	}
	if bad := (*fs.PathError)(nil); err != nil && !errors.As(err, &bad) {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: err}
	}
	return b, err
}

// ReadFile is ReadRegular that takes a named pipe too, as the shell makes one for
// <(command): it waits for who writes to it until ctx ends.
func ReadFile(ctx context.Context, path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return ReadRegular(path, most)
	}
	return until(ctx, func() ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
			return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it was replaced in this moment")}
		}
		return readFile(f, most)
	})
}

// ReadAll reads what comes, such as standard input, up to a number of bytes, until ctx
// ends.
func ReadAll(ctx context.Context, r io.Reader, most int64) ([]byte, error) {
	return until(ctx, func() ([]byte, error) { return readUpTo(r, most) })
}

// until gives up waiting for a read when ctx ends. Nothing ends the read itself on all
// systems: it goes on in its goroutine for as long as the process lasts.
func until(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type result struct {
		b   []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		b, err := read()
		done <- result{b, err}
	}()
	select {
	case r := <-done:
		return r.b, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

const mebibyte = 1 << 20

// readUpTo reads in pieces: what grows by doubling would take three times the memory of
// what has no end.
func readUpTo(r io.Reader, most int64) ([]byte, error) {
	var pieces [][]byte
	size := 64 << 10
	for read := int64(0); ; size = min(2*size, mebibyte) {
		piece := make([]byte, size)
		n, err := io.ReadFull(r, piece)
		if read += int64(n); read > most {
			return nil, tooLarge(most)
		}
		pieces = append(pieces, piece[:n])
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			if len(pieces) == 1 {
				return piece[:n], nil
			}
			return slices.Concat(pieces...), nil
		default:
			return nil, err
		}
	}
}

func tooLarge(most int64) error {
	return fmt.Errorf("it has more than %s, which is the most that is read of it", number.Short(number.Bytes(float64(most))))
}
