package source

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/show/phrase"
)

// listMode is the files of the packages and the names of all that they import. Nothing is
// built for it: types come from the source, see declared.
const listMode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule

// packages judges the packages of a tree that speak of GOMAXPROCS, and its programs that
// may tell nobody of theirs.
func (k *Checker) packages(ctx context.Context, t *tree, to check.Sink) error {
	speaking, silent := t.speaking(), t.silentPrograms()
	dirs := slices.Compact(slices.Sorted(slices.Values(slices.Concat(speaking, silent))))
	if len(dirs) == 0 {
		return nil
	}
	defer k.slowly(t, len(dirs))()
	var listed []*packages.Package
	if !k.o.Syntax {
		var err error
		if listed, err = k.list(ctx, t, dirs); ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && len(speaking) > 0 {
			to.Problem(check.Problem{Path: t.shown(speaking[0]), Message: unloaded(err)})
		}
	}
	t.judgeSilent(silent, listed, to)
	var typed []*packages.Package
	if len(speaking) > 0 {
		typed = k.typed(t, speaking, listed, to)
	}
	t.partly = t.notWhole(dirs, listed)
	if len(typed) == 0 {
		return nil
	}
	return k.judge(typed, t.changes(), to)
}

// notWhole are the files of some folders that are of no package whose types are all known.
func (t *tree) notWhole(dirs []string, listed []*packages.Package) map[string]bool {
	all := map[string]bool{}
	for _, dir := range dirs {
		for _, s := range t.folders[dir] {
			all[s.file] = true
		}
	}
	for _, p := range listed {
		for _, f := range p.GoFiles {
			if len(p.Errors) == 0 {
				delete(all, real(f))
			}
		}
	}
	return all
}

// typed are the packages of some folders with their types.
func (k *Checker) typed(t *tree, speaking []string, listed []*packages.Package, to check.Sink) []*packages.Package {
	var all []*packages.Package
	var left []string // files that are built for others
	w := newTyper(k.overlay())
	done, told := map[string]bool{}, false
	for _, p := range listed {
		dir := folderOf(p)
		if dir == "" {
			if len(p.Errors) > 0 && !told { // the same of every package, as a rule
				to.Problem(check.Problem{Path: t.shown(speaking[0]), Message: unloaded(p.Errors[0])})
				told = true
			}
			continue
		}
		if !slices.Contains(speaking, dir) {
			continue
		}
		left = append(left, t.leftOut(dir, p.IgnoredFiles)...)
		done[dir] = true
		if len(p.GoFiles) == 0 {
			done[dir] = len(p.IgnoredFiles) > 0 // nothing of it is built here
			continue
		}
		w.declare(p, t.language())
		if why, ok := t.problem(dir, p.Errors); ok {
			to.Problem(why)
		}
		all = append(all, p)
	}
	for _, dir := range speaking {
		if !done[dir] {
			own, others := t.bare(dir)
			for _, p := range own {
				w.declare(p, t.language())
			}
			all = append(all, own...)
			if k.o.Syntax { // else the go command would have named them
				left = append(left, t.leftOut(dir, others)...)
			}
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		to.Note(check.Note{Path: left[0], Message: leftOutNote(len(left))})
	}
	return all
}

// patience is how long a module may take before the user reads what is waited for.
const patience = 2 * time.Second

// slowly tells the user what is waited for, where it takes long; the function that it
// gives is called when it is over.
func (k *Checker) slowly(t *tree, n int) func() {
	if k.o.Slow == nil {
		return func() {}
	}
	where := "./..."
	if t.module != nil && !t.module.unnamed {
		where = "./" + path.Join(path.Dir(t.module.shown), "...")
	}
	message := fmt.Sprintf("loading %s of %s and their imports; --syntax skips imports, --no-source skips Go, and Ctrl-C prints the findings so far",
		phrase.Count(n, "Go package"), where)
	timer := time.AfterFunc(cmp.Or(k.o.Patience, patience), func() { k.o.Slow(message) })
	return func() { timer.Stop() }
}

func leftOutNote(n int) string {
	what := "it is"
	if n > 1 {
		what = fmt.Sprintf("it and %s are", phrase.CountOf(n-1, "other file", "other files"))
	}
	return what + " skipped, for another system or other build tags; to check such files, run GOOS=… procfit check or GOFLAGS=-tags=… procfit check"
}

// unloaded is why the go command loads nothing of a module.
func unloaded(err error) string {
	text := err.Error()
	if before, stderr, ok := strings.Cut(text, "stderr: "); ok {
		text = stderr
		if strings.TrimSpace(stderr) == "" {
			text = strings.TrimSuffix(strings.TrimSpace(before), ":")
		}
	}
	return "the go command cannot load its module, so procfit checks only the syntax of its packages: " + phrase.Clip(phrase.FirstLine(strings.TrimSpace(text)), 300)
}

// list asks the go command for the files of the packages in some folders, and of all that
// they import.
func (k *Checker) list(ctx context.Context, t *tree, dirs []string) ([]*packages.Package, error) {
	config := packages.Config{Context: ctx, Mode: listMode, Dir: t.root, Env: t.environ, Overlay: k.overlay()}
	if t.root != "" {
		return packages.Load(&config, t.patterns(dirs)...)
	}
	// What lies in no module are the files of a folder that make one package.
	var all []*packages.Package
	for _, dir := range dirs {
		byName := map[string][]string{}
		for _, s := range t.folders[dir] {
			if builtHere(s.file) {
				byName[s.pkg] = append(byName[s.pkg], filepath.Base(s.file))
			}
		}
		for _, files := range byName {
			slices.Sort(files)
			config.Dir = dir
			listed, err := packages.Load(&config, files...)
			if err != nil {
				return all, err
			}
			all = append(all, listed...)
		}
	}
	return all, nil
}

// folderOf is where a package lies.
func folderOf(p *packages.Package) string {
	for _, files := range [][]string{p.GoFiles, p.IgnoredFiles, p.OtherFiles} {
		if len(files) > 0 {
			return filepath.Dir(real(files[0]))
		}
	}
	return ""
}

// leftOut are the files with a word in them that the go command does not build here.
func (t *tree) leftOut(dir string, files []string) []string {
	var all []string
	for _, f := range files {
		for _, s := range t.folders[dir] {
			if s.words && s.file == real(f) {
				all = append(all, s.path)
			}
		}
	}
	return all
}

// shown is a file of the folder, as the user knows it.
func (t *tree) shown(dir string) string {
	if t.module != nil && !t.module.unnamed {
		return t.module.shown
	}
	return t.folders[dir][0].path
}

// problem is why a package could not be loaded whole: the first of its errors that is
// of a place, else the first. What was told of a file by itself is not told again.
func (t *tree) problem(dir string, errs []packages.Error) (check.Problem, bool) {
	var first check.Problem
	n := 0
	for _, e := range errs {
		if strings.HasPrefix(e.Msg, "# ") {
			continue // the compiler's output, whose errors follow
		}
		p := check.Problem{Path: t.folders[dir][0].path, Message: phrase.FirstLine(e.Msg)}
		// file:line:column, as the go command writes it; a file of Windows has a colon more
		rest, column := cutLast(e.Pos)
		file, line := cutLast(rest)
		if line == 0 {
			file, line, column = rest, column, 0
		}
		i := slices.IndexFunc(t.folders[dir], func(s scanned) bool { return file != "" && s.file == real(absolute(t.root, file)) })
		if i >= 0 && t.folders[dir][i].bad {
			continue
		}
		n++
		if i >= 0 {
			p.Path, p.Line, p.Column = t.folders[dir][i].path, line, column
		}
		if n == 1 || first.Line == 0 && p.Line > 0 {
			first = p
		}
	}
	first.Message = "does not type-check, so procfit checks only the rest of its package: " + first.Message
	if n > 1 {
		first.Message += fmt.Sprintf(" (and %s)", phrase.CountOf(n-1, "more error", "more errors"))
	}
	return first, n > 0
}

func absolute(root, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(root, file)
}

// cutLast takes the number after the last colon off; 0 where there is none.
func cutLast(s string) (rest string, n int) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0
	}
	n, err := strconv.Atoi(s[i+1:])
	if err != nil {
		return s, 0
	}
	return s[:i], n
}
