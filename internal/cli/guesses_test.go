package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/procfit/procfit/test/must"
)

// What an error names instead of a guessed flag is there, with a value that the command
// takes, and the guess is not a flag of every command that has it.
func TestGuesses(t *testing.T) {
	root := newRoot(quiet())
	for _, name := range slices.Sorted(maps.Keys(guesses)) {
		for i, instead := range guesses[name] {
			if command, ok := strings.CutPrefix(instead, "procfit "); ok {
				if i != len(guesses[name])-1 {
					t.Errorf("%s: nothing comes after a command", name)
				}
				words := strings.Fields(command)
				cmd, rest, err := root.Find(words)
				if err != nil || cmd == root {
					t.Errorf("%s: %s: %v", name, instead, err)
					continue
				}
				for _, word := range rest {
					if flag, ok := strings.CutPrefix(word, "--"); ok && cmd.Flags().Lookup(flag) == nil {
						t.Errorf("%s: %s has no --%s", name, cmd.CommandPath(), flag)
					}
				}
				continue
			}
			answered := false
			for _, cmd := range everyCommand(root) {
				flag, value, _ := strings.Cut(instead[2:], " ")
				has := func(name string) bool {
					return cmd.Flags().Lookup(name) != nil || len(name) == 1 && cmd.Flags().ShorthandLookup(name) != nil
				}
				err := cmd.ParseFlags([]string{strings.Repeat("-", min(2, len(name))) + name})
				_, unknown := err.(*pflag.NotExistError)
				if !has(flag) || has(name) || !unknown || !strings.HasPrefix(guessed(cmd, name), instead) {
					continue
				}
				answered = true
				if value != "" {
					must.OK(t, cmd.Flags().Lookup(flag).Value.Set(value))
				}
			}
			if !answered {
				t.Errorf("no command answers --%s by %s", name, instead)
			}
		}
	}
}
