package kube

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/measure/trial"
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

func TestChooseSeveral(t *testing.T) {
	for _, tc := range []struct{ nodes, named, want string }{
		{"a4 b4", "", "a<a b<b"},                     // none is left for the load
		{"a4 b4 c4", "", "a<c b<c"},                  // a third is
		{"a4 b4 c4 d4 e4 f4", "", "a<e b<f c<e d<f"}, // and more of more
		{"a4 b4 c2", "", "a<c b<c"},                  // one that is unlike is left anyway
		{"a4 b4 c4", "c,a", "a<b c<b"},
		{"a4 b4 c4", "a, b,c", "a<a b<b c<c"},
		{"a4 b8 c8", "", "b<a c<a"},
		{"a4 b4!", "", "found 1 node"},
		{"a4 b8", "", "found 1 node"},
		{"a4!", "", "no node is ready"},
		{"a4 b4", "a", "found 1 node"},
		{"a4 b4", "a,x", `--node "x"`},
		{"a4 b4", "a,a", "twice"},
		{"a4 b8", "a,b", "a has 4 CPUs and b has 8 CPUs, so the default would be a different value on each"},
	} {
		list, err := parallelPlaces(nodesOf(tc.nodes), &corev1.PodSpec{}, tc.named)
		got := fmt.Sprint(err)
		if err == nil {
			var words []string
			for _, p := range list {
				words = append(words, p.target.name+"<"+p.load.name)
			}
			got = strings.Join(words, " ")
		}
		if err == nil && got != tc.want || err != nil && !strings.Contains(got, tc.want) {
			t.Errorf("%s of %s: %s, want %s", tc.named, tc.nodes, got, tc.want)
		}
	}
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
	for _, tc := range []struct{ spec, named, want, parallel string }{
		{"", "", "a<b", "found 1 node."},
		{ssd, "", "b<a", "b<a c<d"},
		{ssd, "c", "c<a", "that match the pods' nodeSelector disk=ssd; found 1 node."},
		{ssd, "a", `--node "a" does not match the pods' nodeSelector disk=ssd; name one that does: b and c`, `--node "a" does not match`},
		{ssd, "x", `--node "x": no node of this name`, `--node "x": no node of this name`},
		{"nodeSelector: {disk: tape, zone: x}", "", "no node matches the pods' nodeSelector disk=tape,zone=x (looked at a, b, c and d); kubectl get nodes --show-labels", "no node matches"},
		{required("{matchExpressions: [{key: zone, operator: In, values: [west, z]}]}"), "", "c<a", "found 1 node."},
		{required("{matchExpressions: [{key: disk, operator: NotIn, values: [ssd]}]}"), "", "a<b", "found 1 node."},
		{required("{matchExpressions: [{key: zone, operator: Exists}]}"), "", "b<a", "b<a c<d"},
		{required("{matchExpressions: [{key: disk, operator: DoesNotExist}]}"), "", "d<a", "found 1 node."},
		{required("{matchExpressions: [{key: rank, operator: Gt, values: ['7']}]}"), "", "c<a", "found 1 node."},
		{required("{matchExpressions: [{key: rank, operator: Lt, values: ['9']}]}"), "", "b<a", "found 1 node."},
		{required("{matchFields: [{key: metadata.name, operator: In, values: [d]}]}"), "", "d<a", "found 1 node."},
		{required("{matchFields: [{key: metadata.name, operator: NotIn, values: [a]}]}"), "", "b<a", "b<a c<d"},
		// One of the terms has to match, and of a term all: an empty one matches nothing.
		{required("{}, {matchExpressions: [{key: zone, operator: In, values: [east]}, {key: rank, operator: In, values: ['9']}]}, {matchFields: [{key: metadata.name, operator: In, values: [d]}]}"), "", "d<a", "found 1 node."},
		{ssd + ", " + required("{matchExpressions: [{key: zone, operator: In, values: [west]}]}"), "", "c<a", "found 1 node."},
		{
			ssd + ", " + required("{matchExpressions: [{key: zone, operator: In, values: [q, r]}, {key: rank, operator: Exists}]}, {matchFields: [{key: metadata.name, operator: In, values: [a]}]}"), "",
			"no node matches the pods' nodeSelector disk=ssd and required node affinity zone In q,r and rank Exists or metadata.name In a (looked at", "no node matches",
		},
		{"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}]}}", "", "a<b", "found 1 node."},
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
		list, err := parallelPlaces(nodes, pods, tc.named)
		got = fmt.Sprint(err)
		if err == nil {
			got = ""
			for _, p := range list {
				got += " " + p.target.name + "<" + p.load.name
			}
		}
		if !strings.Contains(got, tc.parallel) {
			t.Errorf("%s, --node %q, --parallel: %s, want %s", tc.spec, tc.named, got, tc.parallel)
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
		var failed *trial.Failure
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.want != "" && (!errors.As(err, &failed) || failed.Code != journal.InvalidNodeLost || !strings.Contains(failed.Reason, tc.want)):
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
	b := &firstImage{}
	for _, one := range []struct {
		image string
		same  bool
	}{{"a/api@sha256:1", true}, {"b/api@sha256:1", true}, {"a/api@sha256:2", false}} {
		if as, same := b.same(one.image); same != one.same || as != "a/api@sha256:1" {
			t.Errorf("%s: %v, beside %s", one.image, same, as)
		}
	}
	if got := ImageOf([]journal.Trial{{}, {Pods: []journal.Pod{{}, {ImageID: "x"}}}, {Pods: []journal.Pod{{ImageID: "y"}}}}); got != "x" {
		t.Errorf("the journal began with %q", got)
	}
}
