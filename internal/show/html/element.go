package html

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/procfit/procfit/internal/show/phrase"
)

// part is what an element is made of. An empty one adds nothing.
type part interface{ join(to *html.Node) }

type (
	attrs   []any // names, each followed by its value
	text    string
	parts   []part
	element html.Node
)

// el makes an element. It starts as a page writes it between < and >, without quotes, and this
// is ours alone: what comes from outside is a text or a value, which x/net/html escapes.
func el(start string, list ...part) *element {
	words := strings.Fields(start)
	n := &html.Node{Type: html.ElementNode, Data: words[0]}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		n.Attr = append(n.Attr, html.Attribute{Key: name, Val: value})
	}
	parts(list).join(n)
	return (*element)(n)
}

func each[T any](list []T, one func(T) part) parts { return phrase.Each(list, one) }

// join adds the attributes that have a value.
func (a attrs) join(to *html.Node) {
	for pair := range slices.Chunk(a, 2) {
		if value := fmt.Sprint(pair[1]); value != "" {
			to.Attr = append(to.Attr, html.Attribute{Key: pair[0].(string), Val: value})
		}
	}
}

func (t text) join(to *html.Node) {
	if t != "" {
		to.AppendChild(&html.Node{Type: html.TextNode, Data: string(t)})
	}
}

func (p parts) join(to *html.Node) {
	for _, one := range p {
		if one != nil {
			one.join(to)
		}
	}
}

// lines are elements on lines of their own, so that a person can read the file and compare two.
var lines = []string{"head", "body", "meta", "style", "header", "main", "section", "nav", "p", "h1", "h2", "h3", "h4", "ul", "ol", "li", "dl", "div", "details", "pre", "figure", "figcaption", "svg", "g", "table", "thead", "tbody", "tr"}

func (e *element) join(to *html.Node) {
	line := slices.Contains(lines, e.Data)
	if line && to.FirstChild == nil {
		text("\n").join(to)
	}
	to.AppendChild((*html.Node)(e))
	if line {
		text("\n").join(to)
	}
}

func class(names ...string) attrs {
	return attrs{"class", phrase.Join(" ", names...)}
}

// when is the name where something holds.
func when(holds bool, name string) string { return phrase.If(holds, name, "") }

// where is the parts where something holds.
func where(holds bool, list ...part) part {
	if holds {
		return parts(list)
	}
	return nil
}

// link makes a link of parts, where its target is a page: none runs a script.
func link(to string, list ...part) part {
	u, err := url.Parse(to)
	if to == "" || err != nil || !slices.Contains([]string{"", "http", "https", "mailto"}, u.Scheme) {
		return parts(list)
	}
	return el("a", attrs{"href", u.String()}, parts(list))
}
