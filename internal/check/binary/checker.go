// Package binary is the Checker of Go programs, of archives and images that hold them, and of what
// a go.mod tells of the programs of its module.
//
// # Model
//
// A program tells its Go version, the GODEBUG defaults that the linker wrote into it, and the
// modules in it. Each becomes a rule.Subject on no machine, one in an image with what the image's
// config sets. Of an image the program that it starts is judged, or all if that is not known.
// Manifests of the same run know their Go version by check.Programs, to which all are added.
//
// # Whose program it is
//
// A remedy must be one that the reader can carry out. A program counts as theirs if its main module
// is one whose go.mod is among the files, or in a folder above the program or above the current
// one, or is above or below such a one. To any other the remedy is in its environment.
//
// # Limits
//
//   - A program that was built from files that were named counts as the reader's.
//   - Programs for macOS and Windows are read, but runtimes there follow no CPU limit.
package binary

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/binary/archive"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

type Options struct {
	Programs *check.Programs // to which what is found is added
	Cache    *Cache          // of runs over the same files; nil: none
	Tree     *folder.Tree    // what may be read besides them; nil: everything
	Paths    []string        // that the user has named
}

// Cache keeps what was read, for a second run over the same files. The zero value is ready.
type Cache struct{ files sync.Map }

type found struct {
	path    string
	named   bool
	content archive.Content
	archive bool
	err     error // what kept it from being read, to its end
}

// Checker is the check.Checker of programs and archives. One serves one run.
type Checker struct {
	o   Options
	one sync.Mutex // an archive may take much memory, several at once too much

	mu      sync.Mutex
	found   []found
	modules map[string]bool // of the go.mod files
	walked  map[string]bool // folders whose go.mod was looked for
}

func New(o Options) *Checker {
	return &Checker{o: o, modules: map[string]bool{}, walked: map[string]bool{}}
}

// texts are endings that a repository has many files of; these are not opened.
var texts = []string{".yaml", ".yml", ".json", ".go", ".md", ".txt", ".sum", ".mod", ".html", ".css", ".js", ".ts", ".py", ".rs", ".c", ".h", ".sh", ".proto", ".toml", ".xml", ".svg", ".golden", ".txtar"}

var archives = []string{".tar", ".tgz", ".gz", ".zst", ".tzst"}

// notRead are endings of archives that procfit cannot read. If one is named, the error says what to use.
var notRead = []string{".xz", ".txz", ".bz2", ".tbz2"}

func (c *Checker) Wants(f *check.File) bool {
	ext := strings.ToLower(path.Ext(f.Path))
	switch {
	case f.Base() == "go.mod":
		return true
	case f.Base() == "oci-layout":
		return f.Path != check.Stdin
	case slices.Contains(texts, ext), !f.Named && blobOfLayout(f.Path):
		return false
	case f.Named && slices.Contains(notRead, ext):
		return true
	}
	head := f.Head()
	switch {
	case archive.Executable(head):
		return true
	case archive.Sniff(head):
		return f.Named || unpacksToTar(f)
	case len(head) == 0 && f.Size > 0: // it cannot be opened
		return f.Mode&0o111 != 0 || slices.Contains(archives, ext)
	}
	return f.Named && slices.Contains(archives, ext)
}

// inLayout are the blobs of an OCI layout, which is read as a whole.
var inLayout = pattern.Of(`(?:^|/)blobs/sha256/[0-9a-f]{64}$`)

func blobOfLayout(file string) bool {
	if !inLayout().MatchString(file) {
		return false
	}
	_, err := os.Stat(filepath.Join(filepath.FromSlash(file), "../../../oci-layout"))
	return err == nil
}

// Much is compressed that is no archive.
func unpacksToTar(f *check.File) bool {
	r, err := f.Open()
	if err != nil {
		return true // File tells why
	}
	defer r.Close()
	return archive.Unpacks(r)
}

func (c *Checker) File(ctx context.Context, f *check.File, _ check.Sink) error {
	if f.Base() == "go.mod" {
		return c.module(f)
	}
	got := c.read(ctx, f)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = append(c.found, got)
	return nil
}

// module takes whose programs are the reader's, and how they choose GOMAXPROCS. What is wrong with a
// go.mod that nobody named is not reported here.
func (c *Checker) module(f *check.File) error {
	b, err := f.Read(check.MostModule)
	if err != nil {
		return err
	}
	if err := c.add(f.Path, b, f.Named); err != nil && f.Named {
		return errors.New(strings.TrimPrefix(err.Error(), f.Path+": ")) // the path is next to it anyway
	}
	return nil
}

func (c *Checker) add(file string, b []byte, named bool) error {
	name := modfile.ModulePath(b)
	c.mu.Lock()
	c.modules[name] = true
	c.mu.Unlock()
	known, err := check.ParseModule(file, b)
	if err != nil {
		return err
	}
	c.o.Programs.Add(check.Candidate{Program: known, Names: check.NamesOf(name), Module: true, Path: name, Given: named})
	return nil
}

// read is what a file holds, from the cache where a run before has read it.
func (c *Checker) read(ctx context.Context, f *check.File) found {
	if k := c.o.Cache; k != nil && f.Path != check.Stdin {
		if got, ok := k.files.Load(f.Path); ok {
			return got.(found)
		}
	}
	got := found{path: f.Path, named: f.Named}
	switch head := f.Head(); {
	case f.Base() == "oci-layout":
		got.archive = true
		got.path = path.Dir(f.Path)
		got.content, got.err = c.layout(ctx, f)
	case archive.Executable(head):
		got.content, got.err = program(f, head)
	default:
		got.archive = true
		c.one.Lock()
		got.content, got.err = archive.Read(ctx, func() (io.ReadCloser, error) { return f.Open() }, archive.DefaultLimits())
		c.one.Unlock()
		if errors.Is(got.err, archive.ErrNoArchive) && !f.Named {
			got.err = nil
		}
	}
	got.err = check.Cause(got.err)
	if k := c.o.Cache; k != nil && ctx.Err() == nil {
		k.files.Store(f.Path, got)
	}
	return got
}

func (c *Checker) layout(ctx context.Context, f *check.File) (archive.Content, error) {
	b, err := f.Read(1 << 10)
	if err != nil || !bytes.Contains(b, []byte("imageLayoutVersion")) {
		return archive.Content{}, err
	}
	root, err := folder.OpenRoot(filepath.Dir(filepath.FromSlash(f.Path)))
	if err != nil {
		return archive.Content{}, err
	}
	defer root.Close()
	c.one.Lock()
	defer c.one.Unlock()
	return archive.ReadLayout(ctx, root.FS(), archive.DefaultLimits())
}

func program(f *check.File, head []byte) (archive.Content, error) {
	r, err := f.Open()
	if err != nil {
		return archive.Content{}, err
	}
	defer r.Close()
	p, err := goproc.Read(r)
	switch {
	case err == nil:
		return archive.Content{Programs: []archive.Program{archive.ProgramOf(p)}}, nil
	case errors.Is(err, goproc.ErrNotGo) && archive.Packed(head):
		return archive.Content{}, archive.ErrPacked
	case errors.Is(err, goproc.ErrNotGo) && !f.Named:
		return archive.Content{}, nil
	case errors.Is(err, goproc.ErrNotGo):
		return archive.Content{}, fmt.Errorf("is %w: only programs built by Go 1.13 or newer can be read", err)
	}
	return archive.Content{}, err
}

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
			s := seen{Program: p, at: rule.Place{Path: f.path, Object: phrase.If(f.archive, p.Path, "")}}
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
	from := s.at.Path + phrase.If(s.at.Object != "", " ("+s.at.Object+")", "")
	return check.Program{
		GoVersion: s.GoVersion, DefaultGODEBUG: s.DefaultGODEBUG, Automaxprocs: s.Automaxprocs, MaySet: s.maySet(), Follows: s.Code.Follows,
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
		Place: s.at, Automaxprocs: s.Automaxprocs, MaySet: s.known.MaySet, Follows: s.known.Follows, Foreign: s.known.Foreign,
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
	case s.Code.Maxprocs:
		return "it contains github.com/procfit/procfit/maxprocs and may call it"
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
	case s.GoVersion == "":
		return "not known", phrase.Join(", ", source, "its build names no Go version")
	case subject.FollowsLimit():
		return "the CPU limit rounded up, at least 2; without a limit all CPUs of the machine", source
	case s.known.Follows:
		return "the CPU limit rounded up; without a limit all CPUs of the machine", source + ", maxprocs/auto imported"
	case strings.Contains(s.DefaultGODEBUG, "containermaxprocs=0"):
		source += ", containermaxprocs=0 compiled in"
	}
	return "all CPUs of the machine, under any limit", source
}

// fromFiles is the package of a program that was built from files that were named.
const fromFiles = "command-line-arguments"

// ours: its main module is one of the repository's, or above or below one. Distributions build
// without modules, and then its package counts.
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
