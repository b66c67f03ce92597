package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"

	reports "github.com/procfit/procfit/internal/show/html"
)

//go:embed page.html site.css site.js
var assets embed.FS

// shell is what surrounds the text of a page.
var shell = template.Must(template.ParseFS(assets, "page.html"))

// render makes the site's files, by their paths, once its pages are connected.
func (s *site) render() (map[string][]byte, error) {
	files := map[string][]byte{}
	index := []entry{}
	for i, p := range s.pages {
		body, err := s.body(p)
		if err != nil {
			return nil, err
		}
		v := view{Page: p, Title: p.title, Root: root(p), Drawers: s.navigation(p)}
		v.Heading, v.Body = split(body)
		for _, h := range p.headings {
			if h.level == 2 || h.level == 3 {
				v.Contents = append(v.Contents, item{Level: h.level, Title: h.text, Link: "#" + h.anchor})
			}
		}
		if i > 0 {
			v.Previous = &item{Title: s.pages[i-1].title, Link: p.relative(s.pages[i-1].output)}
		}
		if i < len(s.pages)-1 {
			v.Next = &item{Title: s.pages[i+1].title, Link: p.relative(s.pages[i+1].output)}
		}
		var b bytes.Buffer
		if err := shell.Execute(&b, v); err != nil {
			return nil, fmt.Errorf("%s: %w", p.source, err)
		}
		files[p.output] = b.Bytes()
		index = append(index, entries(i, p)...)
	}
	for _, name := range s.copied {
		content, err := fs.ReadFile(s.repository, name)
		if err != nil {
			return nil, err
		}
		files[strings.TrimPrefix(name, "docs/")] = content
	}
	return files, s.assets(files, index)
}

// assets adds the style sheet, the script and the index of the search.
func (s *site) assets(files map[string][]byte, index []entry) error {
	css, err := fs.ReadFile(assets, "site.css")
	if err != nil {
		return err
	}
	colors, err := palette()
	if err != nil {
		return err
	}
	files["site.css"] = append(colors, css...)
	if files["site.js"], err = fs.ReadFile(assets, "site.js"); err != nil {
		return err
	}
	var pages [][3]string
	for _, p := range s.pages {
		pages = append(pages, [3]string{p.output, p.title, drawerTitle(p.folder)})
	}
	words, err := json.Marshal(map[string]any{"pages": pages, "sections": index})
	files["search.js"] = append([]byte("window.searchIndex="), append(words, '\n')...)
	return err
}

// palette is the colours of procfit's reports. A reader's choice replaces the system's.
func palette() ([]byte, error) {
	light, dark, ok := strings.Cut(reports.Colors, "@media (prefers-color-scheme: dark) {")
	dark, isRule := strings.CutPrefix(strings.TrimSpace(dark), ":root {")
	dark, _, ends := strings.Cut(dark, "}")
	if !ok || !isRule || !ends {
		return nil, fmt.Errorf("colors.css has another form than :root {…} @media … { :root {…} }")
	}
	return fmt.Appendf(nil, "%s@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) {%s} }\n:root[data-theme=dark] {%[2]s}\n", light, dark), nil
}

// body is the page's text as HTML.
func (s *site) body(p *page) (string, error) {
	for n := range blocks(p.document) {
		if h, ok := n.(*ast.Heading); ok && h.Level > 1 {
			id, _ := h.AttributeString("id")
			anchor := ast.NewLink()
			anchor.Destination = []byte("#" + string(id.([]byte)))
			anchor.SetAttributeString("class", []byte("anchor"))
			anchor.SetAttributeString("aria-label", []byte("Link to "+plain(h, p.text)))
			anchor.AppendChild(anchor, ast.NewString([]byte("#")))
			h.AppendChild(h, anchor)
		}
	}
	var b bytes.Buffer
	if err := s.markdown.Renderer().Render(&b, p.text, p.document); err != nil {
		return "", fmt.Errorf("%s: %w", p.source, err)
	}
	return strings.NewReplacer(
		"<table>", `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>`,
		"</table>", "</table></div>",
		"<img ", `<img loading="lazy" `,
	).Replace(b.String()), nil
}

// split takes the heading of a page from its text.
func split(body string) (heading, rest template.HTML) {
	before, after, _ := strings.Cut(body, "</h1>")
	return template.HTML(before + "</h1>"), template.HTML(after)
}

// root is the way from a page to the folder of the site: empty or ../ so often.
func root(p *page) string { return strings.Repeat("../", strings.Count(p.output, "/")) }

// A view is what the page's template shows.
type view struct {
	Page           *page
	Title, Root    string
	Heading, Body  template.HTML
	Contents       []item
	Drawers        []drawer
	Previous, Next *item
}

// An item is a link of the navigation.
type item struct {
	Level       int
	Title, Link string
	Current     bool
}

// A drawer is a folder in the navigation.
type drawer struct {
	Title string // empty: the first pages
	Deep  bool   // a folder of a drawer
	Open  bool
	Items []item
}

// navigation is the list of all pages as one of them shows it.
func (s *site) navigation(of *page) (list []drawer) {
	folder := "."
	for _, p := range s.pages {
		if p.folder != folder {
			folder = p.folder
			list = append(list, drawer{Title: drawerTitle(folder), Deep: strings.Contains(folder, "/"), Open: of.opens(folder)})
		}
		title := p.title
		if last := &list[len(list)-1]; last.Deep {
			title = strings.TrimPrefix(title, "procfit ")
		}
		d := &list[len(list)-1]
		d.Items = append(d.Items, item{Title: title, Link: of.relative(p.output), Current: p == of})
	}
	return list
}

// opens tells whether the navigation of a page shows what is in a folder: its own and the
// ones above it, and on the first pages what a newcomer needs.
func (p *page) opens(folder string) bool {
	if p.folder == "" {
		return folder == "tutorial" || folder == "how-to"
	}
	return p.folder == folder || strings.HasPrefix(p.folder, folder+"/")
}

// Drawer is the page's own folder, by which the style sheet knows it.
func (p *page) Drawer() string { return strings.TrimPrefix(path.Base(p.folder), ".") }

// drawerTitle is the name of a folder in the navigation.
func drawerTitle(folder string) string {
	for _, d := range drawers {
		if d.folder == folder {
			return d.title
		}
	}
	name := path.Base(folder)
	if folder == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "-", " ")
}

// An entry is a section of a page in the index of the search: the number of the page, the
// anchor, the heading and the text.
type entry [4]any

// entries are the sections of a page, each from its heading to the next.
func entries(number int, p *page) (list []entry) {
	var words []string
	next := 0
	close := func() {
		if len(list) > 0 {
			list[len(list)-1][3] = strings.Join(strings.Fields(strings.Join(words, " ")), " ")
		}
		words = nil
	}
	for n := range blocks(p.document) {
		switch n := n.(type) {
		case *ast.Heading:
			close()
			h := p.headings[next]
			next++
			list = append(list, entry{number, h.anchor, h.text, ""})
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			words = append(words, string(n.Lines().Value(p.text)))
		default:
			if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline {
				words = append(words, plain(n, p.text))
			}
		}
	}
	close()
	return list
}
