package html

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/test/must"
)

// Colour is never the only sign: of two lines one is dashed, of two kinds of dots one is
// hollow, and an answer has an icon.
func TestColourIsNotTheOnlySign(t *testing.T) {
	css := must.Get(files.ReadFile("style.css"))(t)
	for _, want := range []string{".join.side { stroke-dasharray", ".side .median { fill: var(--ground)", ".aa .dot { fill: none"} {
		if !strings.Contains(string(css), want) {
			t.Errorf("no %q in the style sheet", want)
		}
	}
	marks := map[string]bool{}
	for _, s := range []document.Tone{document.OK, document.Act, document.Attention, document.Unknown} {
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
	look := must.Get(files.ReadFile("colors.css"))(t)
	own := must.Get(files.ReadFile("style.css"))(t)
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

func TestLabelsThinOutButKeepTheMarked(t *testing.T) {
	for _, n := range []int{1, 2, 9, 10, 16, 17, 64} {
		list := make([]document.Category, n)
		list[0].Apart = true
		marked := n * 2 / 3
		list[marked].Mark = "recommended"
		narrow, wide := 0, 0
		for _, class := range labels(list) {
			if class == "label" {
				narrow++
			}
			if class != "" {
				wide++
			}
		}
		if got := labels(list); got[0] != "label" || got[marked] != "label" {
			t.Errorf("%d settings: unset or the marked one is not named", n)
		}
		if narrow > labelsNarrow+1 || wide > labelsWide+3 || n <= labelsNarrow && narrow != n || n <= labelsWide && wide != n {
			t.Errorf("%d settings: %d labels on a phone, %d on a desktop", n, narrow, wide)
		}
	}
}
