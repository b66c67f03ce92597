package source

import (
	"errors"
	"fmt"
	"go/build"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// implied is the language of a go.mod without a go line (go.dev/ref/mod#go-mod-file-go).
const implied = "1.16"

type module struct {
	shown    string // its path
	path     string // the module's
	language string
	goLine   rule.Place
	godebug  string // its godebug lines, as key=value,…
	unnamed  bool   // the user has not named it: nothing is reported of it
}

func (k *Checker) module(shown string, text []byte, to check.Sink) {
	for _, a := range moduleAnswers(shown, text) {
		to.Ignore(a)
	}
	if path.Base(shown) == "go.work" {
		work, err := modfile.ParseWork(shown, text, nil)
		if err != nil {
			to.Problem(moduleProblem(shown, err))
			return
		}
		settings(shown, work.Godebug, workLanguage(work), to)
		return
	}
	m, mod, err := parseModule(shown, text)
	if err != nil {
		to.Problem(moduleProblem(shown, err))
		return
	}
	root := filepath.Dir(real(shown))
	// The go command leaves godebug lines of a go.mod out where a go.work uses the module.
	if work, _ := workspaceOf(root, k.o.Environ, k.o.Tree); work == nil {
		settings(shown, mod.Godebug, m.language, to)
	}
	k.mu.Lock()
	k.modules[root] = m
	k.mu.Unlock()
}

func parseModule(shown string, text []byte) (*module, *modfile.File, error) {
	mod, err := check.ModFile(shown, text)
	if err != nil {
		return nil, nil, err
	}
	m := &module{shown: shown, language: implied, goLine: rule.Place{Path: shown, Line: 1, Column: 1}}
	if mod.Module != nil {
		m.path = mod.Module.Mod.Path
	}
	if mod.Go != nil {
		m.language = mod.Go.Version
		m.goLine.Line, m.goLine.Column = place(mod.Go.Syntax)
	}
	m.godebug = check.GodebugLines(mod.Godebug)
	return m, mod, nil
}

// Without a go line it is 1.18 (cmd/go/internal/gover, DefaultGoWorkVersion).
func workLanguage(work *modfile.WorkFile) string {
	if work.Go == nil {
		return "1.18"
	}
	return work.Go.Version
}

// unnamedModule is nil if the go.mod cannot be read.
func (k *Checker) unnamedModule(file string) (m *module) {
	if text, err := k.o.Tree.ReadAbove(file, check.MostModule); err == nil {
		if m, _, _ = parseModule(filepath.ToSlash(file), text); m != nil {
			m.unnamed = true
		}
	}
	return m
}

func place(l *modfile.Line) (line, column int) {
	if l == nil {
		return 1, 1
	}
	return l.Start.Line, max(1, l.Start.LineRune)
}

// settings is PF033 for go.mod and go.work.
func settings(shown string, all []*modfile.Godebug, language string, to check.Sink) {
	lines := strings.Split(check.GodebugLines(all), ",")
	for _, g := range all {
		f, ok := switchedOff(g.Key, g.Value, "godebug", language)
		if !ok || overruled(g.Key, lines) {
			continue
		}
		line, column := place(g.Syntax)
		c := check.NewFinding("PF033", rule.Place{Path: shown, Line: line, Column: column}, f.Message, f.Fix)
		c.Severity = f.Severity
		to.Finding(c)
	}
}

func moduleProblem(shown string, err error) check.Problem {
	p := check.Problem{Path: shown, Message: "is not a valid " + path.Base(shown) + ": " + err.Error()}
	var list modfile.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		p.Line, p.Column = list[0].Pos.Line, list[0].Pos.LineRune
		p.Message = "is not a valid " + path.Base(shown) + ": " + list[0].Err.Error()
	}
	return p
}

// judge is PF032, which only the whole module tells.
func (t *tree) judge(to check.Sink) {
	m := t.module
	if m == nil || m.unnamed {
		return
	}
	line, fix, godebug := "go "+m.language, "go mod edit -go=1.25", m.godebug
	switch {
	case t.work != nil:
		line, fix, godebug = fmt.Sprintf("go %s in go.work", t.work.language), "go work edit -go=1.25", t.work.godebug
	case m.language == implied && m.goLine.Line == 1:
		line = "a missing go line"
	}
	ignoring := slices.DeleteFunc(slices.Clone(t.programs), func(dir string) bool { return t.follows(dir, godebug) })
	if len(ignoring) == 0 || follows(t.decides()) { // what a setting switches off is PF033
		return
	}
	for _, files := range t.folders {
		for _, s := range files {
			if s.sets.Words != "" || slices.ContainsFunc(s.imports, setsWhenImported) {
				return // it sees to it
			}
		}
	}
	to.Finding(check.NewFinding("PF032", m.goLine,
		fmt.Sprintf("%s makes %s ignore the CPU limit and use all CPUs of the machine", line, phrase.CountOf(len(ignoring), "program of this module", "programs of this module")),
		"if they run under a CPU limit: "+fix+", so that the runtime chooses "+choice("")+"; or import github.com/procfit/procfit/maxprocs/auto in main"))
}

// follows reports whether the runtime of a program follows a limit, by all lines that decide.
func (t *tree) follows(program, godebug string) bool {
	p := check.Program{Language: t.decides(), DefaultGODEBUG: phrase.Join(",", godebug, debugOf(t.folders[program]))}
	language, godebug := p.Defaults()
	return facts.Go{Language: language}.ReadsLimit(facts.Facts{DefaultGODEBUG: godebug})
}

// setsWhenImported is also of what a program imports only to call it.
func setsWhenImported(p string) bool {
	return isAutomaxprocs(p) || p == pkgMaxprocs || followsWhenImported(p)
}

// followsWhenImported reports whether an import alone makes a program follow its limit.
func followsWhenImported(p string) bool {
	return p == pkgMaxprocs+"/auto" || p == pkgMaxprocs+"/metrics/auto"
}

func isAutomaxprocs(p string) bool {
	return p == pkgAutomaxprocs || strings.HasPrefix(p, pkgAutomaxprocs+"/")
}

func builtHere(file string) bool {
	ok, err := build.Default.MatchFile(filepath.Dir(file), filepath.Base(file))
	return ok || err != nil
}

type workspace struct {
	file     string
	language string   // its go line, which decides for the programs of its modules
	godebug  string   // its godebug lines, as key=value,…; those of a go.mod do not count
	used     []string // the folders of its modules
	replaced []string // folders that take the place of other modules
}

// workspaceOf is nil for none. off: a go.work does not use the module, or names modules that are
// not there, so that the go command would load nothing.
func workspaceOf(root string, environ []string, reads *folder.Tree) (w *workspace, off bool) {
	file := ""
	for _, v := range environ { // the last one counts
		if value, ok := strings.CutPrefix(v, "GOWORK="); ok {
			file = value
		}
	}
	if file == "off" {
		return nil, false
	}
	for dir := root; file == ""; dir = filepath.Dir(dir) {
		if above := filepath.Join(dir, "go.work"); isFile(above) {
			file = above
		} else if dir == filepath.Dir(dir) {
			return nil, false
		}
	}
	text, err := reads.ReadAbove(file, check.MostModule)
	if err != nil {
		return nil, true
	}
	work, err := modfile.ParseWork(file, text, nil)
	if err != nil {
		return nil, true
	}
	at := filepath.Dir(file)
	w, off = &workspace{file: file, language: workLanguage(work), godebug: check.GodebugLines(work.Godebug), replaced: replaced(at, work.Syntax)}, true
	for _, u := range work.Use {
		dir := absolute(at, filepath.FromSlash(u.Path))
		if !isFile(filepath.Join(dir, "go.mod")) {
			return nil, true
		}
		w.used = append(w.used, dir)
		off = off && real(filepath.Join(dir, "go.mod")) != filepath.Join(root, "go.mod")
	}
	if off {
		return nil, true
	}
	return w, false
}

// replaced are the folders of replace lines. These are read as words: a parser that fails on a line
// of a newer Go would have none of them.
func replaced(at string, syntax *modfile.FileSyntax) (all []string) {
	take := func(words []string) {
		n := len(words)
		if n < 4 || words[0] != "replace" || words[n-2] != "=>" {
			return // a module with a version, not a folder, takes the place
		}
		dir := words[n-1]
		if unquoted, err := strconv.Unquote(dir); err == nil {
			dir = unquoted
		}
		all = append(all, absolute(at, filepath.FromSlash(dir)))
	}
	for _, s := range syntax.Stmt {
		switch s := s.(type) {
		case *modfile.Line:
			take(s.Token)
		case *modfile.LineBlock:
			for _, l := range s.Line {
				take(slices.Concat(s.Token, l.Token))
			}
		}
	}
	return all
}
