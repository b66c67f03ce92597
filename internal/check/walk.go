package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/folder"
)

// walk finds the files of the paths, each once, however many paths and links lead to it.
type walk struct {
	ctx  context.Context
	o    Options
	to   Sink
	out  chan<- *File
	tree *folder.Tree
	done map[string]bool // by their path as it is shown
	led  map[string]bool // where links lead
}

// notEntered are entered only if the user names them.
var notEntered = []string{".git", "vendor", "node_modules", "testdata"}

// MostStdin is how much of standard input is held in memory.
const MostStdin = 128 << 20

// paths returns errors of what the user asked, not of a file. What is named itself comes before the
// folders, which may hold it.
func (w *walk) paths() error {
	var folders []string
	for _, p := range w.o.Paths {
		if p == Stdin {
			if err := w.stdin(); err != nil {
				return err
			}
			continue
		}
		if dir, ok := strings.CutSuffix(filepath.ToSlash(p), "/..."); ok {
			p = dir
		}
		p = filepath.Clean(p)
		info, err := os.Stat(p)
		switch {
		case err != nil:
			w.problem(p, err)
		case info.IsDir():
			folders = append(folders, p)
		default:
			w.file(p, info, &File{Named: true})
		}
	}
	for _, p := range folders {
		w.folder(p)
		if err := w.ctx.Err(); err != nil {
			return err
		}
	}
	return w.ctx.Err()
}

func (w *walk) stdin() error {
	if w.done[Stdin] {
		return errors.New("- is standard input and can be read only once")
	}
	w.done[Stdin] = true
	b, err := folder.ReadAll(w.ctx, w.o.Stdin, MostStdin)
	if w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	if err != nil {
		w.to.Problem(Problem{Path: Stdin, Message: err.Error()})
		return nil
	}
	if fixed, ok := w.o.Overlay[Stdin]; ok {
		b = fixed
	}
	w.hand(&File{Path: Stdin, Named: true, Size: int64(len(b)), data: b})
	return nil
}

func (w *walk) folder(root string) {
	ignored := newGitignore(root, w.tree)
	root += string(filepath.Separator) // a link is followed
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if w.ctx.Err() != nil {
			return filepath.SkipAll
		}
		if err != nil {
			w.problem(p, err)
			if d != nil && d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			if p != root && (slices.Contains(notEntered, d.Name()) || w.unwanted(p, true) || ignored.match(p, true)) {
				return filepath.SkipDir
			}
			ignored.enter(p)
			return nil
		}
		if w.unwanted(p, false) || ignored.match(p, false) {
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			w.link(p)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			w.problem(p, err)
			return nil
		}
		w.file(p, info, &File{})
		return nil
	})
	if err != nil {
		w.problem(root, err)
	}
}

// link follows one to a file of the tree. One to a folder is not entered, so that no circle is.
func (w *walk) link(p string) {
	to, err := w.tree.Resolve(p)
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(to)
	}
	under, skipped := false, ""
	if err == nil && (info.Mode().IsRegular() || info.IsDir()) {
		under, skipped = w.under(to, info.IsDir())
	}
	switch {
	case errors.Is(err, folder.ErrOutside):
		if info, err := os.Stat(p); err == nil {
			w.skip(p, info.IsDir(), "this link leads out of the folder and its repository; it is skipped")
		}
	case errors.Is(err, fs.ErrPermission) && w.wanted(p):
		w.problem(p, fmt.Errorf("a link that may not be followed: %w", Cause(err)))
	case err != nil:
		w.skip(p, false, "this link leads nowhere; it is skipped")
	case skipped != "":
		w.skip(p, info.IsDir(), "this link leads to "+skipped+", which procfit skips; to check it, name the link")
	case info.IsDir() && !under:
		w.skip(p, true, "this link to a folder is not followed; to check what is in it, name the link")
	case info.Mode().IsRegular() && !w.led[to] && !under: // else it is found where it lies
		w.led[to] = true
		w.file(p, info, &File{at: to})
	}
}

// unwanted reports whether the user wants a path to be skipped.
func (w *walk) unwanted(p string, isDir bool) bool {
	return lastOf(w.o.Skip, strings.Split(filepath.ToSlash(filepath.Clean(p)), "/"), isDir)
}

// skip notes a link to a folder, whatever its name, or to a file that would be read.
func (w *walk) skip(p string, dir bool, why string) {
	if dir || w.wanted(p) {
		w.to.Note(Note{Path: filepath.ToSlash(p), Message: why})
	}
}

// wanted reports whether a file would be read by its name, or might be a program.
func (w *walk) wanted(p string) bool {
	f := &File{Path: filepath.ToSlash(p), data: []byte{}}
	return path.Ext(f.Path) == "" || slices.ContainsFunc(w.o.Checkers, func(k Checker) bool { return k.Wants(f) })
}

// under reports whether a walk comes to a file, or a folder, by where links lead; else what it skips on the way.
func (w *walk) under(file string, dir bool) (comes bool, skipped string) {
	for _, named := range w.o.Paths {
		named = strings.TrimSuffix(filepath.ToSlash(named), "/...")
		root, err := w.tree.Resolve(named)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(root, file)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		skips := w.skips(named, root, rel, dir)
		if skips == "" {
			return true, ""
		}
		skipped = path.Join(named, skips)
	}
	return false, skipped
}

// skips is what a walk over a folder skips on its way to a file, or a folder, there; "": nothing.
func (w *walk) skips(named, root, file string, dir bool) string {
	if file == "." { // it is named itself
		return ""
	}
	ignored, at := newGitignore(root, w.tree), root
	names := strings.Split(file, string(filepath.Separator))
	for i, name := range names {
		ignored.enter(at)
		at = filepath.Join(at, name)
		isDir := dir || i < len(names)-1
		to := path.Join(names[:i+1]...)
		if isDir && slices.Contains(notEntered, name) || w.unwanted(path.Join(named, to), isDir) || ignored.match(at, isDir) {
			return to
		}
	}
	return ""
}

// file hands one on. Reading a pipe or a device may never end.
func (w *walk) file(p string, info fs.FileInfo, f *File) {
	shown := filepath.ToSlash(p)
	if !info.Mode().IsRegular() {
		if f.Named {
			w.to.Problem(Problem{Path: shown, Message: "is neither a file nor a folder; to check what a pipe holds, name it as standard input: procfit check -"})
		}
		return
	}
	if w.done[shown] {
		return
	}
	w.done[shown] = true
	f.Path, f.Size, f.Mode = shown, info.Size(), info.Mode()
	if b, ok := w.o.Overlay[shown]; ok {
		f.data, f.Size = append([]byte{}, b...), int64(len(b))
	}
	w.hand(f)
}

func (w *walk) hand(f *File) {
	select {
	case w.out <- f:
	case <-w.ctx.Done():
	}
}

func (w *walk) problem(p string, err error) {
	w.to.Problem(Problem{Path: filepath.ToSlash(filepath.Clean(p)), Message: Cause(err).Error()})
}
