package cli

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/terminal"
)

// help gives a command its two helps: -h has what most need, --help all.
func (f *flags) help(std stdio, cmd *cobra.Command) {
	text := "show all flags"
	if f.short() {
		text += "; -h shows the most used"
	}
	cmd.Flags().BoolP("help", "h", false, text)
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := fmt.Fprint(cmd.OutOrStderr(), f.usage(std, cmd, false))
		return err
	})
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		text := strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)) + "\n\n" + f.usage(std, cmd, false)
		if f.short() && std.wantsShort() {
			text = cmd.Short + "\n\n" + f.usage(std, cmd, true)
		}
		fmt.Fprint(cmd.OutOrStdout(), text)
	})
}

// short tells whether some of the fields are shown by -h alone.
func (f *flags) short() bool {
	for _, one := range f.fields {
		if one.Often {
			return true
		}
	}
	return false
}

// wantsShort tells whether -h was given, and not --help.
func (s stdio) wantsShort() bool {
	for _, word := range s.args {
		if word == "--" || word == "--help" {
			return false
		}
		if word == "-h" {
			return true
		}
	}
	return false
}

// mostExamples is how many examples -h has.
const mostExamples = 4

// usage is the help below a command's text. The short one has the flags that are used
// often, in one list.
func (f *flags) usage(std stdio, cmd *cobra.Command, short bool) string {
	example := strings.TrimRight(cmd.Example, "\n")
	if lines := strings.Split(example, "\n"); short && len(lines) > mostExamples {
		example = strings.Join(lines[:mostExamples], "\n")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", example)
	}
	for _, g := range append([]field.Group{""}, field.Groups()...) {
		f.write(&b, std, cmd, cmp.Or(string(g), "Flags"), func(one field.Field) bool { return !short && one.Group == g }, g == f.last() && !short)
	}
	if short {
		f.write(&b, std, cmd, "Flags that are used most", func(one field.Field) bool { return one.Often }, true)
		fmt.Fprintf(&b, "\n%s --help shows all %d flags.\n", cmd.CommandPath(), len(f.fields))
	}
	return b.String()
}

// write adds a group of flags; the last one has the help flag too.
func (f *flags) write(b *strings.Builder, std stdio, cmd *cobra.Command, title string, in func(field.Field) bool, last bool) {
	var names, texts []string
	add := func(short, name, holds, text string) {
		head := "      --"
		if short != "" {
			head = "  -" + short + ", --"
		}
		names, texts = append(names, strings.TrimRight(head+name+" "+holds, " ")), append(texts, text)
	}
	for _, one := range f.fields {
		if in(one) {
			text := one.Help
			if shown := shownDefault(one); shown != "" {
				text += " (default " + shown + ")"
			}
			holds := one.Holds
			if one.Bare != "" {
				holds = "[=" + holds + "]"
			}
			add(one.Short, one.Name, holds, text)
		}
	}
	if help := cmd.Flags().Lookup("help"); last && help != nil {
		add("h", "help", "", help.Usage)
	}
	if names == nil {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	column := 0
	for _, name := range names {
		column = max(column, utf8.RuneCountInString(name)+3)
	}
	column = min(column, widestName)
	w := terminal.NewWriter(std.helpWidth(), false)
	for i, name := range names {
		if utf8.RuneCountInString(name)+3 > column {
			w.Line(name)
			name = ""
		}
		w.Paragraph(terminal.Pad(name, column, true), strings.Repeat(" ", column), texts[i])
	}
	b.Write(w.Bytes())
}

// widestName is the widest column of names; a longer one has a line of its own.
const widestName = 30

// last is the group that the help flag is in.
func (f *flags) last() (last field.Group) {
	for _, g := range field.Groups() {
		for _, one := range f.fields {
			if one.Group == g {
				last = g
			}
		}
	}
	return last
}

// helpWidth is the columns of a help: no more than are easy to read.
func (s stdio) helpWidth() int { return min(cmp.Or(width(s), 80), 100) }
