package browser

import (
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/procfit/procfit/test/need"
)

// site renders the documentation into a folder.
func site(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command(need.Command(t, "go"), "run", "./docs/site", "-out", out)
	cmd.Dir = "../.."
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return out
}

// size is the size of a window, with a pointer or, as on a phone, without.
func size(width int64) chromedp.Action[chromedp.Void] {
	return command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500})
}

// searched types a query and waits until the page shows what is asked of it.
func searched(t *testing.T, x *tab, query, shown string) (found string) {
	t.Helper()
	evaluate[bool](t, x, fmt.Sprintf(`(e => (e.focus(), e.value = %q, e.dispatchEvent(new Event("input")))) (document.querySelector("#query"))`, query))
	for end := time.Now().Add(patience / 4); found == ""; time.Sleep(50 * time.Millisecond) {
		if found = evaluate[string](t, x, shown); time.Now().After(end) {
			t.Fatalf("the search for %s shows nothing within %v", query, patience/4)
		}
	}
	return found
}

// TestSite reads the documentation from its folder: the search finds, the theme changes
// and stays, no page is wider than a phone and nothing is asked of a host.
func TestSite(t *testing.T) {
	folder := site(t)
	x := load(t, filepath.Join(folder, "index.html"), size(1280))
	found := searched(t, x, "throttled limit", `[...document.querySelectorAll("#results:not([hidden]) a")].map(a => a.getAttribute("href") + " " + a.textContent).join("\n")`)
	if lines := strings.Split(found, "\n"); len(lines) < 3 || !strings.Contains(strings.ToLower(lines[0]), "throttl") {
		t.Errorf("the search for throttled limit found\n%s", found)
	}
	searched(t, x, "xyzzyplugh", `document.querySelector("#count").textContent === "Nothing found for xyzzyplugh" ? "nothing" : ""`)
	const ground = `getComputedStyle(document.body).backgroundColor`
	light := evaluate[string](t, x, `(document.documentElement.dataset.theme = "light", `+ground+`)`)
	dark := evaluate[string](t, x, `(document.querySelector(".theme").click(), `+ground+`)`)
	if light == dark {
		t.Errorf("the theme stays %s", light)
	}
	x.do(t, chromedp.Navigate("file://"+filepath.Join(folder, "reference", "commands", "sweep.html")))
	if next := evaluate[string](t, x, ground); next != dark {
		t.Errorf("the next page has the ground %s, not %s", next, dark)
	}
	x.do(t, size(390))
	pages := 0
	err := filepath.WalkDir(folder, func(page string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(page) != ".html" {
			return err
		}
		pages++
		x.do(t, chromedp.Navigate("file://"+page))
		if wide := evaluate[string](t, x, `document.documentElement.scrollWidth > 390 ? [...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > 391 && !e.closest(".scroll, pre")).map(e => e.outerHTML.slice(0, 200)).join("\n") || "unknown" : ""`); wide != "" {
			t.Errorf("%s is wider than a phone:\n%s", page, wide)
		}
		return nil
	})
	if err != nil || pages < 20 {
		t.Errorf("%d pages: %v", pages, err)
	}
	for _, asked := range x.fetched {
		if !strings.HasPrefix(asked, "file://"+folder) && !strings.HasPrefix(asked, "data:") {
			t.Errorf("a page asked for %s", asked)
		}
	}
}
