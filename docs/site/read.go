package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A site is the documentation of a repository, parsed.
type site struct {
	repository fs.FS
	markdown   goldmark.Markdown
	pages      []*page // in the order of the navigation
	copied     []string
}

// A page is a Markdown file.
type page struct {
	source   string // its path in the repository
	output   string // its path in the site
	folder   string // below docs, such as reference/commands; empty: README.md or docs/index.md
	title    string
	text     []byte
	document ast.Node
	headings []heading
}

// A heading has the anchor that GitHub gives it.
type heading struct {
	level        int
	anchor, text string
}

// drawers are the folders of docs in the order of the navigation. A folder that is not
// listed follows them under its own name.
var drawers = []struct{ folder, title string }{
	{"tutorial", "Tutorials"},
	{"how-to", "How-to guides"},
	{"reference", "Reference"},
	{"explanation", "Explanation"},
	{"evidence", "Evidence"},
}

// read parses README.md and everything below docs.
func read(repository fs.FS) (*site, error) {
	s := &site{repository: repository, markdown: goldmark.New(
		goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(codeBlocks{}, 100))),
	)}
	names := []string{"README.md"}
	err := fs.WalkDir(repository, "docs", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "docs/site":
			return fs.SkipDir
		case !d.IsDir():
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(repository, name)
		if err != nil {
			return nil, err
		}
		switch {
		case path.Ext(name) != ".md", path.Base(name) == "RESULTS.md": // which a run wrote, with links into its own folder
			s.copied = append(s.copied, name)
		case bytes.HasPrefix(text, []byte("# ")): // others are parts that a test puts into a page
			s.pages = append(s.pages, s.parse(name, text))
		}
	}
	s.start()
	return s, s.order()
}

// start makes docs/index.md the first page, or README.md where there is none.
func (s *site) start() {
	if i := slices.IndexFunc(s.pages, func(p *page) bool { return p.output == "index.html" }); i < 0 {
		s.pages[0].output = "index.html"
	}
}

func (s *site) parse(name string, source []byte) *page {
	p := &page{source: name, text: source}
	below := strings.TrimPrefix(name, "docs/")
	p.output = strings.ToLower(strings.TrimSuffix(below, ".md")) + ".html"
	if dir := path.Dir(below); dir != "." {
		p.folder = dir
	}
	p.document = s.markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{}))))
	for n := range blocks(p.document) {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		id, _ := h.AttributeString("id")
		one := heading{h.Level, string(id.([]byte)), plain(h, source)}
		if p.title == "" {
			p.title = one.text
		}
		p.headings = append(p.headings, one)
	}
	if name == "README.md" {
		p.title = "README"
	}
	return p
}

// order sorts the pages: the first page, then drawer by drawer. Within a drawer the first
// page's links decide, then names.
func (s *site) order() error {
	listed := map[string]int{}
	i := slices.IndexFunc(s.pages, func(p *page) bool { return p.output == "index.html" })
	for _, l := range links(s.pages[i]) {
		target, _, _ := strings.Cut(l.target(), "#")
		if _, ok := listed[target]; !ok {
			listed[target] = len(listed) - 1000
		}
	}
	rank := func(p *page) int {
		drawer, _, _ := strings.Cut(p.folder, "/")
		for i, d := range drawers {
			if d.folder == drawer {
				return i
			}
		}
		if drawer == "" {
			return -1
		}
		return len(drawers)
	}
	slices.SortStableFunc(s.pages, func(a, b *page) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)),
			cmp.Compare(a.folder, b.folder),
			cmp.Compare(first(a), first(b)),
			cmp.Compare(listed[a.source], listed[b.source]),
			cmp.Compare(strings.TrimSuffix(a.output, ".html"), strings.TrimSuffix(b.output, ".html")),
		)
	})
	for i, p := range s.pages[1:] {
		if p.output == s.pages[i].output {
			return fmt.Errorf("%s and %s become the same page", s.pages[i].source, p.source)
		}
	}
	return nil
}

// first is less for the page that a folder begins with.
func first(p *page) int {
	if path.Base(p.output) == "index.html" {
		return -1
	}
	return 0
}

// blocks are a node and all nodes below it, in the order of the text.
func blocks(n ast.Node) func(func(ast.Node) bool) {
	return func(yield func(ast.Node) bool) {
		ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering && !yield(n) {
				return ast.WalkStop, nil
			}
			return ast.WalkContinue, nil
		})
	}
}

// plain is the text of a node without its markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for n := range blocks(n) {
		switch n := n.(type) {
		case *ast.Text:
			value := n.Segment.Value(source)
			if n.Parent().Kind() != ast.KindCodeSpan {
				value = util.ResolveEntityNames(util.UnescapePunctuations(value))
			}
			b.Write(value)
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		}
	}
	return b.String()
}

// anchors gives headings the anchors that GitHub gives them.
type anchors struct{ used map[string]int }

func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(string(value))) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-', r == '_', isLetter(r):
			b.WriteRune(r)
		}
	}
	if a.used == nil {
		a.used = map[string]int{}
	}
	name := b.String()
	n := a.used[name]
	a.used[name]++
	if n > 0 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return []byte(name)
}

func (a *anchors) Put([]byte) {}
