package rule

import (
	"flag"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write docs/reference/rules.md from the rules")

// TestPage holds docs/reference/rules.md against the pages of the rules and what the rules say of
// their fixtures.
func TestPage(t *testing.T) {
	const file = "../../../docs/reference/rules.md"
	want := page()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: run go test ./internal/program/rule -run TestPage -update", file)
	}
}

func page() string {
	var b strings.Builder
	b.WriteString(`# The rules

What ` + "`procfit ps`, `explain`, `check` and the exporter" + ` report.
` + "`procfit explain PF001`" + ` prints one of these. This page is made from the rules by a
test; each example is what the rule says of a case in its tests.

Severity: an **error** is an intent that is not met, a **warning** costs something
here and now, an **info** is worth knowing and may be intended.

| rule | severity | |
|---|---|---|
`)
	for _, r := range All() {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", r.ID, strings.ToLower(r.ID), r.Severity, r.Title)
	}
	for _, r := range All() {
		fmt.Fprintf(&b, "\n## %s\n\n**%s** (%s, since procfit %s)\n\n%s\n\n%s\n", r.ID, r.Title, r.Severity, r.Since, r.Why, r.Fix)
		if f, ok := example(r.ID); ok {
			fmt.Fprintf(&b, "\n> %s  \n> → %s\n", f.Message, f.Fix)
		}
		if r.By != "" {
			b.WriteString(exampleFile(r.ID))
		}
	}
	return b.String()
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

// exampleFile is a file in which the rule fires and what check says of it; a test of the
// command line has run it.
func exampleFile(id string) string {
	a, err := txtar.ParseFile("testdata/examples/" + id + ".txtar")
	if err != nil {
		return "" // that test demands one
	}
	var b strings.Builder
	for _, f := range a.Files {
		if f.Name == "output" {
			fmt.Fprintf(&b, "\nsays\n\n    %s\n", strings.ReplaceAll(strings.TrimSpace(string(f.Data)), "\n", "\n    "))
			continue
		}
		language := strings.TrimPrefix(path.Ext(f.Name), ".")
		fmt.Fprintf(&b, "\n`%s`:\n\n```%s\n%s```\n", f.Name, language, f.Data)
	}
	return b.String()
}

// example is the finding of the rule's first fixture that fires.
func example(id string) (Finding, bool) {
	for _, tc := range fixtures() {
		if tc.rule != id || tc.want == "" {
			continue
		}
		for _, f := range Judge(NewSubject(tc.subject)) {
			if f.Rule == id {
				return f, true
			}
		}
	}
	return Finding{}, false
}
