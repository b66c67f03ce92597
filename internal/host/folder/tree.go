package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Tree is what a command may read of files that others wrote: the folders that the user named
// and the repositories that these lie in. A link there may lead anywhere, so what is read is
// decided by where it leads. Of a nil Tree, everything may be read.
type Tree struct {
	bases []string // absolute, without links
}

// ErrOutside is of what does not lie in a Tree.
var ErrOutside = errors.New("it is outside of the folder and its repository")

var errNoDisk = errors.New("it is not a file of a disk")

// NewTree is the Tree of paths that the user named. A path that is not there adds nothing. Of a
// link to a file, what lies next to the link may be read too: the file names it from there.
func NewTree(paths ...string) *Tree {
	t := &Tree{}
	for _, p := range paths {
		p = strings.TrimSuffix(filepath.ToSlash(p), "/...")
		to, err := realPath(p)
		if err != nil {
			continue
		}
		if info, err := os.Stat(to); err == nil && !info.IsDir() {
			to = filepath.Dir(to)
			if beside, err := realPath(filepath.Dir(p)); err == nil && beside != to {
				t.bases = append(t.bases, repositoryOf(beside))
			}
		}
		t.bases = append(t.bases, repositoryOf(to))
	}
	return t
}

// repositoryOf is the root of the repository that a folder lies in, or the folder itself.
func repositoryOf(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

func realPath(path string) (string, error) {
	if _, err := os.Stat(path); err != nil { // in the words of the system, and as the user knows it
		return "", err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Resolve is where a path leads; ErrOutside: not into the Tree.
func (t *Tree) Resolve(path string) (string, error) {
	to, err := realPath(path)
	if err != nil || t == nil {
		return to, err
	}
	for _, base := range t.bases {
		if to == base || strings.HasPrefix(to, strings.TrimSuffix(base, string(filepath.Separator))+string(filepath.Separator)) {
			return to, nil
		}
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: ErrOutside}
}

// Read reads a file of the Tree up to a number of bytes.
func (t *Tree) Read(path string, most int64) ([]byte, error) {
	to, err := t.Resolve(path)
	if err != nil {
		return nil, err
	}
	f, err := OpenFound(to)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readFile(f, most)
}

// ReadAbove is Read of a file that is looked for in the folders above a path of the user's. One
// outside of the Tree may be read there, unless it is a link.
func (t *Tree) ReadAbove(path string, most int64) ([]byte, error) {
	f, err := t.openAbove(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readFile(f, most)
}

// Readable is the error that ReadAbove would have before it reads.
func (t *Tree) Readable(path string) error {
	f, err := t.openAbove(path)
	if err == nil {
		f.Close()
	}
	return err
}

func (t *Tree) openAbove(path string) (*os.File, error) {
	to, err := t.Resolve(path)
	if err == nil {
		return OpenFound(to)
	}
	if info, errLink := os.Lstat(path); errors.Is(err, ErrOutside) && errLink == nil && info.Mode()&fs.ModeSymlink == 0 {
		return OpenFound(path)
	}
	return nil, err
}

// OpenFound opens a file that nobody named, and that was found: a regular one of a file system
// that keeps files. Files of /proc and /sys are regular too, and reading one may wait without
// end. A link is not followed.
func OpenFound(path string) (*os.File, error) {
	f, err := openRegular(path, nonBlocking|noFollow)
	if err == nil && !keepsFiles(f) {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNoDisk}
	}
	return f, err
}
