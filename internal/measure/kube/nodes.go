package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/klog/v2"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict/journal"
)

type places struct {
	target, load node
}

type node struct {
	name, hostname string // hostname is its label, which pods select it by
	host           journal.Host
}

func nodeOf(n *corev1.Node) node {
	cpus := int(n.Status.Capacity.Cpu().Value())
	info := n.Status.NodeInfo
	return node{name: n.Name, hostname: cmp.Or(n.Labels[corev1.LabelHostname], n.Name), host: journal.Host{
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
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(tolerations, func(by corev1.Toleration) bool { return by.ToleratesTaint(klog.Logger{}, &t, true) })
	}
	return slices.DeleteFunc(slices.Clone(all), func(n corev1.Node) bool { return slices.ContainsFunc(n.Spec.Taints, keeps) })
}

// operators are those of a node affinity, as a selector of labels has them.
var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
	corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

// takes reports whether the nodeSelector and the required node affinity of pods allow a node.
// Of the terms of an affinity one has to match; one that asks for nothing matches no node.
func takes(n *corev1.Node, pods *corev1.PodSpec) bool {
	own := labels.Set(n.Labels)
	matches := func(t corev1.NodeSelectorTerm) bool {
		for _, e := range t.MatchExpressions {
			if r, err := labels.NewRequirement(e.Key, operators[e.Operator], e.Values); err != nil || !r.Matches(own) {
				return false
			}
		}
		for _, e := range t.MatchFields { // there is one field, metadata.name
			if slices.Contains(e.Values, n.Name) != (e.Operator == corev1.NodeSelectorOpIn) {
				return false
			}
		}
		return len(t.MatchExpressions)+len(t.MatchFields) > 0
	}
	required := requiredOf(pods)
	return labels.SelectorFromSet(pods.NodeSelector).Matches(own) && (required == nil || slices.ContainsFunc(required.NodeSelectorTerms, matches))
}

// requiredOf is the required node affinity of pods; nil: there is none.
func requiredOf(pods *corev1.PodSpec) *corev1.NodeSelector {
	if pods.Affinity == nil || pods.Affinity.NodeAffinity == nil {
		return nil
	}
	return pods.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// nodeSelection is what takes goes by, in the words of the manifest; empty: nothing.
func nodeSelection(pods *corev1.PodSpec) string {
	var parts, terms []string
	if len(pods.NodeSelector) > 0 {
		parts = append(parts, "nodeSelector "+labels.SelectorFromSet(pods.NodeSelector).String())
	}
	if required := requiredOf(pods); required != nil {
		for _, t := range required.NodeSelectorTerms {
			var words []string
			for _, e := range slices.Concat(t.MatchExpressions, t.MatchFields) {
				words = append(words, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Key, e.Operator, strings.Join(e.Values, ","))))
			}
			terms = append(terms, phrase.And(words))
		}
		parts = append(parts, "required node affinity "+phrase.Or(terms))
	}
	if parts == nil {
		return ""
	}
	return phrase.Clean("the pods' " + phrase.And(parts))
}

// chooseNodes takes the named node for the target, or of those that take it the one with the
// most CPUs, and for the load another of its architecture where there is one. That of a tie goes by the
// names, so that a run that continues has the same.
func chooseNodes(all []corev1.Node, pods *corev1.PodSpec, named string) (places, error) {
	var fit, taking []node
	for i := range all {
		if usable(&all[i]) {
			fit = append(fit, nodeOf(&all[i]))
		}
		if usable(&all[i]) && takes(&all[i], pods) {
			taking = append(taking, nodeOf(&all[i]))
		}
	}
	most := func(a, b node) int {
		return cmp.Or(cmp.Compare(b.host.CPUs, a.host.CPUs), strings.Compare(a.name, b.name))
	}
	sorting.Stable(fit, most)
	sorting.Stable(taking, most)
	at, is := 0, func(n node) bool { return n.name == named }
	if named != "" {
		at = slices.IndexFunc(taking, is)
	}
	switch {
	case len(fit) == 0:
		return places{}, errors.New("no node is ready, schedulable, and without a taint that the pods do not tolerate; kubectl describe nodes shows why")
	case len(taking) == 0:
		return places{}, fmt.Errorf("no node matches %s (looked at %s); kubectl get nodes --show-labels lists the labels", nodeSelection(pods), namesOf(fit))
	case at < 0 && slices.ContainsFunc(fit, is):
		return places{}, fmt.Errorf("--node %q does not match %s; name one that does: %s", named, nodeSelection(pods), namesOf(taking))
	case at < 0:
		return places{}, fmt.Errorf("--node %q: no node of this name is ready, schedulable, and without a taint that the pods do not tolerate; kubectl get nodes lists the nodes", named)
	}
	p := places{target: taking[at], load: taking[at]}
	other := func(n node) bool { return n != p.target && n.host.Arch == p.target.host.Arch } // the image of procfit has one platform as a rule
	if i := slices.IndexFunc(fit, other); i >= 0 {
		p.load = fit[i]
	}
	return p, nil
}

func namesOf(list []node) string {
	return phrase.And(phrase.Each(list, func(n node) string { return n.name }))
}

// places asks for the nodes of such pods; where it may ask for the named one alone, both are
// that.
func (c *api) places(ctx context.Context, named string, pods *corev1.PodSpec, mayList bool) (places, error) {
	if !mayList {
		if named == "" {
			return places{}, errors.New("the API server refuses the right to list nodes; name a node with --node")
		}
		one, err := c.node(ctx, named)
		if err != nil {
			return places{}, fmt.Errorf("--node %q: %w", named, err)
		}
		return chooseNodes(untainted([]corev1.Node{one}, pods.Tolerations), pods, named)
	}
	var all corev1.NodeList
	if err := c.send(ctx, c.Core.Get().Resource("nodes"), &all); err != nil {
		return places{}, fmt.Errorf("the cluster's nodes: %w", err)
	}
	return chooseNodes(untainted(all.Items, pods.Tolerations), pods, named)
}

const (
	// nodePatience is how long a node that is not ready is waited for before a trial. A
	// cluster calls one so when it has not been heard of for some 50 s.
	nodePatience = time.Minute
	nodeInterval = 2 * time.Second
	// nodeSettle is for a kubelet that has come back to end the pods that it no longer is
	// to have.
	nodeSettle = 10 * time.Second
	// strandedAfter is how long a pod may take to end before its node is asked for.
	strandedAfter = 5 * time.Second
)

// readiness is whether a node is ready, and since when it has been what it is.
type readiness struct {
	ready bool
	since time.Time
	why   string // what the cluster says of it
}

func readinessOf(n *corev1.Node) readiness {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return readiness{c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time, detail(c.Reason, c.Message)}
		}
	}
	return readiness{why: "its state is unknown"}
}

func (c *api) readiness(ctx context.Context, name string) (readiness, error) {
	n, err := c.node(ctx, name)
	if apierrors.IsNotFound(err) {
		return readiness{why: "it is no longer in the cluster"}, nil
	}
	if err != nil {
		return readiness{}, fmt.Errorf("node %s: %w", name, err)
	}
	return readinessOf(&n), nil
}

func (r *runner) nodes() []string {
	list := []string{r.places.target.name}
	if r.loaded() && r.places.load != r.places.target {
		list = append(list, r.places.load.name)
	}
	return list
}

// nodesReady waits for the nodes before a trial. One that does not come back ends the
// run, which can be continued when it has.
func (r *run) nodesReady(ctx context.Context) error {
	r.since = map[string]time.Time{}
	for _, name := range r.nodes() {
		waited, late := false, cluster.After(nodePatience)
		err := cluster.Until(ctx, nodeInterval, func(ctx context.Context) (bool, error) {
			now, err := r.cluster.readiness(ctx, name)
			if err != nil {
				return false, err
			}
			if now.ready {
				r.since[name] = now.since
				return true, nil
			}
			if late() {
				return false, fmt.Errorf("node %s is not ready (%s) and did not become ready within %s; when it is ready, run the same command to continue, or measure on another node with --node and another --out", name, now.why, number.Chosen(nodePatience))
			}
			r.Observe.Tell(plan.Activity{Step: plan.StepNode, Detail: name})
			waited = true
			return false, nil
		})
		if err != nil {
			return err
		}
		if waited {
			if err := wait.For(ctx, nodeSettle); err != nil {
				return err
			}
		}
	}
	return nil
}

// lost says that a node is not ready, or has not been since the trial started: then what
// its pods did is not known.
func (r *runner) lost(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	now, err := r.cluster.readiness(ctx, name)
	if err != nil {
		return nil // the API server may come back
	}
	return now.lost(name, r.since)
}

func (now readiness) lost(name string, since map[string]time.Time) error {
	before, known := since[name]
	switch {
	case !now.ready:
		return trial.Invalid(journal.InvalidNodeLost, "node %s is no longer ready: %s", name, now.why)
	case known && !now.since.Equal(before):
		return trial.Invalid(journal.InvalidNodeLost, "node %s was not ready for a while during the trial", name)
	}
	return nil
}

func (r *runner) anyLost(ctx context.Context) error {
	for _, name := range r.nodes() {
		if err := r.lost(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// stranded is why a pod that was deleted will not end, since its kubelet is not there to
// end it; empty: it may. Such a pod is taken out of the cluster's books; its kubelet ends
// it when it comes back, and its deadline does in any case.
func (c *api) stranded(ctx context.Context, p *corev1.Pod) string {
	if p.Spec.NodeName == "" {
		return ""
	}
	now, err := c.readiness(ctx, p.Spec.NodeName)
	if err != nil || now.ready { // who may not ask for nodes does not know
		return ""
	}
	return fmt.Sprintf("node %s is no longer ready: %s", p.Spec.NodeName, now.why)
}
