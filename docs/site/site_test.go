package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// The most that a page and the search's index may have, in bytes. The largest page is
// the evidence about the articles.
const (
	mostPage   = 256 << 10
	mostSearch = 1 << 20
)

func rendered(t *testing.T) (*site, map[string][]byte) {
	t.Helper()
	s, err := read(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.connect(); err != nil {
		t.Errorf("broken links:\n%v", err)
	}
	files, err := s.render()
	if err != nil {
		t.Fatal(err)
	}
	return s, files
}

var (
	reference = regexp.MustCompile(`\s(href|src)="([^"]*)"`)
	anchor    = regexp.MustCompile(`\sid="([^"]*)"`)
)

// TestPages looks at the pages as a browser gets them: each thing that they name is there.
func TestPages(t *testing.T) {
	s, files := rendered(t)
	if len(s.pages) < 20 {
		t.Errorf("only %d pages", len(s.pages))
	}
	anchors := map[string]bool{}
	for name, content := range files {
		for _, m := range anchor.FindAllSubmatch(content, -1) {
			anchors[name+"#"+string(m[1])] = true
		}
	}
	for _, p := range s.pages {
		content := files[p.output]
		if len(content) > mostPage {
			t.Errorf("%s has %d KB", p.output, len(content)>>10)
		}
		for _, m := range reference.FindAllSubmatch(content, -1) {
			kind, to := string(m[1]), strings.ReplaceAll(string(m[2]), "&amp;", "&")
			u, err := url.Parse(to)
			switch {
			case err != nil:
				t.Errorf("%s: %s %q: %v", p.output, kind, to, err)
			case u.Scheme == "http" || u.Scheme == "https":
				if kind == "src" {
					t.Errorf("%s asks another host for %s", p.output, to)
				}
			case u.Scheme != "": // data:, mailto:
			default:
				file := path.Join(path.Dir(p.output), u.Path)
				if u.Path == "" {
					file = p.output
				}
				if _, ok := files[file]; !ok {
					t.Errorf("%s: %s %s: there is no such file", p.output, kind, to)
				}
				if u.Fragment != "" && !anchors[file+"#"+u.Fragment] {
					t.Errorf("%s: %s: there is no such anchor", p.output, to)
				}
			}
		}
	}
	if _, again := rendered(t); len(again) == len(files) {
		for name, content := range files {
			if string(again[name]) != string(content) {
				t.Errorf("%s differs from one run to the next", name)
			}
		}
	} else {
		t.Errorf("%d files, then %d", len(files), len(again))
	}
}

// TestSearchIndex looks for what each section must have in the index.
func TestSearchIndex(t *testing.T) {
	s, files := rendered(t)
	if len(files["search.js"]) > mostSearch {
		t.Errorf("search.js has %d KB", len(files["search.js"])>>10)
	}
	var index struct {
		Pages    [][3]string
		Sections []entry
	}
	b, ok := strings.CutPrefix(string(files["search.js"]), "window.searchIndex=")
	if err := json.Unmarshal([]byte(b), &index); err != nil || !ok {
		t.Fatalf("%v, a script that sets the index: %v", err, ok)
	}
	headings := 0
	for _, p := range s.pages {
		headings += len(p.headings)
	}
	if len(index.Sections) != headings || len(index.Pages) != len(s.pages) {
		t.Errorf("%d sections of %d headings, %d pages of %d", len(index.Sections), headings, len(index.Pages), len(s.pages))
	}
	pages := map[string]bool{}
	for _, e := range index.Sections {
		if strings.Contains(strings.ToLower(e[3].(string)), "throttled") {
			pages[index.Pages[int(e[0].(float64))][0]] = true
		}
	}
	if len(pages) < 3 {
		t.Errorf("the word throttled is on %v only", pages)
	}
}

// TestBrokenLinks has a link of each kind that leads nowhere.
func TestBrokenLinks(t *testing.T) {
	s, err := read(fstest.MapFS{
		"README.md":       {Data: []byte("# A\n\n[good](docs/b.md#some-words), [here](#a), [file](go.mod), [folder](docs), [web](https://example.com/x.md).\n")},
		"go.mod":          {},
		"docs/part.md":    {Data: []byte("no page: [bad](nowhere.md)\n")},
		"docs/picture":    {},
		"docs/b.md":       {Data: []byte("# B\n\n## Some words\n\ntext\nand [missing](c.md)\n\n- a [heading](../README.md#none)\n\n![picture](nosuch.png) and ![picture](picture)\n\n[out](../../etc/passwd)\n")},
		"docs/site/x.md":  {Data: []byte("# not a page\n")},
		"docs/RESULTS.md": {Data: []byte("# a record\n[its own](trace.out)\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `docs/b.md:6: link to c.md: there is no such file
docs/b.md:8: link to ../README.md#none: README.md has no heading with the anchor "none"
docs/b.md:10: link to nosuch.png: there is no such file
docs/b.md:12: link to ../../etc/passwd: the file is outside the repository`
	if err := s.connect(); err == nil || err.Error() != want {
		t.Errorf("expected\n%s\ngot\n%v", want, err)
	}
	files, err := s.render()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`href="b.html#some-words"`, `href="#a"`, repositoryURL + "/blob/main/go.mod", repositoryURL + "/tree/main/docs", "https://example.com/x.md"} {
		if !strings.Contains(string(files["index.html"]), part) {
			t.Errorf("index.html has no %s", part)
		}
	}
}

func TestAnchors(t *testing.T) {
	a := new(anchors)
	for _, c := range [][2]string{
		{"Under production's own traffic", "under-productions-own-traffic"},
		{"`--max-errors` & co.", "--max-errors--co"},
		{"Wörter, 3_2", "wörter-3_2"},
		{"Twice", "twice"},
		{"Twice", "twice-1"},
	} {
		if got := string(a.Generate([]byte(c[0]), 0)); got != c[1] {
			t.Errorf("%q: expected the anchor %s, got %s", c[0], c[1], got)
		}
	}
}

func TestCode(t *testing.T) {
	for _, c := range []struct{ language, code, want string }{
		{"console", "$ a <b \\\n  c\nout", `<span class="prompt">$ </span><b>a &lt;b \</b>` + "\n<b>  c</b>\nout"},
		{"yaml", "key: \"a\" # b", `<span class="key">key:</span> <span class="string">&#34;a&#34;</span><span class="comment"> # b</span>`},
		{"go", "return x // y", `<span class="key">return</span> x <span class="comment">// y</span>`},
		{"", "a < b", "a &lt; b"},
	} {
		if got := highlight(c.language, c.code); got != c.want {
			t.Errorf("%s %q: expected %s, got %s", c.language, c.code, c.want, got)
		}
	}
}
