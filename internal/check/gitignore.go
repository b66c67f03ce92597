package check

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/procfit/procfit/internal/host/folder"
)

// ignoreFile is what git ignores, as known on the way down from the root of a
// repository.
type ignoreFile struct {
	root     string // of the repository, absolute; "" where there is none
	reads    *folder.Tree
	patterns map[string][]gitignore.Pattern
}

// mostIgnoreFile is more than any .gitignore that people write.
const mostIgnoreFile = 1 << 20

// newGitignore begins a walk at a folder: what is ignored in the folders above it, up
// to the root of the repository, counts too.
func newGitignore(dir string, reads *folder.Tree) *ignoreFile {
	g := &ignoreFile{reads: reads, patterns: map[string][]gitignore.Pattern{}}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return g
	}
	above := []string{}
	for d := abs; ; d = filepath.Dir(d) {
		above = append(above, d)
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			g.root = d
			break
		}
		if d == filepath.Dir(d) {
			return g
		}
	}
	g.patterns[""] = g.read(filepath.Join(g.root, ".git", "info", "exclude"), nil)
	for i := len(above) - 1; i > 0; i-- {
		g.enter(above[i])
	}
	// A folder that git ignores, and that the user names all the same, is entered.
	if g.match(abs, true) {
		g.root = ""
	}
	return g
}

// enter reads the .gitignore of a folder. It is called on the way down.
func (g *ignoreFile) enter(dir string) {
	at, ok := g.parts(dir)
	if !ok {
		return
	}
	key := strings.Join(at, "/")
	found := g.read(filepath.Join(dir, ".gitignore"), at)
	if key == "" {
		g.patterns[key] = append(g.patterns[key], found...)
		return
	}
	// A pattern of a folder goes before those above it.
	g.patterns[key] = append(append([]gitignore.Pattern{}, g.of(at[:len(at)-1])...), found...)
}

// of is the patterns in effect in a folder.
func (g *ignoreFile) of(at []string) []gitignore.Pattern {
	for n := len(at); n >= 0; n-- {
		if p, ok := g.patterns[strings.Join(at[:n], "/")]; ok {
			return p
		}
	}
	return nil
}

// match reports whether git ignores a path whose folder has been entered.
func (g *ignoreFile) match(p string, isDir bool) bool {
	at, ok := g.parts(p)
	if !ok || len(at) == 0 {
		return false
	}
	patterns := g.of(at[:len(at)-1])
	return len(patterns) > 0 && gitignore.NewMatcher(patterns).Match(at, isDir)
}

// parts is a path as git counts it, from the root of the repository.
func (g *ignoreFile) parts(p string) ([]string, bool) {
	if g.root == "" {
		return nil, false
	}
	abs, err := filepath.Abs(p)
	if err != nil {
		return nil, false
	}
	rel, err := filepath.Rel(g.root, abs)
	if err != nil || strings.HasPrefix(rel, "..") {
		return nil, false
	}
	if rel == "." {
		return []string{}, true
	}
	return strings.Split(filepath.ToSlash(rel), "/"), true
}

// read is the patterns of a file. One that cannot be read ignores nothing, so that
// more is checked and not less.
func (g *ignoreFile) read(file string, at []string) []gitignore.Pattern {
	b, err := g.reads.ReadAbove(file, mostIgnoreFile)
	if err != nil {
		return nil
	}
	var all []gitignore.Pattern
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, mostIgnoreFile+1)
	for lines.Scan() {
		line := strings.TrimSuffix(strings.TrimPrefix(lines.Text(), "\ufeff"), "\r")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		all = append(all, gitignore.ParsePattern(line, at))
	}
	return all
}
