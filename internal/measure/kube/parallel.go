package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// reserved is the share of the nodes that is left to the load where none is named.
const reserved = 3

// parallelPlaces takes nodes that targets are measured on side by side, the named ones
// or all with the same CPUs, and for each its load's: one of those that are left, where there
// are any, or its own. Nodes of other CPUs or of another kind of CPU would make another
// value of unset.
func parallelPlaces(all []corev1.Node, pods *corev1.PodSpec, named string) ([]places, error) {
	fit := fitting(all, pods)
	taking, err := takers(fit, pods)
	if err != nil {
		return nil, err
	}
	targets, err := targetsOf(fit, taking, pods, named)
	if err != nil {
		return nil, err
	}
	if n := len(targets); n < 2 {
		matching := ""
		if by := nodeSelection(pods); by != "" {
			matching = " that match " + by
		}
		return nil, fmt.Errorf("--parallel needs at least two ready, schedulable nodes with the same CPUs%s; found %s. Run without it", matching, phrase.Count(n, "node"))
	}
	sorting.Stable(targets, func(a, b node) int { return strings.Compare(a.name, b.name) })
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

// targetsOf are the named nodes, or those that take targets and are like the one with the
// most CPUs, without the share that the load gets.
func targetsOf(fit, taking []node, pods *corev1.PodSpec, named string) (targets []node, err error) {
	if named == "" {
		targets = slices.DeleteFunc(slices.Clone(taking), func(n node) bool { return !sameMachine(n, taking[0]) })
		if len(targets) == len(fit) && len(fit) > 2 {
			targets = targets[:len(targets)-max(1, len(targets)/reserved)]
		}
		return targets, nil
	}
	for name := range strings.SplitSeq(named, ",") {
		n, err := namedNode(fit, taking, pods, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		switch {
		case slices.Contains(targets, n):
			return nil, fmt.Errorf("--node names %q twice; name each node once", n.name)
		case len(targets) > 0 && !sameMachine(n, targets[0]):
			return nil, fmt.Errorf("--node: %s has %s and %s has %s, so the default would be a different value on each; name nodes with the same CPUs", targets[0].name, kindOfCPUs(targets[0]), n.name, kindOfCPUs(n))
		}
		targets = append(targets, n)
	}
	return targets, nil
}

func sameMachine(a, b node) bool { return a.host.CPUs == b.host.CPUs && a.host.Arch == b.host.Arch }

func kindOfCPUs(n node) string {
	return strings.TrimSpace(number.CPUs(float64(n.host.CPUs)) + " " + n.host.Arch)
}

var errNoNode = errors.New("no node is ready, schedulable, and without a taint that the pods do not tolerate; kubectl describe nodes shows why")

func noSuchNode(name string) error {
	return fmt.Errorf("--node %q: no node of this name is ready, schedulable, and without a taint that the pods do not tolerate; kubectl get nodes lists the nodes", name)
}

// parallelRunner measures on several nodes at once: each lane is a runner of its own, with a
// load's pod of its own, and all are one run with one record.
type parallelRunner struct {
	lanes []*runner

	mu       sync.Mutex
	reported map[string]bool // of what one word is enough for all
}

// Prepare implements plan.Runner.
func (a *parallelRunner) Prepare(ctx context.Context, wanted journal.Plan, observe plan.Observer) error {
	first := a.lanes[0]
	if err := first.Prepare(ctx, wanted, observe); err != nil {
		return err
	}
	for _, lane := range a.lanes[1:] {
		lane.cut.owner = first.cut.owner
		if !lane.loaded() {
			continue
		}
		if err := lane.ensureLoad(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Run implements plan.Runner.
func (a *parallelRunner) Run(ctx context.Context, task plan.Task, observe plan.Observer) (journal.Trial, error) {
	return a.lanes[task.Lane].Run(ctx, task, func(what plan.Activity) {
		if !a.repeated(what) {
			observe.Tell(what)
		}
	})
}

// repeated reports what another lane has said already.
func (a *parallelRunner) repeated(what plan.Activity) bool {
	if what.Shortfall == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := fmt.Sprint(*what.Shortfall)
	was := a.reported[key]
	a.reported[key] = true
	return was
}

// Close implements plan.Runner.
func (a *parallelRunner) Close() error {
	for _, lane := range a.lanes[1:] {
		lane.hangUp()
	}
	return a.lanes[0].Close()
}

// firstImage is the image that the run started with, which all of its targets are to have.
type firstImage struct {
	mu    sync.Mutex
	image string
}

// same reports whether a target's image is that; the first is.
func (b *firstImage) same(image string) (as string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.image == "" {
		b.image = image
	}
	return b.image, digestOf(b.image) == digestOf(image)
}
