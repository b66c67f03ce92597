package pagetest

import (
	"bytes"
	"testing"

	"golang.org/x/net/html"
)

// Elements walks a page as a browser would parse it.
func Elements(t testing.TB, document []byte, visit func(*html.Node)) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			visit(n)
		}
	}
}

// Headings says whether a page can be gone through by its headings: one is at the top, and
// each goes down a step at most.
func Headings(t testing.TB, name string, document []byte) {
	t.Helper()
	last, first := 0, 0
	Elements(t, document, func(n *html.Node) {
		if len(n.Data) != 2 || n.Data[0] != 'h' || n.Data[1] < '1' || n.Data[1] > '6' {
			return
		}
		level := int(n.Data[1] - '0')
		if level > last+1 {
			t.Errorf("%s: a heading of level %d after %d", name, level, last)
		}
		if level == 1 {
			first++
		}
		last = level
	})
	if first != 1 {
		t.Errorf("%s: %d headings of the first level", name, first)
	}
}
