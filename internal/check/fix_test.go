package check

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/test/must"
)

func TestApply(t *testing.T) {
	for name, tc := range map[string]struct {
		splices []Splice
		want    string
		err     bool
	}{
		"none":           {nil, "abcdef", false},
		"replace":        {[]Splice{{1, 3, "XY"}}, "aXYdef", false},
		"out of order":   {[]Splice{{4, 5, ""}, {0, 0, "+"}}, "+abcdf", false},
		"the same twice": {[]Splice{{1, 2, "X"}, {1, 2, "X"}}, "aXcdef", false},
		"side by side":   {[]Splice{{1, 2, "X"}, {2, 3, "Y"}}, "aXYdef", false},
		"overlap":        {[]Splice{{1, 3, "X"}, {2, 4, "Y"}}, "", true},
		"two at a place": {[]Splice{{1, 1, "X"}, {1, 1, "Y"}}, "", true},
		"beyond":         {[]Splice{{5, 7, ""}}, "", true},
		"backwards":      {[]Splice{{3, 2, ""}}, "", true},
	} {
		got, err := Apply([]byte("abcdef"), tc.splices)
		if string(got) != tc.want || (err != nil) != tc.err {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// finder finds fault with every x, and would write a y in its place.
func finder(lie string) func(f *File, to Sink) error {
	return func(f *File, to Sink) error {
		b, err := f.Read(1 << 20)
		if err != nil {
			return err
		}
		if bytes.Contains(b, []byte("y")) && lie == "worse" || bytes.HasPrefix(b, []byte("-y-y")) && lie == "one" {
			to.Finding(Finding{Finding: rule.Finding{Rule: "PF003", Severity: rule.Error, Place: rule.Place{Path: f.Path}}})
		}
		if bytes.Contains(b, []byte("y")) && lie == "broken" {
			return errors.New("cannot be read")
		}
		for i, c := range b {
			if c == 'x' {
				change := &Change{Path: f.Path, Splices: []Splice{{i, i + 1, "y"}}}
				if lie == "nothing" {
					change.Splices[0].New = "xy"
				}
				to.Finding(Finding{rule.Finding{Rule: "PF001", Severity: rule.Warning, Message: string(rune('a' + i)), Place: rule.Place{Path: f.Path, Line: 1, Column: i + 1, Object: string(rune('a' + i))}}, change})
			}
		}
		return nil
	}
}

// fix fixes a folder; after is called after each check, by its number.
func fix(t *testing.T, dir, lie string, write bool, after ...func(check int)) *Report {
	t.Helper()
	checks := 0
	r, err := Fixer{Least: rule.Info, Write: write, Check: func(ctx context.Context, overlay map[string][]byte) (*Report, error) {
		k := &taker{files: map[string]string{}, do: finder(lie)}
		r, err := Run(ctx, Options{Paths: []string{dir}, Checkers: []Checker{k}, Overlay: overlay})
		checks++
		for _, do := range after {
			do(checks)
		}
		return r, err
	}}.Run(t.Context())
	must.OK(t, err)
	return r
}

func TestFixer(t *testing.T) {
	dir := tree(t, map[string]string{"a": "-x-x-", "b": "clean"})
	file := filepath.Join(dir, "a")
	must.OK(t, os.Chmod(file, 0o640))
	read := func() string { return must.Read(t, file) }
	for _, lie := range []string{"worse", "broken", "nothing"} {
		r := fix(t, dir, lie, true)
		if read() != "-x-x-" || len(r.Fixed) > 0 || len(r.Findings) != 2 || len(r.Problems) > 0 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0].Message, "is not fixed") {
			t.Errorf("%s: %q, %+v", lie, read(), r)
		}
	}
	if r := fix(t, dir, "", false); read() != "-x-x-" || len(r.Fixed) != 1 || r.Fixed[0].Written || string(r.Fixed[0].After) != "-y-y-" {
		t.Errorf("only shown: %q, %+v", read(), r.Fixed)
	}
	r := fix(t, dir, "", true)
	info := must.Get(os.Stat(file))(t)
	if read() != "-y-y-" || len(r.Findings) > 0 || len(r.Fixed) != 1 || !r.Fixed[0].Written || len(r.Fixed[0].Findings) != 2 {
		t.Errorf("%q, %+v", read(), r)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	if r := fix(t, dir, "", true); len(r.Fixed) > 0 {
		t.Errorf("fixed again: %+v", r.Fixed)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v: something is left over", entries, err)
	}
}

// TestFixerRefusesOne: of the changes of a file, only the one that is not safe is not made.
func TestFixerRefusesOne(t *testing.T) {
	dir := tree(t, map[string]string{"a": "-y-x-x-x-x", "b": "x"})
	r := fix(t, dir, "one", true)
	for name, want := range map[string]string{"a": "-y-x-y-y-y", "b": "y"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v; want %q", name, b, err, want)
		}
	}
	want := "PF001 on line 1 is not fixed, because its fix is not safe: PF003 would match after the fix"
	if len(r.Fixed) != 2 || len(r.Fixed[0].Findings) != 3 || len(r.Findings) != 1 || len(r.Notes) != 1 || r.Notes[0].Message != want {
		t.Errorf("%+v", r)
	}
}

// fixOf fixes a text that has some findings, of which each change is safe.
func fixOf(t *testing.T, text []byte, findings []Finding) *Report {
	t.Helper()
	r, err := Fixer{Least: rule.Info, Stdin: text, Check: func(_ context.Context, overlay map[string][]byte) (*Report, error) {
		if overlay != nil {
			return &Report{}, nil
		}
		return &Report{Findings: findings}, nil
	}}.Run(t.Context())
	must.OK(t, err)
	return r
}

func changing(severity rule.Severity, splices ...Splice) Finding {
	return Finding{rule.Finding{Rule: "PF001", Severity: severity, Place: rule.Place{Path: Stdin}}, &Change{Path: Stdin, Splices: splices}}
}

// TestFixerOverlaps: of changes that overlap, that of the worst finding is made, and of the others
// those next to it.
func TestFixerOverlaps(t *testing.T) {
	shared := Splice{9, 10, "J"} // which two want
	r := fixOf(t, []byte("abcdefghij"), []Finding{
		changing(rule.Info, Splice{0, 5, "no"}), changing(rule.Info, Splice{0, 1, "A"}, shared), changing(rule.Info, Splice{2, 3, "C"}, shared),
		changing(rule.Warning, Splice{6, 9, "no"}), changing(rule.Error, Splice{4, 7, "E"}), changing(rule.Info, Splice{1, 2, "no"}, Splice{4, 5, "no"}),
		changing(rule.Info, Splice{7, 9, "x"}, Splice{8, 9, "x"}), changing(rule.Info, Splice{7, 7, "+"}),
	})
	if len(r.Fixed) != 1 || len(r.Fixed[0].Findings) != 4 || string(r.Fixed[0].After) != "AbCdE+hiJ" {
		t.Errorf("%+v", r.Fixed)
	}
}

// TestFixerOverlapsAll: the time grows with the number of changes and not with the text that each is
// tried in. Before, this took a minute.
func TestFixerOverlapsAll(t *testing.T) {
	text := make([]byte, 16<<20)
	var findings []Finding
	for i := range 20000 {
		findings = append(findings, changing(rule.Info, Splice{i, len(text), ""}))
	}
	began := time.Now()
	r := fixOf(t, text, findings)
	if took := time.Since(began); took > 20*time.Second || len(r.Fixed) != 1 || len(r.Fixed[0].Findings) != 1 {
		t.Errorf("%d fixed after %v", len(r.Fixed), took)
	}
}

// TestFixerFollowsLinks: what a link of the repository leads to is written, and the link stays.
func TestFixerFollowsLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	outside := tree(t, map[string]string{"real": "x"})
	repository := tree(t, map[string]string{".git/HEAD": "", "real": "x", "sub/link": "->../real", "sub/out": "->" + filepath.Join(outside, "real")})
	dir := filepath.Join(repository, "sub")
	fix(t, dir, "", true)
	for file, want := range map[string]string{filepath.Join(repository, "real"): "y", filepath.Join(outside, "real"): "x"} {
		if b, err := os.ReadFile(file); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v; want %q", file, b, err, want)
		}
	}
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
}

// TestFixVanished holds that a file which is gone before it could be changed keeps nobody
// from the rest.
func TestFixVanished(t *testing.T) {
	dir := tree(t, map[string]string{"a": "x", "b": "x", "c": "x"})
	r := fix(t, dir, "", true, func(check int) { // one is gone when it is to be read, another when it is to be written
		if check <= 2 {
			must.OK(t, os.Remove(filepath.Join(dir, []string{"a", "b"}[check-1])))
		}
	})
	if len(r.Fixed) != 1 || filepath.Base(r.Fixed[0].Path) != "c" || !r.Fixed[0].Written || len(r.Problems) != 2 {
		t.Errorf("fixed %+v, problems %+v", r.Fixed, r.Problems)
	}
	for _, p := range r.Problems {
		if p.Message != "cannot be fixed: no such file or directory" || !p.Unwritten {
			t.Errorf("%+v", p)
		}
	}
}

// TestFixUnwritten holds that a file which is not written is reported as it is, and not as it
// would be with the fix.
func TestFixUnwritten(t *testing.T) {
	dir := tree(t, map[string]string{"a": "x"})
	file := filepath.Join(dir, "a")
	r := fix(t, dir, "", true, func(check int) {
		if check == 2 { // somebody saves it
			must.Write(t, file, "xx")
		}
	})
	if text := must.Read(t, file); text != "xx" || len(r.Fixed) > 0 || len(r.Findings) != 2 {
		t.Errorf("%q, %+v", text, r)
	}
	if len(r.Problems) != 1 || r.Problems[0].Message != "cannot be fixed: the file changed during the check; run it again" || r.Failed() != "1 file could not be fixed" {
		t.Errorf("%+v, %s", r.Problems, r.Failed())
	}
}
