package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/go/packages"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
)

// listMode lists files and imports, and builds nothing: types come from the source, see typer.
const listMode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule

// packages judges what speaks of GOMAXPROCS, and programs that may report theirs to nobody.
func (k *Checker) packages(ctx context.Context, t *tree, overlay map[string][]byte, to check.Sink) error {
	speaking, silent := t.speaking(), slices.DeleteFunc(slices.Clone(t.programs), func(dir string) bool { return !t.silent(dir) })
	dirs := slices.Compact(slices.Sorted(slices.Values(slices.Concat(speaking, silent))))
	if len(dirs) == 0 {
		return nil
	}
	defer k.slowly(t, len(dirs))()
	of := &target{Environ: t.environ, Overlay: overlay, Language: t.language(), Decides: t.decides()}
	if k.o.Automaxprocs != nil {
		of.Decides = limitLanguage
	}
	var listed []listing
	if !k.o.Syntax {
		of.Loads = t.loads(dirs)
		failed := t.unlistable()
		if failed == "" {
			var err error
			if listed, failed, err = k.judger.all(ctx, of); err != nil {
				return err
			}
		}
		if failed != "" && len(speaking) > 0 {
			to.Problem(check.Problem{Path: t.shown(speaking[0]), Message: unloaded(failed)})
		}
	}
	t.judgeSilent(silent, listed, to)
	changes := slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(t.folders))...), func(s scanned) bool { return s.changes })
	err := k.judger.ask(ctx, of, k.toJudge(t, speaking, listed, to), func(one item, j *judged) {
		if one.Listed > 0 {
			p := &listed[one.Listed-1]
			if p.Errors = append(p.Errors, packages.Error{Msg: one.why}); one.why == "" {
				p.Errors = j.Errors
			}
		}
		k.tell(t, one, j, changes, to)
	})
	t.partly = t.notWhole(dirs, listed)
	return err
}

func (k *Checker) tell(t *tree, of item, j *judged, changes bool, to check.Sink) {
	dir := filepath.Dir(real(of.Files[0]))
	at := t.folders[dir][0].path
	switch {
	case j == nil:
		to.Problem(check.Problem{Path: at, Message: "its package is not checked: judging it " + of.why})
		return
	case of.why != "":
		to.Problem(check.Problem{Path: at, Message: "procfit checks only the syntax of its package: finding the types " + of.why})
	default:
		if why, ok := t.problem(dir, j.Errors); ok {
			to.Problem(why)
		}
	}
	for _, why := range j.Failed {
		to.Problem(check.Problem{Path: at, Message: "procfit fails on its package, please report it: " + why})
	}
	for _, p := range j.Found {
		s, named := k.files[real(p.Path)]
		if !named || p.Changing && !changes {
			continue
		}
		f, imports := check.Finding{Finding: p.Finding}, j.Imports[p.Path]
		f.Path = s.path
		if len(p.Remove) > 0 {
			together := func(parts []extent) []extent { return removal(imports, parts) }
			f.Change = &check.Change{Path: s.path, Splices: together(p.Remove), Parts: p.Remove, Together: together}
		}
		to.Finding(f)
		if f.Rule == ruleAutomaxprocs && k.o.Automaxprocs != nil {
			k.o.Automaxprocs(Automaxprocs{Place: f.Place, Package: of.PkgPath, Calls: p.Calls, Change: f.Change})
		}
	}
}

func (t *tree) notWhole(dirs []string, listed []listing) map[string]bool {
	all := map[string]bool{}
	for _, dir := range dirs {
		for _, s := range t.folders[dir] {
			all[s.file] = true
		}
	}
	for _, p := range listed {
		for _, f := range p.Item.Files {
			if len(p.Errors) == 0 {
				delete(all, real(f))
			}
		}
	}
	return all
}

func (k *Checker) toJudge(t *tree, speaking []string, listed []listing, to check.Sink) (all []item) {
	var left []string // files that are built for others
	done, told := map[string]bool{}, false
	for _, p := range listed {
		if p.Dir == "" {
			if len(p.Errors) > 0 && !told && len(speaking) > 0 { // the same of every package, as a rule
				to.Problem(check.Problem{Path: t.shown(speaking[0]), Message: unloaded(p.Errors[0].Error())})
				told = true
			}
			continue
		}
		if !slices.Contains(speaking, p.Dir) {
			continue
		}
		left = append(left, t.leftOut(p.Dir, p.Ignored)...)
		done[p.Dir] = true
		if len(p.Item.Files) == 0 {
			done[p.Dir] = len(p.Ignored) > 0 // nothing of it is built here
			continue
		}
		all = append(all, p.Item)
	}
	for _, dir := range speaking {
		if !done[dir] {
			own, others := t.bare(dir)
			for _, i := range own {
				if slices.ContainsFunc(t.folders[dir], func(s scanned) bool { return s.words && slices.Contains(i.Files, s.file) }) {
					all = append(all, i)
				}
			}
			if k.o.Syntax { // else the go command would have named them
				left = append(left, t.leftOut(dir, others)...)
			}
		}
	}
	if slices.Sort(left); len(left) > 0 {
		what := phrase.If(len(left) == 1, "it is", fmt.Sprintf("it and %s are", phrase.Count(len(left)-1, "other file")))
		to.Note(check.Note{Path: left[0], Message: what + " skipped, for another system or other build tags; to check such files, run GOOS=… procfit check or GOFLAGS=-tags=… procfit check"})
	}
	return all
}

const patience = 2 * time.Second

// slowly tells the user what is waited for, until the function that it gives is called.
func (k *Checker) slowly(t *tree, n int) func() {
	if k.o.Slow == nil {
		return func() {}
	}
	where := "./..."
	if t.module != nil && !t.module.unnamed {
		where = "./" + path.Join(path.Dir(t.module.shown), "...")
	}
	message := fmt.Sprintf("loading %s of %s and their imports", phrase.Count(n, "Go package"), where)
	if k.o.Automaxprocs == nil { // else migrate asks, which has no such flags
		message += "; --syntax skips imports, --no-source skips Go, and Ctrl-C prints the findings so far"
	}
	timer := time.AfterFunc(cmp.Or(k.o.Patience, patience), func() { k.o.Slow(message) })
	return func() { timer.Stop() }
}

func unloaded(text string) string {
	if before, stderr, ok := strings.Cut(text, "stderr: "); ok {
		text = stderr
		if strings.TrimSpace(stderr) == "" {
			text = strings.TrimSuffix(strings.TrimSpace(before), ":")
		}
	}
	return "the go command cannot load its module, so procfit checks only the syntax of its packages: " + phrase.Clip(phrase.FirstLine(strings.TrimSpace(text)), 300)
}

func (t *tree) loads(dirs []string) (all []load) {
	if t.root != "" {
		of := load{Dir: t.root}
		for _, d := range dirs {
			if rel, err := filepath.Rel(t.root, d); err == nil {
				of.Words = append(of.Words, "./"+filepath.ToSlash(rel))
			}
		}
		return []load{of}
	}
	// What lies in no module are the files of a folder that make one package.
	for _, dir := range dirs {
		own, _ := t.bare(dir)
		all = append(all, phrase.Each(own, func(i item) load { return load{dir, i.Files} })...)
	}
	return all
}

// Listable is an error if the go command would read what is not a file of the module or repository.
func Listable(dir string, environ []string, reads *folder.Tree) error {
	t := &tree{root: filepath.Dir(real(filepath.Join(dir, "go.mod"))), folders: map[string][]scanned{}, reads: reads}
	t.work, _ = workspaceOf(t.root, environ, reads)
	err := filepath.WalkDir(t.root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case d.Name() == ".git" || path != t.root && isFile(filepath.Join(path, "go.mod")):
			return filepath.SkipDir
		}
		t.folders[path] = nil
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot list it: %w", err)
	}
	if why := t.unlistable(); why != "" {
		return errors.New("is not asked: " + why)
	}
	return nil
}

// ReadsToBuild reports whether the go command reads a file, by its name, for a build.
func ReadsToBuild(path string) bool {
	base := filepath.Base(path)
	return builds().MatchString(base) || slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum"}, base)
}

// unlistable: the go command follows links, waits for what it reads, and prints lines of it.
func (t *tree) unlistable() string {
	if t.root == "" {
		return ""
	}
	files, err := t.moduleFiles()
	if err != nil {
		return phrase.Plain(err)
	}
	for dir := range t.folders {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return phrase.Plain(err)
		}
		for _, e := range entries {
			if !e.Type().IsRegular() && builds().MatchString(e.Name()) && !isFolder(dir, e) {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	for _, file := range files {
		if err := t.reads.Readable(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			name := filepath.Base(file)
			if rel, err := filepath.Rel(t.root, file); err == nil && filepath.IsLocal(rel) {
				name = filepath.ToSlash(rel)
			}
			return "it would read " + name + ", and " + check.Cause(err).Error()
		}
	}
	return ""
}

// moduleFiles are what the go command reads before packages: the files of the modules of a
// workspace, and the go.mod of folders that replace a module, whose own replace lines have no
// effect (go.dev/ref/mod#go-mod-file-replace).
func (t *tree) moduleFiles() (files []string, err error) {
	mains, others := []string{t.root}, []string(nil)
	if w := t.work; w != nil {
		mains, others = w.used, w.replaced
		files = append(files, w.file, w.file+".sum", filepath.Join(filepath.Dir(w.file), "vendor", "modules.txt"))
	}
	for _, dir := range mains {
		mod := filepath.Join(dir, "go.mod")
		files = append(files, mod, filepath.Join(dir, "go.sum"), filepath.Join(dir, "vendor", "modules.txt"))
		if t.reads.Readable(mod) != nil {
			continue // procfit reports it as it does the other files
		}
		text, err := t.reads.ReadAbove(mod, check.MostModule)
		if err != nil {
			return nil, err
		}
		if m, err := modfile.ParseLax(mod, text, nil); err == nil { // else the go command reads no further
			others = append(others, replaced(dir, m.Syntax)...)
		}
	}
	return append(files, phrase.Each(others, func(dir string) string { return filepath.Join(dir, "go.mod") })...), nil
}

// isFolder is also of a link to one: the go command skips both.
func isFolder(dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, e.Name()))
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// builds are the names of the files that the go command opens (go/build, Context.MatchFile).
var builds = pattern.Of(`^[^_.].*\.(?:go|c|cc|cpp|cxx|m|h|hh|hpp|hxx|f|F|for|f90|s|S|sx|swig|swigcxx)$`)

// leftOut are files that the go command does not build here, although a rule looks for their words.
func (t *tree) leftOut(dir string, files []string) (all []string) {
	for _, f := range files {
		for _, s := range t.folders[dir] {
			if s.words && s.file == real(f) {
				all = append(all, s.path)
			}
		}
	}
	return all
}

func (t *tree) shown(dir string) string {
	if t.module != nil && !t.module.unnamed {
		return t.module.shown
	}
	return t.folders[dir][0].path
}

// position is file:line:column, as the go command writes it; a file of Windows has a colon more.
var position = pattern.Of(`(?s)^(.*?)(?::(\d+))?(?::(\d+))?$`)

// problem is the first error with a place, else the first, but none of what File has reported.
func (t *tree) problem(dir string, errs []packages.Error) (check.Problem, bool) {
	var first check.Problem
	n := 0
	for _, e := range errs {
		if strings.HasPrefix(e.Msg, "# ") {
			continue // the compiler's output, whose errors follow
		}
		p := check.Problem{Path: t.folders[dir][0].path, Message: phrase.FirstLine(e.Msg)}
		at := position().FindStringSubmatch(e.Pos)
		file := at[1]
		i := slices.IndexFunc(t.folders[dir], func(s scanned) bool { return file != "" && s.file == real(absolute(t.root, file)) })
		if i >= 0 && t.folders[dir][i].bad {
			continue
		}
		if i < 0 && file != "" { // the message may have words of it, and nobody has named it
			p.Message = filepath.Base(file) + " has an error, which go vet shows"
		}
		n++
		if i >= 0 {
			p.Path = t.folders[dir][i].path
			p.Line, _ = strconv.Atoi(at[2])
			p.Column, _ = strconv.Atoi(at[3])
		}
		if n == 1 || first.Line == 0 && p.Line > 0 {
			first = p
		}
	}
	first.Message = "does not type-check, so procfit checks only the rest of its package: " + first.Message +
		phrase.If(n > 1, fmt.Sprintf(" (and %s)", phrase.Count(n-1, "more error")), "")
	return first, n > 0
}

func absolute(root, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(root, file)
}
