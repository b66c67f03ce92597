package source

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
)

// A Go file of the corpus says in comments what is found in it: at their line, or in
// the one after an @.
//
//	runtime.GOMAXPROCS(4) // want PF024 warning: words of the message → words of the fix, with $ its end
//	runtime.GOMAXPROCS(4) // ignored PF024
var (
	wanted  = regexp.MustCompile(`want(?:@([0-9]+))? (PF[0-9]{3})(?: (error|warning|info))?(?:: ([^→]*))?(?:→ (.*))?`)
	ignored = regexp.MustCompile(`ignored (PF[0-9]{3})`)
)

type expected struct{ key, severity, message, fix string }

func expectations(path string, text []byte) (want []expected, answered []string) {
	n := 0
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\r", "")) {
		n++
		_, comment, ok := strings.Cut(line, "//")
		if !ok {
			continue
		}
		for part := range strings.SplitSeq(strings.TrimSpace(comment), " and ") {
			if m := ignored.FindStringSubmatch(part); m != nil {
				answered = append(answered, fmt.Sprintf("%s:%d %s", path, n, m[1]))
			}
			m := wanted.FindStringSubmatch(part)
			if m == nil {
				continue
			}
			at := n
			if m[1] != "" {
				at, _ = strconv.Atoi(m[1])
			}
			want = append(want, expected{fmt.Sprintf("%s:%d %s", path, at, m[2]), m[3], strings.TrimSpace(m[4]), strings.TrimSpace(m[5])})
		}
	}
	return want, answered
}

func keyOf(f check.Finding) string { return fmt.Sprintf("%s:%d %s", f.Path, f.Line, f.Rule) }

// checked is a run over paths, with some of the files replaced.
func checked(t testing.TB, paths []string, environ []string) func(context.Context, map[string][]byte) (*check.Report, error) {
	t.Helper()
	return func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		k := New(Options{Overlay: overlay, Environ: append(os.Environ(), environ...)})
		return check.Run(ctx, check.Options{Paths: paths, Checkers: []check.Checker{k}, Overlay: overlay})
	}
}

// corpusRules are those that the corpus is for; the others are of a module as a whole.
var corpusRules = []string{"PF024", "PF025", "PF026", "PF027", "PF029", "PF030", "PF031", "PF033", "PF034", "PF038"}

// TestCorpus holds every file against what it says of itself, each rule against the
// corpus, and each fix against the file that it makes; a Fixer proves it by a run over
// the changed text.
func TestCorpus(t *testing.T) {
	run := checked(t, []string{"testdata/corpus/new", "testdata/corpus/old"}, nil)
	var first *check.Report
	fixed, err := check.Fixer{Least: rule.Info, Check: func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		r, err := run(ctx, overlay)
		if first == nil {
			first = r
		}
		return r, err
	}}.Run(t.Context())
	must.OK(t, err)
	for _, p := range slices.Concat(first.Problems, fixed.Problems) {
		t.Errorf("%s:%d: %s", p.Path, p.Line, p.Message)
	}
	for _, n := range fixed.Notes {
		if strings.Contains(n.Message, "is not fixed") {
			t.Errorf("%s: %s", n.Path, n.Message)
		}
	}
	got := map[string][]check.Finding{}
	for _, f := range first.Findings {
		got[keyOf(f)] = append(got[keyOf(f)], f)
	}
	answered := map[string]bool{}
	for _, f := range first.Ignored {
		answered[keyOf(f.Finding)] = true
	}
	files := goFiles(t, "testdata/corpus")
	if len(files) < 60 {
		t.Errorf("%d files, want 60", len(files))
	}
	fires := map[string]int{}
	for _, path := range files {
		text := must.Get(os.ReadFile(path))(t)
		want, answers := expectations(path, text)
		for _, w := range want {
			fires[w.key[len(w.key)-5:]]++
			takeWanted(t, w, got)
		}
		for _, a := range answers {
			if !answered[a] {
				t.Errorf("%s is not ignored", a)
			}
			delete(answered, a)
		}
	}
	for key, found := range got {
		for _, f := range found {
			t.Errorf("%s is found, and not expected: %s → %s", key, f.Message, f.Fix)
		}
	}
	for key := range answered {
		t.Errorf("%s is ignored, and not expected", key)
	}
	for _, id := range corpusRules {
		if fires[id] == 0 {
			t.Errorf("%s fires nowhere in the corpus", id)
		}
	}
	goldens(t, files, fixed.Fixed)
}

// TestFixOfSome leaves an import that a finding below the severity still uses.
func TestFixOfSome(t *testing.T) {
	const path = "testdata/corpus/new/shared/main.go"
	r := must.Get(check.Fixer{Least: rule.Warning, Check: checked(t, []string{path}, nil)}.Run(t.Context()))(t)
	if len(r.Fixed) != 1 || len(r.Notes) > 0 {
		t.Fatalf("%+v", r)
	}
	after := string(r.Fixed[0].After)
	if strings.Contains(after, "NumCPU") || !strings.Contains(after, `"runtime"`) || !strings.Contains(after, "runtime.GOMAXPROCS(n)") {
		t.Errorf("it becomes\n%s", after)
	}
}

// TestFixesOfAnalyzers: a driver applies all of them at once, and an import that nothing needs then would not
// compile.
func TestFixesOfAnalyzers(t *testing.T) {
	for rest, want := range map[string]int{"": 1, "\tprintln(runtime.NumGoroutine())\n": 2} {
		set, info := token.NewFileSet(), newInfo()
		text := "package p\n\nimport \"runtime\"\n\nfunc f() {\n\truntime.GOMAXPROCS(runtime.NumCPU())\n\tprintln()\n\truntime.GOMAXPROCS(runtime.NumCPU())\n" + rest + "}\n"
		file := must.Get(parser.ParseFile(set, "p.go", text, parser.ParseComments))(t)
		config := types.Config{Importer: nameOnly{}, Error: func(error) {}} // what it does not know of runtime
		pkg, _ := config.Check("p", set, []*ast.File{file}, info)
		u, failed := look(&analysis.Pass{Fset: set, Files: []*ast.File{file}, Pkg: pkg, TypesInfo: info})
		fixes := 0
		for _, f := range u.found {
			fixes += len(u.diagnostic(f, func(found) bool { return true }).SuggestedFixes)
		}
		if len(u.found) != 2 || len(failed) > 0 || fixes != want {
			t.Errorf("%q: %d fixes of %d findings, %v; want %d", rest, fixes, len(u.found), failed, want)
		}
	}
}

// takeWanted takes the finding that is expected out of those that are there.
func takeWanted(t *testing.T, w expected, got map[string][]check.Finding) {
	t.Helper()
	found := got[w.key]
	if len(found) == 0 {
		t.Errorf("%s is not found", w.key)
		return
	}
	f := found[0]
	if got[w.key] = found[1:]; len(found) == 1 {
		delete(got, w.key)
	}
	if w.severity != "" && string(f.Severity) != w.severity || !strings.Contains(f.Message, w.message) || !strings.Contains(f.Fix+"$", w.fix) {
		t.Errorf("%s: %s: %s → %s\nwant %s: %s → %s", w.key, f.Severity, f.Message, f.Fix, w.severity, w.message, w.fix)
	}
	if f.Fix == "" || f.Column == 0 {
		t.Errorf("%s: no fix or no column: %+v", w.key, f)
	}
}

func goFiles(t testing.TB, root string) []string {
	var files []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			files = append(files, filepath.ToSlash(path))
		}
		return err
	})
	must.OK(t, err)
	return files
}

// goldens compares what is fixed with the files beside the corpus.
func goldens(t *testing.T, files []string, fixed []check.Fixed) {
	made := map[string]check.Fixed{}
	for _, f := range fixed {
		made[f.Path] = f
	}
	for _, path := range files {
		want, err := os.ReadFile(path + ".fixed")
		f, ok := made[path]
		delete(made, path)
		if err != nil {
			if ok {
				t.Errorf("%s is fixed, and there is no %s.fixed:\n%s", path, path, f.After)
			}
			continue
		}
		if !bytes.Equal(f.After, want) {
			t.Errorf("%s becomes\n%s\nwant\n%s", path, f.After, want)
		}
		before, _ := format.Source(f.Before)
		after, err := format.Source(f.After)
		if err != nil || bytes.Equal(before, f.Before) && !bytes.Equal(after, f.After) {
			t.Errorf("%s is no more as gofmt would have it: %v", path, err)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(made)) {
		t.Errorf("%s is fixed, and is no file of the corpus", path)
	}
}
