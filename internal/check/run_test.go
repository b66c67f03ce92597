package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/must"
)

// taker wants every file and notes what it holds.
type taker struct {
	mu    sync.Mutex
	files map[string]string
	do    func(f *File, to Sink) error
}

func (k *taker) Wants(f *File) bool { return !strings.HasSuffix(f.Path, ".other") }

func (k *taker) File(_ context.Context, f *File, to Sink) error {
	b, err := f.Read(1 << 20)
	if err != nil {
		return err
	}
	k.mu.Lock()
	k.files[f.Path] = string(b)
	k.mu.Unlock()
	if k.do != nil {
		return k.do(f, to)
	}
	return nil
}

func (k *taker) Finish(context.Context, Sink) error { return nil }

// tree makes files; a name that ends in a slash is a folder, a text that begins with ->
// a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if to, link := strings.CutPrefix(text, "->"); link {
			must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must.OK(t, os.Symlink(to, path))
		} else {
			must.Write(t, path, text)
		}
	}
	return dir
}

// run checks paths of the tree, and gives the files that were looked at.
func run(t *testing.T, dir string, o Options) (*Report, []string) {
	t.Helper()
	k := &taker{files: map[string]string{}}
	if len(o.Checkers) > 0 {
		k = o.Checkers[0].(*taker)
	}
	o.Checkers = []Checker{k}
	for i, p := range o.Paths {
		if p != Stdin {
			o.Paths[i] = filepath.Join(dir, p) + strings.Repeat("/...", strings.Count(p, "..."))
			o.Paths[i] = strings.Replace(o.Paths[i], "/.../...", "/...", 1)
		}
	}
	r := must.Get(Run(t.Context(), o))(t)
	var files []string
	for f := range k.files {
		rel, err := filepath.Rel(dir, filepath.FromSlash(f))
		if err != nil || f == Stdin {
			rel = f
		}
		files = append(files, filepath.ToSlash(rel))
	}
	slices.Sort(files)
	return r, files
}

func TestWalk(t *testing.T) {
	dir := tree(t, map[string]string{
		".git/config":              "",
		".git/info/exclude":        "local.yaml\n",
		".gitignore":               "# comment\nbuild/\n*.log\n!keep.log\n/root.yaml\n",
		"a.yaml":                   "",
		"b.log":                    "",
		"keep.log":                 "",
		"local.yaml":               "",
		"root.yaml":                "",
		"build/x.yaml":             "",
		"deploy/root.yaml":         "",
		"deploy/.gitignore":        "secret.yaml\nsub/*.yaml\n",
		"deploy/secret.yaml":       "",
		"deploy/sub/x.yaml":        "",
		"deploy/sub/x.json":        "",
		"vendor/v.yaml":            "",
		"web/node_modules/n.yaml":  "",
		"pkg/testdata/t.yaml":      "",
		"deploy/sub2/deep/z.yaml":  "",
		"deploy/sub2/.gitignore":   "!secret.yaml\n",
		"deploy/sub2/secret.yaml":  "",
		".github/workflows/w.yaml": "",
	})
	if runtime.GOOS == "linux" { // this is a regular file, and reading it waits for the kernel
		must.OK(t, os.Symlink("/proc/kmsg", filepath.Join(dir, "pkg", ".gitignore")))
	}
	for name, tc := range map[string]struct {
		paths []string
		want  []string
	}{
		"all": {[]string{"."}, []string{
			".github/workflows/w.yaml", ".gitignore", "a.yaml", "deploy/.gitignore", "deploy/root.yaml", "deploy/sub/x.json",
			"deploy/sub2/.gitignore", "deploy/sub2/deep/z.yaml", "deploy/sub2/secret.yaml", "keep.log",
		}},
		"a folder below":          {[]string{"deploy/sub"}, []string{"deploy/sub/x.json"}},
		"one that git ignores":    {[]string{"build"}, []string{"build/x.yaml"}},
		"one in one that is":      {[]string{"pkg/testdata"}, []string{"pkg/testdata/t.yaml"}},
		"a file that git ignores": {[]string{"deploy/secret.yaml", "vendor"}, []string{"deploy/secret.yaml", "vendor/v.yaml"}},
		"as Go names packages":    {[]string{"vendor/..."}, []string{"vendor/v.yaml"}},
		"twice":                   {[]string{"a.yaml", "a.yaml", "./a.yaml"}, []string{"a.yaml"}},
	} {
		r, got := run(t, dir, Options{Paths: tc.paths})
		if !slices.Equal(got, tc.want) || len(r.Problems) > 0 || r.Files != len(tc.want) {
			t.Errorf("%s: %v, %d files, problems %v\nwant %v", name, got, r.Files, r.Problems, tc.want)
		}
	}
}

// TestNamedInFolder: a file counts as named whether it comes before the folder that holds it or after.
func TestNamedInFolder(t *testing.T) {
	dir := tree(t, map[string]string{"start.sh": ""})
	for _, paths := range [][]string{{".", "start.sh"}, {"start.sh", "."}} {
		named := false
		k := &taker{files: map[string]string{}, do: func(f *File, _ Sink) error { named = f.Named; return nil }}
		if run(t, dir, Options{Paths: slices.Clone(paths), Checkers: []Checker{k}}); !named {
			t.Errorf("%v: it is not", paths)
		}
	}
}

// TestOdd: what is no file, or leads nowhere, is reported or skipped, and the rest is
// still checked.
func TestOdd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := tree(t, map[string]string{
		"a.yaml":       "a",
		"loop1":        "->loop2",
		"loop2":        "->loop1",
		"gone.yaml":    "->nowhere",
		"same.yaml":    "->a.yaml",
		"round/here":   "->..",
		"round/b.yaml": "b",
		"x.other":      "",
		"gone.other":   "->nowhere", // which nobody would read
	})
	r, got := run(t, dir, Options{Paths: []string{"."}})
	if !slices.Equal(got, []string{"a.yaml", "round/b.yaml"}) {
		t.Errorf("files %v", got)
	}
	if len(r.Problems) != 0 || len(r.Notes) != 3 {
		t.Errorf("problems %+v and notes %+v, want a note for each link that leads nowhere", r.Problems, r.Notes)
	}
	r, got = run(t, dir, Options{Paths: []string{"missing", "loop1", "a.yaml", "x.other"}})
	text := fmt.Sprint(r.Problems)
	if !slices.Equal(got, []string{"a.yaml"}) || len(r.Problems) != 3 || !strings.Contains(text, "no such file") || !strings.Contains(text, "too many levels") || !strings.Contains(text, "not a file that procfit checks") {
		t.Errorf("files %v, problems %+v", got, r.Problems)
	}
	if runtime.GOOS == "linux" { // where root, too, cannot read this one
		r, err := Run(t.Context(), Options{Paths: []string{"/proc/self/mem"}, Checkers: []Checker{&taker{files: map[string]string{}}}})
		if err != nil || len(r.Problems) != 1 || r.Problems[0].Message != "input/output error" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	outside := tree(t, map[string]string{"c.yaml": "c"})
	must.OK(t, os.Symlink(filepath.Join(outside, "c.yaml"), filepath.Join(dir, "round", "c.yaml")))
	r, got = run(t, dir, Options{Paths: []string{"round"}})
	if !slices.Equal(got, []string{"round/b.yaml"}) || len(r.Notes) != 2 || strings.Count(fmt.Sprint(r.Notes), "leads out of the folder") != 2 {
		t.Errorf("files %v, notes %+v; want a note of each link out of the folder", got, r.Notes)
	}
	must.OK(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	must.OK(t, os.Symlink("../a.yaml", filepath.Join(dir, "round", "d.yaml")))
	if _, got = run(t, dir, Options{Paths: []string{"round"}}); !slices.Equal(got, []string{"round/b.yaml", "round/d.yaml"}) {
		t.Errorf("files %v, want the linked one of the repository too", got)
	}
}

// TestLinks: a link to a folder that is named is walked over, and one to a file that the walk does not come
// to is reported.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := tree(t, map[string]string{
		".git/HEAD": "", ".gitignore": "build/\nlocal.yaml\n", "releases/42/a.yaml": "", "current": "->releases/42", "vendor/x/v.yaml": "", "build/b.yaml": "", "local.yaml": "",
		"deploy/v.yaml": "->../vendor/x/v.yaml", "deploy/b.yaml": "->../build/b.yaml", "deploy/l.yaml": "->../local.yaml", "deploy/a.yaml": "->../releases/42/a.yaml",
		"deploy/r.d": "->../releases", "deploy/third": "->../vendor",
	})
	const notFollowed = "this link to a folder is not followed"
	for name, tc := range map[string]struct {
		paths, want []string
		notes       []string // what links lead to
	}{
		"a link to a folder":   {[]string{"current"}, []string{"current/a.yaml"}, nil},
		"all of it":            {[]string{"current/..."}, []string{"current/a.yaml"}, nil},
		"into what is skipped": {[]string{"."}, []string{".gitignore", "releases/42/a.yaml"}, []string{"build", "local.yaml", "vendor", "vendor"}},
		"from another folder":  {[]string{"deploy"}, []string{"deploy/a.yaml", "deploy/b.yaml", "deploy/l.yaml", "deploy/v.yaml"}, []string{notFollowed, notFollowed}},
		"it is named, too":     {[]string{".", "build", "local.yaml"}, []string{".gitignore", "build/b.yaml", "local.yaml", "releases/42/a.yaml"}, []string{"vendor", "vendor"}},
	} {
		r, got := run(t, dir, Options{Paths: tc.paths})
		notes := phrase.Each(r.Notes, func(n Note) string { return n.Message })
		same := slices.EqualFunc(notes, tc.notes, func(note, to string) bool {
			return strings.Contains(note, filepath.ToSlash(filepath.Join(dir, to))+", ") || strings.HasPrefix(note, to)
		})
		if !slices.Equal(got, tc.want) || !same || len(r.Problems) > 0 {
			t.Errorf("%s: %v, notes %q, problems %v; want %v", name, got, notes, r.Problems, tc.want)
		}
	}
}

// TestInLinkedFolder: a link of which the walk comes to the target is not followed, also where the current folder
// is known by a link.
func TestInLinkedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := tree(t, map[string]string{"real/a.yaml": "a", "real/same.yaml": "->a.yaml", "real/sub/b.yaml": "b", "real/other": "->sub", "link": "->real"})
	t.Chdir(filepath.Join(dir, "link"))
	k := &taker{files: map[string]string{}}
	r := must.Get(Run(t.Context(), Options{Paths: []string{"."}, Checkers: []Checker{k}}))(t)
	if got := slices.Sorted(maps.Keys(k.files)); !slices.Equal(got, []string{"a.yaml", "sub/b.yaml"}) || len(r.Notes)+len(r.Problems) > 0 {
		t.Errorf("%v, %+v", got, r)
	}
}

func TestFaults(t *testing.T) {
	dir := tree(t, map[string]string{"a": "1", "b": "2", "c": strings.Repeat("x", 1<<20+1), "d": "4"})
	k := &taker{files: map[string]string{}, do: func(f *File, _ Sink) error {
		switch f.Base() {
		case "a":
			panic("odd")
		case "b":
			return errors.New("no manifest")
		}
		return nil
	}}
	r, got := run(t, dir, Options{Paths: []string{"."}, Checkers: []Checker{k}})
	if !slices.Equal(got, []string{"a", "b", "d"}) || len(r.Problems) != 3 {
		t.Fatalf("files %v, problems %+v", got, r.Problems)
	}
	for i, want := range []string{"please report it: odd", "no manifest", "procfit reads at most 1048576"} {
		if !strings.Contains(r.Problems[i].Message, want) {
			t.Errorf("problem %q, want %q", r.Problems[i].Message, want)
		}
	}
}

func TestStdinAndOverlay(t *testing.T) {
	dir := tree(t, map[string]string{"a": "1"})
	k := &taker{files: map[string]string{}}
	shown := filepath.ToSlash(filepath.Join(dir, "a"))
	_, got := run(t, dir, Options{Paths: []string{"-", "a"}, Stdin: strings.NewReader("piped"), Checkers: []Checker{k}, Overlay: map[string][]byte{shown: []byte("2")}})
	if len(got) != 2 || k.files["-"] != "piped" || k.files[shown] != "2" {
		t.Errorf("%v", k.files)
	}
	if _, err := Run(t.Context(), Options{Paths: []string{"-", "-"}, Stdin: strings.NewReader("")}); err == nil {
		t.Error("standard input is read twice")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Options{Paths: []string{dir}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestParseIgnore(t *testing.T) {
	for text, want := range map[string]string{
		"# procfit:ignore PF004 the value is measured": "[PF004] the value is measured true",
		"procfit:ignore PF001,PF004: why":              "[PF001 PF004] why true",
		"procfit:ignore PF001 PF004 why":               "[PF001 PF004] why true",
		"procfit:ignore":                               "[]  true",
		"procfit:ignore PF4 why":                       "[PF4] why true",
		"procfit:ignored PF004 why":                    "[]  false",
		"something else":                               "[]  false",
	} {
		i, ok := ParseIgnore(rule.Place{}, text)
		if got := fmt.Sprintf("%v %s %v", i.Rules, i.Reason, ok); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestIgnoreMany: of many answers each is looked at, and the first counts.
func TestIgnoreMany(t *testing.T) {
	const n = 20000
	var findings []Finding
	var ignores []Ignore
	for line := range n {
		findings = append(findings, NewFinding("PF024", rule.Place{Path: "x", Line: line + 1}, "found", "fix"))
		ignores = append(ignores, Ignore{Place: rule.Place{Path: "x"}, Rules: []string{"PF024"}, Reason: fmt.Sprint(line), From: 1, To: line + 1})
	}
	ignores = append(ignores, Ignore{Place: rule.Place{Path: "x"}, Rules: []string{"PF024"}, Reason: "too late", From: n, To: n + 9}, Ignore{Place: rule.Place{Path: "x"}, Rules: []string{"PF024"}, Reason: "of nothing", From: n + 1, To: n + 9})
	began := time.Now()
	left, ignored := ignore(findings, ignores)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it takes %v", took)
	}
	if len(left) != 1 || left[0].Rule != ruleUnused || len(ignored) != n {
		t.Fatalf("%d left and %d answered", len(left), len(ignored))
	}
	for i, f := range ignored {
		if f.Reason != fmt.Sprint(i) {
			t.Fatalf("line %d is answered by %q, which is not the first", i+1, f.Reason)
		}
	}
}

func FuzzParseIgnore(f *testing.F) {
	f.Add("# procfit:ignore PF004,PF001 why")
	f.Fuzz(func(t *testing.T, text string) {
		i, ok := ParseIgnore(rule.Place{Path: "x", Line: 1}, text)
		if !ok && (len(i.Rules) > 0 || i.Reason != "") {
			t.Errorf("%q gives %+v and is none", text, i)
		}
		if left, _ := ignore(nil, []Ignore{i}); ok && len(left) == 0 && !slices.ContainsFunc(i.Rules, ofRunning) {
			t.Errorf("%q ignores nothing, and is not told", text)
		}
	})
}

// TestUnusedIgnores: a comment is not called unused if nothing shows that it is.
func TestUnusedIgnores(t *testing.T) {
	unused := func(i Ignore) int {
		left, _ := ignore(nil, []Ignore{i})
		return len(left)
	}
	for id, want := range map[string]int{"PF004": 1, "PF011": 0, "PF050": 0} {
		i := Ignore{Rules: []string{id}, Reason: "why"}
		if got := unused(i); got != want {
			t.Errorf("%s: %d findings, want %d", id, got, want)
		}
		if i.Unsure = true; unused(i) != 0 {
			t.Errorf("%s: unused, although it may be needed", id)
		}
	}
}

// ending is a Checker that finds something in each file, and whose end is another's.
type ending struct {
	*taker
	finish func() error
}

func (k ending) Finish(context.Context, Sink) error { return k.finish() }

// TestRunLeaves: what never ends to be read does not keep a run from its end.
func TestRunLeaves(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": "a", "b.yaml": "b"})
	ctx, cancel := context.WithCancel(t.Context())
	found, never := make(chan int), make(chan int)
	k := &taker{files: map[string]string{}, do: func(f *File, to Sink) error {
		if f.Base() == "b.yaml" {
			<-found // files are read side by side
			cancel()
			<-never
			return nil
		}
		to.Finding(NewFinding("PF024", rule.Place{Path: f.Path, Line: 1}, "found", "fix"))
		close(found)
		return nil
	}}
	r, err := Run(ctx, Options{Paths: []string{filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")}, Checkers: []Checker{k}})
	close(never) // what comes late is not in a Report that is made
	if !errors.Is(err, context.Canceled) || r == nil || len(r.Findings) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRunEnded holds that a run which is ended gives what was found until then.
func TestRunEnded(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": "a"})
	ctx, cancel := context.WithCancel(t.Context())
	k := ending{&taker{files: map[string]string{}, do: func(f *File, to Sink) error {
		to.Finding(NewFinding("PF024", rule.Place{Path: f.Path, Line: 1}, "found", "fix"))
		to.Ignore(Ignore{Place: rule.Place{Path: f.Path, Line: 1}, Rules: []string{"PF025"}, Reason: "of what comes later"})
		return nil
	}}, func() error { cancel(); return ctx.Err() }}
	late := ending{&taker{files: map[string]string{}}, func() error { t.Error("what comes after the end is finished"); return nil }}
	r, err := Run(ctx, Options{Paths: []string{dir}, Checkers: []Checker{k, late}})
	if !errors.Is(err, context.Canceled) || r == nil || len(r.Findings) != 1 || r.Files != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
