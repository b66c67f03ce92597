package migrate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Module is the one that loses automaxprocs.
type Module struct {
	Path      string   `json:"path"`
	File      string   `json:"file"`                // its go.mod
	Go        string   `json:"go,omitempty"`        // its go line; "": it has none
	Toolchain string   `json:"toolchain,omitempty"` // its toolchain line
	Builds    string   `json:"builds_with,omitempty"`
	Version   string   `json:"automaxprocs,omitempty"` // that go.mod requires
	Indirect  bool     `json:"indirect"`               // only a dependency needs it, by go.mod
	Imports   []Import `json:"imports"`
}

// Import is a file of the module, or a package of a dependency, that imports automaxprocs.
type Import struct {
	Package   string `json:"package"`
	Module    string `json:"module,omitempty"` // of a dependency, with its version
	Path      string `json:"path,omitempty"`
	Line      int    `json:"line,omitempty"`
	Removable bool   `json:"removable"`     // by a fix
	Why       string `json:"why,omitempty"` // its file is not judged, in words
}

// Program is a main package of the module.
type Program struct {
	Package string         `json:"package"`
	Runs    bool           `json:"runs_automaxprocs"`
	By      string         `json:"by,omitempty"` // the package that imports it
	Follows bool           `json:"follows_limits"`
	Calls   source.SetCall `json:"calls"` // what the calls of its packages have in common

	godebug, version, language string
	maySet                     string // what in its source may set GOMAXPROCS, in words; "": nothing is known to
}

func (p Program) known() check.Program {
	return check.Program{GoVersion: p.version, Language: p.language, DefaultGODEBUG: p.godebug, MaySet: p.maySet}
}

func together(all []source.SetCall) (c source.SetCall) {
	if len(all) == 0 {
		return c
	}
	if slices.ContainsFunc(all, func(one source.SetCall) bool { return one != all[0] }) {
		return source.SetCall{Open: "several calls with different options"}
	}
	return all[0]
}

type listed struct {
	path, name, module, version string
	main                        bool
	godebug                     string
	imports                     []string
	failed                      string
}

// listFormat prints a package on a line. If nothing of it is built for this system, that is not a failure.
const listFormat = `{{if not .Standard}}{{.ImportPath}}{{"\t"}}{{.Name}}{{"\t"}}{{with .Module}}{{.Path}}{{"\t"}}{{.Version}}{{"\t"}}{{.Main}}{{else}}{{"\t\t"}}{{end}}{{"\t"}}{{.DefaultGODEBUG}}{{"\t"}}{{join .Imports " "}}{{"\t"}}{{if and .Error (or .GoFiles (not .IgnoredGoFiles))}}{{printf "%q" .Error.Err}}{{end}}{{end}}`

// parseList reads what the go command prints. A line that is not of listFormat is skipped.
func parseList(out []byte) (all []listed) {
	for line := range bytes.Lines(out) {
		f := strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")
		if len(f) != 8 || f[0] == "" {
			continue
		}
		p := listed{path: f[0], name: f[1], module: f[2], version: f[3], main: f[4] == "true", godebug: f[5], imports: strings.Fields(f[6])}
		if p.failed = f[7]; p.failed != "" {
			if text, err := strconv.Unquote(p.failed); err == nil {
				p.failed = text
			}
		}
		all = append(all, p)
	}
	return all
}

const mostListing = 2 * time.Minute

// list downloads nothing.
func list(ctx context.Context, o Options, tree *folder.Tree) (all []listed, builds string, err error) {
	if err := source.Listable(o.Dir, o.Environ, tree); err != nil {
		return nil, "", err
	}
	ctx, end := context.WithTimeout(ctx, mostListing)
	defer end()
	g := toolchain.Go{Path: "go", Dir: o.Dir, Env: o.Environ}.With("GOPROXY=off")
	version, err := g.Run(ctx, "env", "GOVERSION")
	if err != nil {
		return nil, "", err
	}
	out, err := g.Run(ctx, "list", "-buildvcs=false", "-e", "-deps", "-f", listFormat, "./...")
	return parseList(out), strings.TrimSpace(string(version)), err
}

// survey reads every Go file of the module, whatever it is built for, but not other modules.
func (r *Report) survey(ctx context.Context, o Options, tree *folder.Tree) (all []Import) {
	root := filepath.Clean(o.Dir)
	failed := func(path string, err error) {
		if info, e := os.Stat(path); e == nil && info.IsDir() || aside(root, path) == whySkipped {
			return // a link to a folder, and the locks of editors
		}
		r.Problems = append(r.Problems, check.Problem{Path: filepath.ToSlash(path), Message: "is not read, so that whether it imports automaxprocs is not known: " + phrase.Plain(err)})
	}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return filepath.SkipAll
		case err != nil:
			r.Problems = append(r.Problems, check.Problem{Path: filepath.ToSlash(path), Message: "is not read: " + phrase.Plain(err)})
			return nil
		case d.IsDir() && (d.Name() == ".git" || path == filepath.Join(root, "vendor")):
			return filepath.SkipDir
		case d.IsDir() && path != root && exists(path, "go.mod"):
			shown := filepath.ToSlash(path)
			r.nested = append(r.nested, shown+"/")
			r.Notes = append(r.Notes, Place{Path: shown, Message: "is another module, in which procfit does not look here: procfit migrate automaxprocs " + phrase.Shell([]string{shown})})
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		text, err := tree.Read(path, source.MostSource)
		if err != nil {
			failed(path, err)
			return nil
		}
		if !bytes.Contains(text, []byte(Path)) {
			return nil
		}
		files := token.NewFileSet()
		head, err := parser.ParseFile(files, "", text, parser.ImportsOnly)
		if err != nil {
			failed(path, errors.New("it is not valid Go"))
			return nil
		}
		for _, i := range head.Imports {
			if name, err := strconv.Unquote(i.Path.Value); err == nil && isAutomaxprocs(name) {
				all = append(all, Import{Package: head.Name.Name, Path: filepath.ToSlash(path), Line: files.Position(i.Pos()).Line, Why: aside(root, path)})
			}
		}
		return nil
	})
	return all
}

// aside is why a file is in no package that is built here, in words; "": it may be in one.
func aside(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return ""
	}
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if part == "testdata" || part[0] == '_' || part[0] == '.' {
			return whySkipped
		}
	}
	if strings.HasSuffix(path, "_test.go") {
		return "it is a test"
	}
	if ok, err := build.Default.MatchFile(filepath.Dir(path), filepath.Base(path)); err == nil && !ok {
		return "it is built for another system or with other tags"
	}
	return ""
}

const whySkipped = "the go command skips it by its name or that of its folder"

// leftOver adds imports that package source has not judged. One that go skips is only a note.
func (r *Report) leftOver(found []Import) {
	for _, i := range found {
		if slices.ContainsFunc(r.Module.Imports, func(j Import) bool { return i.Path == j.Path && i.Line == j.Line }) {
			continue
		}
		if i.Why == whySkipped {
			r.Notes = append(r.Notes, Place{Path: i.Path, Line: i.Line, Message: "imports automaxprocs, and is not looked at: " + i.Why})
			continue
		}
		i.Why = cmp.Or(i.Why, "git ignores it, or it is in a folder that procfit check skips")
		r.Module.Imports = append(r.Module.Imports, i)
	}
}

func (r *Report) inNested(path string) bool {
	return slices.ContainsFunc(r.nested, func(dir string) bool { return strings.HasPrefix(path, dir) })
}

func (r *Report) programs(ctx context.Context, o Options, tree *folder.Tree, own []source.Automaxprocs) {
	all, builds, err := list(ctx, o, tree)
	r.Module.Builds = builds
	if err != nil && len(all) == 0 || !slices.ContainsFunc(all, func(p listed) bool { return p.main && p.name == "main" }) && (err != nil || slices.ContainsFunc(all, func(p listed) bool { return p.failed != "" })) {
		r.notListed("the go command cannot list what its packages import, so only the imports of its own files are known; go mod download may help", cmp.Or(err, failures(all)))
		r.bare(own)
		return
	}
	if err = cmp.Or(err, failures(all)); err != nil {
		r.notListed("not everything that its packages import is known; go mod download may help", err)
	}
	r.graph(all, own)
}

func (r *Report) notListed(what string, err error) {
	r.Problems = append(r.Problems, check.Problem{Path: r.Module.File, Message: what + ": " + phrase.Plain(err)})
}

func failures(all []listed) error {
	var failed []string
	for _, p := range all {
		switch why := phrase.FirstLine(p.failed); {
		case p.failed == "":
		case !p.main && p.module != "": // nobody has named its files, and the reason may have words of them
			failed = append(failed, p.path+" of "+p.module+" (go list "+p.path+" shows why)")
		default:
			failed = append(failed, p.path+": "+why)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return errors.New(strings.Join(failed, "; "))
}

func (r *Report) graph(all []listed, own []source.Automaxprocs) {
	byPath := map[string]listed{}
	for _, p := range all {
		byPath[p.path] = p
	}
	calls := map[string][]source.SetCall{}
	for _, a := range own {
		calls[a.Package] = append(calls[a.Package], a.Calls...)
	}
	for _, p := range all {
		if slices.ContainsFunc(p.imports, isAutomaxprocs) && !p.main && p.module != Path {
			r.Module.Imports = append(r.Module.Imports, Import{Package: p.path, Module: strings.TrimSuffix(p.module+"@"+p.version, "@")})
			if calls[p.path] = []source.SetCall{{}}; slices.Contains(p.imports, Path+"/maxprocs") {
				calls[p.path] = []source.SetCall{{Open: "the options of a dependency, " + p.path}}
			}
		}
	}
	for _, p := range all {
		if !p.main || p.name != "main" {
			continue
		}
		one := Program{Package: p.path, godebug: p.godebug, version: r.Module.Builds}
		var found []source.SetCall
		for _, q := range reached(p.path, byPath) {
			if of := byPath[q]; of.module != Path && slices.ContainsFunc(of.imports, isAutomaxprocs) {
				one.Runs, one.By = true, cmp.Or(one.By, q)
				found = append(found, calls[q]...)
			}
		}
		one.Calls = together(found)
		one.Follows = one.follows()
		r.Programs = append(r.Programs, one)
	}
}

func (r *Report) bare(own []source.Automaxprocs) {
	var calls []source.SetCall
	for _, a := range own {
		calls = append(calls, a.Calls...)
	}
	p := Program{Package: r.Module.Path, Runs: len(own) > 0 || r.Module.Version != "", language: cmp.Or(r.Module.Go, "1.16"), Calls: together(calls)}
	if len(own) == 0 {
		p.Calls.Open = "the options of a dependency"
	}
	p.Follows = p.follows()
	r.Programs = []Program{p}
}

func reached(path string, byPath map[string]listed) []string {
	all, seen := []string{path}, map[string]bool{path: true}
	for i := 0; i < len(all); i++ {
		for _, q := range byPath[all[i]].imports {
			if _, known := byPath[q]; known && !seen[q] {
				seen[q] = true
				all = append(all, q)
			}
		}
	}
	return all
}

func isAutomaxprocs(path string) bool { return path == Path || strings.HasPrefix(path, Path+"/") }
