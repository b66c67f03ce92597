package rule

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

var update = flag.Bool("update", false, "write docs/reference/rules.md from the rules")

// TestPage holds docs/reference/rules.md against the pages of the rules.
func TestPage(t *testing.T) {
	const file = "../../../docs/reference/rules.md"
	want := page()
	if *update {
		must.OK(t, os.WriteFile(file, []byte(want), 0o644))
	}
	got := must.Get(os.ReadFile(file))(t)
	if string(got) != want {
		t.Errorf("%s is stale: run go test ./internal/program/rule -run TestPage -update", file)
	}
}

func page() string {
	var b strings.Builder
	b.WriteString(`# The rules

What ` + "`procfit ps`, `explain`, `check` and the exporter" + ` report. ` + "`procfit explain PF001`" + ` prints one of these.

An **error** is an intent that is not met, a **warning** costs something here and now, an **info** is worth knowing and may be intended.
`)
	for _, r := range All() {
		fmt.Fprintf(&b, "\n<a id=%q></a>\n\n## %s %s\n\n**%s.** %s\n\n%s\n", strings.ToLower(r.ID), r.ID, r.Title, capital(r.Severity), r.Why, r.Fix)
	}
	return b.String()
}

func capital(s Severity) string {
	word := fmt.Sprint(s)
	return strings.ToUpper(word[:1]) + word[1:]
}

// FuzzParsePage: a page is a rule or an error, and a good one says all that it has.
func FuzzParsePage(f *testing.F) {
	for _, r := range All() {
		f.Add("---\nid: " + r.ID + "\ntitle: " + r.Title + "\n---\n\n" + r.Why + "\n\n## What to do\n\n" + r.Fix + "\n")
	}
	f.Add("---\nmeasured: yes\nid: \n---\n## What to do\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parsePage(text)
		if err != nil {
			return
		}
		for _, part := range []string{r.ID, r.Title, r.Why, r.Fix} {
			if !strings.Contains(text, part) {
				t.Errorf("%q is not in the page", part)
			}
		}
	})
}
