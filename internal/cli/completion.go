package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// completed is how a shell completes a field; nil: as it does, with files.
func completed(f field.Field) cobra.CompletionFunc {
	if closed, ok := f.Value.(field.Closed); ok {
		words, directive := closed.Words(), cobra.ShellCompDirectiveNoFileComp
		if strings.HasSuffix(words[0], "=") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return cobra.FixedCompletions(words, directive)
	}
	switch {
	case f.Holds == "DIR":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case strings.Contains(f.Holds, "FILE"), strings.Contains(f.Holds, "COMMAND"), f.Holds == "PACKAGE", f.Holds == "TEXT", f.Holds == "":
		return nil
	}
	return cobra.NoFileCompletions
}

// completeWords has a shell complete the words of commands and the values of their flags.
func completeWords(root *cobra.Command) {
	rules := phrase.Each(rule.All(), func(r rule.Rule) cobra.Completion { return cobra.CompletionWithDesc(r.ID, r.Title) })
	topics := slices.Clone(topicNames)
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			topics = append(topics, cobra.CompletionWithDesc(cmd.Name(), cmd.Short))
		}
	}
	for path, words := range map[string][]cobra.Completion{
		"explain": rules, "lab run": experimentIDs(lab.Server, lab.Batch, lab.Command), "lab source": experimentIDs(lab.Server, lab.Batch),
		"lab serve": experimentIDs(lab.Server), "lab program": experimentIDs(lab.Batch), "help": topics,
	} {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil {
			cmd.ValidArgs = words
		}
	}
	for _, cmd := range everyCommand(root) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			of, ok := f.Value.(*asFlag)
			if _, has := cmd.GetFlagCompletionFunc(f.Name); !ok || has { // of a parent command
				return
			}
			if complete := completed(of.Field); complete != nil {
				if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
					panic(err) // it has completions
				}
			}
		})
	}
}

func experimentIDs(kinds ...lab.Kind) (list []cobra.Completion) {
	for _, e := range lab.List() {
		if slices.Contains(kinds, e.Kind) {
			list = append(list, cobra.CompletionWithDesc(e.ID, e.Title))
		}
	}
	return list
}

var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
}

func newCompletion(std stdio) *cobra.Command {
	var f fieldFlags
	return f.bind(std, &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long: `Print a script with which a shell completes the commands, flags and values of procfit.

  bash        echo 'source <(procfit completion bash)' >>~/.bashrc
  zsh         procfit completion zsh >"${fpath[1]}/_procfit"
  fish        procfit completion fish >~/.config/fish/completions/procfit.fish
  PowerShell  procfit completion powershell | Out-String | Invoke-Expression`,
		Example:   "  procfit completion bash",
		ValidArgs: []cobra.Completion{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			const takes = "completion takes the name of a shell: bash, zsh, fish or powershell"
			switch {
			case len(args) == 0:
				return usageError(takes)
			case len(args) > 1 || shells[args[0]] == nil:
				return usageError(takes+", not %q", strings.Join(args, " "))
			}
			return shells[args[0]](cmd.Root(), std.out)
		},
	}, nil)
}
