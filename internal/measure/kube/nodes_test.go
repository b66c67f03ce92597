package kube

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// nodesOf are nodes by name and CPUs: "a4 b4 c8!", one with a ! not ready.
func nodesOf(text string) (list []corev1.Node) {
	for word := range strings.FieldsSeq(text) {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: word[:1]}}
		n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(word[1:2])}
		status := corev1.ConditionTrue
		if strings.HasSuffix(word, "!") {
			status = corev1.ConditionUnknown
		}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}}
		list = append(list, n)
	}
	return list
}

// podWith is the spec of a Pod with this in it.
func podWith(t *testing.T, spec string) *corev1.PodSpec {
	t.Helper()
	s := subject(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: app}], "+spec+"}")
	return &s.Template.Spec
}

// required is a required node affinity.
func required(terms string) string {
	return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + terms + "]}}}"
}

// A target runs only where its nodeSelector and its required node affinity allow it, and the
// load has neither.
func TestSelectedNodes(t *testing.T) {
	nodes := nodesOf("a8 b4 c4 d2")
	for i, of := range []map[string]string{{"disk": "hdd"}, {"disk": "ssd", "zone": "east", "rank": "7"}, {"disk": "ssd", "zone": "west", "rank": "9"}, nil} {
		nodes[i].Labels = of
	}
	const ssd = "nodeSelector: {disk: ssd}"
	for _, tc := range []struct{ spec, named, want string }{
		{"", "", "a<b"},
		{ssd, "", "b<a"},
		{ssd, "c", "c<a"},
		{ssd, "a", `--node "a" does not match the pods' nodeSelector disk=ssd; name one that does: b and c`},
		{ssd, "x", `--node "x": no node of this name`},
		{"nodeSelector: {disk: tape, zone: x}", "", "no node matches the pods' nodeSelector disk=tape,zone=x (looked at a, b, c and d); kubectl get nodes --show-labels"},
		{required("{matchExpressions: [{key: zone, operator: In, values: [west, z]}]}"), "", "c<a"},
		{required("{matchExpressions: [{key: disk, operator: NotIn, values: [ssd]}]}"), "", "a<b"},
		{required("{matchExpressions: [{key: zone, operator: Exists}]}"), "", "b<a"},
		{required("{matchExpressions: [{key: disk, operator: DoesNotExist}]}"), "", "d<a"},
		{required("{matchExpressions: [{key: rank, operator: Gt, values: ['7']}]}"), "", "c<a"},
		{required("{matchExpressions: [{key: rank, operator: Lt, values: ['9']}]}"), "", "b<a"},
		{required("{matchFields: [{key: metadata.name, operator: In, values: [d]}]}"), "", "d<a"},
		{required("{matchFields: [{key: metadata.name, operator: NotIn, values: [a]}]}"), "", "b<a"},
		// One of the terms has to match, and of a term all: an empty one matches nothing.
		{required("{}, {matchExpressions: [{key: zone, operator: In, values: [east]}, {key: rank, operator: In, values: ['9']}]}, {matchFields: [{key: metadata.name, operator: In, values: [d]}]}"), "", "d<a"},
		{ssd + ", " + required("{matchExpressions: [{key: zone, operator: In, values: [west]}]}"), "", "c<a"},
		{
			ssd + ", " + required("{matchExpressions: [{key: zone, operator: In, values: [q, r]}, {key: rank, operator: Exists}]}, {matchFields: [{key: metadata.name, operator: In, values: [a]}]}"), "",
			"no node matches the pods' nodeSelector disk=ssd and required node affinity zone In q,r and rank Exists or metadata.name In a (looked at",
		},
		{"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}]}}", "", "a<b"},
	} {
		pods := podWith(t, tc.spec)
		p, err := chooseNodes(nodes, pods, tc.named)
		got := p.target.name + "<" + p.load.name
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s, --node %q: %s, want %s", tc.spec, tc.named, got, tc.want)
		}
	}
}

// A node that is not ready, or was not for a while, makes a trial invalid that is tried
// again.
func TestLostNode(t *testing.T) {
	then := time.Unix(100, 0)
	since := map[string]time.Time{"n": then}
	for name, tc := range map[string]struct {
		now  readiness
		want string
	}{
		"as before":    {readiness{ready: true, since: then}, ""},
		"not ready":    {readinessOf(&nodesOf("n4!")[0]), "node n is no longer ready: NodeStatusUnknown: Kubelet stopped posting node status."},
		"for a while":  {readiness{ready: true, since: then.Add(time.Minute)}, "node n was not ready for a while"},
		"says nothing": {readinessOf(&corev1.Node{}), "its state is unknown"},
	} {
		err := tc.now.lost("n", since)
		if (err == nil) != (tc.want == "") || err != nil && (codeOf(err) != journal.InvalidNodeLost || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	if err := (readiness{ready: true, since: then}).lost("other", since); err != nil {
		t.Errorf("a node that was not looked at before: %v", err)
	}
}

func TestDigest(t *testing.T) {
	for in, want := range map[string]string{
		"docker.io/shop/api@sha256:abc": "sha256:abc", "mirror:5000/shop/api@sha256:abc": "sha256:abc", "sha256:abc": "sha256:abc", "": "",
	} {
		if got := digestOf(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := ImageOf([]journal.Trial{{}, {Pods: []journal.Pod{{}, {ImageID: "x"}}}, {Pods: []journal.Pod{{ImageID: "y"}}}}); got != "x" {
		t.Errorf("the journal began with %q", got)
	}
}
