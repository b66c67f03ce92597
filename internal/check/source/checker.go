package source

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/check"
)

// Options are what a Checker is told.
type Options struct {
	// Overlay is what files hold instead of what is on the disk, by their path as it
	// is shown.
	Overlay map[string][]byte
	// Environ is the environment of the go command: os.Environ().
	Environ []string
	// Syntax is to look at what a package's own files tell, without the go command.
	Syntax bool
	// Slow is told what is waited for, where that takes longer than Patience; nil:
	// nobody is.
	Slow     func(message string)
	Patience time.Duration // 0: 2 s
}

// Checker judges Go source, go.mod and go.work.
type Checker struct {
	o Options

	mu      sync.Mutex
	files   map[string]scanned // by their absolute path
	modules map[string]*module // by their folder
	answers map[string][]check.Ignore
}

// New is a Checker for one run.
func New(o Options) *Checker {
	return &Checker{o: o, files: map[string]scanned{}, modules: map[string]*module{}, answers: map[string][]check.Ignore{}}
}

// Wants tells it by the name.
func (k *Checker) Wants(f *check.File) bool {
	switch base := f.Base(); {
	case base == "go.mod" || base == "go.work":
		return true
	default:
		return strings.HasSuffix(base, ".go") && base != ".go" && (f.Named || !unseen(f.Path))
	}
}

// File reads one. What only its package tells is told by Finish.
func (k *Checker) File(_ context.Context, f *check.File, to check.Sink) error {
	if strings.HasSuffix(f.Base(), "_test.go") {
		return nil
	}
	text, err := f.Read(mostSource)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(f.Base(), ".go") {
		return k.module(f.Path, text, to)
	}
	s, err := scan(f.Path, text)
	if err != nil {
		s.bad = true
		to.Problem(problem(f.Path, err))
	}
	var answers []check.Ignore
	if bytes.Contains(text, []byte(check.IgnoreMarker)) {
		answers = fileAnswers(f.Path, text)
	}
	_, s.changed = k.o.Overlay[f.Path]
	k.mu.Lock()
	k.files[s.file] = s
	k.answers[f.Path] = answers
	k.mu.Unlock()
	for _, a := range answers {
		to.Ignore(a)
	}
	return nil
}

// Finish looks at the packages that speak of GOMAXPROCS, one module after the other.
func (k *Checker) Finish(ctx context.Context, to check.Sink) error {
	trees := k.trees()
	for _, root := range slices.Sorted(maps.Keys(trees)) {
		t := trees[root]
		t.judge(to)
		if err := k.packages(ctx, t, to); err != nil {
			return err
		}
	}
	return nil
}

// overlay is what is in files by their absolute path, for the go command.
func (k *Checker) overlay() map[string][]byte {
	all := map[string][]byte{}
	for path, text := range k.o.Overlay {
		if abs, err := filepath.Abs(filepath.FromSlash(path)); err == nil && strings.HasSuffix(path, ".go") {
			all[real(abs)] = text
		}
	}
	return all
}
