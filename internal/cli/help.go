package cli

import (
	"cmp"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/terminal"
)

// firstScreen is what procfit prints without a command. It fits a terminal of 24 lines.
const firstScreen = `procfit: which GOMAXPROCS should your Go programs use?

Usage: procfit COMMAND [flags]

Look
  ps        what runs here, and what is wrong      procfit ps
  check     what is wrong in files and images      procfit check deploy/
  explain   why a program gets its value           procfit explain 4711

Measure
  sweep     which value is best for a program      procfit sweep -- ./batch-job
  compare   is the new build slower than the old?  procfit compare ./old ./new
  live      try values in a running program        procfit live 4711 --procs 1,2

Keep
  run       start with the recommended value       procfit run -- ./server
  set       change the value of a running program  procfit set 4711 4
  exporter  serve ps as Prometheus metrics         procfit exporter

Flags of a command: procfit COMMAND --help; procfit help COMMAND explains all.
More: load, trace, report, fleet, kube, migrate, resize, lab (procfit help more)
Start: procfit ps, or procfit sweep, which measures a practice server.
`

// moreHelp are the commands that the first screen has no line for, and the topics.
func moreHelp(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("More commands\n\n")
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() && !strings.Contains(firstScreen, "\n  "+cmd.Name()+" ") {
			fmt.Fprintf(&b, "  %-11s%s\n", cmd.Name(), cmd.Short)
		}
	}
	b.WriteString("\nprocfit COMMAND --help has the flags that most need, --help-all has all, and\n" +
		"procfit help COMMAND explains each. procfit help also has:\n\n")
	for _, topic := range topicNames {
		text, _ := topics.ReadFile("topics/" + topic + ".txt") // which is embedded
		title, _, _ := strings.Cut(string(text), "\n")
		fmt.Fprintf(&b, "  %-13s%s\n", topic, title)
	}
	return b.String()
}

// allFlags is a flag of no command: the error that it is not known shows the help (newRoot).
const allFlags = "--help-all"

// help gives a command its helps: --help has the flags that most need, --help-all all of
// them, and procfit help also what is known of each.
func (f *fieldFlags) help(std stdio, cmd *cobra.Command) {
	text := "show all flags"
	if f.short() {
		text = "show the flags that most need; " + allFlags + " shows all"
	}
	cmd.Flags().BoolP("help", "h", false, text)
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		short := f.short() && !std.wantsDetails() && !slices.Contains(std.args, allFlags)
		about := cmd.Short + "\n\n"
		if !short {
			about = std.described(cmd)
		}
		fmt.Fprint(cmd.OutOrStdout(), about, f.usage(std, cmd, short))
	})
}

// described is the text of a command, in the width of the help.
func (s stdio) described(cmd *cobra.Command) string {
	var parts []string
	for _, p := range passages(cmp.Or(cmd.Long, cmd.Short)) {
		if p.fixed {
			parts = append(parts, "  "+strings.ReplaceAll(p.text, "\n", "\n  "))
			continue
		}
		w := terminal.NewWriter(s.helpWidth(), false)
		w.Paragraph("", "", p.text)
		parts = append(parts, strings.TrimRight(w.String(), "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n\n"
}

// A passage is a paragraph, or lines that keep their form.
type passage struct {
	text  string
	fixed bool
}

// passages are the paragraphs of a help text. One with an indented line keeps its form.
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

// short reports whether --help shows some of the fields only.
func (f *fieldFlags) short() bool { return slices.ContainsFunc(f.Fields, isOften) }

func isOften(f field.Field) bool { return f.Often }

// wantsDetails reports whether procfit help was given, which has all that is known of each flag.
func (s stdio) wantsDetails() bool { return len(s.args) > 0 && s.args[0] == "help" }

// details is what is known of a flag in addition to its line of help.
func details(f field.Field, c *cobra.Command) (text string) {
	if f.More != "" {
		text += " " + f.More
	}
	if f.Needs != "" {
		text += " Needs --" + f.Needs + "."
	}
	not := slices.DeleteFunc(strings.Fields(f.Not), func(name string) bool { return c.Flags().Lookup(name) == nil })
	if len(not) > 0 {
		text += " Not together with --" + strings.Join(not, ", --") + "."
	}
	return text
}

const mostExamples = 4

// usage is the help below a command's text. The short one has the flags that are used
// often, in one list. The help flag is the last of the last group.
func (f *fieldFlags) usage(std stdio, cmd *cobra.Command, short bool) string {
	example := strings.TrimRight(cmd.Example, "\n")
	if lines := strings.Split(example, "\n"); short && len(lines) > mostExamples {
		example = strings.Join(lines[:mostExamples], "\n")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", example)
	}
	help := field.Field{Name: "help", Short: "h", Help: cmd.Flags().Lookup("help").Usage, Often: true}
	groups := append([]field.Group{""}, field.Groups()...)
	for _, g := range groups {
		if slices.ContainsFunc(f.Fields, func(one field.Field) bool { return one.Group == g }) {
			help.Group = g
		}
	}
	section := func(title string, in func(field.Field) bool) {
		list := slices.DeleteFunc(append(slices.Clone(f.Fields), help), func(one field.Field) bool { return !in(one) })
		b.WriteString(flagLines(std, cmd, title, list))
	}
	if short {
		section("Flags", isOften)
		fmt.Fprintf(&b, "\nAll %d flags: %s %s\nExplained: procfit help %s\n", len(f.Fields), cmd.CommandPath(), allFlags, strings.TrimPrefix(cmd.CommandPath(), "procfit "))
		return b.String()
	}
	for _, g := range groups {
		section(cmp.Or(string(g), "Flags"), func(one field.Field) bool { return one.Group == g })
	}
	return b.String()
}

// flagLines are flags below a title; empty: there are none.
func flagLines(std stdio, cmd *cobra.Command, title string, fields []field.Field) string {
	if len(fields) == 0 {
		return ""
	}
	var names []string
	column := 0
	for _, one := range fields {
		name := "      --" + one.Name + behindDashes(one)
		if one.Short != "" {
			name = "  -" + one.Short + ", --" + one.Name + behindDashes(one)
		}
		names, column = append(names, name), max(column, utf8.RuneCountInString(name)+3)
	}
	column = min(column, 30) // a longer name has a line of its own
	w := terminal.NewWriter(std.helpWidth(), false)
	for i, one := range fields {
		name := names[i]
		if utf8.RuneCountInString(name)+3 > column {
			w.Line(name)
			name = ""
		}
		w.Paragraph(terminal.Pad(name, column, true), strings.Repeat(" ", column), one.Help+shownDefault(one))
		if more := details(one, cmd); more != "" && std.wantsDetails() { // which has the whole width
			w.Paragraph(belowFlag, belowFlag, strings.TrimSpace(more))
		}
	}
	return "\n" + title + ":\n" + w.String()
}

var belowFlag = strings.Repeat(" ", 10)

// helpWidth is the columns of a help, no more than are easy to read; 0: there is no terminal.
func (s stdio) helpWidth() int { return min(columns(s.out), 100) }

// topics are texts that procfit help prints; the first line of each is its title.
//
//go:embed topics/*.txt
var topics embed.FS

var topicNames = []string{"exit-codes", "formats", "environment", "glossary"}

func newHelp(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC | more]",
		Short: "Help for a command; more, " + strings.Join(topicNames, ", "),
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 0 {
				return root.Help()
			}
			if len(args) == 1 && args[0] == "more" {
				_, err := io.WriteString(std.out, moreHelp(root))
				return err
			}
			if text, err := topics.ReadFile("topics/" + args[0] + ".txt"); err == nil && len(args) == 1 {
				return std.write(text, nil)
			}
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 || of == root {
				return unknownTopic(root, args)
			}
			return of.Help()
		},
	}
}

func unknownTopic(root *cobra.Command, args []string) error {
	word := strings.Join(args, " ")
	if r, ok := rule.Find(strings.ToUpper(word)); ok {
		return usageError("%s is a rule; for its page: procfit explain %[1]s", r.ID)
	}
	if aRule().MatchString(word) {
		return noRule(word)
	}
	known := append([]string{"more"}, topicNames...)
	for _, cmd := range everyCommand(root) {
		if cmd.IsAvailableCommand() {
			known = append(known, strings.TrimPrefix(cmd.CommandPath(), "procfit "))
		}
	}
	hint := fmt.Sprintf("; topics are %s, and procfit --help lists the commands", strings.Join(topicNames, ", "))
	near := nearest(word, known)
	if word == "words" { // as documents call it
		near = "glossary"
	}
	if near != "" {
		hint = fmt.Sprintf(". Did you mean %q?", near)
	}
	return usageError("no help for %q%s", word, hint)
}

// literal are characters that Markdown does not print.
var literal = strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`")

// bind makes flags of the fields, and a help that shows them by their groups.
func (f *fieldFlags) bind(std stdio, cmd *cobra.Command, fields []field.Field) *cobra.Command {
	f.Fields = fields
	for _, one := range fields {
		cmd.Flags().AddFlag(&pflag.Flag{
			Name: one.Name, Shorthand: one.Short, Usage: one.Help, Value: &asFlag{one, f}, NoOptDefVal: one.Alone(),
		})
	}
	cmd.Flags().SortFlags = false
	f.help(std, cmd)
	return cmd
}
