package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// newMan is procfit man DIR, which packages run when they are built. It is not in the help.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write a man page for each command into a folder",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("man needs one folder, got %d words; try: procfit man share/man/man1", len(args))
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			for _, r := range everyPage(cmd.Root()) {
				if err := os.WriteFile(filepath.Join(args[0], manName(r.path)+".1"), []byte(r.man()), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// manName is the name of a command's man page, as git's pages have theirs.
func manName(path string) string { return strings.ReplaceAll(path, " ", "-") }

// man is the command's man page.
func (r reference) man() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %q %q \"procfit manual\"\n", strings.ToUpper(manName(r.path)), committed(), "procfit "+version())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(r.path)), roff(r.short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n%s\n", bold(r.synopsis))
	b.WriteString(".SH DESCRIPTION\n")
	for i, p := range r.description {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if p.fixed {
			fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(p.text))
			continue
		}
		b.WriteString(roff(p.text) + "\n")
	}
	if len(r.subcommands) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range r.subcommands {
			fmt.Fprintf(&b, ".TP\n%s\n%s\n", bold(sub.path), roff(sub.short))
		}
	}
	if len(r.flags) > 0 {
		b.WriteString(".SH OPTIONS\n")
	}
	for _, g := range r.flags {
		if g.title != "" {
			fmt.Fprintf(&b, ".SS %s\n", roff(g.title))
		}
		for _, f := range g.flags {
			b.WriteString(f.man())
		}
	}
	if len(r.examples) > 0 {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.Join(r.examples, "\n")))
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range r.exits {
		fmt.Fprintf(&b, ".TP\n%s\n%s\n", bold(e.code), roff(e.means))
	}
	if also := r.also(); len(also) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(also, ",\n"))
	}
	return b.String()
}

// man is a flag in a man page.
func (f flagRow) man() string {
	name := bold("--" + f.name)
	if f.short != "" {
		name = bold("-"+f.short) + ", " + name
	}
	if f.holds != "" {
		name += ` \fI` + roff(f.holds) + `\fR`
	}
	text := f.text
	if f.initial != "" {
		text += " The default is " + f.initial + "."
	}
	return ".TP\n" + name + "\n" + roff(text) + "\n"
}

// also are the pages above and below, as a man page names them.
func (r reference) also() (pages []string) {
	if r.parent != "" {
		pages = append(pages, bold(manName(r.parent))+"(1)")
	}
	for _, sub := range r.subcommands {
		pages = append(pages, bold(manName(sub.path))+"(1)")
	}
	return pages
}

func bold(text string) string { return `\fB` + roff(text) + `\fR` }

var (
	control = regexp.MustCompile(`(?m)^([.'])`) // makes a line a request to roff
	special = regexp.MustCompile(`[^\x00-\x7f]`)
)

// roff is a text of which roff reads nothing as its own. A minus may be copied into a
// shell, and so it is no hyphen.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	text = special.ReplaceAllStringFunc(text, func(r string) string { return fmt.Sprintf(`\[u%04X]`, []rune(r)[0]) })
	return control.ReplaceAllString(text, `\&$1`)
}

// committed is the day of the commit that procfit was built from, so that the same commit
// makes the same pages; empty where the build does not know.
func committed() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			day, _, _ := strings.Cut(s.Value, "T")
			return day
		}
	}
	return ""
}
