// Package source finds what Go source does to GOMAXPROCS.
//
// # Model
//
// A [Checker] gets every Go file, go.mod and go.work, and keeps the files with a word that a rule
// looks for. At the end the go command lists their packages and what these import, one module after
// the other. It builds nothing: a package gets its types from its own source, and from the
// declarations in that of its imports. Listing and judging take what the author of the source
// likes, so that they run in a process of their own, within [Bounds]; what exceeds them is judged
// by its syntax.
//
// The rules of one package read one result, uses, which knows the calls that matter and where a
// number comes from; golangci-lint runs them as [Analyzers]. What only a whole module tells, its go
// line and what its programs export, is judged by the Checker alone.
//
// A package that the go command cannot list, an import that it does not find, and a name that is
// defined nowhere are Problems; the package is judged by its own syntax, and nothing in it is
// changed. Other errors of types may come from what is not known of an import's imports.
//
// # Limits
//
//   - A number is followed through constants, variables that are set once, and flags, within one
//     package, and not through parameters.
//   - Tests are not judged, nor functions that take a *testing.T: what they set reaches no user.
//     Of benchmarks one thing is judged, a GOMAXPROCS that package testing sets back.
//   - Of what an import imports in turn only the name is known.
//   - A note names files that are built for another system or with other tags.
//   - A module that a go.work uses is judged as a build in the workspace makes it.
package source

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/folder"
)

type Options struct {
	Overlay  map[string][]byte    // as in check.Options
	Environ  []string             // of the go command: os.Environ()
	Syntax   bool                 // only what a package's own files tell, without the go command
	Slow     func(message string) // gets what takes longer than Patience; nil: nobody waits
	Patience time.Duration        // 0: 2 s
	Bounds   *Bounds              // of the process that judges packages, for which main has to call Stage; nil: defaultBounds
	Tree     *folder.Tree         // what may be read in addition to the files; nil: everything
	// Automaxprocs gets every import of go.uber.org/automaxprocs. Packages are then judged as if
	// their go line were one with which the runtime follows a limit. nil: nobody asks.
	Automaxprocs func(Automaxprocs)
}

// Checker judges Go source, go.mod and go.work.
type Checker struct {
	o     Options
	large sync.Mutex // a large file may take much memory, several at once too much

	mu      sync.Mutex
	files   map[string]scanned // by their absolute path
	modules map[string]*module // by their folder

	sorted map[string]*tree // of trees
	judger process          // of Finish
}

func New(o Options) *Checker {
	return &Checker{o: o, files: map[string]scanned{}, modules: map[string]*module{}}
}

func (k *Checker) Wants(f *check.File) bool {
	base := f.Base()
	return base == "go.mod" || base == "go.work" || strings.HasSuffix(base, ".go") && base != ".go" && (f.Named || !unseen(f.Path))
}

// File reads one. What only its package shows is reported by Finish.
func (k *Checker) File(_ context.Context, f *check.File, to check.Sink) error {
	text, err := f.Read(MostSource)
	if err != nil {
		return err
	}
	if len(text) > largeFile {
		k.large.Lock()
		defer k.large.Unlock()
	}
	if strings.HasSuffix(f.Base(), "_test.go") {
		k.test(f.Path, text, to)
		return nil
	}
	if !strings.HasSuffix(f.Base(), ".go") {
		k.module(f.Path, text, to)
		return nil
	}
	s, err := scan(f.Path, text)
	if err != nil {
		s.bad = true
		to.Problem(problem(f.Path, err))
	}
	if bytes.Contains(text, []byte(check.IgnoreMarker)) {
		s.answers = fileAnswers(f.Path, text)
	}
	_, s.changed = k.o.Overlay[f.Path]
	k.mu.Lock()
	k.files[s.file] = s
	k.mu.Unlock()
	return nil
}

// Finish looks at the packages that speak of GOMAXPROCS, one module after the other.
func (k *Checker) Finish(ctx context.Context, to check.Sink) error {
	k.judger.bounds = *cmp.Or(k.o.Bounds, defaultBounds())
	defer k.judger.close()
	trees, overlay := k.trees(), k.overlay()
	for _, root := range slices.Sorted(maps.Keys(trees)) {
		t := trees[root]
		t.judge(to)
		if err := k.packages(ctx, t, overlay, to); err != nil {
			return err
		}
		for _, files := range t.folders {
			for _, s := range files {
				for _, a := range s.answers {
					a.Unsure = t.partly[s.file]
					to.Ignore(a)
				}
			}
		}
	}
	return nil
}

func (k *Checker) overlay() map[string][]byte {
	all := map[string][]byte{}
	for path, text := range k.o.Overlay {
		if strings.HasSuffix(path, ".go") {
			all[real(path)] = text
		}
	}
	return all
}
