// Package folder writes a results folder. procfit often runs as root, in a
// directory that another user can write to: what lies there already may be a link
// to somewhere else, or a pipe that blocks. So a file is made again or replaced, never
// written through a link and never outside the folder (os.Root), and only regular
// files are read. Under sudo all that is made belongs to the user who called.
//
// What may hold secrets (the journal, the targets' output) is for its owner alone;
// reports, from which they are taken out, may be passed around.
package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The modes of files in a folder.
const (
	private fs.FileMode = 0o600 // the journal and the logs
	Shared  fs.FileMode = 0o644 // redacted reports
	Script  fs.FileMode = 0o755
)

// Dir is a folder that is open. Names are relative to it, with slashes.
type Dir struct {
	root  *os.Root
	owner owner
}

// Make makes the folder and what is missing above it, and opens it.
func Make(dir string) (*Dir, error) {
	if err := makeAll(filepath.Clean(dir), caller()); err != nil {
		return nil, err
	}
	return Open(dir)
}

// MakeNew creates a folder of that name or, if that is taken, of the name and a number, with what is
// missing above it.
func MakeNew(dir string) (name string, err error) {
	o := caller()
	if err := makeAll(filepath.Dir(dir), o); err != nil {
		return "", err
	}
	name = dir
	for n := 2; ; n++ {
		err := os.Mkdir(name, 0o755)
		if err == nil {
			return name, o.own(func(uid, gid int) error { return os.Lchown(name, uid, gid) })
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		name = fmt.Sprintf("%s-%d", dir, n)
	}
}

// Try reports why a folder cannot be made, or written to, and leaves nothing behind.
func Try(dir string) error {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir:
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("it is a file")}
		}
		probe, err := os.MkdirTemp(dir, ".procfit-")
		if wrong := (*fs.PathError)(nil); errors.As(err, &wrong) {
			return fmt.Errorf("no folder can be created in %s: %w", dir, wrong.Err)
		}
		if err != nil {
			return err
		}
		return os.Remove(probe)
	}
}

// Open opens a folder that exists.
func Open(dir string) (*Dir, error) {
	root, err := OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Dir{root, caller()}, nil
}

func makeAll(dir string, o owner) error {
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if err := makeAll(filepath.Dir(dir), o); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o755)
	}
	switch {
	case err == nil:
		return o.own(func(uid, gid int) error { return os.Lchown(dir, uid, gid) })
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("it is a file")}
	}
	return err
}

// Close gives the folder up; files that were made in it stay open.
func (d *Dir) Close() error { return d.root.Close() }

func (d *Dir) Path() string { return d.root.Name() }

// Remove removes a file, or an empty folder, of it.
func (d *Dir) Remove(name string) error { return d.root.Remove(name) }

// Mkdir makes a folder below, for its owner alone, unless there is one.
func (d *Dir) Mkdir(name string) error {
	err := d.root.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		info, err := d.root.Lstat(name)
		if err == nil && !info.IsDir() {
			return d.refuse(name, "it is not a directory")
		}
		return err
	}
	if err != nil {
		return err
	}
	return d.own(name)
}

// Create makes a new file, for its owner alone, in place of one of that name.
func (d *Dir) Create(name string) (*os.File, error) { return d.create(name, os.O_RDWR, private) }

func (d *Dir) create(name string, flag int, mode fs.FileMode) (*os.File, error) {
	if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := d.root.OpenFile(name, flag|os.O_CREATE|os.O_EXCL, mode) // O_EXCL follows no link
	if err != nil {
		return nil, err
	}
	if err := d.owner.own(f.Chown); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// OpenFile opens a regular file of the folder for reading and writing. A link or a
// pipe is refused, not followed or waited for.
func (d *Dir) OpenFile(name string) (*os.File, error) { return d.openFile(name, os.O_RDWR) }

func (d *Dir) openFile(name string, flag int) (*os.File, error) {
	before, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, notRegular(filepath.Join(d.Path(), filepath.FromSlash(name)), before.Mode())
	}
	f, err := d.root.OpenFile(name, flag|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = d.refuse(name, "it was replaced in this moment")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read reads a regular file of the folder up to a number of bytes. The FileInfo is of what was read.
func (d *Dir) Read(name string, most int64) ([]byte, fs.FileInfo, error) {
	f, err := d.openFile(name, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	b, err := readFile(f, most)
	return b, info, err
}

// Holds reports whether the folder's file of that name is still the open one: it may
// have been removed or replaced since.
func (d *Dir) Holds(name string, f *os.File) bool {
	there, err := d.root.Lstat(name)
	if err != nil {
		return false
	}
	ours, err := f.Stat()
	return err == nil && os.SameFile(there, ours)
}

func (d *Dir) refuse(name, why string) error {
	return &fs.PathError{Op: "open", Path: filepath.Join(d.Path(), filepath.FromSlash(name)), Err: errors.New(why)}
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m.IsDir():
		return "a directory"
	}
	return "a device or a socket"
}

func (d *Dir) own(name string) error {
	return d.owner.own(func(uid, gid int) error { return d.root.Lchown(name, uid, gid) })
}

// abandoned is the age from which a half-written file is one of a killed procfit:
// writing takes milliseconds. Its name ends in as many digits as a time in nanoseconds has: with
// fewer it is a file of the user's, such as a copy that has a date in its name.
const (
	abandoned   = time.Minute
	timeInNanos = 19
)

// Replace writes a file next to the one of that name and renames it over that, so
// that readers see the old one or the new one whole.
func (d *Dir) Replace(name string, mode fs.FileMode, content []byte) error {
	temporary, err := d.prepare(name, mode, content)
	if err != nil {
		return err
	}
	if err = d.root.Rename(temporary, name); err != nil {
		d.root.Remove(temporary)
	}
	return err
}

// ReplaceAs is Replace of a file that keeps its mode, and its owner and group as far as procfit may
// give it to them: root in a container often writes the files of somebody else, and files of a team
// belong to its group.
func (d *Dir) ReplaceAs(name string, was fs.FileInfo, content []byte) error {
	as := Dir{d.root, ownerOf(was)}
	return as.Replace(name, was.Mode().Perm(), content)
}

// prepare writes the file next to the one of that name.
func (d *Dir) prepare(name string, mode fs.FileMode, content []byte) (temporary string, err error) {
	d.sweep(name)
	temporary = path.Join(path.Dir(name), fmt.Sprintf(".%s.%d", path.Base(name), time.Now().UnixNano()))
	f, err := d.create(temporary, os.O_WRONLY, mode)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode) // whatever the umask is
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		d.root.Remove(temporary)
	}
	return temporary, err
}

// File is one to be written as a whole. Its name may have slashes.
type File struct {
	Name    string
	Mode    fs.FileMode
	Content []byte
}

// Write replaces files of a folder that exists and returns their paths. If one cannot be written,
// as on a full disk, none is replaced.
func Write(dir string, list ...File) (paths []string, err error) {
	d, err := Open(dir)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", filepath.Join(dir, list[0].Name), err)
	}
	defer d.Close()
	var temporary []string
	defer func() {
		for _, name := range temporary {
			d.root.Remove(name) // fails where it was renamed
		}
	}()
	for _, f := range list {
		name, err := d.prepare(f.Name, f.Mode, f.Content)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", filepath.Join(dir, filepath.FromSlash(f.Name)), err)
		}
		temporary = append(temporary, name)
	}
	for i, f := range list {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := d.root.Rename(temporary[i], f.Name); err != nil {
			return paths, fmt.Errorf("write %s: %w", path, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// sweep removes what killed runs have left of writing name.
func (d *Dir) sweep(name string) {
	dir := path.Dir(name)
	entries, err := fs.ReadDir(d.root.FS(), dir)
	if err != nil {
		return // Replace will say it
	}
	for _, e := range entries {
		digits, ours := strings.CutPrefix(e.Name(), "."+path.Base(name)+".")
		if !ours || len(digits) != timeInNanos || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			d.root.Remove(path.Join(dir, e.Name())) // what cannot be removed does no harm
		}
	}
}

// owner is who is to own what is made; the zero value leaves it as it comes.
type owner struct {
	given    bool
	uid, gid int
	kept     bool // of a file that is replaced: who may not give it away becomes the owner
}

// caller is the user who called sudo, where root runs for one.
func caller() owner {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	if os.Geteuid() != 0 || err != nil || err2 != nil || uid <= 0 || gid < 0 {
		return owner{}
	}
	return owner{given: true, uid: uid, gid: gid}
}

func (o owner) own(chown func(uid, gid int) error) error {
	if !o.given {
		return nil
	}
	err := chown(o.uid, o.gid)
	if err != nil && o.kept {
		_ = chown(-1, o.gid)
		err = nil
	}
	return err
}
