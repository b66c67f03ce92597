package cli

import (
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// topics are texts that procfit help prints; the first line of each is its title.
//
//go:embed topics/*.txt
var topics embed.FS

// topicNames are in the order in which they are listed.
var topicNames = []string{"exit-codes", "formats", "environment", "glossary"}

func newHelp(std stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Help for a command, or for " + strings.Join(topicNames, ", "),
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			if len(args) == 0 {
				return root.Help()
			}
			if text, err := topics.ReadFile("topics/" + args[0] + ".txt"); err == nil && len(args) == 1 {
				_, err := std.out.Write(text)
				return err
			}
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 || of == root {
				return unknownTopic(root, args)
			}
			return of.Help()
		},
	}
}

// unknownTopic says which command or topic may be meant.
func unknownTopic(root *cobra.Command, args []string) error {
	word := strings.Join(args, " ")
	known := append([]string(nil), topicNames...)
	for _, cmd := range everyCommand(root) {
		if cmd.IsAvailableCommand() {
			known = append(known, strings.TrimPrefix(cmd.CommandPath(), "procfit "))
		}
	}
	hint := fmt.Sprintf("; topics are %s, and procfit --help lists the commands", strings.Join(topicNames, ", "))
	if near := nearest(word, known); near != "" {
		hint = fmt.Sprintf(". Did you mean %q?", near)
	}
	return usageError("no help for %q%s", word, hint)
}

func completeTopics(cmd *cobra.Command, args []string, _ string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	of, _, err := cmd.Root().Find(args)
	if err != nil {
		return nil, nothingElse
	}
	for _, sub := range of.Commands() {
		if sub.IsAvailableCommand() {
			list = append(list, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	if len(args) == 0 {
		list = append(list, topicNames...)
	}
	return list, nothingElse
}
