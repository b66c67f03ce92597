package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"
)

// Options are what to check, and by whom.
type Options struct {
	Paths    []string        // files and folders; "-" is standard input, "x/..." the folder x
	Files    iter.Seq[*File] // besides those: what is in no file, see NewFile
	Stdin    io.Reader
	Checkers []Checker

	// Overlay is what files hold, by their path as it is shown, instead of what is on
	// the disk.
	Overlay map[string][]byte

	// Progress is told of every file that has been looked at; nil: nobody is.
	Progress func(files int)
}

// Run checks the files. An error is of the whole run: what is wrong with one file
// stands in the Report. Where the context ends the run, the Report has what was found
// until then.
func Run(ctx context.Context, o Options) (*Report, error) {
	c := new(collector)
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
	w := walk{ctx: ctx, o: o, to: c, out: files}
	err := w.paths()
	if o.Files != nil {
		for f := range o.Files {
			files <- f
		}
	}
	close(files)
	workers.Wait()
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	for _, k := range o.Checkers {
		if ctx.Err() != nil {
			break
		}
		if err := k.Finish(ctx, c); err != nil && ctx.Err() == nil {
			return nil, err
		}
	}
	return c.report(), ctx.Err()
}

// look hands a file to whoever wants it, and reports whether somebody does. What a parser of
// others cannot bear is that file's problem, and the rest is still checked.
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

// collector is the Sink of a run.
type collector struct {
	mu      sync.Mutex
	files   int
	all     Report
	ignores []Ignore
}

func (c *collector) looked(progress func(int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
	if progress != nil {
		progress(c.files)
	}
}

// other takes a file that holds no manifest. One that the user has named is reported.
func (c *collector) other(f *File) {
	c.locked(func() {
		c.all.Others = append(c.all.Others, f.Path)
		if f.Named {
			why := NoManifest
			if f.Size == 0 {
				why = "it is empty"
			}
			c.all.Notes = append(c.all.Notes, Note{Path: f.Path, Message: why})
		}
	})
}

func (c *collector) locked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
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
