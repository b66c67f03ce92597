package main

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

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
