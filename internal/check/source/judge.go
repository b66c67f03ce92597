package source

import (
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
)

// judge runs the analyzers over packages, and hands on what they find in files that
// the user has named.
func (k *Checker) judge(all []*packages.Package, to check.Sink) error {
	graph, err := checker.Analyze(Analyzers(rule.Info), all, nil)
	if err != nil {
		return fmt.Errorf("judge source: %w", err)
	}
	byFile := map[string][]placed{}
	for _, a := range graph.Roots {
		if a.Err != nil {
			if path, ok := k.pathOf(a.Package); ok {
				to.Problem(check.Problem{Path: path, Message: fmt.Sprintf("procfit fails on its package, please report it: %v", a.Err)})
			}
			continue
		}
		r := a.Result.(result)
		for _, f := range r.found {
			if p, ok := k.place(r.uses, f); ok {
				byFile[p.Path] = append(byFile[p.Path], p)
			}
		}
	}
	for path, found := range byFile {
		k.tell(path, found, to)
	}
	return nil
}

// placed is a finding in a file that the user knows.
type placed struct {
	found
	uses *uses
}

func (k *Checker) place(u *uses, f found) (placed, bool) {
	at := u.pass.Fset.Position(f.pos) // as //line has it, which cgo writes
	s, ok := k.files[real(at.Filename)]
	if !ok {
		return placed{}, false
	}
	if u.pass.Fset.PositionFor(f.pos, false).Filename != at.Filename {
		f.remove = nil // what was read is not what stands in the file
	}
	f.Path, f.Line, f.Column = s.path, at.Line, at.Column
	return placed{f, u}, true
}

// tell hands on the findings of one file. What an answer keeps stays, so that the
// imports that go with all the others are known.
func (k *Checker) tell(path string, all []placed, to check.Sink) {
	var goes []span
	for _, p := range all {
		answered := slices.ContainsFunc(k.answers[path], func(a check.Ignore) bool { return a.Answers(check.Finding{Finding: p.Finding}) })
		if !answered {
			goes = append(goes, p.remove...)
		}
	}
	for _, p := range all {
		f := check.Finding{Finding: p.Finding}
		if edits := p.uses.removal(p.remove, goes); len(edits) > 0 {
			f.Change = &check.Change{Path: path, Splices: splices(p.uses, edits)}
		}
		to.Finding(f)
	}
}

func splices(u *uses, edits []analysis.TextEdit) []check.Splice {
	var all []check.Splice
	for _, e := range edits {
		tf := u.pass.Fset.File(e.Pos)
		all = append(all, check.Splice{From: tf.Offset(e.Pos), To: tf.Offset(e.End), New: string(e.NewText)})
	}
	return all
}

// pathOf is a file of a package, as the user knows it.
func (k *Checker) pathOf(p *packages.Package) (string, bool) {
	for _, f := range p.GoFiles {
		if s, ok := k.files[real(f)]; ok {
			return s.path, true
		}
	}
	return filepath.ToSlash(p.PkgPath), p.PkgPath != ""
}
