package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// found is a finding in a package: more than a diagnostic can tell. Its Place is known to who judges.
type found struct {
	rule.Finding
	pos, end token.Pos
	Remove   []extent  // what goes, as its fix; none: it has none that is safe
	Changing bool      // it is one only in a module that changes GOMAXPROCS at run time
	Calls    []SetCall // of automaxprocs
}

func findingAt(n ast.Node, message, fix string) found {
	return found{pos: n.Pos(), end: n.End(), Finding: rule.Finding{Message: message, Fix: fix}}
}

type packageRule struct {
	id    string
	check func(*uses) []found
}

var packageRules = []packageRule{
	{"PF024", constants}, {"PF025", numCPUs}, {"PF026", setenvs}, {"PF027", setAgain},
	{"PF029", machineSizes}, {"PF030", earlySizes}, {ruleAutomaxprocs, automaxprocs}, {"PF033", directives}, {"PF034", maxThreads},
	{"PF037", keptSizes}, {"PF038", setAroundRuns},
}

// guarded makes an error of a panic: what a package of others brings with it must not end the run.
func guarded(do func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v at %s", p, debug.Stack())
		}
	}()
	do()
	return nil
}

// look gathers what a package does, and has all rules judge it. The errors are of rules that failed.
func look(pass *analysis.Pass) (u *uses, failed []error) {
	if err := guarded(func() { u = gather(pass) }); err != nil {
		return &uses{pass: pass}, []error{err}
	}
	for _, r := range packageRules {
		if err := guarded(func() { u.found = append(u.found, u.judge(r)...) }); err != nil {
			failed = append(failed, err)
		}
	}
	return u, failed
}

// judge is all that a rule finds, also what is ignored.
func (u *uses) judge(r packageRule) []found {
	of, _ := rule.Find(r.id)
	all := r.check(u)
	for i := range all {
		f := &all[i]
		f.Rule = r.id
		if f.Severity == "" {
			f.Severity = of.Severity
		}
		if file := u.file(f.pos); file != nil && ast.IsGenerated(file) {
			f.Remove = nil // it would come again
			f.Fix = "in the generator of this file: " + f.Fix
		}
		if u.broken || u.pass.Fset.Position(f.pos).Filename != u.pass.Fset.File(f.pos).Name() {
			f.Remove = nil // by its //line, the file is made from another
		}
	}
	return all
}

// diagnostic of a finding, next to the others that are reported. A driver applies all fixes of a file at once: if
// an import is needless only then, the first finding alone has a fix.
func (u *uses) diagnostic(f found, reported func(found) bool) analysis.Diagnostic {
	d := analysis.Diagnostic{Pos: f.pos, End: f.end, Category: f.Rule, Message: f.Rule + ": " + f.Message + "; " + f.Fix}
	if len(f.Remove) == 0 {
		return d
	}
	file := u.file(f.pos)
	imports, first := u.importsOf(file), f
	var all, each []extent
	for _, other := range u.found {
		if len(other.Remove) == 0 || u.file(other.pos) != file || !reported(other) {
			continue
		}
		if len(all) == 0 {
			first = other
		}
		all, each = append(all, other.Remove...), append(each, removal(imports, other.Remove)...)
	}
	more := slices.ContainsFunc(removal(imports, all), func(e extent) bool { return !slices.Contains(each, e) })
	if more && (f.pos != first.pos || f.Rule != first.Rule) {
		return d
	}
	tf := u.pass.Fset.File(f.pos)
	d.SuggestedFixes = []analysis.SuggestedFix{{Message: f.Fix, TextEdits: phrase.Each(removal(imports, f.Remove), func(e extent) analysis.TextEdit {
		return analysis.TextEdit{Pos: tf.Pos(e.From), End: tf.Pos(e.To)}
	})}}
	return d
}

// Analyzers are the rules that one package tells of, at least of a severity, for other drivers:
// their diagnostics are what no comment answers.
func Analyzers(least rule.Severity) (all []*analysis.Analyzer) {
	for _, p := range packageRules {
		r, _ := rule.Find(p.id)
		if r.Severity.Rank() > least.Rank() {
			continue
		}
		all = append(all, &analysis.Analyzer{
			Name:             strings.ToLower(r.ID),
			Doc:              r.Title + "\n\n" + r.Why + "\n\n" + r.Fix,
			URL:              "https://github.com/procfit/procfit/blob/main/docs/reference/rules.md#" + strings.ToLower(r.ID),
			Requires:         []*analysis.Analyzer{usesAnalyzer},
			RunDespiteErrors: true,
			Run: func(pass *analysis.Pass) (any, error) {
				u := pass.ResultOf[usesAnalyzer].(*uses)
				reported := func(f found) bool {
					return f.Severity.Rank() <= least.Rank() && !u.ignored(f) && (!f.Changing || changes(pass.Pkg))
				}
				for _, f := range u.found {
					if f.Rule == r.ID && reported(f) {
						pass.Report(u.diagnostic(f, reported))
					}
				}
				return nil, nil
			},
		})
	}
	return all
}
