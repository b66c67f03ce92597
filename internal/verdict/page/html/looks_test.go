package html

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	styles "github.com/procfit/procfit/internal/show/style"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// Who listens to a page goes through it by its headings: one at the top, and no step
// down is left out.
func TestHeadingsGoDownAStepAtATime(t *testing.T) {
	for name, r := range results() {
		pagetest.Headings(t, name, render(t, r))
	}
}

// The verdict is a heading, so that it is in that list.
func TestTheVerdictIsAHeading(t *testing.T) {
	for name, r := range results() {
		if len(r.Groups) == 0 {
			continue
		}
		want, found := page.New(r).Verdict.Answer.Text, false
		pagetest.Elements(t, render(t, r), func(n *nethtml.Node) {
			if n.Data == "h2" && n.FirstChild != nil && n.FirstChild.Data == want {
				found = true
			}
		})
		if !found {
			t.Errorf("%s: no heading %q", name, want)
		}
	}
}

func TestNamesOfAnyScriptAreShown(t *testing.T) {
	for _, name := range []string{"数据服务", "сервер", "שרת", "خادم", "सर्वर", "サーバー", "sërvér"} {
		r := pagetest.Typical()
		r.Name = name
		if document := render(t, r); bytes.Count(document, []byte(name)) < 2 {
			t.Errorf("%s is not in title and heading", name)
		}
	}
}

// Colour is never the only sign: of two lines one is dashed, of two kinds of dots one is
// hollow, and an answer has an icon.
func TestColourIsNotTheOnlySign(t *testing.T) {
	css, err := files.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".join.side { stroke-dasharray", ".side .median { fill: var(--ground)", ".aa .dot { fill: none"} {
		if !strings.Contains(string(css), want) {
			t.Errorf("no %q in the style sheet", want)
		}
	}
	marks := map[string]bool{}
	for _, s := range []page.State{page.OK, page.Act, page.Attention, page.Unknown} {
		marks[icon(s)] = true
	}
	if len(marks) != 4 {
		t.Errorf("%d icons of four states", len(marks))
	}
}

// luminance is WCAG 2's of a colour #rrggbb.
func luminance(t *testing.T, colour string) float64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#")[:6], 16, 32)
	if err != nil {
		t.Fatalf("colour %q: %v", colour, err)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := float64(n>>(16-8*i)&0xff) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func ratio(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

var colour = regexp.MustCompile(`--([a-z]+): (#[0-9a-f]{3,8})`)

// palettes are the colours by name: light, dark, and on paper.
func palettes(t *testing.T) map[string]map[string]string {
	look, err := styles.Styles.ReadFile("look.css")
	if err != nil {
		t.Fatal(err)
	}
	own, err := files.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, ok := strings.Cut(string(look), "@media (prefers-color-scheme: dark)")
	_, paper, printed := strings.Cut(string(own), "@media print")
	if !ok || !printed {
		t.Fatal("the style sheets have no dark colours, or none for print")
	}
	all := map[string]map[string]string{}
	for name, text := range map[string]string{"light": light, "dark": dark, "print": paper} {
		all[name] = map[string]string{}
		for _, m := range colour.FindAllStringSubmatch(text, -1) {
			if c := m[2]; len(c) == 4 {
				m[2] = "#" + string([]byte{c[1], c[1], c[2], c[2], c[3], c[3]})
			}
			all[name][m[1]] = m[2]
		}
	}
	return all
}

// WCAG 2 AA: 4.5 for text, on the page and on what is raised from it; 3 for what a chart
// is drawn with.
func TestContrastOfEveryColour(t *testing.T) {
	for name, p := range palettes(t) {
		for _, ink := range []string{"ink", "muted", "main", "side", "ok", "act", "attention", "unknown"} {
			for _, ground := range []string{"ground", "raised"} {
				if p[ink] == "" || p[ground] == "" {
					t.Errorf("%s: no colour %s or %s", name, ink, ground)
				} else if r := ratio(t, p[ink], p[ground]); r < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f, want 4.5", name, ink, ground, r)
				}
			}
		}
	}
}
