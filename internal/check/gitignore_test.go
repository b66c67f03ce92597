package check

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestGitignore compares what is ignored with git check-ignore, for lines of .gitignore in two
// folders that are put together at random.
func TestGitignore(t *testing.T) {
	need.Command(t, "git")
	dir := t.TempDir()
	must.Output(t, exec.Command("git", "-C", dir, "init", "--quiet"))
	var files []string
	for _, folder := range []string{"", "a", "a/b", "a/b/a", "b", "b/c d", "[x]", "a/.ab"} {
		for _, name := range []string{"a1", "b.y", "c ", "#x", "!n", "x-Z_9", "ab"} {
			file := filepath.Join(folder, name)
			must.Write(t, filepath.Join(dir, file), "")
			files = append(files, file)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	some := func(from ...string) string { return from[random.IntN(len(from))] }
	line := func() string {
		s := some("", "", "", "!", "/", `\`)
		for range 1 + random.IntN(4) {
			s += some("a", "b", "**", "*", "?", "/", "/", "/**/", "[ab]", "[!a]", "[^b]", "[[:alpha:]]", "[a-c]", `\ `, " ", ".y", "#x", "1", "c")
		}
		return s + some("", "", "/", " ", "\r", "/**")
	}
	for range 100 {
		above, below := line()+"\n"+line()+"\n"+line(), line()+"\n\n"+line()+"\n"
		for file, text := range map[string]string{".gitignore": above, "a/.gitignore": below} {
			must.Write(t, filepath.Join(dir, file), text)
		}
		git := exec.Command("git", "-C", dir, "check-ignore", "--no-index", "-z", "--stdin")
		git.Stdin = strings.NewReader(strings.Join(files, "\x00"))
		out, err := git.Output()
		if exit, ok := err.(*exec.ExitError); err != nil && !(ok && exit.ExitCode() == 1) { // 1: none
			t.Fatal(err)
		}
		want := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
		var got []string
		g := newGitignore(dir, folder.NewTree(dir))
		for _, file := range files {
			if ignores(g, dir, file) {
				got = append(got, file)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf(".gitignore %q and a/.gitignore %q:\nignores %q\ngit     %q", above, below, got, want)
		}
	}
}

// TestManyIgnored: folders have no copies of the patterns above them, what is left is forgotten, and a
// file of very many patterns ignores nothing.
func TestManyIgnored(t *testing.T) {
	const folders, lines = 1000, 5000
	many := strings.Repeat("a\n", lines)
	dir := tree(t, map[string]string{".git/HEAD": "", ".gitignore": many, "own/.gitignore": many, "z": ""})
	g := newGitignore(dir, folder.NewTree(dir))
	g.enter(dir)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range folders {
		g.enter(filepath.Join(dir, fmt.Sprint(i)))
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / folders; each > 16<<10 {
		t.Errorf("%d bytes for each folder", each)
	}
	g.enter(filepath.Join(dir, "own"))
	within := len(g.patterns)
	if ignored := g.match(filepath.Join(dir, "a"), false); !ignored || within != 2*lines || len(g.patterns) != lines {
		t.Errorf("ignored %v, with %d patterns in the folder and %d after it", ignored, within, len(g.patterns))
	}
	must.Write(t, filepath.Join(dir, "own/.gitignore"), strings.Repeat("b\n", mostIgnoreFile/2))
	g.enter(filepath.Join(dir, "own"))
	if g.match(filepath.Join(dir, "own/b"), false) || !g.match(filepath.Join(dir, "own/a"), false) {
		t.Error("a file with too many patterns ignores something")
	}
}

// ignores walks down to a file, as far as git would.
func ignores(g *ignoreFile, dir, file string) bool {
	at := dir
	g.enter(at)
	for _, name := range strings.Split(filepath.Dir(file), "/") {
		if name == "." {
			break
		}
		if at = filepath.Join(at, name); g.match(at, true) {
			return true
		}
		g.enter(at)
	}
	return g.match(filepath.Join(dir, file), false)
}

// What a user writes is a pattern or an error, and a pattern is compared with any path.
func FuzzPattern(f *testing.F) {
	for _, text := range []string{"fixtures/", "!deploy/**/[a-c]*.yaml", `a\ `, "**", "[", "#", "/"} {
		f.Add(text, "deploy/a.yaml")
	}
	f.Fuzz(func(t *testing.T, text, file string) {
		p, err := ParsePattern(text)
		if err != nil {
			return
		}
		at := strings.Split(file, "/")
		if lastOf([]Pattern{p}, at, true) && p.keep || lastOf([]Pattern{p}, at, false) && p.dirs {
			t.Errorf("%q leaves %q out", text, file)
		}
	})
}
