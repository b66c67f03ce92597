package page

import (
	"net/url"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/test/must"
)

// labPages are the index and every experiment's page.
func labPages(t *testing.T, o *lab.Outcome) map[string][]byte {
	t.Helper()
	pages := map[string][]byte{}
	render := func(name string, d *document.Document) {
		b := must.Get(html.Render(d))(t)
		pages[name] = b
	}
	render("index.html", Index(o))
	for i := range o.Experiments {
		render(pageOf(&o.Experiments[i]), experimentPage(o, &o.Experiments[i]))
	}
	return pages
}

func TestPages(t *testing.T) {
	pages := labPages(t, madeLab())
	for name, b := range pages {
		documenttest.Headings(t, name, b)
	}
	index := string(pages["index.html"])
	must.Say(t, index, `href="chain/index.html"`, `href="#chain"`, `id="chain"`, "a CPU limit needs a cgroup", "does not hold", "29 ÷ 27.1 µs = 1.07")
	if strings.Contains(index, `href="busyworker`) {
		t.Error("a link to what was not run")
	}
	chain := string(pages["chain/index.html"])
	must.Say(t, chain, `class="multiples"`, "<h4>Go 1.4", "<h4>Go 9.99", "Chain-2", "µs × (0.9", `href="report.html"`, `href="../index.html"`)
}

// Hostile text stays text, and links lead to files of the folder alone.
func TestHostile(t *testing.T) {
	plain := map[string]bool{}
	for _, b := range labPages(t, madeLab()) {
		documenttest.Elements(t, b, func(n *nethtml.Node) { plain[n.Data] = true })
	}
	plain["br"] = true
	for name, b := range labPages(t, hostileLab()) {
		documenttest.Elements(t, b, func(n *nethtml.Node) {
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
