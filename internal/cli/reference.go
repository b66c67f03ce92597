package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/measure/plan/field"
)

// A reference is what the manual says of a command: the pages of docs/reference/commands
// and the man pages are made from it.
type reference struct {
	name, path  string // kube-sweep and procfit kube sweep; the root has procfit as both
	synopsis    string
	short       string
	description []passage
	flags       []flagGroup
	examples    []string
	exits       []exit
	parent      string // the path of the command that this one is below; empty: none
	subcommands []subcommand
}

// A passage is a paragraph, or lines that keep their form.
type passage struct {
	text  string
	fixed bool
}

// A flagGroup is a part of the flags, as in the help.
type flagGroup struct {
	title string // empty: the command has no groups
	flags []flagRow
}

// A flagRow is a flag; value is what is behind its name.
type flagRow struct{ short, name, value, initial, text string }

// An exit is a code and what it means.
type exit struct{ code, means string }

// A subcommand is one in the list of a command's own.
type subcommand struct{ group, name, path, short string }

// The exit codes of a command whose help names none, and of all commands.
const (
	usualExits = "0 fine; 2 usage; 3 failure; 130 interrupted."
	allExits   = "0 fine; 1 findings of check, or a comparison that is not met; 2 usage; 3 failure, also where there was nothing to do; 130 interrupted."
)

// referenceOf describes a command. Those below it have their own.
func referenceOf(c *cobra.Command) reference {
	r := reference{name: pageName(c), path: c.CommandPath(), synopsis: c.UseLine(), short: c.Short}
	exits := usualExits
	if !c.HasParent() {
		r.synopsis, exits = "procfit COMMAND [flags]", allExits
	}
	for _, p := range passages(cmp.Or(c.Long, c.Short)) {
		if codes, ok := strings.CutPrefix(p.text, "Exit codes: "); ok {
			exits = codes
			continue
		}
		r.description = append(r.description, p)
	}
	for one := range strings.SplitSeq(strings.TrimSuffix(exits, "."), "; ") {
		code, means, _ := strings.Cut(strings.TrimSpace(one), " ")
		r.exits = append(r.exits, exit{code, means})
	}
	for line := range strings.Lines(c.Example) {
		if line = strings.TrimSpace(line); line != "" {
			r.examples = append(r.examples, line)
		}
	}
	r.flags = flagGroups(c)
	if c.HasParent() {
		r.parent = c.Parent().CommandPath()
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		group := ""
		for _, g := range c.Groups() {
			if g.ID == sub.GroupID {
				group = strings.TrimSuffix(g.Title, ":")
			}
		}
		for _, one := range append([]*cobra.Command{sub}, sub.Commands()...) {
			if one.IsAvailableCommand() {
				r.subcommands = append(r.subcommands, subcommand{group, pageName(one), one.CommandPath(), one.Short})
			}
		}
	}
	return r
}

// pageName is the name of a command's page: kube-sweep for procfit kube sweep.
func pageName(c *cobra.Command) string {
	return strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "procfit "), " ", "-")
}

// passages are the parts of a help text, which empty lines separate. One in which a line
// is indented keeps its form.
func passages(text string) (list []passage) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		part = strings.Trim(part, "\n")
		if strings.HasPrefix(part, "  ") || strings.Contains(part, "\n  ") {
			list = append(list, passage{strings.TrimPrefix(strings.ReplaceAll(part, "\n  ", "\n"), "  "), true})
			continue
		}
		list = append(list, passage{strings.Join(strings.Fields(part), " "), false})
	}
	return list
}

// flagGroups are the flags of a command in the order of its help.
func flagGroups(c *cobra.Command) (groups []flagGroup) {
	in := map[field.Group][]flagRow{}
	order := append([]field.Group{""}, field.Groups()...)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		holds, text := pflag.UnquoteUsage(f)
		row := flagRow{short: f.Shorthand, name: f.Name, value: behind(field.Field{Holds: holds}), initial: f.DefValue}
		group := field.Group("")
		of, ok := f.Value.(*asFlag)
		if ok {
			row.value, group = behind(of.Field), of.Group
		}
		if row.initial == "false" || row.initial == "[]" {
			row.initial = ""
		}
		if m := initially.FindStringSubmatch(text); m != nil && row.initial == "" {
			text, row.initial = strings.Replace(text, m[0], "", 1), m[1]
		}
		row.text = sentence(text)
		if ok {
			if of.More != "" {
				row.text += " " + strings.TrimSuffix(of.More, ".") + "."
			}
			row.text += together(of.Field, c)
		}
		in[group] = append(in[group], row)
	})
	for _, g := range order {
		if len(in[g]) > 0 {
			groups = append(groups, flagGroup{string(g), in[g]})
		}
	}
	return groups
}

// initially is a default in the words of a flag's help.
var initially = regexp.MustCompile(` \(default ([^()]+)\)`)

// together is which flags of the command a flag needs, or cannot be combined with.
func together(f field.Field, c *cobra.Command) (text string) {
	if f.Needs != "" {
		text += " Needs --" + f.Needs + "."
	}
	not := slices.DeleteFunc(strings.Fields(f.Not), func(name string) bool { return c.Flags().Lookup(name) == nil })
	if len(not) > 0 {
		text += " Not together with --" + strings.Join(not, ", --") + "."
	}
	return text
}

// sentence gives a text of the help a capital and a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return text
	}
	if !strings.HasPrefix(text, "procfit") {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return strings.TrimSuffix(text, ".") + "."
}

// everyPage is the references of a command and of all below it, hidden ones excepted.
func everyPage(c *cobra.Command) (list []reference) {
	list = append(list, referenceOf(c))
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			list = append(list, everyPage(sub)...)
		}
	}
	return list
}

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
	if f.value != "" {
		name += strings.Replace(`\fI`+roff(f.value)+`\fR`, `\fI `, ` \fI`, 1) // no line under the space
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

// roff is a text in which roff finds no commands. A minus may be copied into a
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
