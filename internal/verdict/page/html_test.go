package page_test

import (
	"bytes"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

func asPage(t testing.TB, r *verdict.Result) []byte {
	t.Helper()
	b := must.Get(html.Render(page.Report(r)))(t)
	return b
}

func results() map[string]*verdict.Result {
	return map[string]*verdict.Result{"typical": pagetest.Typical(), "groups": pagetest.Groups(), "varied": pagetest.Varied(200), "hostile": pagetest.Hostile(), "large": pagetest.Large(64, 20), "empty": {},
		"gate": pagetest.Gate(func(*verdict.Gate) {}), "invalid": pagetest.Invalid(), "benchmarks": pagetest.Benchmarks()}
}

// The page may hold only elements that the templates write; hostile text that
// became an element would be another one, or another many.
func TestOnlyOurElementsAndNothingToFetch(t *testing.T) {
	allowed := map[string]bool{}
	for name := range strings.FieldsSeq("html head meta title style body header main nav section p h1 h2 h3 h4 ul ol li span b a dl div dt dd " +
		"figure figcaption svg g text line rect circle path table thead tbody tr th td details summary pre code") {
		allowed[name] = true
	}
	for name, r := range results() {
		documenttest.Elements(t, asPage(t, r), func(n *nethtml.Node) {
			if !allowed[n.Data] {
				t.Errorf("%s: element <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "srcset", a.Key == "action", a.Key == "style":
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				case a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
					t.Errorf("%s: a link out, %q", name, a.Val)
				}
			}
		})
		if css := asPage(t, r); bytes.Contains(css, []byte("@import")) || bytes.Contains(css, []byte("url(")) {
			t.Errorf("%s: the style sheet loads something", name)
		}
	}
}

func TestTheGateIsSaidOnce(t *testing.T) {
	document := string(asPage(t, pagetest.Gate(func(*verdict.Gate) {})))
	if n := strings.Count(document, ">New version is not slower<"); n != 1 || strings.Contains(document, "only one value of GOMAXPROCS") {
		t.Errorf("the gate's outcome stands %d times on the page, want once and alone", n)
	}
}

func TestIdentifiersAreUniqueAndLinksLead(t *testing.T) {
	for name, r := range map[string]*verdict.Result{"groups": pagetest.Groups(), "varied": pagetest.Varied(200), "typical": pagetest.Typical(), "shared": pagetest.Shared()} {
		t.Run(name, func(t *testing.T) { linked(t, r) })
	}
}

func linked(t *testing.T, r *verdict.Result) {
	ids, links := map[string]int{}, []string{}
	documenttest.Elements(t, asPage(t, r), func(n *nethtml.Node) {
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				ids[a.Val]++
			case "href":
				links = append(links, a.Val[1:])
			}
		}
	})
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %s occurs %d times", id, n)
		}
	}
	if n := len(r.Groups); n > 1 && len(links) < n {
		t.Errorf("%d links in the contents, want one a group at least", len(links))
	}
	for _, l := range links {
		if ids[l] == 0 {
			t.Errorf("a link to #%s, which is nowhere", l)
		}
	}
}

// Who listens to a page goes through it by its headings: one at the top, and no step
// down is skipped.
func TestHeadingsGoDownAStepAtATime(t *testing.T) {
	for name, r := range results() {
		documenttest.Headings(t, name, asPage(t, r))
	}
}
