package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/measure/plan/field"
)

// flags are the fields of a subcommand as its flags, and which of them the user gave.
type flags struct {
	fields []field.Field
	given  []string // names, in the order in which they were given first
}

// bind makes flags of the fields, and a help that shows them by their groups.
func (f *flags) bind(std stdio, cmd *cobra.Command, fields []field.Field) {
	f.fields = fields
	for _, one := range fields {
		cmd.Flags().AddFlag(&pflag.Flag{
			Name: one.Name, Shorthand: one.Short, Usage: one.Help, Value: &asFlag{one, f}, DefValue: shownDefault(one), NoOptDefVal: one.Bare,
		})
		if one.Holds == "" {
			cmd.Flags().Lookup(one.Name).NoOptDefVal = "true"
		}
	}
	cmd.Flags().SortFlags = false
	cmd.SetUsageFunc(func(cmd *cobra.Command) error { return f.usage(std, cmd) })
}

// usage is the help below a subcommand's text.
func (f *flags) usage(std stdio, cmd *cobra.Command) error {
	text := fmt.Sprintf("Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
	for _, g := range append([]field.Group{""}, field.Groups()...) {
		group := pflag.NewFlagSet("", pflag.ContinueOnError)
		group.SortFlags = false
		for _, one := range f.fields {
			if one.Group == g {
				group.AddFlag(cmd.Flags().Lookup(one.Name))
			}
		}
		if help := cmd.Flags().Lookup("help"); g == field.Output && help != nil {
			group.AddFlag(help)
		}
		if group.HasFlags() {
			text += fmt.Sprintf("\n%s:\n%s", cmp.Or(g, "Flags"), group.FlagUsagesWrapped(width(std)))
		}
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), text)
	return err
}

// shownDefault is the default that the help adds to the text of a field; empty where it has
// none, or says it itself.
func shownDefault(f field.Field) string {
	v := f.Value.String()
	if f.Holds == "" || v == "0" || strings.Contains(f.Help, "(default") {
		return ""
	}
	return v
}

// has tells whether the user gave a field.
func (f *flags) has(name string) bool { return slices.Contains(f.given, name) }

// why are the reasons why a field says nothing with another one.
var why = map[string]string{
	"kube":   "pods are as their object says, and procfit in a pod offers the load",
	"attach": "the attached server is measured as it runs, at the rate that you choose",
	"load":   "it is for procfit's own load; write it into the --load command",
}

// check refuses what says nothing without a field that is not given, or with one that is.
func (f *flags) check() error {
	for _, name := range f.given {
		one := f.named(name)
		if one.Needs != "" && !f.has(one.Needs) {
			return usageError("--%s needs %s", name, strings.TrimSpace("--"+one.Needs+" "+f.named(one.Needs).Holds))
		}
		for _, other := range strings.Fields(one.Not) {
			switch reason := why[other]; {
			case !f.has(other):
			case reason == "":
				return usageError("use only one of --%s and --%s", name, other)
			default:
				return usageError("--%s says nothing with --%s: %s; leave --%[1]s out", name, other, reason)
			}
		}
	}
	return nil
}

// args are the flags as a command line has them: in the order in which they were given,
// each with its value in a word of its own, and what begins with a dash is a flag.
func (f *flags) args(without ...string) (words []string) {
	for _, name := range f.given {
		if slices.Contains(without, name) {
			continue
		}
		one := f.named(name)
		texts := []string{one.Value.String()}
		if list, ok := one.Value.(field.List); ok {
			texts = list.Texts()
		}
		for _, text := range texts {
			switch {
			case one.Holds == "" && text == "true", one.Bare != "" && text == one.Bare:
				words = append(words, "--"+name)
			case one.Holds == "", one.Bare != "", text == "", strings.HasPrefix(text, "-"):
				words = append(words, "--"+name+"="+text)
			default:
				words = append(words, "--"+name, text)
			}
		}
	}
	return words
}

// text is what a field holds.
func (f *flags) text(name string) string { return f.named(name).Value.String() }

func (f *flags) named(name string) field.Field {
	return f.fields[slices.IndexFunc(f.fields, func(one field.Field) bool { return one.Name == name })]
}

// asFlag is a field as a flag.
type asFlag struct {
	field.Field
	of *flags
}

// Set implements pflag.Value.
func (f *asFlag) Set(text string) error {
	if err := f.Value.Set(text); err != nil {
		return usageError("--%s %w", f.Name, err)
	}
	if !f.of.has(f.Name) {
		f.of.given = append(f.of.given, f.Name)
	}
	return nil
}

// String implements pflag.Value.
func (f *asFlag) String() string {
	if f.Value == nil { // of none, which pflag asks for its default
		return ""
	}
	return f.Value.String()
}

// Type implements pflag.Value: what stands for the value in the help.
func (f *asFlag) Type() string {
	if f.Holds == "" {
		return "bool"
	}
	return f.Holds
}

// flagError is what is wrong with a command line; what a field says itself needs nothing
// of the library.
func flagError(cmd *cobra.Command, err error) error {
	if own := (*exitError)(nil); errors.As(err, &own) {
		return own
	}
	return usageError("%w; see %s --help", err, cmd.CommandPath())
}
