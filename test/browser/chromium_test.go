package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/verdict"
	report "github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// patience is how long one page may take on a busy machine.
const patience = 60 * time.Second

// tab is a page in a browser that records what it asks for and says.
type tab struct {
	ctx context.Context
	url string

	mu      sync.Mutex
	fetched []string
	dialogs []string
}

// open renders the Result and loads the page in a browser, after the actions that must come
// before.
func open(t *testing.T, r *verdict.Result, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	b, err := html.Render(report.Report(r))
	must.OK(t, err)
	path := filepath.Join(t.TempDir(), "report.html")
	must.OK(t, os.WriteFile(path, b, 0o644))
	x := &tab{ctx: browser(t), url: "file://" + path}
	err = chromedp.Listen(x.ctx, func(event any) {
		x.mu.Lock()
		defer x.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			x.fetched = append(x.fetched, e.Request.URL)
		case *page.EventJavascriptDialogOpening:
			// Left open: the page then hangs and the test fails, as it should.
			x.dialogs = append(x.dialogs, e.Message)
		}
	})
	must.OK(t, err)
	x.do(t, command(network.Enable, network.EnableParams{}), command(page.Enable, page.EnableParams{}))
	x.do(t, before...)
	x.do(t, chromedp.Navigate(x.url))
	return x
}

// command is a command of the browser's protocol as an action.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// end ends the browser, if one was started.
var end = func() error { return nil }

func TestMain(m *testing.M) {
	code := m.Run()
	if err := end(); err != nil {
		fmt.Fprintln(os.Stderr, "end the browser:", err)
	}
	os.Exit(code)
}

// chromium is the browser of all tests: one takes a second to start.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "procfit-chromium")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.NoSandbox, // root may not run with one
		chromedp.DisableGPU,
		chromedp.UserDataDir(dir),
		chromedp.WSURLReadTimeout(patience),
	)
	ctx, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(ctx)
	end = func() error {
		err := chromedp.Cancel(ctx) // ends the browser's processes and waits for them
		stop()
		stopAllocator()
		return errors.Join(err, os.RemoveAll(dir))
	}
	return ctx, chromedp.Do(ctx)
})

// browser has a window in Chromium that shares nothing with other tests, and closes with the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	need.Command(t, "chromium")
	all := must.Get(chromium())(t)
	ctx, stop := context.WithTimeout(all, patience)
	ctx, stopTab := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("close the window: %v", err)
		}
		stopTab()
		stop()
	})
	return ctx
}

func (x *tab) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	must.OK(t, chromedp.Do(x.ctx, actions...))
}

// evaluate asks the page; the question runs even where the page's own scripts may
// not.
func evaluate[T any](t *testing.T, x *tab, expression string) T {
	t.Helper()
	out, err := chromedp.Run(x.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%v, asked for %s", err, expression)
	}
	return out
}
