package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Fixer makes the changes of findings, and proves each: everything is checked again with the
// changed text, and the file is fixed only if the findings are gone and nothing as bad has come.
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

// Run fixes what can be fixed. The Report is that of the texts then; if the context ends the first
// run, that of what was found.
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
		if r, err = x.prove(ctx, r, texts, changed); err != nil {
			return nil, err
		}
	}
	return x.finish(ctx, r, texts), nil
}

// prove keeps the safe changes of a round. If not all of a file are safe, it tries halves.
func (x Fixer) prove(ctx context.Context, before *Report, texts map[string]*draft, changed []*draft) (after *Report, err error) {
	for again := true; again; {
		if after, err = x.Check(ctx, overlay(texts)); err != nil {
			return nil, err
		}
		again = false
		was, is, added := tally(before), tally(after), after.Added(before)
		for _, d := range changed {
			again = d.judge(was, is, added) || again
		}
	}
	for _, d := range changed {
		d.gone = append(d.gone, d.safe...)
		d.done = len(d.safe) == 0
	}
	return after, nil
}

// finish writes the files. If one cannot be written, the Report is that of what is there then.
func (x Fixer) finish(ctx context.Context, r *Report, texts map[string]*draft) *Report {
	var done Report
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		d := texts[path]
		done.Notes = append(done.Notes, phrase.Each(d.refused, func(why string) Note { return Note{Path: path, Message: why} })...)
		fixed := Fixed{Path: path, Findings: d.gone, Before: d.before, After: d.now, Written: x.Write}
		if d.err == nil && len(d.gone) > 0 && x.Write && path != Stdin {
			d.err = fixed.Write()
		}
		switch {
		case d.err != nil:
			done.Problems = append(done.Problems, Problem{Path: path, Message: "cannot be fixed: " + Cause(d.err).Error(), Unwritten: true})
		case len(d.gone) > 0:
			done.Fixed = append(done.Fixed, fixed)
		}
	}
	if x.Write && len(done.Problems) > 0 {
		if there, err := x.Check(ctx, nil); err == nil {
			r = there
		}
	}
	return Merge(r, &done)
}

type draft struct {
	path      string
	before    []byte // as it lies on the disk
	now, last []byte // after this round and before it
	gone      []Finding
	untried   [][]Finding // whose changes are still to be proven in this round, list by list
	round     []Finding   // whose changes are in the text
	safe      []Finding   // whose changes are proven in this round
	refused   []string    // changes of this round that are not safe, in words
	done      bool        // no change of the last round was safe
	err       error       // why it cannot be read or written
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

func (x Fixer) round(r *Report, texts map[string]*draft) []*draft {
	byPath := map[string][]Finding{}
	for _, f := range r.Findings {
		if f.Change != nil && f.Severity.Rank() <= x.Least.Rank() && (f.Change.Path == Stdin) == (x.Stdin != nil) {
			byPath[f.Change.Path] = append(byPath[f.Change.Path], f)
		}
	}
	for _, d := range texts {
		if !d.done {
			d.refused = nil // they are tried again, next to what has changed
		}
	}
	var changed []*draft
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		d := texts[path]
		if d == nil {
			d = &draft{path: path, before: x.Stdin}
			if path != Stdin {
				d.before, d.err = folder.ReadRegular(filepath.FromSlash(path), mostFixed)
			}
			d.now, texts[path] = d.before, d
		}
		if d.done || d.err != nil {
			continue
		}
		list := byPath[path]
		sorting.Stable(list, func(a, b Finding) int { return cmp.Compare(a.Severity.Rank(), b.Severity.Rank()) })
		d.last, d.untried, d.safe = d.now, [][]Finding{list}, nil
		if d.apply(list); d.err == nil && string(d.now) != string(d.last) {
			changed = append(changed, d)
		}
	}
	return changed
}

// mostFixed is more than any file that is checked as text.
const mostFixed = 64 << 20

// apply makes the changes that do not overlap in the text before the round; others wait for the
// next.
func (d *draft) apply(findings []Finding) {
	d.now, d.round = d.last, nil
	if len(findings) == 0 || d.err != nil {
		return
	}
	text, err := Apply(d.last, splices(findings))
	if errors.Is(err, errOverlap) {
		findings = apart(findings)
	}
	for errors.Is(err, errOverlap) && len(findings) > 0 {
		text, err = Apply(d.last, splices(findings))
		if errors.Is(err, errOverlap) { // what they take away together, as imports, overlaps
			findings = findings[:len(findings)/2]
		}
	}
	switch {
	case err == nil:
		d.now, d.round = text, findings
	case !errors.Is(err, errOverlap):
		d.err = errChanged
	}
}

// judge proves the text by what a run over it has found. It reports whether a next one is to be
// checked.
func (d *draft) judge(was, is map[key]int, added []Finding) (again bool) {
	if len(d.untried) == 0 {
		return false
	}
	list := d.untried[0]
	d.untried = d.untried[1:]
	why := d.unproven(was, is, added)
	switch {
	case why == "":
		d.safe = d.round
	case len(list) == 1:
		d.refused = append(d.refused, fmt.Sprintf("%s on line %d is not fixed, because its fix is not safe: %s", list[0].Rule, list[0].Line, why))
	default:
		d.untried = append([][]Finding{list[:len(list)/2], list[len(list)/2:]}, d.untried...)
	}
	if len(d.untried) > 0 {
		d.apply(slices.Concat(d.safe, d.untried[0]))
		return true
	}
	d.apply(d.safe)
	return why != ""
}

// key is what stays of a finding when lines move.
type key struct{ path, rule, object, container string }

func keyOf(f Finding) key { return key{f.Path, f.Rule, f.Object, f.Container} }

// tally counts findings by what stays of them, and the problems of a file by its path.
func tally(r *Report) map[key]int {
	of := map[key]int{}
	for _, f := range r.Findings {
		of[keyOf(f)]++
	}
	for _, p := range r.Problems {
		of[key{path: p.Path}]++
	}
	return of
}

// Added are the findings of which there are more than before.
func (r *Report) Added(before *Report) []Finding {
	was, is := tally(before), tally(r)
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return is[keyOf(f)] <= was[keyOf(f)] })
}

func (d *draft) unproven(was, is map[key]int, added []Finding) string {
	if file := (key{path: d.path}); is[file] > was[file] {
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
	for _, f := range added {
		if f.Path == d.path && f.Severity.Rank() <= worst.Rank() {
			return f.Rule + " would match after the fix"
		}
	}
	return ""
}

var errChanged = errors.New("the file changed during the check; run it again")

// Write gives the file the text After, if it still holds Before. A nil text is that of no file. The
// file is replaced whole and keeps its mode and its owner; a link stays one, and a file with
// several names is written in place, so that it keeps them. All is done by the open folder: who owns
// it may put a link in its place at any moment.
func (f Fixed) Write() error {
	file, err := filepath.EvalSymlinks(filepath.FromSlash(f.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Before == nil:
		return create(filepath.FromSlash(f.Path), f.After)
	case err != nil:
		return err
	}
	dir, err := folder.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(file)
	now, info, err := dir.Read(name, mostFixed)
	switch {
	case err != nil:
		return err
	case f.Before == nil || string(now) != string(f.Before):
		return errChanged
	case f.After == nil:
		return dir.Remove(name)
	case hasOtherNames(info):
		return overwrite(dir, name, info, f)
	}
	return dir.ReplaceAs(name, info, f.After)
}

func create(file string, text []byte) error {
	if text == nil {
		return nil
	}
	dir, err := folder.Make(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Replace(filepath.Base(file), folder.Shared, text)
}

// overwrite keeps the file, with what it had if the text cannot be written, as on a full disk.
func overwrite(dir *folder.Dir, name string, was fs.FileInfo, fixed Fixed) error {
	f, err := dir.OpenFile(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if is, err := f.Stat(); err != nil || !os.SameFile(is, was) {
		return errChanged
	}
	if err := rewrite(f, fixed.After); err != nil {
		return errors.Join(err, rewrite(f, fixed.Before))
	}
	return nil
}

func rewrite(f *os.File, text []byte) error {
	if _, err := f.WriteAt(text, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(text))); err != nil {
		return err
	}
	return f.Sync()
}

// Splice replaces the bytes From to To of a file.
type Splice struct {
	From, To int
	New      string
}

// Change is a fix of one file, in as few bytes as it takes.
type Change struct {
	Path    string
	Splices []Splice

	// Together gives the splices of several changes that are made at once, from the Parts of all, if those are
	// more than the splices of each, as an import that all of them use. nil: they are not.
	Together func(parts []Splice) []Splice
	Parts    []Splice
}

var errOverlap = errors.New("two changes overlap")

// Apply carries the splices out, all or none.
func Apply(text []byte, splices []Splice) ([]byte, error) {
	splices, err := inOrder(splices)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(text)+64)
	at := 0
	for _, s := range splices {
		if s.From < 0 || s.To < s.From || s.To > len(text) {
			return nil, fmt.Errorf("bytes %d to %d are outside a text of %d bytes", s.From, s.To, len(text))
		}
		out = append(append(out, text[at:s.From]...), s.New...)
		at = s.To
	}
	return append(out, text[at:]...), nil
}

// inOrder are splices in the order of the text, each once; errOverlap where two overlap.
func inOrder(splices []Splice) ([]Splice, error) {
	splices = slices.Clone(splices)
	sorting.Stable(splices, func(a, b Splice) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	splices = slices.Compact(splices)
	for i := 1; i < len(splices); i++ {
		if before, s := splices[i-1], splices[i]; s.From < before.To || s.From == before.From {
			return nil, errOverlap
		}
	}
	return splices, nil
}

// apart are the findings, in their order, whose changes do not overlap that of an earlier one.
func apart(findings []Finding) (some []Finding) {
	var taken []Splice // in the order of the text
	place := func(s Splice) (at int, there, free bool) {
		at, same := slices.BinarySearchFunc(taken, s, func(a, b Splice) int { return cmp.Compare(a.From, b.From) })
		there = same && taken[at] == s
		free = !same && (at == 0 || taken[at-1].To <= s.From) && (at == len(taken) || s.To <= taken[at].From)
		return at, there, free
	}
	for _, f := range findings {
		own, err := inOrder(f.Change.Splices)
		if err != nil || slices.ContainsFunc(own, func(s Splice) bool { _, there, free := place(s); return !there && !free }) {
			continue
		}
		for _, s := range own {
			if at, there, _ := place(s); !there {
				taken = slices.Insert(taken, at, s)
			}
		}
		some = append(some, f)
	}
	return some
}

func splices(findings []Finding) []Splice {
	var parts, each []Splice
	for _, f := range findings {
		parts, each = append(parts, f.Change.Parts...), append(each, f.Change.Splices...)
	}
	if together := findings[0].Change.Together; together != nil {
		return together(parts)
	}
	return each
}
