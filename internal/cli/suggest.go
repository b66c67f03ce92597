package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// nearest is the known word that a typing error may have made another of; empty: none is
// near enough.
func nearest(word string, known []string) (best string) {
	least := min(1+len(word)/5, 3)
	for _, k := range known {
		d := distance(strings.ToLower(word), k)
		if len(word) >= 3 && strings.HasPrefix(k, word) {
			d = min(d, 1)
		}
		if d <= least && d < len(k) {
			best, least = k, d-1
		}
	}
	return best
}

// distance is how many letters are missing, wrong, too many, or swapped with the next one
// (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
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
