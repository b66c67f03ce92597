package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/phrase"
)

// clusterOptions are what the commands share that make pods in a cluster.
type clusterOptions struct {
	options kube.Options
	yes     bool

	copies *kube.Target // once they are settled
}

// access are the fields of all that reaches a cluster; needs is the field that they belong to.
func access(to *kube.Access, needs string) []field.Field {
	return field.In(field.Kube,
		field.Field{Name: "namespace", Short: "n", Holds: "NAME", Often: true, Help: "the namespace (default the context's)", Value: field.Text(&to.Namespace), Needs: needs},
		field.Field{Name: "context", Holds: "NAME", Help: "the context of the kubeconfig (default the current one)", Value: field.Text(&to.Context), Needs: needs},
		field.Field{Name: "kubeconfig", Holds: "FILE", Help: "the kubeconfig file (default as kubectl's)", Value: field.Text(&to.Kubeconfig), Needs: needs},
	)
}

func (o *clusterOptions) fields(needs string) []field.Field {
	of := &o.options
	return slices.Concat(access(&of.Access, needs), field.In(field.Kube,
		field.Field{Name: "node", Holds: "NAME", Help: "the node that the pods run on (default the one with the most CPUs)", Value: field.Text(&of.Node), Needs: needs},
		field.Field{
			Name: "image", Holds: "IMAGE", Often: true, Help: "image of procfit; procfit kube image creates one",
			Value: field.Text(&of.Image), Needs: needs,
		},
		field.Field{Name: "yes", Often: true, Help: "create the pods without asking", Value: field.Switch(&o.yes), Needs: needs},
	))
}

// inspect looks at the object in the cluster. Nothing is made yet.
func (o *clusterOptions) inspect(ctx context.Context, std stdio) (copies *kube.Target, err error) {
	named := o.options
	if err := std.fill(&named.Namespace, &named.Context, &named.Container, &named.Node, &named.Image); err != nil {
		return nil, err
	}
	if copies, err = kube.Inspect(ctx, named); err != nil {
		return nil, refusal(err)
	}
	o.copies = copies
	return copies, nil
}

func newKubeClean(std stdio) *cobra.Command {
	var f fieldFlags
	var to kube.Access
	return f.bind(std, &cobra.Command{
		Use:   "clean [flags]",
		Short: "Remove the pods that earlier runs of procfit have left",
		Long: `Remove what runs of procfit have left in a namespace: their pods, and the ConfigMaps that
record them. A run removes its pods itself when it ends, and pods whose procfit has died
end by themselves. If one of the runs may still be running, also one of another user,
procfit asks on a terminal; elsewhere it removes the pods of that run too.`,
		Example: `  procfit kube clean
  procfit kube clean --namespace shop`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error { return cleanKube(cmd.Context(), std, to) },
	}, access(&to, ""))
}

func tellWarnings(std stdio, warnings []string) {
	for _, w := range warnings {
		std.notef("the API server warns: %s", phrase.Clean(w))
	}
}

// agreed asks, unless --yes is given, or --dry-run.
func (o *clusterOptions) agreed(ctx context.Context, std stdio, dryRun bool) error {
	switch {
	case dryRun:
		return nil
	case o.yes:
	case !onTerminal(std):
		return usageError("pods are created only with --yes, or after a question on a terminal")
	default:
		if err := askUser(ctx, std, "create them?", "nothing was created"); err != nil {
			return err
		}
	}
	std.pods.Store(true)
	return nil
}

// askUser is nil once the user agrees: nothing is done with any other answer, and after Ctrl-C.
func askUser(ctx context.Context, std stdio, question, otherwise string) error {
	fmt.Fprintf(std.err, "procfit: %s [y/N] ", question)
	line := typed(ctx, std.in)
	if line == "" {
		fmt.Fprintln(std.err) // the cursor is behind the question
	}
	none := errors.New(otherwise)
	switch answer := strings.ToLower(strings.TrimSpace(line)); {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, none}
	case answer != "y" && answer != "yes":
		return none
	}
	return nil
}

// typed reads a line, unless ctx ends first: Ctrl-C does not end the read itself, which then
// waits for as long as the process lasts. Without an end of line it is empty.
func typed(ctx context.Context, in io.Reader) string {
	read := make(chan string, 1)
	go func() {
		text, err := bufio.NewReader(in).ReadString('\n')
		if err != nil {
			text = ""
		}
		read <- text
	}()
	select {
	case text := <-read:
		return text
	case <-ctx.Done():
		return ""
	}
}

func onTerminal(std stdio) bool { return isTerminal(std.in) }

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func tellTerms(std stdio, terms []kube.Term) {
	words := map[kube.TermKind]string{
		kube.TermSecret: "the Secret", kube.TermConfigMap: "the ConfigMap", kube.TermClaim: "the volume claim", kube.TermServiceAccount: "the service account",
		kube.TermPriority: "the priority class, which may evict others:", kube.TermAddress: "an address:", kube.TermHostPath: "the node's folder, to read:", kube.TermNFS: "the NFS export",
	}
	if terms != nil {
		std.notef("each copy uses the same:")
	}
	for _, t := range terms {
		std.notef("  %s", phrase.Clean(strings.TrimSpace(words[t.Kind]+" "+t.Name+" "+t.Detail)))
	}
}

func tellLeft(std stdio, runs []kube.Leftover) {
	for _, l := range runs {
		if l.Alive {
			std.notef("run %s of %s, started on %s, may be running in the namespace: two runs disturb each other", l.Run, l.Object, l.Host)
		} else {
			std.notef("run %s of %s, started on %s, ended without removing its pods: procfit removes them first", l.Run, l.Object, l.Host)
		}
	}
}

func cleanKube(ctx context.Context, std stdio, to kube.Access) error {
	runs, pods, err := kube.Clean(ctx, to, func(runs []kube.Leftover) error {
		alive := false
		for _, r := range runs {
			how := "has ended"
			if r.Alive {
				alive, how = true, "may be running"
			}
			std.notef("run %s of %s, started on %s, %s", r.Run, r.Object, r.Host, how)
		}
		if alive && onTerminal(std) {
			return askUser(ctx, std, "remove all of their pods?", "nothing was removed")
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.out, "removed %s of %s\n", phrase.Count(pods, "pod"), phrase.Count(runs, "run"))
	return err
}

// agreed asks before a running program is changed, unless --yes is given.
func agreed(ctx context.Context, std stdio, yes bool, command, what string) error {
	if yes {
		return nil
	}
	if !onTerminal(std) {
		return usageError("a running program is changed only after a question on a terminal, or with --yes: %s --yes", command)
	}
	std.notef("%s", what)
	return askUser(ctx, std, "change it?", "nothing was changed")
}
