package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// places are the nodes of a sweep.
type places struct {
	target, load node
}

// node is one of the cluster's.
type node struct {
	name, hostname string // hostname is its label, which pods select it by
	host           journal.Host
}

func nodeOf(n *corev1.Node) node {
	cpus := int(n.Status.Capacity.Cpu().Value())
	info := n.Status.NodeInfo
	return node{n.Name, cmp.Or(n.Labels[corev1.LabelHostname], n.Name), journal.Host{
		Hostname: n.Name, OS: info.OperatingSystem, Arch: info.Architecture, CPUs: cpus, AffinityCPUs: cpus, EffectiveCPUs: float64(cpus),
		Kernel: info.KernelVersion, CgroupMode: "unknown", MemoryBytes: n.Status.Capacity.Memory().Value(),
	}}
}

// usable tells a node that pods can be put on.
func usable(n *corev1.Node) bool {
	os := n.Status.NodeInfo.OperatingSystem
	return readinessOf(n).ready && !n.Spec.Unschedulable && (os == "" || os == "linux")
}

// untainted are the nodes without a taint that keeps pods of these tolerations away. Whether a
// node is ready, its conditions show.
func untainted(all []corev1.Node, tolerations []corev1.Toleration) []corev1.Node {
	tolerations = slices.Concat(tolerations, []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists}, {Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists}})
	keeps := func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(tolerations, func(by corev1.Toleration) bool { return by.ToleratesTaint(logr.Discard(), &t, true) })
	}
	return slices.DeleteFunc(slices.Clone(all), func(n corev1.Node) bool { return slices.ContainsFunc(n.Spec.Taints, keeps) })
}

// chooseNodes takes the named node for the target, or the one with the most CPUs, and
// for the load another where there is one. That of a tie goes by the names, so that a
// run that continues has the same.
func chooseNodes(all []corev1.Node, named string) (places, error) {
	fit := fitting(all)
	if len(fit) == 0 {
		return places{}, errNoNode
	}
	target := slices.IndexFunc(fit, func(n node) bool { return named == "" || n.name == named })
	if target < 0 {
		return places{}, noSuchNode(named)
	}
	p := places{target: fit[target], load: fit[target]}
	for i, n := range fit {
		if i != target {
			p.load = n
			break
		}
	}
	return p, nil
}

// fitting are the usable nodes, those with the most CPUs first.
func fitting(all []corev1.Node) (fit []node) {
	for i := range all {
		if n := &all[i]; usable(n) {
			fit = append(fit, nodeOf(n))
		}
	}
	sorting.Stable(fit, func(a, b node) int {
		return cmp.Or(cmp.Compare(b.host.CPUs, a.host.CPUs), strings.Compare(a.name, b.name))
	})
	return fit
}

// places asks for the nodes of pods with these tolerations; where it may ask for the named
// one alone, both are that. Several are for targets that are measured side by side.
func (c *api) places(ctx context.Context, o Options, tolerations []corev1.Toleration, mayList bool) ([]places, error) {
	named := o.Node
	if !mayList {
		switch {
		case o.Parallel:
			return nil, errors.New("--parallel needs the right to list nodes, and the API server refuses it")
		case named == "":
			return nil, errors.New("the API server refuses the right to list nodes; name a node with --node")
		}
		var one corev1.Node
		err := c.Call(ctx, func(ctx context.Context) error {
			return c.Core.Get().Resource("nodes").Name(named).Do(ctx).Into(&one)
		})
		if err != nil {
			return nil, fmt.Errorf("--node %q: %w", named, err)
		}
		p, err := chooseNodes(untainted([]corev1.Node{one}, tolerations), named)
		return []places{p}, err
	}
	var all corev1.NodeList
	err := c.Call(ctx, func(ctx context.Context) error { return c.Core.Get().Resource("nodes").Do(ctx).Into(&all) })
	if err != nil {
		return nil, fmt.Errorf("the cluster's nodes: %w", err)
	}
	fit := untainted(all.Items, tolerations)
	if o.Parallel {
		return parallelPlaces(fit, named)
	}
	p, err := chooseNodes(fit, named)
	return []places{p}, err
}
