package manifest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/must"
)

// expectation is what a manifest of the corpus says of itself, in comments or in a key
// "//" of JSON:
//
//	go: 1.26                 the version that --go names
//	node-cpus: 8
//	want: PF004@api PF015@api, or nothing
//	gets: api=2 side=?      what the programs get; ? is no number that is known
//	fixed: api=3             what they get after --fix, and that something is fixed
//	problem: words of it
type expectation struct {
	options Options
	want    []string
	value   []string
	fixed   []string
	problem string
}

var wanted = regexp.MustCompile(`(?m)^(?:\x{feff})?[#;] (go|node-cpus|want|gets|fixed|problem): ([^\r\n]*)|"//[a-z]*": ?"(go|node-cpus|want|gets|fixed|problem): ([^"]*)"`)

func expectationOf(t *testing.T, text string) expectation {
	e := expectation{options: Options{Changes: true, Programs: &check.Programs{}}}
	for _, m := range wanted.FindAllStringSubmatch(text, -1) {
		key, text := m[1]+m[3], m[2]+m[4]
		words := strings.Fields(text)
		switch key {
		case "go":
			e.options.Programs.Default = check.Program{GoVersion: "go" + text}
		case "node-cpus":
			e.options.NodeCPUs, _ = strconv.Atoi(text)
		case "want":
			e.want = append([]string{}, words...)
		case "gets":
			e.value = words
		case "fixed":
			e.fixed = words
		case "problem":
			e.problem = text
		}
	}
	if e.want == nil {
		t.Fatal("it does not say what is wrong with it")
	}
	if len(e.want) == 1 && e.want[0] == "nothing" {
		e.want = nil
	}
	slices.Sort(e.want)
	return e
}

func corpus(t testing.TB) []string {
	var files []string
	err := filepath.WalkDir("testdata/corpus", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".env") && !strings.HasSuffix(path, ".default") {
			files = append(files, filepath.ToSlash(path))
		}
		return err
	})
	must.OK(t, err)
	return files
}

// run checks one file, or what takes its place.
func (e expectation) run(t testing.TB, path string, overlay map[string][]byte) *check.Report {
	t.Helper()
	r := must.Get(check.Run(context.Background(), check.Options{Paths: []string{path}, Checkers: []check.Checker{New(e.options)}, Overlay: overlay}))(t)
	return r
}

func who(p rule.Place) string {
	return strings.TrimPrefix(cmp.Or(p.Container, p.Object, "file"), "service ")
}

func found(r *check.Report) []string {
	all := phrase.Each(r.Findings, func(f check.Finding) string { return f.Rule + "@" + who(f.Place) })
	slices.Sort(all)
	return all
}

// values are those of the report that are asked for.
func values(r *check.Report, asked []string) []string {
	var all []string
	for _, a := range asked {
		name, _, _ := strings.Cut(a, "=")
		got := name + " is not there"
		for _, v := range r.Values {
			if who(v.Place) == name {
				got = name + "=?"
				if v.Procs != nil {
					got = fmt.Sprintf("%s=%d", name, *v.Procs)
				}
			}
		}
		all = append(all, got)
	}
	return all
}

// TestCorpus holds every manifest against what it says of itself, and every rule
// against the corpus: one manifest in which it fires, and one in which it might and
// does not.
func TestCorpus(t *testing.T) {
	files := corpus(t)
	if len(files) < 120 {
		t.Errorf("%d manifests, want 120", len(files))
	}
	fires := map[string]int{}
	for _, path := range files {
		t.Run(strings.TrimPrefix(path, "testdata/corpus/"), func(t *testing.T) {
			b := must.Get(os.ReadFile(path))(t)
			e := expectationOf(t, string(b))
			r := e.run(t, path, nil)
			if got := found(r); !slices.Equal(got, e.want) {
				t.Errorf("found %v, want %v", got, e.want)
				for _, f := range r.Findings {
					t.Logf("%s:%d:%d %s %s → %s", f.Path, f.Line, f.Column, f.Rule, f.Message, f.Fix)
				}
			}
			for _, f := range r.Findings {
				fires[f.Rule]++
				if f.Line < 1 || f.Column < 1 || f.Line > strings.Count(string(b), "\n")+1 {
					t.Errorf("%s stands at %d:%d", f.Rule, f.Line, f.Column)
				}
			}
			if got := values(r, e.value); !slices.Equal(got, e.value) {
				t.Errorf("values %v, want %v", got, e.value)
				for _, v := range r.Values {
					t.Logf("%s: %s: %s", who(v.Place), v.Text, v.Source)
				}
			}
			problems := ""
			for _, p := range r.Problems {
				problems += p.Message + "\n"
			}
			if (e.problem == "") != (problems == "") || !strings.Contains(problems, e.problem) {
				t.Errorf("problems %q, want %q", problems, e.problem)
			}
			fixes(t, path, b, e)
		})
	}
	for _, id := range []string{"PF001", "PF002", "PF003", "PF004", "PF005", "PF006", "PF008", "PF021", "PF015", "PF016", "PF017", "PF018", "PF019", "PF020", "PF042", "PF043", "PF040", "PF041"} {
		if fires[id] == 0 {
			t.Errorf("%s fires in no manifest", id)
		}
	}
}

// fixes carries out what is offered: the program then gets the value that the finding
// called right, nothing is left to fix, and no byte elsewhere has changed.
func fixes(t *testing.T, path string, b []byte, e expectation) {
	var becomes []string
	fixer := check.Fixer{Least: rule.Info, Check: func(_ context.Context, overlay map[string][]byte) (*check.Report, error) {
		r := e.run(t, path, overlay)
		becomes = nil
		for _, f := range r.Findings {
			if f.Change != nil {
				becomes = append(becomes, f.Rule)
			}
		}
		return r, nil
	}}
	before := e.run(t, path, nil)
	r := must.Get(fixer.Run(context.Background()))(t)
	if len(becomes) > 0 {
		t.Errorf("after all fixes there are still fixes, of %v", becomes)
	}
	if len(r.Problems) > len(before.Problems) || len(r.Notes) > len(before.Notes) {
		t.Errorf("the fix makes problems: %v, %v", r.Problems, r.Notes)
	}
	if (len(r.Fixed) > 0) != (e.fixed != nil) {
		t.Errorf("%d files are fixed, want fixed: %v", len(r.Fixed), e.fixed)
	}
	if len(r.Fixed) == 0 {
		return
	}
	if got := values(r, e.fixed); !slices.Equal(got, e.fixed) {
		t.Errorf("after the fix %v, want %v\n%s", got, e.fixed, r.Fixed[0].After)
	}
	for _, f := range before.Findings {
		if f.Change == nil {
			continue
		}
		text := must.Get(check.Apply(b, f.Change.Splices))(t)
		one := e.run(t, path, map[string][]byte{path: text})
		name := who(f.Place)
		if m := promised.FindStringSubmatch(f.Fix); m != nil && values(one, []string{name})[0] != name+"="+m[1] {
			t.Errorf("%s (%s) gives %v", f.Rule, f.Fix, values(one, []string{name}))
		}
		if len(of(one, f)) >= len(of(before, f)) {
			t.Errorf("%s (%s) is still there after its fix", f.Rule, f.Fix)
		}
	}
	untouched(t, string(b), string(r.Fixed[0].After))
}

// promised is the value that a fix names.
var promised = regexp.MustCompile(`(?:GOMAXPROCS=|makes it |chooses )([0-9]+)`)

// of are the findings of a finding's rule about its container.
func of(r *check.Report, f check.Finding) []check.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(o check.Finding) bool { return o.Rule != f.Rule || who(o.Place) != who(f.Place) })
}

// untouched demands that every line of the fixed text but those of a variable is one of
// the old, in the old order, with its line end.
func untouched(t *testing.T, before, after string) {
	if !strings.HasSuffix(before, "\n") { // a line may come behind the last
		before += "\n"
	}
	old := strings.SplitAfter(before, "\n")
	for line := range strings.SplitAfterSeq(after, "\n") {
		i := slices.Index(old, line)
		of := func(word string) bool { return strings.Contains(line, word) }
		if i < 0 || slices.ContainsFunc([]string{"GOMAXPROCS", "divisor", "value", "resource", "env:"}, of) {
			if i < 0 && !slices.ContainsFunc([]string{"GOMAXPROCS", "divisor", "value", "resource", "env:"}, of) {
				t.Errorf("line %q is new", line)
			}
			if strings.HasSuffix(line, "\n") && strings.Contains(before, "\r\n") != strings.HasSuffix(line, "\r\n") {
				t.Errorf("line %q ends otherwise than the others", line)
			}
			continue
		}
		old = old[i+1:]
	}
}
