package binary

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/binary/archive"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Whose program each is shows when every go.mod is known.
func (c *Checker) Finish(ctx context.Context, to check.Sink) error {
	sorting.Stable(c.found, func(a, b found) int { return cmp.Compare(a.path, b.path) })
	if len(c.modules) == 0 && len(c.found) == 0 { // of procfit check deploy/, whose program is above
		for _, p := range c.o.Paths {
			c.nearest(p)
		}
	}
	c.above(".")
	for _, f := range c.found {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.above(path.Dir(f.path))
		f.problems(to)
		for _, p := range f.content.Programs {
			s := seen{Program: p, at: rule.Place{Path: f.path}}
			if f.archive {
				s.at.Object = p.Path
			}
			s.known = c.known(s)
			s.expected = c.o.Programs.Expected(check.Use{Name: path.Base(f.path), Command: p.Path, Go: f.named, Path: f.path})
			s.tell(to)
			c.o.Programs.Add(check.Candidate{Program: s.known, Names: check.NamesOf(f.path, p.Path, p.Package), Given: f.named && !f.archive})
		}
		for _, i := range f.content.Images {
			c.image(f, i, to)
		}
	}
	return nil
}

func (f found) problems(to check.Sink) {
	tell := func(message string) { to.Problem(check.Problem{Path: f.path, Message: phrase.Clean(message)}) }
	if f.err != nil {
		tell(f.err.Error())
	}
	for _, fault := range f.content.Faults {
		tell(fault.String())
	}
	if n := f.content.More; n > 0 {
		tell("and " + phrase.CountOf(n, "file in it that cannot be checked", "files in it that cannot be checked"))
	}
}

type seen struct {
	archive.Program
	known check.Program
	at    rule.Place

	expected *rule.Expected // nil: nothing is kept for it
	image    bool           // it lies in one
	idle     bool           // the image starts another
}

func (c *Checker) image(f found, i archive.Image, to check.Sink) {
	name := "image"
	if len(i.Names) > 0 {
		name = i.Names[0]
	}
	if slices.ContainsFunc(f.content.Images, func(o archive.Image) bool { return slices.Equal(o.Names, i.Names) && o.Platform != i.Platform }) {
		name += " for " + i.Platform
	}
	for n, p := range i.Programs {
		s := seen{Program: p, at: rule.Place{Path: f.path, Object: name + ": " + p.Path}, image: true, idle: i.Main >= 0 && i.Main != n}
		s.known = c.known(s)
		s.expected = c.o.Programs.Expected(check.Use{Command: p.Path, Path: f.path})
		s.known.GOMAXPROCS, s.known.GODEBUG = i.Variable("GOMAXPROCS"), i.Variable("GODEBUG")
		s.tell(to)
		candidate := check.Candidate{Program: s.known, Images: i.Names, Names: check.NamesOf(p.Path, p.Package), Started: i.Main == n, Idle: !i.MayStart(n), Given: f.named && i.MayStart(n)}
		if candidate.Started {
			candidate.Names = check.NamesOf(append([]string{p.Path, p.Package}, i.Names...)...)
		}
		c.o.Programs.Add(candidate)
	}
}

func (c *Checker) known(s seen) check.Program {
	from := s.at.Path
	if s.at.Object != "" {
		from += " (" + s.at.Object + ")"
	}
	return check.Program{
		GoVersion: s.GoVersion, DefaultGODEBUG: s.DefaultGODEBUG, Automaxprocs: s.Automaxprocs, MaySet: s.maySet(),
		Foreign: !c.ours(s.Module, s.Package), From: from,
	}
}

func (s seen) tell(to check.Sink) {
	subject := rule.NewSubject(s.observed())
	v := check.Value{Place: s.at, GoVersion: s.GoVersion, Module: s.Module, Go: true}
	v.Text, v.Source = s.value(subject)
	if s.known.MaySet != "" {
		v.Open = "the program sets GOMAXPROCS itself: " + s.known.MaySet
	}
	if n, counts := subject.EnvProcs(); counts {
		v.Procs, v.Text, v.Source = &n, fmt.Sprint(n), "ENV of the image"
	}
	to.Value(v)
	if s.idle {
		return
	}
	for _, f := range rule.Judge(subject) {
		to.Finding(check.Finding{Finding: f})
	}
}

func (s seen) observed() rule.Observed {
	o := rule.Observed{
		Place: s.at, Automaxprocs: s.Automaxprocs, MaySet: s.known.MaySet, Foreign: s.known.Foreign,
		Expected: s.expected,
		Facts:    facts.Facts{GoVersion: s.GoVersion, DefaultGODEBUG: s.DefaultGODEBUG, Env: facts.Fact{State: facts.Absent}, GODEBUG: facts.Fact{State: facts.Absent}},
	}
	if !s.image {
		return o
	}
	o.AnyMachine, o.Written = true, &rule.Written{Image: true}
	set := func(fact *facts.Fact, value string) {
		if value != "" {
			*fact = facts.Fact{State: facts.Known, Raw: value, File: "ENV of the image"}
		}
	}
	set(&o.Facts.Env, s.known.GOMAXPROCS)
	set(&o.Facts.GODEBUG, s.known.GODEBUG)
	return o
}

// maySet is what the code shows: distributions build without modules.
func (s seen) maySet() string {
	switch {
	case s.Automaxprocs != "":
		return "" // which is known to
	case s.Code.Automaxprocs:
		return "it contains go.uber.org/automaxprocs and may call it"
	case s.Code.Sets:
		return "it contains a call of runtime.GOMAXPROCS"
	}
	return ""
}

// A number is known only under a limit.
func (s seen) value(subject rule.Subject) (text, source string) {
	source = phrase.Join(", ", cmp.Or(s.Module, s.Package), s.GoVersion)
	if s.known.MaySet != "" {
		defer func() { text += ", unless the program sets GOMAXPROCS itself"; source += "; " + s.known.MaySet }()
	}
	switch {
	case s.Automaxprocs != "":
		return "the CPU limit rounded down; without a limit all CPUs of the machine", source + ", go.uber.org/automaxprocs " + s.Automaxprocs
	case subject.FollowsLimit():
		return "the CPU limit rounded up, at least 2; without a limit all CPUs of the machine", source
	case strings.Contains(s.DefaultGODEBUG, "containermaxprocs=0"):
		source += ", containermaxprocs=0 compiled in"
	}
	return "all CPUs of the machine, under any limit", source
}

const fromFiles = "command-line-arguments"

// ours reports whether the reader can change the program's source: its main module is one
// of the repository's, or lies above or below one. Distributions build without modules,
// and then it is its package that counts.
func (c *Checker) ours(module, pkg string) bool {
	if module = cmp.Or(module, pkg); module == "" || module == fromFiles {
		return module != ""
	}
	for known := range c.modules {
		if known != "" && (module == known || strings.HasPrefix(module, known+"/") || strings.HasPrefix(known, module+"/")) {
			return true
		}
	}
	return false
}

// nearest is as a go command would take it, but not from outside of the repository.
func (c *Checker) nearest(file string) {
	if file == check.Stdin {
		file = "."
	}
	dir, err := filepath.Abs(filepath.FromSlash(strings.TrimSuffix(filepath.ToSlash(file), "/...")))
	for ; err == nil; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, "go.mod")
		if b, err := c.o.Tree.ReadAbove(name, check.MostModule); err == nil {
			if from, err := filepath.Abs("."); err == nil {
				if short, err := filepath.Rel(from, name); err == nil {
					name = short
				}
			}
			_ = c.add(filepath.ToSlash(name), b, false) // nobody named it
			return
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return
		}
	}
}

func (c *Checker) above(dir string) {
	dir, err := filepath.Abs(filepath.FromSlash(dir))
	if err != nil || c.walked[dir] {
		return
	}
	for ; !c.walked[dir]; dir = filepath.Dir(dir) {
		c.walked[dir] = true
		if b, err := c.o.Tree.ReadAbove(filepath.Join(dir, "go.mod"), check.MostModule); err == nil {
			c.modules[modfile.ModulePath(b)] = true
		}
	}
}
