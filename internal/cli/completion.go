package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

const nothingElse = cobra.ShellCompDirectiveNoFileComp

// completed is how a shell completes a field; nil: as it does, with files.
func completed(f field.Field) cobra.CompletionFunc {
	if closed, ok := f.Value.(field.Closed); ok {
		words, directive := closed.Words(), nothingElse
		if strings.HasSuffix(words[0], "=") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return cobra.FixedCompletions(words, directive)
	}
	switch {
	case f.Name == "namespace":
		return completeNamespaces
	case f.Name == "context":
		return completeContexts
	case f.Name == "baseline" && f.Holds == "DIR":
		return completeResults
	case f.Holds == "DIR":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case strings.Contains(f.Holds, "FILE"), strings.Contains(f.Holds, "COMMAND"), f.Holds == "PACKAGE", f.Holds == "TEXT", f.Holds == "":
		return nil
	}
	return cobra.NoFileCompletions
}

// completeWords has a shell complete the words of commands, and of their flags.
func completeWords(root *cobra.Command) {
	for path, complete := range map[string]cobra.CompletionFunc{
		"observe": completeProcesses, "ps": completeNames, "explain": completeExplained, "report": completeResults,
		"lab run": completeExperiments, "lab source": completeOne(lab.Server, lab.Batch), "lab serve": completeOne(lab.Server), "lab report": completeFolders,
		"lab program": completeOne(lab.Batch),
		"kube sweep":  completeObjects, "kube canary": completeObjects, "help": completeTopics,
	} {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil {
			cmd.ValidArgsFunction = complete
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

func completeFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func completeExperiments(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return experiments(lab.Server, lab.Batch, lab.Command), nothingElse
}

// completeOne is an experiment of one of the kinds, and nothing after it.
func completeOne(kinds ...lab.Kind) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, nothingElse
		}
		return experiments(kinds...), nothingElse
	}
}

func experiments(kinds ...lab.Kind) (list []cobra.Completion) {
	for _, e := range lab.List() {
		if slices.Contains(kinds, e.Kind) {
			list = append(list, cobra.CompletionWithDesc(e.ID, e.Title))
		}
	}
	return list
}

// asking is how long a shell waits for a cluster.
const asking = 2 * time.Second

// namesIn are the names of a kind in the cluster of a command's flags; none where it cannot
// be asked.
func namesIn(cmd *cobra.Command, kind string) []string {
	ctx, cancel := context.WithTimeout(cmd.Context(), asking)
	defer cancel()
	return kube.Names(ctx, accessOf(cmd), kind)
}

// accessOf is what the flags of a command say of its cluster.
func accessOf(cmd *cobra.Command) kube.Access {
	text := func(name string) string {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	return kube.Access{Kubeconfig: text("kubeconfig"), Context: text("context"), Namespace: text("namespace")}
}

func completeNamespaces(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return namesIn(cmd, "namespace"), nothingElse
}

func completeContexts(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return cluster.Contexts(accessOf(cmd)), nothingElse
}

// completeObjects are the kinds, and then the objects of one.
func completeObjects(cmd *cobra.Command, args []string, begun string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, nothingElse
	}
	if kind, _, ok := strings.Cut(begun, "/"); ok {
		for _, name := range namesIn(cmd, kind) {
			list = append(list, kind+"/"+name)
		}
		return list, nothingElse
	}
	return []cobra.Completion{"deployment/", "statefulset/", "daemonset/", "pod/", "job/", "cronjob/"}, cobra.ShellCompDirectiveNoSpace
}

var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        func(root *cobra.Command, w io.Writer) error { return root.GenZshCompletion(w) },
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": func(root *cobra.Command, w io.Writer) error { return root.GenPowerShellCompletionWithDesc(w) },
}

func newCompletion(std stdio) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long: `Print a script with which a shell completes the commands, flags and values of procfit.

  bash        source <(procfit completion bash)
  zsh         procfit completion zsh >"${fpath[1]}/_procfit"
  fish        procfit completion fish >~/.config/fish/completions/procfit.fish
  PowerShell  procfit completion powershell | Out-String | Invoke-Expression`,
		Example:   "  procfit completion bash",
		ValidArgs: []cobra.Completion{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || shells[args[0]] == nil {
				return usageError("completion takes the name of a shell: bash, zsh, fish or powershell%s", given(args))
			}
			return shells[args[0]](cmd.Root(), std.out)
		},
	}
	f.bind(std, cmd, nil)
	return cmd
}

func given(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return fmt.Sprintf(", not %q", strings.Join(args, " "))
}

// completeExplained are the Go processes that can be read, and the rules with their titles.
func completeExplained(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list, directive := completeProcesses(cmd, args, begun)
	if len(args) == 0 {
		for _, r := range rule.All() {
			list = append(list, cobra.CompletionWithDesc(r.ID, r.Title))
		}
	}
	return list, directive
}

// completeProcesses are the Go processes that can be read, with their names.
func completeProcesses(cmd *cobra.Command, _ []string, _ string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	scanner, err := observe.NewScanner()
	if err != nil {
		return nil, nothingElse
	}
	defer scanner.Close()
	snap, _ := scanner.Scan(cmd.Context()) // of none nothing is completed
	for _, p := range snap.Processes {
		if p.PID != os.Getpid() {
			list = append(list, cobra.CompletionWithDesc(strconv.Itoa(p.PID), phrase.Clean(p.Name)))
		}
	}
	return list, nothingElse
}

// completeNames are the Go processes that can be read, and their names.
func completeNames(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list, directive := completeProcesses(cmd, args, begun)
	for _, process := range list {
		if _, name, _ := strings.Cut(process, "\t"); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list, directive
}

// completeResults are the results directories that lie here, and folders where there are
// none.
func completeResults(_ *cobra.Command, args []string, begun string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, nothingElse
	}
	for _, below := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(begun + below + "/" + journal.Name) // an error is of the pattern
		for _, f := range found {
			dir := filepath.Dir(f)
			if strings.HasPrefix(begun, "./") { // which Dir removes, and without which no shell takes the word
				dir = "./" + dir
			}
			list = append(list, dir)
		}
	}
	if len(list) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return list, nothingElse
}
