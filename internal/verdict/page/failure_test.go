package page

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// The page of a failure quotes what others wrote, and nothing of it is markup.
func TestFailure(t *testing.T) {
	f := NewFailure("out", &journal.Contents{
		Header: journal.Header{Name: "<b>x", Target: journal.Target{Command: []string{"./x", "<i>", "{port}"}}, Tool: journal.Tool{Args: []string{"sweep", "--out", "out", "--", "./x", "<i>"}}},
		Trials: []journal.Trial{{
			Setting: journal.Setting{Label: "2", Procs: new(2)}, InvalidCode: journal.InvalidExit, Log: "logs/1.log",
			InvalidReason: "the program exited with code 1; it said:\npanic: \x1b[31m<script>\n\ngoroutine 1",
		}},
	})
	b, err := html.Render(f.Document())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Nothing was measured", "The program exited with code 1<", "GOMAXPROCS 2", "panic: \\x1b[31m&lt;script&gt;\n\ngoroutine 1",
		"out/logs/1.log", "GOMAXPROCS=2 ./x &#39;&lt;i&gt;&#39; 8080", "procfit sweep -- ./x &#39;&lt;i&gt;&#39;",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for _, evil := range []string{"<script>", "<b>x", "<i>", "\x1b"} {
		if strings.Contains(string(b), evil) {
			t.Errorf("%q is in the page", evil)
		}
	}
}
