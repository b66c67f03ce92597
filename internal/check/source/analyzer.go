package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"

	"github.com/procfit/procfit/internal/program/rule"
)

// found is a finding of an analyzer: more than a diagnostic can tell. Its Place is known to who judges.
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

// result is what an analyzer gives: all that it finds, also what is ignored, and what
// it knows of the package.
type result struct {
	found []found
	uses  *uses
}

// analyzer is one rule. Its result has everything, its diagnostics are what no comment
// answers and is at least of a severity, for drivers that know neither: "" reports none.
func analyzer(id string, least rule.Severity, check func(*uses) []found) *analysis.Analyzer {
	r, _ := rule.Find(id)
	return &analysis.Analyzer{
		Name:             strings.ToLower(id),
		Doc:              r.Title + "\n\n" + r.Why + "\n\n" + r.Fix,
		URL:              "https://github.com/procfit/procfit/blob/main/docs/reference/rules.md#" + strings.ToLower(id),
		Requires:         []*analysis.Analyzer{usesAnalyzer},
		RunDespiteErrors: true,
		ResultType:       reflect.TypeFor[result](),
		Run: guarded(func(pass *analysis.Pass) (any, error) {
			u := pass.ResultOf[usesAnalyzer].(*uses)
			all := result{uses: u}
			for _, f := range check(u) {
				f.Rule = id
				if f.Severity == "" {
					f.Severity = r.Severity
				}
				if file := u.file(f.pos); file != nil && ast.IsGenerated(file) {
					f.Remove = nil // it would come again
					f.Fix = "in the generator of this file: " + f.Fix
				}
				if u.broken || u.pass.Fset.Position(f.pos).Filename != u.pass.Fset.File(f.pos).Name() {
					f.Remove = nil // by its //line, the file is made from another
				}
				all.found = append(all.found, f)
				if least != "" && f.Severity.Rank() <= least.Rank() && !u.ignored(f) && (!f.Changing || u.changesHere()) {
					pass.Report(u.diagnostic(f))
				}
			}
			return all, nil
		}),
	}
}

// guarded makes an error of a panic: what a package of others brings with it must not
// end the run, in whichever goroutine.
func guarded(run func(*analysis.Pass) (any, error)) func(*analysis.Pass) (any, error) {
	return func(pass *analysis.Pass) (r any, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%v at %s", p, debug.Stack())
			}
		}()
		return run(pass)
	}
}

func (u *uses) diagnostic(f found) analysis.Diagnostic {
	d := analysis.Diagnostic{Pos: f.pos, End: f.end, Category: f.Rule, Message: f.Rule + ": " + f.Message + "; " + f.Fix}
	if len(f.Remove) == 0 {
		return d
	}
	tf, fix := u.pass.Fset.File(f.pos), analysis.SuggestedFix{Message: f.Fix}
	for _, e := range removal(u.importsOf(u.file(f.pos)), f.Remove) {
		fix.TextEdits = append(fix.TextEdits, analysis.TextEdit{Pos: tf.Pos(e.From), End: tf.Pos(e.To)})
	}
	d.SuggestedFixes = []analysis.SuggestedFix{fix}
	return d
}

// Analyzers are the rules that one package tells of, at least of a severity.
func Analyzers(least rule.Severity) []*analysis.Analyzer { return analyzers(least, least) }

// silentAnalyzers are all, without diagnostics.
var silentAnalyzers = sync.OnceValue(func() []*analysis.Analyzer { return analyzers(rule.Info, "") })

func analyzers(least, reported rule.Severity) []*analysis.Analyzer {
	var all []*analysis.Analyzer
	for _, a := range []struct {
		id    string
		check func(*uses) []found
	}{
		{"PF024", constants}, {"PF025", numCPUs}, {"PF026", setenvs}, {"PF027", setAgain},
		{"PF029", machineSizes}, {"PF030", earlySizes}, {ruleAutomaxprocs, automaxprocs}, {"PF033", directives}, {"PF034", maxThreads},
		{"PF037", keptSizes}, {"PF038", setAroundRuns},
	} {
		if r, ok := rule.Find(a.id); ok && r.Severity.Rank() <= least.Rank() {
			all = append(all, analyzer(a.id, reported, a.check))
		}
	}
	return all
}
