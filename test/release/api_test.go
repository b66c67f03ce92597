// Package release holds what a release rests on: that the library's exported API
// changes only together with the section of CHANGELOG.md that tells of it, that both
// modules can be installed from their tags, in the order of RELEASING.md, and that what
// .ci/release makes can be built again, byte for byte, and installed.
//
// It is a module of its own, for the tools that it needs. goreleaser and syft, which make a
// release, are in modules of theirs, outside of the workspace: the versions that they
// require must not become those of procfit.
package release

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"

	// go test takes an earlier result for this one's unless the test itself has
	// changed, and with these it changes whenever the library does.
	_ "github.com/procfit/procfit/maxprocs/auto"
	_ "github.com/procfit/procfit/maxprocs/memlimit"
	_ "github.com/procfit/procfit/maxprocs/metrics"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

const (
	root    = "../.." // of the repository
	library = "github.com/procfit/procfit/maxprocs"
	heading = "## API of the library\n"
)

// TestAPI compares the library's exported API with that of the last commit that
// changed CHANGELOG.md's section about it. Whoever changes the API, by addition
// too, says so there, in the same commit or a later one.
func TestAPI(t *testing.T) {
	t.Parallel()
	now, ok := section(read(t, root+"/CHANGELOG.md"))
	if !ok {
		t.Fatalf("CHANGELOG.md has no section %q", strings.TrimSpace(heading))
	}
	base := lastChange(t, now)
	if base == "" {
		t.Log("the section is being changed: whatever the API is, it is told there")
		return
	}
	old := t.TempDir()
	unpack(t, old, base)
	changes := must.Get(diff(filepath.Join(old, "maxprocs"), root+"/maxprocs"))(t)
	if changes != "" {
		t.Errorf("the API of the library is not that of %.10s, the last commit that changed %q of CHANGELOG.md; say there what is new, gone or another:\n%s",
			base, strings.TrimSpace(heading), changes)
	}
}

// section is the text below the heading, up to the next of its rank.
func section(changelog string) (string, bool) {
	_, text, ok := strings.Cut(changelog, "\n"+heading)
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.TrimSpace(text), ok
}

// lastChange is the commit since which the section has been what it is now; "" when
// it is another than the last commit's.
func lastChange(t *testing.T, now string) string {
	t.Helper()
	if out, err := git("rev-parse", "--is-shallow-repository"); err != nil {
		need.Skip(t, "this is no git repository, so there is no API of before: "+err.Error())
	} else if strings.TrimSpace(out) == "true" {
		need.Skip(t, "this repository is shallow; git fetch --unshallow brings the API of before")
	}
	// Of a merge, what came in by it counts as its own change.
	commits := must.Get(git("rev-list", "--first-parent", "HEAD", "--", "CHANGELOG.md"))(t)
	last := ""
	for _, commit := range strings.Fields(commits) {
		text := must.Get(git("show", commit+":CHANGELOG.md"))(t)
		if then, ok := section(text); !ok || then != now {
			break
		}
		last = commit
	}
	return last
}

func git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, exit.Stderr)
	}
	return string(out), err
}

// unpack puts the library of a commit below dir.
func unpack(t *testing.T, dir, commit string) {
	t.Helper()
	archive := must.Get(git("archive", commit, "maxprocs"))(t)
	for r := tar.NewReader(strings.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag != tar.TypeReg || strings.Contains(h.Name, "/testdata/") || !filepath.IsLocal(h.Name) {
			continue
		}
		must.Write(t, name, string(must.Get(io.ReadAll(r))(t)))
	}
}

// diff is what differs between the exported APIs of two copies of the library.
func diff(old, now string) (string, error) {
	before, err := load(old)
	if err != nil {
		return "", err
	}
	after, err := load(now)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = apidiff.ModuleChanges(before, after).Text(&out)
	return out.String(), err
}

// load type-checks the packages that others can import, as they are on Linux.
func load(dir string) (*apidiff.Module, error) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.LoadTypes | packages.NeedDeps, // from export data
		Dir:  dir,
		Env:  append(os.Environ(), "GOWORK=off", "GOOS=linux"),
	}, "./...")
	if err != nil {
		return nil, err
	}
	m := &apidiff.Module{Path: library}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, e)
		}
		if !slices.Contains(strings.Split(p.PkgPath, "/"), "internal") {
			m.Packages = append(m.Packages, p.Types)
		}
	}
	slices.SortFunc(m.Packages, func(a, b *types.Package) int { return strings.Compare(a.Path(), b.Path()) })
	if len(m.Packages) == 0 {
		return nil, fmt.Errorf("%s holds no package", dir)
	}
	return m, nil
}

// TestDiff: what the comparison must notice, and what not.
func TestDiff(t *testing.T) {
	const before = "package maxprocs\n\nimport \"" + library + "/internal/x\"\n\ntype T struct{ A int }\n\nfunc F(n int) { x.G() }\n"
	write := func(text, inner string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod": "module " + library + "\n\ngo 1.21\n", "a.go": text, "internal/x/x.go": inner,
		} {
			must.Write(t, filepath.Join(dir, name), text)
		}
		return dir
	}
	const inner = "package x\n\nfunc G() {}\n"
	old := write(before, inner)
	for name, tc := range map[string]struct{ text, inner, want string }{
		"nothing":         {before, inner, ""},
		"inside":          {strings.Replace(before, "x.G() }", "x.G(); x.G() }\n\nfunc g() {}", 1), inner + "\nfunc H() {}\n", ""},
		"a new function":  {before + "\nfunc N() {}\n", inner, "N: added"},
		"a new field":     {strings.Replace(before, "A int", "A, B int", 1), inner, "T.B: added"},
		"another type":    {strings.Replace(before, "A int", "A string", 1), inner, "T.A: changed from int to string"},
		"a function less": {strings.Replace(before, "func F", "func f", 1), inner, "F: removed"},
	} {
		got, err := diff(old, write(tc.text, tc.inner))
		if err != nil || (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, tc.want)
		}
	}
}

func TestSection(t *testing.T) {
	const text = "# Changelog\n\n## [Unreleased]\n\n- x\n\n" + heading + "\n- a\n\n### 0.1.0\n\n- b\n\n## [0.0.1]\n"
	if got, ok := section(text); !ok || got != "- a\n\n### 0.1.0\n\n- b" {
		t.Errorf("%q, %t", got, ok)
	}
	if got, ok := section("# Changelog\n"); ok {
		t.Errorf("%q", got)
	}
}
