package check

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Fixer makes the changes of findings, and proves each: everything is checked again
// with the changed text in the file's place, and the file counts as fixed only when
// the findings are gone and nothing as bad has come.
type Fixer struct {
	// Check is a run over the same files with some of them replaced.
	Check func(ctx context.Context, overlay map[string][]byte) (*Report, error)
	Least rule.Severity // findings below it are left alone
	Write bool          // false: only tell what would be written

	// Stdin is what came on standard input, if that is to be fixed: it is then the only
	// text that is changed, and whoever has the Report writes it. nil: files are.
	Stdin []byte
}

// mostRounds is how often a change may bring forth another finding that has one.
const mostRounds = 5

// Run fixes what can be fixed. The Report is that of the texts after it; where the
// context ends the first run over them, what that has found.
func (x Fixer) Run(ctx context.Context) (*Report, error) {
	r, err := x.Check(ctx, nil)
	if err != nil {
		return r, err
	}
	texts := map[string]*draft{}
	for range mostRounds {
		changed := x.round(r, texts)
		if len(changed) == 0 {
			break
		}
		after, err := x.Check(ctx, overlay(texts))
		if err != nil {
			return nil, err
		}
		refused := false
		for _, d := range changed {
			if why := d.unproven(r, after); why != "" {
				d.refuse(why)
				refused = true
			}
		}
		if refused {
			if after, err = x.Check(ctx, overlay(texts)); err != nil {
				return nil, err
			}
		}
		r = after
	}
	return x.finish(ctx, r, texts), nil
}

// finish writes the files. If one cannot be written, the Report is that of what is there then.
func (x Fixer) finish(ctx context.Context, r *Report, texts map[string]*draft) *Report {
	var done Report
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		d := texts[path]
		if d.refused != "" {
			done.Notes = append(done.Notes, Note{Path: path, Message: "is not fixed, because the fix is not safe: " + d.refused})
		}
		if d.err == nil && len(d.gone) > 0 && x.Write && path != Stdin {
			d.err = d.write()
		}
		switch {
		case d.err != nil:
			done.Problems = append(done.Problems, Problem{Path: path, Message: "cannot be fixed: " + cause(d.err).Error(), Unwritten: true})
		case len(d.gone) > 0:
			done.Fixed = append(done.Fixed, Fixed{Path: path, Findings: d.gone, Before: d.before, After: d.now, Written: x.Write})
		}
	}
	if x.Write && len(done.Problems) > 0 {
		if there, err := x.Check(ctx, nil); err == nil {
			r = there
		}
	}
	return Merge(r, &done)
}

// draft is a changed file that is not yet proven or written.
type draft struct {
	path      string
	before    []byte // as it lies on the disk
	now, last []byte // after this round and before it
	gone      []Finding
	round     []Finding // whose changes are in this round
	refused   string    // why the text is not safe
	err       error     // why it cannot be read or written
}

func overlay(texts map[string]*draft) map[string][]byte {
	o := map[string][]byte{}
	for path, d := range texts {
		if d.err == nil {
			o[path] = d.now
		}
	}
	return o
}

// round applies the changes that do not overlap.
func (x Fixer) round(r *Report, texts map[string]*draft) []*draft {
	byPath := map[string][]Finding{}
	for _, f := range r.Findings {
		if f.Change != nil && f.Severity.Rank() <= x.Least.Rank() && (f.Change.Path == Stdin) == (x.Stdin != nil) {
			byPath[f.Change.Path] = append(byPath[f.Change.Path], f)
		}
	}
	var changed []*draft
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		d := texts[path]
		if d == nil {
			b, err := x.read(path)
			d = &draft{path: path, before: b, now: b, err: err}
			texts[path] = d
		}
		if d.refused == "" && d.err == nil && d.apply(byPath[path]) {
			changed = append(changed, d)
		}
	}
	return changed
}

func (x Fixer) read(path string) ([]byte, error) {
	if path == Stdin {
		return x.Stdin, nil
	}
	return os.ReadFile(filepath.FromSlash(path))
}

func (d *draft) apply(findings []Finding) bool {
	sorting.Stable(findings, func(a, b Finding) int { return cmp.Compare(a.Severity.Rank(), b.Severity.Rank()) })
	var splices []Splice
	d.last, d.round = d.now, nil
	for _, f := range findings {
		more := append(slices.Clone(splices), f.Change.Splices...)
		text, err := Apply(d.last, more)
		if errors.Is(err, errOverlap) {
			continue // the next round
		}
		if err != nil {
			d.err = errChanged
			return false
		}
		splices, d.now = more, text
		d.round = append(d.round, f)
	}
	return len(d.round) > 0 && string(d.now) != string(d.last)
}

// key is what stays of a finding when lines move.
type key struct{ rule, object, container string }

func keyOf(f Finding) key { return key{f.Rule, f.Object, f.Container} }

// unproven says why the round has not fixed the file, or nothing.
func (d *draft) unproven(before, after *Report) string {
	was, problemsBefore := d.count(before)
	is, problemsAfter := d.count(after)
	if problemsAfter > problemsBefore {
		return "procfit cannot read it after the fix"
	}
	worst := rule.Info
	for _, f := range d.round {
		if is[keyOf(f)] >= was[keyOf(f)] {
			return f.Rule + " would still match"
		}
		if f.Severity.Rank() < worst.Rank() {
			worst = f.Severity
		}
	}
	// What a change brings to light must be less than what it fixes.
	for _, f := range after.Findings {
		if f.Path == d.path && is[keyOf(f)] > was[keyOf(f)] && f.Severity.Rank() <= worst.Rank() {
			return f.Rule + " would match after the fix"
		}
	}
	d.gone = append(d.gone, d.round...)
	return ""
}

// count is the findings of the file, by what stays of them, and its problems.
func (d *draft) count(r *Report) (of map[key]int, problems int) {
	of = map[key]int{}
	for _, f := range r.Findings {
		if f.Path == d.path {
			of[keyOf(f)]++
		}
	}
	for _, p := range r.Problems {
		if p.Path == d.path {
			problems++
		}
	}
	return of, problems
}

// refuse goes back to the text before the round, and leaves the file at that.
func (d *draft) refuse(why string) { d.now, d.refused = d.last, why }

// errChanged is of a file that somebody else has written since it was checked.
var errChanged = errors.New("the file changed during the check; run it again")

// write replaces the file whole and keeps its mode and its owner. A link stays one: what it leads to
// is written.
func (d *draft) write() error {
	file, err := filepath.EvalSymlinks(filepath.FromSlash(d.path))
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(now) != string(d.before) {
		return errChanged
	}
	dir, err := folder.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	err = dir.Replace(filepath.Base(file), info.Mode().Perm(), d.now)
	if err == nil {
		keepOwner(file, info)
	}
	return err
}
