package markdown

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
)

// A URL in prose is code: no link, and as it was typed. What could end the code is escaped
// as before.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"GET http://127.0.0.1:{port}/a_b*c; only": "GET `http://127.0.0.1:{port}/a_b*c`; only",
		"(see https://example.org/x).":            "(see `https://example.org/x`).",
		"http://a/`<b>|":                          "`http://a/`\\`&lt;b&gt;\\|",
		"ftp://a_b":                               "ftp:&#47;/a\\_b",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A command at the end of an alert can be copied.
func TestAlert(t *testing.T) {
	got := string(Render(&document.Document{Title: "t", Blocks: []document.Block{document.Alert{Text: "Incomplete. To continue, run: procfit sweep --out x_y_z"}}}))
	if want := "\n**Incomplete. To continue, run:**\n\n```sh\nprocfit sweep --out x_y_z\n```\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s at the end", got, want)
	}
}
