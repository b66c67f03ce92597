package folder

import (
	"errors"
	"io/fs"
	"os"
)

// OpenRegular opens a file for reading, wherever it lies, if it is a regular one: a
// pipe would be waited for, a device read without end.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a regular file (" + kind(info.Mode()) + ")")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
