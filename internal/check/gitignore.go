package check

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/folder"
)

// ignoreFile is what git ignores, as known on the way down from the root of a repository.
type ignoreFile struct {
	root     string // of the repository, absolute; "" where there is none
	reads    *folder.Tree
	patterns []Pattern // of the folders on the way, from the root down
}

// Each file is compared with every name of all patterns on its way.
const (
	mostIgnoreFile   = 1 << 20
	mostIgnoredNames = 20_000
)

// newGitignore begins a walk at a folder. What folders above it ignore is ignored, too.
func newGitignore(dir string, reads *folder.Tree) *ignoreFile {
	g := &ignoreFile{reads: reads}
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
	g.add(filepath.Join(g.root, ".git", "info", "exclude"), nil)
	for i, d := range slices.Backward(above) {
		// A folder that git ignores, and that the user names all the same, is entered.
		if g.match(d, true) {
			g.root = ""
			return g
		}
		if i > 0 {
			g.enter(d)
		}
	}
	return g
}

// enter reads the .gitignore of a folder. It is called on the way down.
func (g *ignoreFile) enter(dir string) {
	if at, ok := g.parts(dir); ok {
		g.leave(at)
		g.add(filepath.Join(dir, ".gitignore"), at)
	}
}

// leave forgets the patterns of folders that a folder is not in: the walk does not come back to them.
func (g *ignoreFile) leave(at []string) {
	for n := len(g.patterns) - 1; n >= 0; n-- {
		if dir := g.patterns[n].dir; len(dir) <= len(at) && slices.Equal(dir, at[:len(dir)]) {
			break
		}
		g.patterns = g.patterns[:n]
	}
}

// match reports whether git ignores a path whose folder has been entered. A pattern of a folder goes
// before those above it.
func (g *ignoreFile) match(p string, isDir bool) bool {
	at, ok := g.parts(p)
	if !ok || len(at) == 0 {
		return false
	}
	g.leave(at[:len(at)-1])
	return lastOf(g.patterns, at, isDir)
}

// lastOf reports whether the last pattern that matches leaves a path out.
func lastOf(all []Pattern, at []string, isDir bool) bool {
	for _, p := range slices.Backward(all) {
		if (isDir || !p.dirs) && p.match(at[len(p.dir):]) {
			return !p.keep
		}
	}
	return false
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

// A file that cannot be read, or that has too many patterns, ignores nothing, so that more is checked and
// not less.
func (g *ignoreFile) add(file string, dir []string) {
	b, err := g.reads.ReadAbove(file, mostIgnoreFile)
	if err != nil {
		return
	}
	all, names := g.patterns, 0
	for line := range strings.Lines(strings.TrimPrefix(string(b), "\ufeff")) {
		if p, ok := parseIgnored(strings.TrimRight(line, "\r\n")); ok {
			p.dir = dir
			all = append(all, p)
		}
	}
	for _, p := range all {
		names += len(p.names)
	}
	if names <= mostIgnoredNames {
		g.patterns = all
	}
}

// Pattern is a line of a .gitignore, as gitignore(5) describes it.
type Pattern struct {
	names []string // of path.Match, one for each folder; anyFolders stands for any number of them
	dir   []string // of the .gitignore, from the root of the repository; nil: of a path as it is shown
	keep  bool     // "!": what the pattern matches is not ignored
	dirs  bool     // it matches folders alone
}

const anyFolders = "**"

// posixClass writes the classes of git's brackets, and their negation, as path.Match reads them.
var posixClass = strings.NewReplacer("[!", "[^", "[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9",
	"[:lower:]", "a-z", "[:upper:]", "A-Z", "[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t", "[:blank:]", " \t")

// ParsePattern reads what a user wants to be skipped. A pattern that can match nothing is an error.
func ParsePattern(text string) (Pattern, error) {
	p, ok := parseIgnored(text)
	for _, name := range p.names {
		if _, err := path.Match(name, ""); err != nil || name == "." || name == ".." {
			ok = false
		}
	}
	if !ok {
		return p, fmt.Errorf("%q: expected a pattern as in a .gitignore, such as fixtures/ or 'deploy/*.yaml'", text)
	}
	return p, nil
}

func parseIgnored(line string) (p Pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = strings.TrimSuffix(line, " ")
	}
	line, p.keep = strings.CutPrefix(line, "!")
	line, p.dirs = strings.CutSuffix(line, "/")
	if line == "" {
		return p, false
	}
	if !strings.Contains(line, "/") {
		p.names = []string{anyFolders}
	}
	p.names = append(p.names, strings.Split(posixClass.Replace(strings.TrimPrefix(line, "/")), "/")...)
	if last := len(p.names) - 1; p.names[last] == anyFolders {
		p.names = append(p.names, "*") // what is in the folder, and not the folder
	}
	return p, true
}

// After a name that does not match, the latest "**" takes one folder more, so that a pattern costs
// at most the product of the two lengths.
func (p *Pattern) match(at []string) bool {
	name, retry, from := 0, -1, 0
	for i := 0; i < len(at); {
		switch {
		case name < len(p.names) && p.names[name] == anyFolders:
			retry, from = name+1, i
			name++
		case name < len(p.names) && matches(p.names[name], at[i]):
			name++
			i++
		case retry >= 0:
			from++
			name, i = retry, from
		default:
			return false
		}
	}
	return name == len(p.names)
}

// matches is false for a pattern that is not valid, so that more is checked and not less.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
