package cli

import (
	"context"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/cluster"
	"github.com/procfit/procfit/internal/check/output"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

func newKubeCheck(std stdio) *cobra.Command {
	o := checkOptions{severity: rule.Info, out: printed(output.Formats()...)}
	o.out.files, o.inCluster = true, true
	cmd := &cobra.Command{
		Use:   "check [flags]",
		Short: "Find wrong GOMAXPROCS in the pods that run",
		Long: `Check the pods that run in a cluster by the rules of procfit check: which GOMAXPROCS each
Go program gets from its limits, its environment and its node. procfit only reads.

Exit codes: 0 nothing of severity warning or error; 1 findings; 2 usage; 3 something
could not be checked, or there was nothing to check; 130 interrupted.`,
		Example: `  procfit kube check
  procfit kube check --namespace shop
  procfit kube check --go 1.24 -o json`,
		Args: allPods,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), std) },
	}
	reach := field.Take(access(&o.access, ""), field.Field{Name: "namespace", Help: "check only this namespace (default all)"}, field.Field{Name: "kubeconfig"}, field.Field{Name: "context"})
	shared := field.Take(o.fields(), field.Field{Name: "file"}, field.Field{Name: "go", Help: "Go version that the programs are built with, or a go.mod"}, field.Field{Name: "severity"}, field.Field{Name: "strict"}, field.Field{Name: "exit-zero"}, field.Field{Name: "allow-empty"}, field.Field{Name: "values"})
	return o.bind(std, cmd, slices.Concat(reach, shared, o.out.fields(checkJSON)))
}

// allPods is that the pods to check have no names.
func allPods(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	const all = "procfit kube check checks all pods of a cluster or a namespace, not %q; for one namespace: procfit kube check --namespace NAME; "
	word := phrase.ShellWord(args[0])
	if strings.Contains(args[0], "/") && !strings.Contains(args[0], ".") {
		return usageError(all+"for one object: kubectl get %s -o yaml | procfit check -", args[0], word)
	}
	return usageError(all+"for a file: procfit check FILE", args[0])
}

// clusterMemory is how much memory, in bytes, the reading of a cluster is to stay below:
// twice of what 10,000 pods need.
const clusterMemory = 160 << 20

// boundMemory holds the collector to clusterMemory until it is called off: a page of pods
// is garbage once it is read, and so is what a report is written from. On busy CPUs it
// would let several of them pile up.
func boundMemory() (off func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(clusterMemory)
	return func() { debug.SetMemoryLimit(before) }
}

func checkPods(ctx context.Context, std stdio, access cluster.Access, o cluster.Options) (*check.Report, error) {
	client, err := cluster.Connect(access)
	if err != nil {
		return nil, err
	}
	progress := newCounter(std, "pod")
	defer progress.clear()
	o.Namespace, o.Progress = access.Namespace, progress.count
	return cluster.Run(ctx, client, o)
}
