// Package browser tests report.html in a real browser: a headless Chromium, as wide as a
// phone and as a desk, light and dark, with and without JavaScript.
//
// It is a module of its own, so that the browser's driver is no dependency of
// the tool. It takes the tool's packages from the workspace and so builds only
// within it: `go test work` at the root.
package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/need"
)

func TestFitsPhoneAndDesk(t *testing.T) {
	for name, r := range map[string]*verdict.Result{"typical": pagetest.Typical(), "groups": pagetest.Groups(), "hostile": pagetest.Hostile()} {
		t.Run(name, func(t *testing.T) {
			if name != "hostile" { // the longest texts
				need.Everything(t, "one more page in three widths")
			}
			x := open(t, r)
			for _, width := range []int64{375, 768, 1280} {
				x.do(t, chromedp.EmulateViewport(width, 900))
				if w := evaluate[int64](t, x, "document.documentElement.scrollWidth"); w > width {
					t.Errorf("%d px wide: the page is %d px", width, w)
				}
				// Both curves of each group, drawn and not collapsed.
				curves := evaluate[[][]float64](t, x, `[...document.querySelectorAll(".curves svg[role=group]")].map(s => {
					const b = s.getBoundingClientRect(); return [b.width, b.height, s.querySelectorAll(".median").length]})`)
				if len(curves) != 2*len(r.Groups) {
					t.Errorf("%d px wide: %d curves of %d groups", width, len(curves), len(r.Groups))
				}
				for _, c := range curves {
					if c[0] < 250 || c[1] < 200 || c[2] < 5 {
						t.Errorf("%d px wide: a curve of %g × %g px with %g medians", width, c[0], c[1], c[2])
					}
				}
				if small := evaluate[float64](t, x, `Math.min(...[...document.querySelectorAll("svg text")].map(e => parseFloat(getComputedStyle(e).fontSize)))`); small < 11 {
					t.Errorf("%d px wide: text of %g px", width, small)
				}
			}
			if side := evaluate[bool](t, x, `(() => { const [a, b] = [...document.querySelectorAll(".curves figure")].map(f => f.getBoundingClientRect()); return a.top == b.top && a.right <= b.left })()`); !side {
				t.Error("1280 px wide: the two curves are not side by side")
			}
		})
	}
}

func TestEveryKindOfPageFits(t *testing.T) {
	need.Everything(t, "three more pages in two widths; TestFitsPhoneAndDesk looks at one")
	for name, r := range map[string]*verdict.Result{"gate": pagetest.Gate(func(*verdict.Gate) {}), "invalid": pagetest.Invalid(), "benchmarks": pagetest.Benchmarks()} {
		x := open(t, r)
		for _, width := range []int64{375, 1280} {
			x.do(t, chromedp.EmulateViewport(width, 900))
			if w := evaluate[int64](t, x, "document.documentElement.scrollWidth"); w > width {
				t.Errorf("%s, %d px wide: the page is %d px", name, width, w)
			}
		}
	}
}

// On a phone a column that stays in place would leave no room for the others; on
// a desk it stays, with the rows' rules under it.
func TestTheFirstColumnLeavesRoomForTheOthers(t *testing.T) {
	x := open(t, pagetest.Groups())
	const first = `(e => [getComputedStyle(e).position, getComputedStyle(e.closest("table")).borderCollapse, getComputedStyle(e).borderBottomWidth])(document.querySelector("#summary + .scroll tbody th"))`
	for width, want := range map[int64]string{375: "static", 1280: "sticky"} {
		x.do(t, chromedp.EmulateViewport(width, 900))
		if got := evaluate[[]string](t, x, first); got[0] != want || got[1] != "separate" || got[2] != "1px" {
			t.Errorf("%d px wide: %q, want %s", width, got, want)
		}
	}
	x.do(t, chromedp.EmulateViewport(375, 900))
	if w := evaluate[float64](t, x, `document.querySelector("#summary + .scroll tbody th").getBoundingClientRect().width`); w > 375*0.45 {
		t.Errorf("the first column takes %g of 375 px", w)
	}
}

func noScript() chromedp.Action[chromedp.Void] {
	return command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

func TestFetchesNothingAndNeedsNoScript(t *testing.T) {
	with, without := open(t, pagetest.Groups()), open(t, pagetest.Groups(), noScript())
	for _, x := range []*tab{with, without} {
		x.mu.Lock()
		if len(x.fetched) != 1 || x.fetched[0] != x.url {
			t.Errorf("fetched %q, want the page alone", x.fetched)
		}
		x.mu.Unlock()
	}
	const text = "document.body.innerText"
	a, b := evaluate[string](t, with, text), evaluate[string](t, without, text)
	if a != b || !strings.Contains(b, "How to set it") || !strings.Contains(b, "Trade-off") {
		t.Errorf("without JavaScript the page says %d characters, with it %d", len(b), len(a))
	}
}

// TestFirstScreen: the answer, what changes, the warnings and both curves need no
// scrolling on a desktop and two screens on a phone; headings go down a step at a time.
func TestFirstScreen(t *testing.T) {
	several := pagetest.Groups()
	several.Complete = true
	for name, r := range map[string]*verdict.Result{"set it": pagetest.Typical(), "shared": pagetest.Shared(), "groups": several, "benchmarks": pagetest.Benchmarks()} {
		t.Run(name, func(t *testing.T) {
			if name != "set it" {
				need.Everything(t, "one more page on three screens")
			}
			curves := ".curves svg[role=group]"
			screens := [][3]int64{{1280, 800, 800}, {390, 844, 2 * 844}}
			switch name {
			case "groups": // on a phone each is as long as a screen's half
				curves, screens = ".overview svg[role=group]", [][3]int64{{1280, 800, 800}, {390, 844, 3 * 844}}
			case "benchmarks": // with what would decide it
				screens[0][2] = 850
			}
			for _, screen := range screens {
				x := open(t, r, chromedp.EmulateViewport(screen[0], screen[1]))
				if at := evaluate[float64](t, x, `Math.max(...[...document.querySelectorAll("`+curves+`")].map(e => e.getBoundingClientRect().bottom))`); at > float64(screen[2]) {
					t.Errorf("%d wide: the curves end at %g px, want %d", screen[0], at, screen[2])
				}
			}
			x := open(t, r)
			levels := evaluate[[]int](t, x, `[...document.querySelectorAll("h1,h2,h3,h4")].map(e => Number(e.tagName[1]))`)
			for i := range levels {
				if i == 0 && levels[0] != 1 || i > 0 && levels[i] > levels[i-1]+1 {
					t.Fatalf("headings go %v", levels)
				}
			}
		})
	}
}

func TestHostileTextStaysText(t *testing.T) {
	x := open(t, pagetest.Hostile())
	if n := evaluate[int](t, x, `document.querySelectorAll("script, img, iframe, object, link, [onerror]").length`); n != 0 {
		t.Errorf("%d elements that no template writes", n)
	}
	if title := evaluate[string](t, x, "document.title"); !strings.HasPrefix(title, "GOMAXPROCS of </script>") {
		t.Errorf("the title is %q", title)
	}
	if body := evaluate[string](t, x, "document.body.innerText"); !strings.Contains(body, "<script>document.title='owned'") {
		t.Error("the hostile text is not shown")
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.dialogs) != 0 || len(x.fetched) != 1 {
		t.Errorf("dialogs %q, fetched %q", x.dialogs, x.fetched)
	}
}

// contrast is WCAG's ratio of an element's colour to the page's background.
const contrast = `(selector => {
	const light = c => { const [r, g, b] = c.match(/[\d.]+/g).map(Number).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
	const a = light(getComputedStyle(document.querySelector(selector)).color), b = light(getComputedStyle(document.body).backgroundColor);
	return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) })`

func TestLightAndDarkAreBothReadable(t *testing.T) {
	x := open(t, pagetest.Groups())
	grounds := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		x.do(t, command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}))
		grounds[scheme] = evaluate[string](t, x, "getComputedStyle(document.body).backgroundColor")
		// AA: 4.5 for text.
		for _, selector := range []string{"body", ".kind", ".when", ".answer", ".checks .detail", "figcaption", "a", ".legend.main", ".legend.side"} {
			if c := evaluate[float64](t, x, fmt.Sprintf("%s(%q)", contrast, selector)); c < 4.5 {
				t.Errorf("%s: %s has a contrast of %.2f, want 4.5", scheme, selector, c)
			}
		}
	}
	if grounds["light"] == grounds["dark"] {
		t.Errorf("the background is %s both ways", grounds["light"])
	}
}

// seen is the readouts that are visible now.
const seen = `[...document.querySelectorAll(".readout")].filter(e => getComputedStyle(e).visibility == "visible").map(e => e.textContent)`

func TestHoverAndFocusShowTheValue(t *testing.T) {
	r := pagetest.Typical()
	x := open(t, r, chromedp.EmulateViewport(1280, 900), noScript())
	if s := evaluate[[]string](t, x, seen); len(s) != 0 {
		t.Fatalf("shown before anything is pointed at: %q", s)
	}
	// The setting of GOMAXPROCS=2, in the throughput chart, as its column's middle.
	at := evaluate[[]float64](t, x, `(() => { const e = document.querySelectorAll(".curves figure:first-child .point .hit")[1]; e.scrollIntoView({block: "center"}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()`)
	x.do(t, chromedp.MouseEvent("mouseMoved", at[0], at[1]))
	if s := evaluate[[]string](t, x, seen); len(s) != 1 || s[0] != "2: 12.8k req/s [12.6k, 13.0k]" {
		t.Errorf("pointing at 2 shows %q", s)
	}
	x.do(t, chromedp.MouseEvent("mouseMoved", 1, 1))
	// By keyboard, the p99 chart.
	x.do(t, chromedp.Evaluate[chromedp.Void](`document.querySelectorAll(".curves figure:last-child .point")[0].focus()`))
	s := evaluate[[]string](t, x, seen)
	if len(s) != 2 || !strings.HasPrefix(s[0], "1: 1.64 ms") || !strings.HasPrefix(s[1], "1: 8.00 ms") {
		t.Errorf("focus on 1 shows %q", s)
	}
}
