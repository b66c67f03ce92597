package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	report "github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/internal/verdict/page/served"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The page of a sweep that goes on is renewed by the browser itself, without a script.
func TestTheLivePageFollowsWithoutAScript(t *testing.T) {
	need.Everything(t, "waits until the browser asks again, after five seconds; package served's tests hold that the page tells it to")
	s := must.Get(served.Listen(t.Context(), ":0"))(t)
	defer s.Close()
	must.OK(t, s.Show(report.SoFar(pagetest.Shared())))
	s.Now("Running now: the first")
	x := &tab{ctx: browser(t), url: s.URL()}
	x.do(t, command(page.Enable, page.EnableParams{}), noScript(), chromedp.Navigate(x.url))
	const text = "document.body.innerText"
	if got := evaluate[string](t, x, text); !strings.Contains(got, "Running now: the first") || !strings.Contains(got, "So far: ") {
		t.Fatalf("the page says\n%.400s", got)
	}
	s.Now("Running now: the second")
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		// While the page is exchanged there is none to ask.
		got, err := chromedp.Run(x.ctx, chromedp.Evaluate[string](text))
		if err == nil && strings.Contains(got, "Running now: the second") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the page still says\n%.400s (%v)", got, err)
		}
	}
}
