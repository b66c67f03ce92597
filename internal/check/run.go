package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

type Options struct {
	Paths    []string  // files and folders; "-" is standard input, "x/..." the folder x
	Skip     []Pattern // what of the folders is skipped, by its path as it is shown
	Files    []*File   // in addition to those: what is in no file, see NewFile
	Stdin    io.Reader
	Checkers []Checker
	Overlay  map[string][]byte // what files hold instead of what is on the disk, by their path as it is shown
	Progress func(files int)   // gets how many files have been looked at; nil: nothing does
}

// Run checks the files. What is wrong with one of them is in the Report, which has what was found
// until then if the context ends the run.
func Run(ctx context.Context, o Options) (*Report, error) {
	c := new(collector)
	err := leaving(ctx, func() error { return hand(ctx, o, c) })
	for _, k := range o.Checkers {
		if err != nil || ctx.Err() != nil {
			break
		}
		err = leaving(ctx, func() error { return k.Finish(ctx, c) })
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	return c.report(ctx.Err() != nil), ctx.Err()
}

// grace is for the reading of a file system that does not answer, which may never end.
const grace = 200 * time.Millisecond

// leaving does something until it is done, or until shortly after the context has ended: it then
// continues in its goroutine.
func leaving(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
		return ctx.Err()
	}
}

// AtOnce does something for each of a list, for so many of them at the same time.
func AtOnce[T any](most int, all []T, do func(n int, one T)) {
	free := make(chan struct{}, most)
	var running sync.WaitGroup
	for n, one := range all {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			do(n, one)
		})
	}
	running.Wait()
}

func hand(ctx context.Context, o Options, c *collector) error {
	files := make(chan *File, 64)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for f := range files {
				if ctx.Err() == nil && look(ctx, o.Checkers, f, c) {
					c.looked(o.Progress)
				}
			}
		})
	}
	w := walk{ctx: ctx, o: o, to: c, out: files, tree: folder.NewTree(o.Paths...), done: map[string]bool{}, led: map[string]bool{}}
	err := w.paths()
	for _, f := range o.Files {
		w.hand(f)
	}
	close(files)
	workers.Wait()
	return err
}

// look reports whether somebody wants a file. A parser that panics is that file's problem alone.
func look(ctx context.Context, checkers []Checker, f *File, to *collector) (wanted bool) {
	defer func() {
		if r := recover(); r != nil {
			to.Problem(Problem{Path: f.Path, Message: fmt.Sprintf("procfit fails on it, please report it: %v at %s", r, debug.Stack())})
		}
	}()
	other, skipped := false, false
	for _, k := range checkers {
		if !k.Wants(f) {
			continue
		}
		err := k.File(ctx, f, to)
		if errors.Is(err, ErrOther) || errors.Is(err, ErrSkipped) {
			other, skipped = other || errors.Is(err, ErrOther), skipped || errors.Is(err, ErrSkipped)
			continue
		}
		wanted = true
		if err != nil && ctx.Err() == nil {
			to.Problem(Problem{Path: f.Path, Message: err.Error()})
		}
	}
	switch {
	case wanted || skipped:
	case other:
		to.other(f)
	case f.Named:
		to.Problem(Problem{Path: f.Path, Message: "is not a file that procfit checks: expected a manifest, Go source, a Go program or an image archive"})
	}
	return wanted
}

type collector struct {
	mu      sync.Mutex
	files   int
	all     Report
	ignores []Ignore
	closed  bool // the Report is made, and what still comes is of a run that was ended
}

func (c *collector) looked(progress func(int)) {
	c.locked(func() {
		c.files++
		if progress != nil {
			progress(c.files)
		}
	})
}

// other takes a file that holds no manifest. One that the user has named is reported.
func (c *collector) other(f *File) {
	c.locked(func() {
		switch {
		case !f.Named:
			c.all.Others = append(c.all.Others, f.Path)
		case f.Size == 0:
			c.all.Notes = append(c.all.Notes, Note{Path: f.Path, Message: "it is empty"})
		default:
			c.all.Notes = append(c.all.Notes, Note{Path: f.Path, Message: NoManifest})
		}
	})
}

func (c *collector) locked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		do()
	}
}

func (c *collector) Value(v Value) { c.locked(func() { c.all.Values = append(c.all.Values, v) }) }
func (c *collector) Finding(f Finding) {
	c.locked(func() { c.all.Findings = append(c.all.Findings, f) })
}
func (c *collector) Problem(p Problem) {
	c.locked(func() { c.all.Problems = append(c.all.Problems, p) })
}
func (c *collector) Note(n Note)     { c.locked(func() { c.all.Notes = append(c.all.Notes, n) }) }
func (c *collector) Ignore(i Ignore) { c.locked(func() { c.ignores = append(c.ignores, i) }) }

// Report has each list in the order of paths and lines. A nil list is empty.
type Report struct {
	Files    int      // that were checked
	Noun     string   // what these are, in the singular; "": files
	Others   []string // the paths of YAML and JSON files that hold no manifest, and have no Note
	Values   []Value
	Findings []Finding
	Ignored  []Ignored
	Problems []Problem
	Notes    []Note
	Fixed    []Fixed // what --fix has written
}

type Ignored struct {
	Finding
	Reason  string
	Outside bool // by a flag or procfit.yaml, and not where it was found
}

// Fixed is a file that was, or would be, changed.
type Fixed struct {
	Path     string
	Findings []Finding // that are gone
	Before   []byte    // nil: there was no file
	After    []byte    // nil: there is none any more
	Written  bool      // false: only shown
}

func (r Report) AtLeast(least rule.Severity) *Report {
	r.Findings = slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Severity.Rank() > least.Rank() })
	return &r
}

// Suppress moves the findings of rules that the user suppresses everywhere to Ignored.
func (r Report) Suppress(reasons map[string]string) *Report {
	var left []Finding
	for _, f := range r.Findings {
		if reason, ok := reasons[f.Rule]; ok {
			r.Ignored = append(r.Ignored[:len(r.Ignored):len(r.Ignored)], Ignored{f, reason, true})
		} else {
			left = append(left, f)
		}
	}
	r.Findings = left
	r.sort()
	return &r
}

func (r *Report) Count(s rule.Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Failed counts, in words, what could not be checked and what could not be fixed; "": nothing.
func (r *Report) Failed() string {
	unwritten := 0
	for _, p := range r.Problems {
		if p.Unwritten {
			unwritten++
		}
	}
	unchecked := len(r.Problems) - unwritten
	return phrase.Join(" and ", phrase.If(unchecked > 0, phrase.Count(unchecked, "place")+" could not be checked", ""),
		phrase.If(unwritten > 0, phrase.Count(unwritten, "file")+" could not be fixed", ""))
}

// Of a run that was ended, not all that the ignores are about was judged.
func (c *collector) report(ended bool) *Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	r := c.all
	r.Files = c.files
	partly := map[string]bool{} // files that could not be read whole
	for _, p := range r.Problems {
		partly[p.Path] = true
	}
	for i := range c.ignores {
		c.ignores[i].Unsure = ended || c.ignores[i].Unsure || partly[c.ignores[i].Place.Path]
	}
	r.Findings, r.Ignored = ignore(r.Findings, c.ignores)
	r.sort()
	return &r
}

func Merge(reports ...*Report) *Report {
	whole := &Report{}
	for _, r := range reports {
		whole.Files += r.Files
		whole.Others = append(whole.Others, r.Others...)
		whole.Values = append(whole.Values, r.Values...)
		whole.Findings = append(whole.Findings, r.Findings...)
		whole.Ignored = append(whole.Ignored, r.Ignored...)
		whole.Problems = append(whole.Problems, r.Problems...)
		whole.Notes = append(whole.Notes, r.Notes...)
		whole.Fixed = append(whole.Fixed, r.Fixed...)
	}
	whole.sort()
	return whole
}

func (r *Report) sort() {
	slices.Sort(r.Others)
	sorting.Stable(r.Values, func(a, b Value) int { return comparePlaces(a.Place, b.Place) })
	sorting.Stable(r.Findings, compareFindings)
	r.Findings = slices.CompactFunc(r.Findings, func(a, b Finding) bool {
		return a.Rule == b.Rule && a.Place == b.Place && a.Message == b.Message
	})
	sorting.Stable(r.Ignored, func(a, b Ignored) int { return compareFindings(a.Finding, b.Finding) })
	sorting.Stable(r.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	r.Problems = slices.Compact(r.Problems)
	sorting.Stable(r.Notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	r.Notes = slices.Compact(r.Notes)
}

func comparePlaces(a, b rule.Place) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Object, b.Object), cmp.Compare(a.Container, b.Container))
}

func compareFindings(a, b Finding) int {
	return cmp.Or(comparePlaces(a.Place, b.Place), cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
}
