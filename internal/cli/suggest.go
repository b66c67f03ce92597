package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/show/phrase"
)

// nearest is the known word that a typing error may have made another of; empty: none is
// near enough.
func nearest(word string, known []string) string {
	if near := phrase.Near(word, known); len(near) > 0 {
		return near[0]
	}
	return ""
}

// unknownCommand is the error of a word that is not one of the command's subcommands.
func unknownCommand(cmd *cobra.Command, word string) error {
	var known []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	if near := nearest(word, known); near != "" {
		return usageError("unknown command %q. Did you mean %q?", word, strings.TrimPrefix(cmd.CommandPath()+" "+near, "procfit "))
	}
	return usageError("unknown command %q; see %s --help", word, cmd.CommandPath())
}

// everyCommand are all commands below one.
func everyCommand(cmd *cobra.Command) (list []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		list = append(append(list, sub), everyCommand(sub)...)
	}
	return list
}
