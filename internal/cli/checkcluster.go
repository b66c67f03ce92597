package cli

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/cluster"
)

// checkCluster are the flags of procfit check about a cluster.
type checkCluster struct {
	on        bool
	namespace string
	access    cluster.Access
}

func (c *checkCluster) flags(f *pflag.FlagSet) {
	f.BoolVar(&c.on, "cluster", false, "check the pods that run in a Kubernetes cluster, in place of files; only reads")
	f.StringVar(&c.namespace, "namespace", "", "with --cluster: this `namespace` alone")
	f.StringVar(&c.access.Kubeconfig, "kubeconfig", "", "with --cluster: the `file` that says how to reach it (default as kubectl's, or the pod's own access)")
	f.StringVar(&c.access.Context, "context", "", "with --cluster: the `name` of a context in the kubeconfig")
}

func (c *checkCluster) validate(o *checkOptions) error {
	switch {
	case !c.on && (c.namespace != "" || c.access != cluster.Access{}):
		return usageError("--namespace, --kubeconfig and --context need --cluster")
	case !c.on:
		return nil
	case len(o.paths) > 0:
		return usageError("%q: --cluster checks no files; leave out one of them", o.paths[0])
	case o.fix || o.diff:
		return usageError("--fix and --diff change files, and --cluster reads none; check the files that the cluster's objects come from")
	case o.program.nodeCPUs > 0:
		return usageError("--node-cpus: with --cluster it is read from the nodes; leave it out")
	}
	return nil
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

// checkCluster checks what runs.
func (o *checkOptions) checkCluster(ctx context.Context, std stdio) (*check.Report, error) {
	client, err := cluster.Connect(o.cluster.access)
	if err != nil {
		return nil, err
	}
	progress := newCounter(std, "pod")
	defer progress.clear()
	return cluster.Run(ctx, client, cluster.Options{Namespace: o.cluster.namespace, Program: o.program.program, Progress: progress.count})
}
