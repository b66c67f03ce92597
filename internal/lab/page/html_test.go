package page

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"golang.org/x/net/html"
)

// labPages are the index and every experiment's page.
func labPages(t *testing.T, v *Lab) map[string][]byte {
	t.Helper()
	pages := map[string][]byte{}
	var b bytes.Buffer
	if err := renderIndex(&b, v); err != nil {
		t.Fatal(err)
	}
	pages["index.html"] = bytes.Clone(b.Bytes())
	for _, e := range v.Experiments {
		b.Reset()
		if err := renderExperiment(&b, v, e); err != nil {
			t.Fatal(err)
		}
		pages[e.Page] = bytes.Clone(b.Bytes())
	}
	return pages
}

func TestPages(t *testing.T) {
	pages := labPages(t, New(madeLab()))
	for name, document := range pages {
		pagetest.Headings(t, name, document)
	}
	index := string(pages["index.html"])
	for _, want := range []string{`href="chain/index.html"`, `href="#chain"`, `id="chain"`, "a quota needs a cgroup", "does not hold", "29 ÷ 27.1 µs = 1.07"} {
		if !strings.Contains(index, want) {
			t.Errorf("no %s in the index", want)
		}
	}
	if strings.Contains(index, `href="busyworker`) {
		t.Error("a link to what was not run")
	}
	chain := string(pages["chain/index.html"])
	for _, want := range []string{`class="multiples"`, "<h4>Go 1.4", "<h4>Go 9.99", "Chain-2", "µs × (0.9", `href="report.html"`, `href="../index.html"`} {
		if !strings.Contains(chain, want) {
			t.Errorf("no %s in chain's page", want)
		}
	}
}

// Hostile text stays text, and links lead to files of the folder alone.
func TestHostile(t *testing.T) {
	plain := map[string]bool{}
	for _, document := range labPages(t, New(madeLab())) {
		pagetest.Elements(t, document, func(n *html.Node) { plain[n.Data] = true })
	}
	plain["br"] = true
	for name, document := range labPages(t, New(hostileLab())) {
		pagetest.Elements(t, document, func(n *html.Node) {
			if !plain[n.Data] {
				t.Errorf("%s: element <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				switch u, err := url.Parse(a.Val); {
				case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "style":
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				case a.Key == "href" && (err != nil || u.Scheme != "" || u.Host != ""):
					t.Errorf("%s: a link out, %q", name, a.Val)
				}
			}
		})
	}
}
