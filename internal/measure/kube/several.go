package kube

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// reserved is the share of the nodes that is left to the load where none is named.
const reserved = 3

// chooseSeveral takes nodes that targets are measured on side by side, the named ones
// or all that are alike, and for each its load's: one of those that are left, where there
// are any, or its own. Nodes of other CPUs or of another kind of CPU would make another
// value of unset.
func chooseSeveral(all []corev1.Node, named string) ([]places, error) {
	fit := fitting(all)
	if len(fit) == 0 {
		return nil, errNoNode
	}
	targets, err := targetsOf(fit, named)
	if err != nil {
		return nil, err
	}
	if n := len(targets); n < 2 {
		return nil, fmt.Errorf("--parallel needs two nodes that are ready, take pods and are alike in their CPUs, and has %s: leave it out", phrase.Count(n, "node"))
	}
	slices.SortFunc(targets, func(a, b node) int { return strings.Compare(a.name, b.name) })
	free := slices.DeleteFunc(fit, func(n node) bool { return slices.Contains(targets, n) })
	list := make([]places, len(targets))
	for i, n := range targets {
		list[i] = places{target: n, load: n}
		if len(free) > 0 {
			list[i].load = free[i%len(free)]
		}
	}
	return list, nil
}

// targetsOf are the named nodes, or those like the one with the most CPUs without the
// share that the load gets.
func targetsOf(fit []node, named string) (targets []node, err error) {
	if named == "" {
		targets = slices.DeleteFunc(slices.Clone(fit), func(n node) bool { return !alike(n, fit[0]) })
		if len(targets) == len(fit) && len(fit) > 2 {
			targets = targets[:len(targets)-max(1, len(targets)/reserved)]
		}
		return targets, nil
	}
	for name := range strings.SplitSeq(named, ",") {
		i := slices.IndexFunc(fit, func(n node) bool { return n.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, noSuchNode(strings.TrimSpace(name))
		}
		n := fit[i]
		switch {
		case slices.Contains(targets, n):
			return nil, fmt.Errorf("--node: %q is named twice", n.name)
		case len(targets) > 0 && !alike(n, targets[0]):
			return nil, fmt.Errorf("--node: %s has %s and %s %s: unset would be another value on each; name nodes that are alike", targets[0].name, kindOfCPUs(targets[0]), n.name, kindOfCPUs(n))
		}
		targets = append(targets, n)
	}
	return targets, nil
}

func alike(a, b node) bool { return a.host.CPUs == b.host.CPUs && a.host.Arch == b.host.Arch }

func kindOfCPUs(n node) string {
	return strings.TrimSpace(number.CPUs(float64(n.host.CPUs)) + " " + n.host.Arch)
}

var errNoNode = errors.New("no node is ready and takes pods")

func noSuchNode(name string) error {
	return fmt.Errorf("--node %q: there is no such node that is ready and takes pods", name)
}
