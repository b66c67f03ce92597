package served

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

func serve(t *testing.T, address string) *Server {
	t.Helper()
	s := must.Get(Listen(t.Context(), address))(t)
	t.Cleanup(s.Close)
	return s
}

// get asks as a browser would, with what header has.
func get(t *testing.T, address string, header ...string) (*http.Response, string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	b := must.Get(io.ReadAll(resp.Body))(t)
	return resp, string(b)
}

const refresh = `http-equiv="refresh"`

// A sweep, faked: the page follows it, and is loaded again until the end.
func TestThePageFollowsTheSweep(t *testing.T) {
	s := serve(t, ":0")
	if resp, _ := get(t, s.URL()); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Refresh") == "" {
		t.Errorf("before anything is known: %s", resp.Status)
	}
	s.Now("Running now: GOMAXPROCS 1")
	must.OK(t, s.Show(page.SoFar(pagetest.Invalid())))
	resp, first := get(t, s.URL())
	if !strings.Contains(first, refresh) || !strings.Contains(first, "Running now: GOMAXPROCS 1<") || resp.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("the first page, %v:\n%.1500s", resp.Header, first)
	}
	s.Now("Running now: <GOMAXPROCS 2>")
	again, second := get(t, s.URL(), "If-None-Match", resp.Header.Get("ETag"))
	if again.StatusCode != http.StatusOK || !strings.Contains(second, "Running now: &lt;GOMAXPROCS 2&gt;<") || strings.Contains(second, "GOMAXPROCS 1<") {
		t.Errorf("another trial runs: %s\n%.1500s", again.Status, second)
	}
	if same, body := get(t, s.URL(), "If-None-Match", again.Header.Get("ETag")); same.StatusCode != http.StatusNotModified || body != "" {
		t.Errorf("nothing has changed: %s with %d bytes", same.Status, len(body))
	}
	must.OK(t, s.Show(page.SoFar(pagetest.Typical())))
	if _, third := get(t, s.URL()); !strings.Contains(third, "Set GOMAXPROCS=2</h2>") || !strings.Contains(third, "So far: ") || strings.Count(third, "<html") != 1 || !strings.HasSuffix(strings.TrimSpace(third), "</html>") {
		t.Error("the page does not say what the trials came to")
	}
	last := make(chan string)
	go func() { // who watches gets the last page, though he asks for it late
		for {
			if _, document := get(t, s.URL()); !strings.Contains(document, refresh) {
				last <- document
				return
			}
		}
	}()
	must.OK(t, s.End(t.Context(), page.Ended(pagetest.Typical()), "The sweep has ended"))
	if document := <-last; !strings.Contains(document, "The sweep has ended<") || strings.Contains(document, "So far: ") {
		t.Errorf("the last page:\n%.1500s", document)
	}
	if resp, err := http.Get(s.URL()); err == nil {
		resp.Body.Close()
		t.Error("it serves on after the end")
	}
}

func TestNobodyIsWaitedFor(t *testing.T) {
	unwatched, watched := serve(t, "127.0.0.1:0"), serve(t, "127.0.0.1:0")
	if err := unwatched.End(t.Context(), page.Ended(pagetest.Typical()), ""); err != nil {
		t.Error(err)
	}
	get(t, watched.URL())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := watched.End(gone, page.Ended(pagetest.Typical()), ""); err != nil {
		t.Error(err)
	}
}

func TestOnlyForThisMachine(t *testing.T) {
	s := serve(t, ":0")
	must.OK(t, s.Show(page.SoFar(pagetest.Typical())))
	at, err := url.Parse(s.URL())
	if err != nil || at.Hostname() != "127.0.0.1" {
		t.Fatalf("without a host it is at %s", s.URL())
	}
	for host, want := range map[string]int{at.Host: 200, "localhost:" + at.Port(): 200, "localhost": 200, "[::1]:80": 200, "evil.example": 403, "127.0.0.1.evil.example:80": 403} {
		if resp, _ := get(t, s.URL(), "Host", host); resp.StatusCode != want {
			t.Errorf("asked as %s: %s, want %d", host, resp.Status, want)
		}
	}
	if resp, _ := get(t, s.URL()+"journal.jsonl"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("another path: %s", resp.Status)
	}
	resp := must.Get(http.Post(s.URL(), "text/plain", strings.NewReader("x")))(t)
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", resp.Status)
	}
	open := serve(t, "0.0.0.0:0") // who gives a host has said so
	if resp, _ := get(t, open.URL(), "Host", "measuring.example"); !strings.HasPrefix(open.URL(), "http://localhost:") || resp.StatusCode == http.StatusForbidden {
		t.Errorf("at all addresses: %s, %s", open.URL(), resp.Status)
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{"", "9877", "host", "127.0.0.1:99999", "203.0.113.1:0"} {
		if s, err := Listen(t.Context(), address); err == nil {
			s.Close()
			t.Errorf("%q is listened at", address)
		}
	}
}
