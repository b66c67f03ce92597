// Package documenttest has what tests of documents share: golden files, and what is in a document or
// a page.
package documenttest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/net/html"

	"github.com/procfit/procfit/internal/show/document"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Golden compares with testdata/name of the package under test.
func Golden(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to make it)", err)
	}
	if bytes.Equal(got, want) {
		return
	}
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			t.Fatalf("%s:%d differs (run with -update if it should):\n got %q\nwant %q", path, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d (run with -update if it should)", path, len(g), len(w))
}

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

// Headings reports whether a page can be gone through by its headings: one is at the top, and
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

// Find are the blocks of a type, also those within others.
func Find[T document.Block](blocks []document.Block) (list []T) {
	for _, b := range blocks {
		if x, is := b.(T); is {
			list = append(list, x)
		}
		switch b := b.(type) {
		case document.Section:
			list = append(list, Find[T](b.Blocks)...)
		case document.Panel:
			list = append(list, Find[T](b.Blocks)...)
		case document.Folds:
			for _, f := range b.List {
				list = append(list, Find[T](f.Blocks)...)
			}
		}
	}
	return list
}

// File is a file that a report has the contents of; empty: it has none.
func File(d *document.Document, name string) string {
	for _, f := range Find[document.Folds](d.Blocks) {
		for _, one := range f.List {
			if one.Summary == "Contents of "+name {
				return one.Blocks[0].(document.Code).Text
			}
		}
	}
	return ""
}
