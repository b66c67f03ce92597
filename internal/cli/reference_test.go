package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/test/need"
)

var updateReference = flag.Bool("update-reference", false, "write the pages of docs/reference/commands")

const referenceFolder = "../../docs/reference/commands"

// TestReference holds docs/reference/commands against the commands.
func TestReference(t *testing.T) {
	pages := map[string]string{}
	for _, r := range everyPage(newRoot(stdio{})) {
		pages[r.file()] = r.markdown()
	}
	if len(pages) < 12 {
		t.Fatalf("only %d commands", len(pages))
	}
	if *updateReference {
		must(os.RemoveAll(referenceFolder))
		must(os.MkdirAll(referenceFolder, 0o755))
		for name, page := range pages {
			must(os.WriteFile(filepath.Join(referenceFolder, name), []byte(page), 0o644))
		}
	}
	there, err := os.ReadDir(referenceFolder)
	if err != nil {
		t.Fatal(err)
	}
	const remedy = "go test ./internal/cli -run TestReference -update-reference"
	for _, file := range there {
		if _, ok := pages[file.Name()]; !ok {
			t.Errorf("%s/%s is of no command; run %s", referenceFolder, file.Name(), remedy)
		}
	}
	for name, page := range pages {
		if b, err := os.ReadFile(filepath.Join(referenceFolder, name)); err != nil || string(b) != page {
			t.Errorf("%s/%s does not match the command; run %s", referenceFolder, name, remedy)
		}
	}
}

// file is the name of the command's page.
func (r reference) file() string {
	if r.parent == "" {
		return "index.md"
	}
	return r.name + ".md"
}

// markdown is the page of a command.
func (r reference) markdown() string {
	var b strings.Builder
	title := r.path
	if r.parent == "" {
		title = "All commands"
	}
	fmt.Fprintf(&b, "# %s\n\n<!-- Made by go test ./internal/cli -run TestReference -update-reference; edits are lost. -->\n\n%s\n\n```\n%s\n```\n", title, asMarkdown(sentence(r.short)), r.synopsis)
	for _, p := range r.description {
		switch {
		case p.fixed:
			fmt.Fprintf(&b, "\n```\n%s\n```\n", p.text)
		case p.text != r.short:
			fmt.Fprintf(&b, "\n%s\n", asMarkdown(p.text))
		}
	}
	group := "-"
	for _, sub := range r.subcommands {
		if sub.group != group {
			group = sub.group
			heading := group
			if heading == "" {
				heading = "Commands"
				if r.parent == "" {
					heading = "All"
				}
			}
			fmt.Fprintf(&b, "\n## %s\n\n| command | |\n|---|---|\n", heading)
		}
		fmt.Fprintf(&b, "| [`%s`](%s.md) | %s |\n", sub.path, sub.name, cell(sub.short))
	}
	for _, g := range r.flags {
		heading := g.title
		if heading == "" {
			heading = "Flags"
		}
		fmt.Fprintf(&b, "\n## %s\n\n| flag | default | meaning |\n|---|---|---|\n", heading)
		for _, f := range g.flags {
			b.WriteString(f.markdown())
		}
	}
	if len(r.examples) > 0 {
		b.WriteString("\n## Examples\n\n```console\n")
		for _, line := range r.examples {
			b.WriteString("$ " + line + "\n")
		}
		b.WriteString("```\n")
	}
	b.WriteString("\n## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for _, e := range r.exits {
		fmt.Fprintf(&b, "| %s | %s |\n", e.code, cell(e.means))
	}
	if also := r.links(); len(also) > 0 {
		fmt.Fprintf(&b, "\n## See also\n\n%s\n", strings.Join(also, "\n"))
	}
	return b.String()
}

func (f flagRow) markdown() string {
	name := "--" + f.name
	if f.short != "" {
		name = "-" + f.short + ", " + name
	}
	name += f.value
	initial := ""
	if f.initial != "" {
		initial = cell(f.initial)
	}
	return fmt.Sprintf("| `%s` | %s | %s |\n", strings.ReplaceAll(name, "|", `\|`), initial, cell(f.text))
}

// links are the pages that a reader may want next.
func (r reference) links() (list []string) {
	first, _, _ := strings.Cut(r.name, "-")
	for _, page := range []string{r.name, first} {
		if b, err := os.ReadFile(filepath.Join(referenceFolder, "..", page+".md")); err == nil {
			title, _, _ := strings.Cut(strings.TrimPrefix(string(b), "# "), "\n")
			list = append(list, fmt.Sprintf("- [%s](../%s.md)", title, page))
			break
		}
	}
	switch {
	case r.parent == "":
	case r.parent == "procfit":
		list = append(list, "- [All commands](index.md)")
	default:
		list = append(list, fmt.Sprintf("- [`%s`](%s.md)", r.parent, strings.ReplaceAll(strings.TrimPrefix(r.parent, "procfit "), " ", "-")))
	}
	return list
}

var (
	inText    = regexp.MustCompile("(?:\\d=)?(?:https?|h2c)://[^\\s,;)]*[^\\s,;).:]|[A-Za-z][\\w-]*=[^\\s;)]*[^\\s,;).:]|@FILE|@-|'[^' ][^']*'|-o [a-z][a-z-]*|--?[a-z][a-z0-9_-]*\\b(?: \\d+\\b)?|\\{[a-z]+\\}|\\$[A-Z_]{2,}|[<>*_`\\[\\]]")
	wordBegin = regexp.MustCompile(`[\w/.]$`)
)

// asMarkdown is a text of the help with its flags as code, and without markup of its own.
func asMarkdown(text string) string {
	var b strings.Builder
	end := 0
	for _, m := range inText.FindAllStringIndex(text, -1) {
		b.WriteString(text[end:m[0]])
		word := text[m[0]:m[1]]
		end = m[1]
		switch {
		case word == "_" && inName(text, m[0]):
			b.WriteString(word)
		case len(word) == 1 && word != "-":
			b.WriteString(`\` + word)
		case strings.HasPrefix(word, "'") || strings.HasPrefix(word, "-"):
			if wordBegin.MatchString(text[:m[0]]) || strings.Contains(word, "`") { // procfit's, well-known
				b.WriteString(word)
				continue
			}
			b.WriteString("`" + word + "`")
		default:
			b.WriteString("`" + word + "`")
		}
	}
	return strings.ReplaceAll(b.String()+text[end:], "` `", " ") // a flag and its value
}

// inName tells whether the letters around one belong to a name, as in cpu_use.
func inName(text string, at int) bool {
	return wordBegin.MatchString(text[:at]) && regexp.MustCompile(`^\w`).MatchString(text[at+1:])
}

// cell is a text in a table.
func cell(text string) string { return strings.ReplaceAll(asMarkdown(text), "|", `\|`) }

// TestManPages lints the man pages and reads one as a terminal shows it.
func TestManPages(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man1")
	var out, problems bytes.Buffer
	if code := Main(context.Background(), []string{"man", folder}, strings.NewReader(""), &out, &problems); code != 0 {
		t.Fatalf("exit code %d: %s", code, problems.String())
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	must(err)
	if want := len(everyPage(newRoot(stdio{}))); len(pages) != want {
		t.Errorf("%d pages of %d commands", len(pages), want)
	}
	groff := need.Command(t, "groff")
	procs := false
	for _, page := range pages {
		shown, err := exec.Command(groff, "-man", "-Tutf8", "-P-cbou", "-ww", "-rLL=78n", page).CombinedOutput()
		if err != nil || bytes.Contains(shown, []byte("warning:")) {
			t.Errorf("%s: %v\n%s", filepath.Base(page), err, shown)
		}
		procs = procs || strings.HasSuffix(page, "procfit-sweep.1") && bytes.Contains(shown, []byte("  --procs "))
	}
	if !procs {
		t.Error("the man page of sweep has no --procs")
	}
}

// TestEveryFlagHasAPlace fails where a flag is on no page.
func TestEveryFlagHasAPlace(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		page := referenceOf(c).man()
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if shown := strings.Contains(page, bold("--"+f.Name)); shown == f.Hidden && f.Name != "help" && f.Name != "version" {
				t.Errorf("%s --%s: hidden %v, on its man page %v", c.CommandPath(), f.Name, f.Hidden, shown)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(stdio{}))
}
