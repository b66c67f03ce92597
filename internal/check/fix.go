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
)

// Fixer makes the changes of findings, and proves each: everything is checked again
// with the changed text in the file's place, and the file counts as mended only when
// the findings are gone and nothing as bad has come.
type Fixer struct {
	// Check is a run over the same files with some of them replaced.
	Check func(ctx context.Context, overlay map[string][]byte) (*Report, error)
	Least rule.Severity // findings below it are left alone
	Write bool          // false: only tell what would be written
}

// mostRounds is how often a change may bring forth another finding that has one.
const mostRounds = 5

// Run mends what can be mended. The Report is that of the texts after it; where the
// context ends the first run over them, what that has found.
func (x Fixer) Run(ctx context.Context) (*Report, error) {
	r, err := x.Check(ctx, nil)
	if err != nil {
		return r, err
	}
	texts := map[string]*mended{}
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
		for _, m := range changed {
			if why := m.unproven(r, after); why != "" {
				m.refuse(why)
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
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		m := texts[path]
		if m.refused != "" {
			r.Problems = append(r.Problems, Problem{Path: path, Message: "cannot be fixed without harm, and is left as it is: " + m.refused})
		}
		if len(m.gone) == 0 {
			continue
		}
		if x.Write {
			if err := m.write(); err != nil {
				r.Problems = append(r.Problems, Problem{Path: path, Message: "cannot be fixed, and is left as it is: " + err.Error()})
				continue
			}
		}
		r.Fixed = append(r.Fixed, Fixed{Path: path, Findings: m.gone, Before: m.before, After: m.now, Written: x.Write})
	}
	return r, nil
}

// mended is a file on its way.
type mended struct {
	path      string
	before    []byte // as it lies on the disk
	now, last []byte // after this round and before it
	gone      []Finding
	round     []Finding // whose changes are in this round
	refused   string
}

func overlay(texts map[string]*mended) map[string][]byte {
	o := map[string][]byte{}
	for path, m := range texts {
		o[path] = m.now
	}
	return o
}

// round applies the changes that do not stand in each other's way.
func (x Fixer) round(r *Report, texts map[string]*mended) []*mended {
	byPath := map[string][]Finding{}
	for _, f := range r.Findings {
		if f.Change != nil && f.Severity.Rank() <= x.Least.Rank() {
			byPath[f.Change.Path] = append(byPath[f.Change.Path], f)
		}
	}
	var changed []*mended
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		m := texts[path]
		if m == nil {
			b, err := os.ReadFile(filepath.FromSlash(path))
			m = &mended{path: path, before: b, now: b}
			if err != nil {
				m.refused = "it cannot be read again: " + cause(err).Error()
			}
			texts[path] = m
		}
		if m.refused == "" && m.apply(byPath[path]) {
			changed = append(changed, m)
		}
	}
	return changed
}

func (m *mended) apply(findings []Finding) bool {
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Severity.Rank(), b.Severity.Rank()) })
	var splices []Splice
	m.last, m.round = m.now, nil
	for _, f := range findings {
		more := append(slices.Clone(splices), f.Change.Splices...)
		text, err := Apply(m.last, more)
		if errors.Is(err, ErrOverlap) {
			continue // the next round
		}
		if err != nil {
			m.refused = "the file has changed under the check"
			return false
		}
		splices, m.now = more, text
		m.round = append(m.round, f)
	}
	return len(m.round) > 0 && string(m.now) != string(m.last)
}

// key is what stays of a finding when lines move.
type key struct{ rule, object, container string }

func keyOf(f Finding) key { return key{f.Rule, f.Object, f.Container} }

// unproven says why the round has not mended the file, or nothing.
func (m *mended) unproven(before, after *Report) string {
	was, problemsBefore := m.count(before)
	is, problemsAfter := m.count(after)
	if problemsAfter > problemsBefore {
		return "it can no longer be read"
	}
	worst := rule.Info
	for _, f := range m.round {
		if is[keyOf(f)] >= was[keyOf(f)] {
			return f.Rule + " would still be found"
		}
		if f.Severity.Rank() < worst.Rank() {
			worst = f.Severity
		}
	}
	// What a change brings to light must be less than what it mends.
	for _, f := range after.Findings {
		if f.Path == m.path && is[keyOf(f)] > was[keyOf(f)] && f.Severity.Rank() <= worst.Rank() {
			return f.Rule + " would be found then"
		}
	}
	m.gone = append(m.gone, m.round...)
	return ""
}

// count is the findings of the file, by what stays of them, and its problems.
func (m *mended) count(r *Report) (of map[key]int, problems int) {
	of = map[key]int{}
	for _, f := range r.Findings {
		if f.Path == m.path {
			of[keyOf(f)]++
		}
	}
	for _, p := range r.Problems {
		if p.Path == m.path {
			problems++
		}
	}
	return of, problems
}

// refuse goes back to the text before the round, and leaves the file at that.
func (m *mended) refuse(why string) { m.now, m.refused = m.last, why }

// write replaces the file whole and keeps its mode and its owner. A link stays one: what it leads to
// is written.
func (m *mended) write() error {
	file, err := filepath.EvalSymlinks(filepath.FromSlash(m.path))
	if err != nil {
		return cause(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return cause(err)
	}
	now, err := os.ReadFile(file)
	if err != nil {
		return cause(err)
	}
	if string(now) != string(m.before) {
		return errors.New("the file has changed under the check; run it again")
	}
	d, err := folder.Open(filepath.Dir(file))
	if err != nil {
		return cause(err)
	}
	defer d.Close()
	if err := d.Replace(filepath.Base(file), info.Mode().Perm(), m.now); err != nil {
		return cause(err)
	}
	keepOwner(file, info)
	return nil
}
