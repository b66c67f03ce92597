package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/procfit/procfit/test/must"
)

// markdown is a Markdown file of the repository that people read.
type markdown struct {
	file string // from here
	text string
}

// withPages is what of the repository has pages. To list the root would make the result of the test
// depend on when git last wrote into .git, and go test would not use it again.
var withPages = []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", ".github", "deploy", "docs", "internal"}

// readPages reads every page of the repository.
func readPages(t *testing.T) (pages []markdown) {
	t.Helper()
	page := func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && (name == "testdata" || name == "results"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		b, err := os.ReadFile(file)
		pages = append(pages, markdown{file, string(b)})
		return err
	}
	for _, name := range withPages {
		must.OK(t, filepath.WalkDir(filepath.Join("../..", name), page))
	}
	if len(pages) < 40 {
		t.Fatalf("%d pages", len(pages))
	}
	return pages
}

var (
	mdFence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	mdCode    = regexp.MustCompile("`[^`\n]+`")
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#{1,6} +(.*)$`)
	mdLinked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	mdAnchor  = regexp.MustCompile(`<a id="([^"]+)">`)
)

// anchors are the names that links to a page may have behind a #, as GitHub makes them.
func (p markdown) anchors() map[string]bool {
	names := map[string]bool{}
	text := mdFence.ReplaceAllString(p.text, "")
	for _, m := range mdAnchor.FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	for _, m := range mdHeading.FindAllStringSubmatch(text, -1) {
		title := mdLinked.ReplaceAllString(m[1], "$1")
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))
		name := slug
		for i := 1; names[name]; i++ {
			name = fmt.Sprintf("%s-%d", slug, i)
		}
		names[name] = true
	}
	return names
}

// links are the targets of a page's links and pictures, of examples none.
func (p markdown) links() (targets []string) {
	text := mdCode.ReplaceAllString(mdFence.ReplaceAllString(p.text, ""), "")
	for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
		targets = append(targets, m[1])
	}
	return targets
}

// TestLinks: every link between the repository's pages leads to a file that exists, and
// every anchor to a mdHeading.
func TestLinks(t *testing.T) {
	pages := map[string]markdown{}
	count := 0
	for _, p := range readPages(t) {
		pages[filepath.Clean(p.file)] = p
	}
	for _, p := range pages {
		for _, problem := range brokenLinks(p, pages) {
			t.Errorf("%s: %s", p.file, problem)
		}
		count += len(p.links())
	}
	if count < 100 {
		t.Errorf("only %d links found: is the pattern right?", count)
	}
}

// brokenLinks are the links of a page that lead nowhere. Those to other hosts are not followed.
func brokenLinks(p markdown, pages map[string]markdown) (broken []string) {
	for _, target := range p.links() {
		if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
			continue
		}
		name, fragment, _ := strings.Cut(target, "#")
		file := filepath.Clean(p.file)
		if name != "" {
			file = filepath.Join(filepath.Dir(p.file), filepath.FromSlash(name))
		}
		if _, err := os.Stat(file); err != nil {
			broken = append(broken, target+": there is no such file")
			continue
		}
		if to, ok := pages[file]; ok && fragment != "" && !to.anchors()[fragment] {
			broken = append(broken, target+": there is no such heading")
		}
	}
	return broken
}

// claim is a row of docs/evidence/how-often-wrong.md whose number is of another page.
var claim = regexp.MustCompile(`(?m)^\|[^|\n]+\|[^|*\n]*\*\*([^*\n]+)\*\*[^|\n]*\|[^|\n]+\| \[[^]\n]+\]\(([\w-]+\.md)[^)\n]*\) \|$`)

// measuredBy is the command of a row whose number is of no other page: its package and its test.
var measuredBy = regexp.MustCompile("`[^`\\n]*go test \\./([\\w/]+) -run (Test\\w+)( -v)?`")

// TestClaims: each number that says how often procfit is wrong is in the page that the row names,
// or the row's command prints one.
func TestClaims(t *testing.T) {
	const folder = "../../docs/evidence/"
	b := must.Get(os.ReadFile(folder + "how-often-wrong.md"))(t)
	rows := claim.FindAllStringSubmatch(string(b), -1)
	if len(rows) < 9 {
		t.Errorf("only %d rows found: is the pattern right?", len(rows))
	}
	for _, m := range rows {
		page := must.Get(os.ReadFile(folder + m[2]))(t)
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(m[1])).Match(page) {
			t.Errorf("%s does not have %q", m[2], m[1])
		}
	}
	commands := measuredBy.FindAllStringSubmatch(string(b), -1)
	if len(commands) < 3 {
		t.Errorf("only %d commands found: is the pattern right?", len(commands))
	}
	for _, m := range commands {
		files := must.Get(filepath.Glob("../../" + m[1] + "/*_test.go"))(t)
		prints := func(file string) bool {
			_, test, _ := strings.Cut(string(must.Get(os.ReadFile(file))(t)), "\nfunc "+m[2]+"(")
			test, _, _ = strings.Cut(test, "\n}\n")
			return strings.Contains(test, "t.Logf(")
		}
		if m[3] == "" || !slices.ContainsFunc(files, prints) {
			t.Errorf("%s prints no number", m[0])
		}
	}
}

// TestBrokenLinks: a link that leads nowhere is noticed, an example's is not.
func TestBrokenLinks(t *testing.T) {
	p := markdown{"../../README.md", "# A `b` (c)\n[x](#a-b-c) [y](#nothing) [z](docs/nothing.md) [o](https://example.com/no)\n```\n[e](no.md)\n```\n`[f](no.md)`\n# A b c\n[second](#a-b-c-1)\n"}
	got := strings.Join(brokenLinks(p, map[string]markdown{"../../README.md": p}), "; ")
	if want := "#nothing: there is no such heading; docs/nothing.md: there is no such file"; got != want {
		t.Errorf("broken %q, expected %q", got, want)
	}
}
