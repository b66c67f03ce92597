package source

import (
	"context"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/show/phrase"
)

// loadMode is syntax and types of the packages themselves, and of what they import
// only the types, from export data: NeedDeps would read all their syntax too.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule

// packages loads and judges the packages of a tree that speak of GOMAXPROCS.
func (k *Checker) packages(ctx context.Context, t *tree, to check.Sink) error {
	dirs := t.speaking()
	if len(dirs) == 0 {
		return nil
	}
	var all []*packages.Package
	var left []string // files that are built for others
	loaded, err := k.load(ctx, t, dirs)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		to.Problem(check.Problem{Path: t.shown(dirs[0]), Message: unloaded(err)})
	}
	done, told := map[string]bool{}, false
	for _, p := range loaded {
		dir := folderOf(p)
		if dir == "" {
			if len(p.Errors) > 0 && !told { // the same of every package, as a rule
				to.Problem(check.Problem{Path: t.shown(dirs[0]), Message: unloaded(p.Errors[0])})
				told = true
			}
			continue
		}
		left = append(left, t.leftOut(dir, p)...)
		if len(p.Syntax) == 0 && len(p.GoFiles) == 0 && len(p.IgnoredFiles) > 0 {
			done[dir] = true // nothing of it is built here
			continue
		}
		if why, ok := t.problem(dir, p.Errors); ok {
			to.Problem(why)
		}
		if len(p.Syntax) > 0 && p.Types != nil && p.TypesInfo != nil && p.TypesSizes != nil {
			done[dir] = true
			all = append(all, p)
		}
	}
	for _, dir := range dirs {
		if !done[dir] {
			all = append(all, k.bare(t, dir)...)
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		to.Note(check.Note{Path: left[0], Message: leftOutNote(len(left))})
	}
	return k.judge(all, to)
}

func leftOutNote(n int) string {
	what := "it is"
	if n > 1 {
		what = fmt.Sprintf("it and %s are", phrase.CountOf(n-1, "other file", "other files"))
	}
	return what + " left out, being built for another system or with other tags; GOOS=… or GOFLAGS=-tags=… procfit check looks at such"
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
	return "the go command cannot load its module, so its packages are judged by syntax alone: " + phrase.Clip(phrase.FirstLine(strings.TrimSpace(text)), 300)
}

// load asks the go command. Where it wants a compiler of C that is not there, once more
// without cgo, as go build does by itself where CGO_ENABLED is not set.
func (k *Checker) load(ctx context.Context, t *tree, dirs []string) ([]*packages.Package, error) {
	if t.root == "" {
		return k.loadFiles(ctx, t, dirs)
	}
	set := token.NewFileSet()
	config := packages.Config{Context: ctx, Mode: loadMode, Dir: t.root, Env: t.environ, Fset: set, Overlay: k.overlay()}
	loaded, err := packages.Load(&config, t.patterns(dirs)...)
	if err == nil && slices.ContainsFunc(loaded, wantsC) {
		config.Env = append(slices.Clone(t.environ), "CGO_ENABLED=0")
		return packages.Load(&config, t.patterns(dirs)...)
	}
	return loaded, err
}

// loadFiles loads what lies in no module: the files of a folder that make one package.
func (k *Checker) loadFiles(ctx context.Context, t *tree, dirs []string) ([]*packages.Package, error) {
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
			loaded, err := packages.Load(&packages.Config{Context: ctx, Mode: loadMode, Dir: dir, Env: t.environ, Overlay: k.overlay()}, files...)
			if err != nil {
				return all, err
			}
			all = append(all, loaded...)
		}
	}
	return all, nil
}

// wantsC tells of the go command's report that cgo cannot be run.
func wantsC(p *packages.Package) bool {
	return slices.ContainsFunc(p.Errors, func(e packages.Error) bool {
		return strings.Contains(e.Msg, "C compiler") || strings.Contains(e.Msg, "could not import C ")
	})
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
func (t *tree) leftOut(dir string, p *packages.Package) []string {
	var all []string
	for _, f := range p.IgnoredFiles {
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
	if t.module != nil {
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
	first.Message = "does not type-check, so its package is judged by what is left: " + first.Message
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
