package source

import (
	"bytes"
	"cmp"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
)

type tree struct {
	root     string  // where its go.mod is; "" where there is none
	module   *module // nil where its go.mod cannot be read
	work     *workspace
	folders  map[string][]scanned
	programs []string             // the folders of the main packages that the module is for
	others   map[string][]scanned // files of its folders that the user has not named, where they were needed
	partly   map[string]bool      // files of which some rules do not judge everything, by their absolute path
	environ  []string             // of the go command
	reads    *folder.Tree         // what may be read
}

func (k *Checker) trees() map[string]*tree {
	if k.sorted != nil {
		return k.sorted
	}
	all := map[string]*tree{}
	k.sorted = all
	roots := map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(k.files)) {
		dir := filepath.Dir(file)
		root := rootOf(dir, roots)
		t := all[root]
		if t == nil {
			t = &tree{root: root, module: k.modules[root], folders: map[string][]scanned{}, others: map[string][]scanned{}, environ: k.o.Environ, reads: k.o.Tree}
			if t.module == nil && root != "" {
				t.module = k.unnamedModule(filepath.Join(root, "go.mod"))
			}
			off := root == "" // files of no module have no workspace
			if !off {
				t.work, off = workspaceOf(root, k.o.Environ, k.o.Tree)
			}
			if off {
				t.environ = append(slices.Clone(t.environ), "GOWORK=off")
			}
			all[root] = t
		}
		t.folders[dir] = append(t.folders[dir], k.files[file])
	}
	for _, t := range all {
		t.programs = t.mains()
	}
	return all
}

func rootOf(dir string, known map[string]string) string {
	if root, ok := known[dir]; ok {
		return root
	}
	root := ""
	// One in the folder of temporary files is litter to the go command.
	if isFile(filepath.Join(dir, "go.mod")) && dir != filepath.Clean(os.TempDir()) {
		root = dir
	} else if up := filepath.Dir(dir); up != dir {
		root = rootOf(up, known)
	}
	known[dir] = root
	return root
}

func (t *tree) speaking() (all []string) {
	for _, dir := range slices.Sorted(maps.Keys(t.folders)) {
		words, imports, changed := false, false, false
		for _, s := range t.folders[dir] {
			changed = changed || s.changed
			words = words || s.words
			imports = imports || s.pkg == "main" || slices.ContainsFunc(s.imports, func(p string) bool {
				return slices.Contains(needed, p) || strings.HasPrefix(p, pkgAutomaxprocs)
			})
		}
		if words && imports || changed {
			all = append(all, dir)
		}
	}
	return all
}

// whole are also the files that the user has not named; none if one cannot be read.
func (t *tree) whole(dir string) []scanned {
	others, done := t.others[dir]
	if !done {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil
		}
		for _, e := range entries {
			file := filepath.Join(dir, e.Name())
			if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || unseen(e.Name()) || isFolder(dir, e) ||
				slices.ContainsFunc(t.folders[dir], func(s scanned) bool { return s.file == file }) {
				continue
			}
			text, err := t.reads.ReadAbove(file, MostSource)
			if err != nil {
				return nil
			}
			s, err := scan(file, text)
			if err != nil {
				return nil
			}
			others = append(others, s)
		}
		t.others[dir] = others
	}
	return slices.Concat(t.folders[dir], others)
}

func (t *tree) language() string {
	if t.module == nil {
		return ""
	}
	return t.module.language
}

// decides is the go line of the programs' GODEBUG (cmd/go/internal/modload,
// MainModuleSet.GoVersion).
func (t *tree) decides() string {
	if t.work != nil {
		return t.work.language
	}
	return t.language()
}

func (t *tree) importPath(dir string) string {
	rel, err := filepath.Rel(t.root, dir)
	if err != nil || t.module == nil {
		return ""
	}
	return path.Join(t.module.path, filepath.ToSlash(rel))
}

// aside are parts of a path whose programs nobody runs in earnest.
var aside = []string{"example", "examples", "_example", "_examples", "test", "tests", "testing", "e2e", "internal/tools", "tools", "hack", "scripts", "benchmark", "benchmarks"}

func (t *tree) mains() (all []string) {
	for _, dir := range slices.Sorted(maps.Keys(t.folders)) {
		rel, err := filepath.Rel(t.root, dir)
		if err != nil || slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), func(p string) bool { return slices.Contains(aside, p) }) {
			continue
		}
		if slices.ContainsFunc(t.folders[dir], func(s scanned) bool { return s.pkg == "main" && builtHere(s.file) }) {
			all = append(all, dir)
		}
	}
	return all
}

// MostSource is more than any file of Go that somebody has written, and largeFile more than almost any,
// in bytes.
const (
	MostSource = 16 << 20
	largeFile  = 1 << 20
)

// scanned is what a Go file tells by itself, cheaply.
type scanned struct {
	path    string // as it is shown
	file    string // absolute, without links
	pkg     string
	imports []string
	words   bool // it holds a word that a rule looks for
	asks    bool // it asks for GOMAXPROCS
	sets    check.MaySet
	debug   string // its debugLines, as "key=value,…"
	changes bool   // it changes GOMAXPROCS while the program runs
	listens bool   // it is a server's, by the functions that it names
	main    int    // the line of its main function; 0: it has none
	answers []check.Ignore
	bad     bool // it is not valid Go, up to its imports
	changed bool // by a fix, which has to be looked at whatever is left
}

// The words that a rule looks for, and those that make a program a server.
var (
	lookedFor = [][]byte{[]byte("GOMAXPROCS"), []byte("NumCPU"), []byte("SetMaxThreads"), []byte(pkgAutomaxprocs), []byte(debugDirective)}
	asking    = pattern.Of(`GOMAXPROCS\(\s*(0|-1)\s*\)`)
	giving    = pattern.Of(`\.GOMAXPROCS\(\s*[^-0)\s]`)
	changing  = pattern.Of(`\bmaxprocs\.(?:Watch|Start)\(|\.SetDefaultGOMAXPROCS\(`)
	listening = [][]byte{[]byte("ListenAndServe"), []byte("http.Serve(")}
	overGRPC  = [][]byte{[]byte("grpc.NewServer(")} // also of a connection that somebody else has made
	listeners = [][]byte{[]byte(".Listen(")}
	starting  = []byte("func main") // perhaps in a comment
)

// needed: a package has to import one of them for those words to matter.
var needed = []string{"runtime", "runtime/debug", "os"}

func scan(path string, text []byte) (scanned, error) {
	s := scanned{path: path, words: holds(text, lookedFor), asks: asking().Match(text), changes: changing().Match(text)}
	s.listens = holds(text, listening) || holds(text, overGRPC) && holds(text, listeners)
	if gives := giving().Match(text); gives || bytes.Contains(text, starting) {
		set := token.NewFileSet()
		if whole, _ := parser.ParseFile(set, path, text, parser.SkipObjectResolution); whole != nil { // the loading of its package reports errors
			s.main = mainIn(set, whole)
			if gives {
				s.sets = setIn(set, whole)
			}
		}
	}
	s.file = real(path)
	mode := parser.ImportsOnly
	if bytes.Contains(text, []byte(debugDirective)) {
		mode |= parser.ParseComments
	}
	head, err := parser.ParseFile(token.NewFileSet(), "", text, mode)
	if head == nil || head.Name == nil {
		return s, err
	}
	s.pkg = head.Name.Name
	var debug []string
	for _, line := range debugLines(head) {
		debug = append(debug, line)
	}
	s.debug = strings.Join(debug, ",")
	for _, i := range head.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			s.imports = append(s.imports, p)
			if (s.sets.Words == "" || s.sets.Follows) && (p == pkgMaxprocs || followsWhenImported(p)) {
				s.sets = check.MaySet{Words: path + " imports " + p, Guarded: true, Follows: followsWhenImported(p)}
			}
			s.changes = s.changes || changesByImport(p)
		}
	}
	return s, err
}

// debugOf are the debugLines of a program, by the files of its main package.
func debugOf(files []scanned) (lines string) {
	for _, s := range files {
		if s.debug != "" && s.pkg == "main" && builtHere(s.file) {
			lines = phrase.Join(",", lines, s.debug)
		}
	}
	return lines
}

func mainIn(set *token.FileSet, file *ast.File) int {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "main" {
			return set.PositionFor(f.Pos(), false).Line
		}
	}
	return 0
}

func holds(text []byte, words [][]byte) bool {
	return slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(text, w) })
}

// real is an absolute path, without links in that of its folder, where this leads anywhere.
func real(path string) string {
	if abs, err := filepath.Abs(filepath.FromSlash(path)); err == nil { // else there is no current folder
		path = abs
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}

// problem is an error of a parser at its place in a file, or without one in that of the error.
func problem(path string, err error) check.Problem {
	p := check.Problem{Path: path, Message: err.Error()}
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		at := list[0].Pos
		p = check.Problem{Path: cmp.Or(path, at.Filename), Line: at.Line, Column: at.Column, Message: "is not valid Go: " + list[0].Msg}
	}
	return p
}

// unseen are folders that the go command does not look into either.
func unseen(path string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(path)), "/") {
		if strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") && part != "." && part != ".." {
			return true
		}
	}
	base := filepath.Base(path)
	return strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".")
}
