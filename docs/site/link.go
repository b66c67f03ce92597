package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// repositoryURL is where files are that are no part of the site.
const repositoryURL = "https://github.com/procfit/procfit"

// A link is one of a page to another file or to an anchor.
type link struct {
	of   *page
	node ast.Node // a Link or an Image
	to   string   // as it is written
}

// links are those of a page that name no host.
func links(p *page) (list []link) {
	for n := range blocks(p.document) {
		var to []byte
		switch n := n.(type) {
		case *ast.Link:
			to = n.Destination
		case *ast.Image:
			to = n.Destination
		default:
			continue
		}
		if u, err := url.Parse(string(to)); err != nil || u.Scheme == "" {
			list = append(list, link{p, n, string(to)})
		}
	}
	return list
}

// target is the path in the repository, and the anchor.
func (l link) target() string {
	file, anchor, found := strings.Cut(l.to, "#")
	if unescaped, err := url.PathUnescape(file); err == nil {
		file = unescaped
	}
	if file == "" {
		file = l.of.source
	} else {
		file = path.Join(path.Dir(l.of.source), file)
	}
	if found {
		return file + "#" + anchor
	}
	return file
}

// connect makes links between files links between pages, and returns an error for each
// that leads nowhere.
func (s *site) connect() error {
	pages := map[string]*page{}
	for _, p := range s.pages {
		pages[p.source] = p
	}
	var broken []error
	for _, p := range s.pages {
		for _, l := range links(p) {
			to, err := s.resolve(l, pages)
			if err != nil {
				broken = append(broken, fmt.Errorf("%s:%d: link to %s: %w", p.source, l.line(), l.to, err))
			}
			switch n := l.node.(type) {
			case *ast.Link:
				n.Destination = []byte(to)
			case *ast.Image:
				n.Destination = []byte(to)
			}
		}
	}
	return errors.Join(broken...)
}

// resolve is what a link is on the site.
func (s *site) resolve(l link, pages map[string]*page) (string, error) {
	file, anchor, found := strings.Cut(l.target(), "#")
	if !fs.ValidPath(file) {
		return l.to, errors.New("the file is outside the repository")
	}
	info, err := fs.Stat(s.repository, file)
	if err != nil {
		return l.to, errors.New("there is no such file")
	}
	switch to := pages[file]; {
	case to != nil && found && !to.has(anchor):
		return l.to, fmt.Errorf("%s has no heading with the anchor %q", file, anchor)
	case to != nil && found && to == l.of:
		return "#" + anchor, nil
	case to != nil && found:
		return l.of.relative(to.output) + "#" + anchor, nil
	case to != nil:
		return l.of.relative(to.output), nil
	case slices.Contains(s.copied, file):
		return l.of.relative(strings.TrimPrefix(file, "docs/")), nil
	case info.IsDir():
		return repositoryURL + "/tree/main/" + file, nil
	case found:
		return repositoryURL + "/blob/main/" + file + "#" + anchor, nil
	}
	return repositoryURL + "/blob/main/" + file, nil
}

func (p *page) has(anchor string) bool {
	return slices.ContainsFunc(p.headings, func(h heading) bool { return h.anchor == anchor })
}

// relative is the path to a file of the site from a page.
func (p *page) relative(name string) string {
	to, err := filepath.Rel(path.Dir(p.output), name)
	if err != nil {
		panic(err) // both are relative
	}
	return filepath.ToSlash(to)
}

// line is the line that the link is in.
func (l link) line() int {
	from := 0
	for n := l.node; n != nil; n = n.Parent() {
		if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
			from = n.Lines().At(0).Start
			break
		}
	}
	if at := bytes.Index(l.of.text[from:], []byte("]("+l.to)); at >= 0 {
		from += at
	}
	return 1 + bytes.Count(l.of.text[:from], []byte("\n"))
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
