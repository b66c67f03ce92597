package migrate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
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
	"github.com/procfit/procfit/maxprocs/facts"
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
	Removable bool   `json:"removable"` // by a fix
}

// Program is a main package of the module.
type Program struct {
	Package string `json:"package"`
	Runs    bool   `json:"runs_automaxprocs"`
	By      string `json:"by,omitempty"` // the package that imports it
	Follows bool   `json:"follows_limits"`
	Calls   Calls  `json:"calls"`

	godebug, version, language string
}

// Calls are the options with which a program calls Set.
type Calls struct {
	Min      int            `json:"min,omitempty"`
	Rounding facts.Rounding `json:"rounding,omitempty"` // "": down, the default
	Open     string         `json:"open,omitempty"`     // what of them is not known
}

func (c Calls) String() string {
	if c == (Calls{}) {
		return ""
	}
	var parts []string
	if c.Min > 1 {
		parts = append(parts, fmt.Sprintf("Min(%d)", c.Min))
	}
	if c.Rounding == facts.Ceil {
		parts = append(parts, "rounded up")
	}
	if c.Open != "" {
		parts = append(parts, c.Open)
	}
	if len(parts) == 0 {
		return ""
	}
	return " with " + strings.Join(parts, ", ")
}

// known is the program for package check.
func (p Program) known() check.Program {
	return check.Program{GoVersion: p.version, Language: p.language, DefaultGODEBUG: p.godebug}
}

// together are the options of several calls: what they have in common, else they are open.
func together(all []source.SetCall) (c Calls) {
	for i, one := range all {
		this := Calls{Min: one.Min, Rounding: one.Rounding, Open: one.Open}
		if this.Rounding == facts.Floor {
			this.Rounding = ""
		}
		if this.Min == 1 {
			this.Min = 0
		}
		switch {
		case i == 0:
			c = this
		case this != c:
			return Calls{Open: "several calls with different options"}
		}
	}
	return c
}

// listed is a package as the go command lists it.
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

// mostListing is how long the go command may take to list a module.
const mostListing = 2 * time.Minute

// list asks the go command for all packages of the module and of what they import, and which
// release it builds with. It downloads nothing.
func list(ctx context.Context, o Options, tree *folder.Tree) (all []listed, builds string, err error) {
	if err := readable(o.Dir, tree); err != nil {
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

// readable is an error if the go command would read a file of the module that is a link out of
// it: it follows links.
func readable(dir string, tree *folder.Tree) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type().IsRegular() || d.IsDir() {
			return err
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".mod" && ext != ".sum" && ext != ".work" {
			return nil
		}
		if err := tree.Readable(path); err != nil {
			return fmt.Errorf("the go command would read %s: %w", path, err)
		}
		return nil
	})
}

// programs finds the main packages and what each of them imports automaxprocs by.
func (r *Report) programs(ctx context.Context, o Options, tree *folder.Tree, own []source.Automaxprocs) {
	all, builds, err := list(ctx, o, tree)
	if err == nil {
		for _, p := range all {
			if p.failed != "" { // what it imports is not known
				err = fmt.Errorf("%s: %s", p.path, phrase.FirstLine(p.failed))
				break
			}
		}
	}
	r.Module.Builds = builds
	if err != nil && len(all) == 0 || err != nil && !slices.ContainsFunc(all, func(p listed) bool { return p.main && p.name == "main" }) {
		r.Problems = append(r.Problems, check.Problem{Path: r.Module.File, Message: "the go command cannot list what its packages import, so only the imports of its own files are known; go mod download may help: " + phrase.Plain(err)})
		r.bare(own)
		return
	}
	if err != nil {
		r.Problems = append(r.Problems, check.Problem{Path: r.Module.File, Message: "not everything that its packages import is known; go mod download may help: " + phrase.Plain(err)})
	}
	r.graph(all, own)
}

// graph fills in the programs from the packages and what they import.
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

// bare is the only program of a module of which nothing but the files is known.
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

// reached are a package and all that it imports, in the order in which they are found.
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
