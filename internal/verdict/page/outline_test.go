package page_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// outline is a page as its headings, charts and tables, without numbers: what a reader
// goes through, in its order.
func outline(t *testing.T, page []byte) []byte {
	var b strings.Builder
	documenttest.Elements(t, page, func(n *nethtml.Node) {
		switch {
		case len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6':
			level := int(n.Data[1] - '0')
			fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", level-1), textOf(n))
		case n.Data == "thead":
			var heads []string
			for c := range n.Descendants() {
				if c.Data == "th" {
					heads = append(heads, textOf(c))
				}
			}
			fmt.Fprintf(&b, "        table: %s\n", strings.Join(heads, " | "))
		case n.Data == "svg" && attribute(n, "role") == "group":
			settings := 0
			for c := range n.Descendants() {
				if classes := strings.Fields(attribute(c, "class")); slices.Contains(classes, "point") {
					settings++
				}
			}
			fmt.Fprintf(&b, "        chart of %d\n", settings)
		case n.Data == "summary":
			fmt.Fprintf(&b, "        folded: %s\n", textOf(n))
		}
	})
	return []byte(b.String())
}

func attribute(n *nethtml.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *nethtml.Node) string {
	var words []string
	for c := range n.Descendants() {
		if c.Type == nethtml.TextNode {
			words = append(words, strings.Fields(c.Data)...)
		}
	}
	return strings.Join(words, " ")
}

// TestOutline keeps how a page of each kind is built.
func TestOutline(t *testing.T) {
	for name, r := range map[string]*verdict.Result{
		"recommended": pagetest.Typical(), "groups": pagetest.Groups(), "varied": pagetest.Varied(200),
		"gate": pagetest.Gate(func(*verdict.Gate) {}), "benchmarks": pagetest.Benchmarks(),
		"invalid": pagetest.Invalid(),
	} {
		documenttest.Golden(t, "outline/"+name+".txt", outline(t, asPage(t, r)))
	}
}
