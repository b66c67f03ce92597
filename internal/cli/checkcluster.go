package cli

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/cluster"
	"github.com/procfit/procfit/internal/measure/plan/field"
)

// checkCluster are the flags of procfit check about a cluster.
type checkCluster struct {
	on        bool
	namespace string
	access    cluster.Access
}

func (c *checkCluster) fields() []field.Field {
	return field.In(field.Kube, []field.Field{
		toggle("cluster", &c.on, "check the pods that run in a Kubernetes cluster, in place of files; only reads", ""),
		{Name: "namespace", Short: "n", Holds: "namespace", Help: "check only this namespace", Value: field.Text(&c.namespace), Needs: "cluster"},
		{Name: "kubeconfig", Holds: "file", Help: "how to reach the cluster (default as kubectl's, or the pod's own access)", Value: field.Text(&c.access.Kubeconfig), Needs: "cluster"},
		{Name: "context", Holds: "name", Help: "context of the kubeconfig to use", Value: field.Text(&c.access.Context), Needs: "cluster"},
	}...)
}

func (c *checkCluster) validate(o *checkOptions) error {
	switch {
	case !c.on:
		return nil
	case len(o.paths) > 0:
		return usageError("%q: --cluster checks no files; use only one of them", o.paths[0])
	case o.fix || o.diff:
		return usageError("--fix and --diff change files, and --cluster reads none; check the files that the cluster's objects come from")
	case o.program.cpus > 0:
		return usageError("--cpus is read from the nodes with --cluster; remove it")
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
